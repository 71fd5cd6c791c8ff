"""Compiles a DTO type and a policy into a plan, and finds every mistake that can be seen without a value."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic_core import SchemaValidator, ValidationError

from mcpshape._coarse import fits
from mcpshape._declared import read_type
from mcpshape._guards import Guard, Plan, decide, is_shown, row_type, sources, steps
from mcpshape._layout import make_layout
from mcpshape._nodes import (
    Choice,
    Converted,
    Declared,
    Field,
    Kind,
    Listing,
    Node,
    Nullable,
    Record,
    Root,
    Scalar,
    parts,
)
from mcpshape.errors import DefinitionError, Problem
from mcpshape.policy import Grant, Policy
from mcpshape.rules import (
    RULES,
    Action,
    Always,
    Clip,
    Coarsen,
    Count,
    Derived,
    Handle,
    Holds,
    Ladder,
    Mask,
    Never,
    Prose,
    RowCap,
    Rows,
    Rule,
    Since,
    Until,
    When,
)


def compile_plan(declared: Any, policy: Policy | None, where: str) -> Plan:
    """Compile a declared type under a policy.

    Raises:
        DefinitionError: Something in the type is untyped, has no rule under the policy, or has a rule that cannot hold.
    """
    tree, problems = read_type(declared, where)
    foreign = policy.foreign if policy else {}
    guards: dict[tuple[str, str], Guard] = {}
    for record in tree.records.values():
        foreign_rules = foreign.get(record.cls, {})
        problems += _unknown_fields(record, foreign_rules)
        for each in record.fields:
            guard = _make_guard(each, foreign_rules.get(each.name), policy)
            guards[record.key, each.name] = guard if isinstance(guard, Guard) else Guard(Never())
            found = [guard] if isinstance(guard, Problem) else _guard_problems(tree, record, each, guard, policy)
            problems += [Problem(f"{record.name}.{each.name}", found.message, found.remedy) for found in found]
    prose = {place for place, guard in guards.items() if guard.is_prose}
    plan = Plan(where, tree, policy, guards, make_layout(tree, prose))
    problems += [] if problems else _dependency_problems(plan)
    if policy and _holds_values(tree.root):
        problems.append(Problem("the returned type", "it holds values without a rule.", "Return a DTO with rules."))
    if problems:
        raise DefinitionError(where, dict.fromkeys(problems))
    return plan


def _make_guard(field: Field, foreign: Rule | None, policy: Policy | None) -> Guard | Problem:
    """The guard of a field, or the one problem that keeps it from having one."""
    own: list[Rule | Rows] = [marker for marker in field.markers if isinstance(marker, RULES)]
    if any(isinstance(marker, type) and issubclass(marker, RULES) for marker in field.markers):
        return Problem("", "a rule is named but not made.", "Write it with parentheses, as in Always().")
    if own and foreign is not None:
        return Problem("", "it has a rule of its own and one from the policy.", "Keep one of them.")
    found = [foreign] if foreign is not None else own
    rows = next((rule for rule in found if isinstance(rule, Rows)), None)
    rules = [rule for rule in found if not isinstance(rule, Rows)]
    clip = next((rule for rule in rules if isinstance(rule, Clip)), None) if len(rules) > 1 else None
    rules = [rule for rule in rules if rule is not clip]
    if len(rules) > 1:
        return Problem("", "it has more than one rule.", "Keep one; only a Clip or Rows may stand beside it.")
    if not rules and policy and _holds_values(field.node):
        return Problem("", "it has no rule.", "Add Always(), Since(level), When(toggle) or Never().")
    default = Holds() if policy else Always()
    is_prose = any(isinstance(marker, Prose) for marker in field.markers)
    return Guard(rules[0] if rules else default, clip, rows, is_prose)


def _guard_problems(tree: Declared, record: Record, field: Field, guard: Guard, policy: Policy | None) -> list[Problem]:
    problems = [*_name_problems(guard, policy), *_source_problems(tree, record, field, guard, policy)]
    return problems + [problem for action in _actions(guard) for problem in _action_problems(field.node, action)]


def _actions(guard: Guard) -> Iterator[Action]:
    match guard.rule:
        case Mask() | Clip() | Coarsen() | Handle() as action:
            yield action
        case Since(_, action) | When(_, action):
            yield action
        case Ladder(steps_up):
            yield from (action for _, action in steps_up)
        case _:
            pass
    if guard.clip:
        yield guard.clip


def _action_problems(node: Node, action: Action) -> Iterator[Problem]:
    match action:
        case Mask(value) if not _fits(node, value):
            yield Problem("", "its mask does not fit its type.", "Use a mask of the declared type.")
        case Clip(length) if length < 1 or not _is_kind(node, {Kind.TEXT}):
            yield Problem("", "a Clip cuts one text, to at least one character.", "Put it on a text field.")
        case Coarsen(step) if not all(fits(step, kind) for kind in _schema_kinds(node)):
            remedy = 'Use "15min", "hour", "day", "week" or "month" for times, a number for numbers.'
            yield Problem("", f"its type cannot be rounded to {step!r}.", remedy)
        case Handle() if not _is_kind(node, {Kind.TEXT, Kind.STRING, Kind.OTHER}):
            yield Problem("", "a Handle stands for one id.", "Put it on a text field.")
        case _:
            pass


def _name_problems(guard: Guard, policy: Policy | None) -> Iterator[Problem]:
    """Levels and toggles that a guard names and the policy does not have."""
    levels: list[str] = [guard.rows.visible_since] if guard.rows else []
    toggles: list[str] = []
    match guard.rule:
        case Since(name) | Until(name):
            levels.append(name)
        case Ladder(steps_up):
            levels += [name for name, _ in steps_up]
        case When(name):
            toggles.append(name)
        case _:
            pass
    if policy is None and (levels or toggles or isinstance(guard.rule, RowCap)):
        yield Problem("", "its rule needs levels, but the shape has no policy.", "Pass the policy to Shape.")
        return
    for what, names, known in (("level", levels, _levels(policy)), ("toggle", toggles, _toggles(policy))):
        for name in names:
            if name not in known:
                yield Problem("", f"there is no {what} {name!r}.", f"Choose one of: {', '.join(known)}.")


def _levels(policy: Policy | None) -> tuple[str, ...]:
    return policy.levels if policy else ()


def _toggles(policy: Policy | None) -> tuple[str, ...]:
    return tuple(policy.toggles) if policy else ()


def _source_problems(
    tree: Declared, record: Record, field: Field, guard: Guard, policy: Policy | None
) -> Iterator[Problem]:
    """Fields that a guard names and the DTO does not have."""
    if guard.rows:
        rows = row_type(tree, field.node)
        if rows is None or rows.field(guard.rows.when) is None:
            yield Problem(
                "", f"its rows have no field {guard.rows.when!r}.", "Put Rows on a list of DTOs that have it."
            )
    match guard.rule:
        case RowCap():
            yield from _cap_problems(field.node, policy)
        case Derived(()):
            yield Problem("", "it is derived from nothing.", "Name its sources.")
        case Derived(names):
            yield from (_unknown_source(name) for name in names if record.field(name) is None)
        case Until(_, then) if record.field(then) is None:
            yield _unknown_source(then)
        case Count(path):
            found = list(steps(tree, record, path))
            if len(found) < len(path.split(".")):
                yield _unknown_source(path)
            elif not isinstance(_bare(found[-1][1].node), Listing):
                yield Problem("", f"{path} is no list, so it has no rows to count.", "Count a list.")
        case _:
            return


def _cap_problems(node: Node, policy: Policy | None) -> Iterator[Problem]:
    match node:
        case Nullable(inner):
            yield from _cap_problems(inner, policy)
        case Choice(options):
            for option in options:
                yield from _cap_problems(option, policy)
        case Scalar(_, {"type": "literal", "expected": expected}):
            for name in expected:
                if policy and name not in policy.levels:
                    yield Problem("", f"{name!r} is no level.", f"Choose from: {', '.join(policy.levels)}.")
        case Scalar(_, {"type": "str" | "enum"}):
            return
        case _:
            yield Problem("", "a RowCap holds the name of a level, or None.", "Declare str | None or a Literal.")


def _unknown_source(name: str) -> Problem:
    return Problem("", f"it names the field {name!r}, which does not exist.", "Name a field of the same DTO.")


def _unknown_fields(record: Record, rules: Mapping[str, Rule]) -> list[Problem]:
    unknown = [name for name in rules if record.field(name) is None]
    return [
        Problem(f"{record.name}.{name}", "the policy has a rule for it, but no such field.", "Mend the name.")
        for name in unknown
    ]


def _dependency_problems(plan: Plan) -> list[Problem]:
    """Mistakes that need a sound plan to be seen: circles of sources, and an Until that nothing takes over from."""
    places = [(record, each) for record in plan.declared.records.values() for each in record.fields]
    circles = [place for place in places if _is_circular(plan, *place, ())]
    if circles:
        message, remedy = "it is derived from itself.", "Break the circle."
        return [Problem(f"{record.name}.{each.name}", message, remedy) for record, each in circles]
    message, remedy = "what takes over is not shown from that level on.", "Widen its rule."
    lost = [
        (record, each) for record, each in places if not _is_taken_over(plan, record, plan.guard(record, each).rule)
    ]
    return [Problem(f"{record.name}.{each.name}", message, remedy) for record, each in lost]


def _is_circular(plan: Plan, record: Record, field: Field, seen: tuple[Field, ...]) -> bool:
    found = sources(plan, record, plan.guard(record, field).rule)
    return field in seen or any(_is_circular(plan, *source, (*seen, field)) for source in found)


def _is_taken_over(plan: Plan, record: Record, rule: Rule) -> bool:
    successor = record.field(rule.then) if isinstance(rule, Until) else None
    if not isinstance(rule, Until) or successor is None or plan.policy is None:
        return True
    wider = plan.policy.levels[plan.policy.rank(rule.level) :]
    bare = (Grant(level, frozenset(), plan.policy) for level in wider)
    return all(is_shown(decide(plan, record, successor, grant)) for grant in bare)


def _bare(node: Node) -> Node:
    return _bare(node.inner) if isinstance(node, Nullable | Root) else node


def _holds_values(node: Node) -> bool:
    """Whether a node holds values that no rule inside it guards: anything but DTO classes."""
    return isinstance(node, Scalar) or any(_holds_values(inner) for inner in parts(node))


def _is_kind(node: Node, kinds: set[Kind]) -> bool:
    """Whether a node is one scalar of these kinds, or null."""
    match node:
        case Nullable(inner) | Root(_, inner) | Converted(_, inner):
            return _is_kind(inner, kinds)
        case Scalar(kind, _):
            return kind in kinds
        case _:
            return False


def _schema_kinds(node: Node) -> list[str]:
    match node:
        case Nullable(inner):
            return _schema_kinds(inner)
        case Choice(options):
            return [kind for option in options for kind in _schema_kinds(option)]
        case Scalar(_, schema):
            return [schema["type"]]
        case _:
            return [""]


def _fits(node: Node, value: Any) -> bool:
    match node:
        case Nullable(inner):
            return value is None or _fits(inner, value)
        case Root(_, inner) | Converted(_, inner):
            return _fits(inner, value)
        case Choice(options):
            return any(_fits(option, value) for option in options)
        case Scalar(_, schema):
            try:
                SchemaValidator(schema).validate_python(value)
            except ValidationError:
                return False
            return True
        case _:
            return False
