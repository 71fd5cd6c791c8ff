"""A plan: for each field of each DTO class, which action it gets under which grant."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from mcpshape._nodes import Declared, Field, Keyed, Listing, Node, Nullable, Record, Reference, Root, references
from mcpshape.errors import DefinitionError, Problem
from mcpshape.policy import Grant, Policy
from mcpshape.rules import (
    Action,
    Always,
    Clip,
    Coarsen,
    Count,
    Derived,
    Drop,
    Handle,
    Holds,
    Ladder,
    Mask,
    RowCap,
    Rows,
    Rule,
    Show,
    Since,
    Until,
    When,
)


@dataclass(frozen=True, slots=True)
class Guard:
    """What stands between one field and its readers."""

    rule: Rule
    clip: Clip | None = None
    rows: Rows | None = None
    is_prose: bool = False
    is_notice: bool = False

    def hides_rows(self, grant: Grant | None) -> bool:
        """Whether some rows of this list are gone under a grant."""
        return self.rows is not None and not granted(grant).reaches(self.rows.visible_since)


@dataclass(frozen=True, slots=True)
class Place:
    """A list at the root of an answer: a field of a DTO class, or the whole answer, where `record` is empty."""

    record: str
    name: str
    key: str


WHOLE = Place("", "", "result")
"""The place of an answer that is a list itself."""


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The compiled form of a DTO type: its tree, and a guard for each field of each DTO class in it.

    `paged` is the list that answers hold in part only.
    """

    where: str
    declared: Declared
    policy: Policy | None
    guards: Mapping[tuple[str, str], Guard]
    paged: Place | None = None
    compiled: dict[Any, Any] = field(default_factory=dict, repr=False)

    @property
    def is_wrapped(self) -> bool:
        """Whether the value stands under the key `result`, because it is no JSON object of itself."""
        return not _is_object(self.declared.root)

    def rank(self, level: str) -> int:
        """The place of a level; 0 without a policy."""
        return self.policy.rank(level) if self.policy else 0

    def cap(self, record: Record) -> Field | None:
        """The field of a DTO class that caps its rows, if it has one."""
        return next((each for each in record.fields if isinstance(self.guard(record, each).rule, RowCap)), None)

    def guard(self, record: Record, field: Field) -> Guard:
        """The guard of one field."""
        return self.guards[record.key, field.name]


def decide(plan: Plan, record: Record, field: Field, grant: Grant | None) -> Action:
    """What happens to a field under a grant."""
    guard = plan.guard(record, field)
    action = _apply(plan, record, field, grant)
    return guard.clip if guard.clip and isinstance(action, Show) else action


def may_be_silent(plan: Plan, record: Record, field: Field, action: Action) -> bool:
    """Whether a field has no key where it holds nothing: a mask stands there whatever it holds."""
    return plan.guard(record, field).is_notice and not isinstance(action, Mask)


def outcomes(plan: Plan, record: Record, field: Field) -> frozenset[Action]:
    """All that can happen to a field, over every grant of the policy."""
    guard = plan.guard(record, field)
    shown: Action = guard.clip or Show()
    match guard.rule:
        case Since(level, below):
            return frozenset({shown} if level == _narrowest(plan) else {shown, below})
        case When(_, otherwise):
            return frozenset({shown, otherwise})
        case Until():
            return frozenset({shown, Drop()})
        case Derived():
            return frozenset({shown, Drop()})
        case Count():
            found = [outcomes(plan, *source) for source in sources(plan, record, guard.rule)]
            return _may_drop(shown, all(is_shown(action) for actions in found for action in actions))
        case RowCap():
            return frozenset({Show(), Drop()})
        case Ladder(steps):
            drops = set() if _narrowest(plan) in dict(steps) else {Drop()}
            return frozenset({*(action for _, action in steps), *drops})
        case Holds():
            return _may_drop(shown, any(Drop() not in outcomes(plan, *inner) for inner in _held(plan, field.node)))
        case _:
            return frozenset({decide(plan, record, field, None)})


def _may_drop(shown: Action, is_always_shown: bool) -> frozenset[Action]:
    return frozenset({shown} if is_always_shown else {shown, Drop()})


def _narrowest(plan: Plan) -> str | None:
    return plan.policy.levels[0] if plan.policy else None


def _apply(plan: Plan, record: Record, field: Field, grant: Grant | None) -> Action:
    match plan.guard(record, field).rule:
        case Always() | Show():
            return Show()
        case Mask() | Clip() | Coarsen() | Handle() as action:
            return action
        case RowCap():
            return Drop() if granted(grant).level == _narrowest(plan) else Show()
        case Ladder(steps):
            reached = [(plan.rank(level), action) for level, action in steps if granted(grant).reaches(level)]
            return max(reached, key=itemgetter(0))[1] if reached else Drop()
        case Count() as rule:
            told = all(is_shown(decide(plan, *source, grant)) for source in sources(plan, record, rule))
            return Show() if told else Drop()
        case Derived() as rule:
            return Show() if all(is_whole(plan, *source, grant) for source in sources(plan, record, rule)) else Drop()
        case Holds():
            told = any(decide(plan, *inner, grant) != Drop() for inner in _held(plan, field.node))
            return Show() if told else Drop()
        case Since(level, below):
            return Show() if granted(grant).reaches(level) else below
        case Until(level):
            return Drop() if granted(grant).reaches(level) else Show()
        case When(toggle, otherwise):
            return Show() if toggle in granted(grant).toggles else otherwise
        case _:
            return Drop()


def stands_in(plan: Plan, record: Record, field: Field, grant: Grant | None) -> bool:
    """Whether a field tells, in another way, what a grant shows of others: they are shown `Until` it takes over."""
    replaced = [
        each
        for each in record.fields
        if isinstance(rule := plan.guard(record, each).rule, Until) and rule.then == field.name
    ]
    return any(decide(plan, record, each, grant) == Show() for each in replaced)


def is_whole(plan: Plan, record: Record, field: Field, grant: Grant | None) -> bool:
    """Whether a field leaves as it is, with all that is inside it, whatever level some of its rows are held at."""
    return _is_whole(plan, record, field, grant, ())


def _is_whole(plan: Plan, record: Record, field: Field, grant: Grant | None, seen: tuple[str, ...]) -> bool:
    guard = plan.guard(record, field)
    if decide(plan, record, field, grant) != Show() or guard.hides_rows(grant):
        return False
    inner = [plan.declared.records[key] for key in references(field.node) if key not in seen]
    if any(plan.cap(each) for each in inner) and granted(grant).level != _narrowest(plan):
        return False
    return all(
        _is_whole(plan, each, part, grant, (*seen, each.key))
        for each in inner
        for part in each.fields
        if not isinstance(plan.guard(each, part).rule, Derived | Count | RowCap)
    )


def is_shown(action: Action) -> bool:
    """Whether the value itself leaves, whole or cut."""
    return isinstance(action, Show | Clip)


def sources(plan: Plan, record: Record, rule: Rule) -> list[tuple[Record, Field]]:
    """The fields that a derived value or a count is made from, with their DTO classes."""
    match rule:
        case Derived(names):
            paths = names
        case Count(path):
            paths = (path,)
        case _:
            paths = ()
    return [step for path in paths for step in steps(plan.declared, record, path)]


def _held(plan: Plan, node: Node, seen: frozenset[str] = frozenset()) -> Iterator[tuple[Record, Field]]:
    """The fields with rules of their own inside a node, however deep; derived ones tell nothing that these do not."""
    for key in set(references(node)) - seen:
        record = plan.declared.records[key]
        for inner in record.fields:
            match plan.guard(record, inner).rule:
                case Holds():
                    yield from _held(plan, inner.node, seen | {key})
                case Derived() | Count():
                    continue
                case _:
                    yield record, inner


def granted(grant: Grant | None) -> Grant:
    """The grant, which a shape with a policy always has.

    Raises:
        DefinitionError: There is none.
    """
    if grant is None:
        raise DefinitionError(
            "Grant", [Problem("grant", "this shape has a policy, so a grant is needed.", "Pass one.")]
        )
    return grant


def row_type(tree: Declared, node: Node) -> Record | None:
    """The DTO class of the rows of a list."""
    match node:
        case Nullable(inner) | Root(_, inner):
            return row_type(tree, inner)
        case Listing(items):
            return tree.records[items.key] if isinstance(items, Reference) else None
        case _:
            return None


def steps(tree: Declared, record: Record, path: str) -> Iterator[tuple[Record, Field]]:
    """The fields along a dotted path through lists of DTOs; ends early where a name is unknown."""
    owner: Record | None = record
    for name in path.split("."):
        step = owner.field(name) if owner else None
        if owner is None or step is None:
            return
        yield owner, step
        owner = row_type(tree, step.node)


def _is_object(node: Node) -> bool:
    return isinstance(node, Reference | Keyed) or (isinstance(node, Root) and _is_object(node.inner))
