"""What can be wrong with the guard of a field, each with its remedy."""

from collections.abc import Iterator
from typing import Any

from pydantic_core import SchemaValidator, ValidationError

from mcpshape._coarse import fits
from mcpshape._constants import is_exact
from mcpshape._guards import Guard, row_type, steps
from mcpshape._nodes import (
    Choice,
    Converted,
    Declared,
    Field,
    Keyed,
    Kind,
    Listing,
    Node,
    Nullable,
    Record,
    Root,
    Scalar,
    may_be_none,
)
from mcpshape.errors import Problem
from mcpshape.policy import Policy
from mcpshape.rules import (
    ACTIONS,
    Action,
    Clip,
    Coarsen,
    Count,
    Derived,
    Handle,
    Ladder,
    Mask,
    RowCap,
    Since,
    Until,
    When,
)


def guard_problems(tree: Declared, record: Record, field: Field, guard: Guard, policy: Policy | None) -> list[Problem]:
    problems = [*_name_problems(guard, policy), *_source_problems(tree, record, field, guard, policy)]
    problems += _notice_problems(field, guard) if guard.is_notice else ()
    return problems + [problem for action in actions_of(guard) for problem in _action_problems(field.node, action)]


def actions_of(guard: Guard) -> Iterator[Action]:
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
        case _ if not isinstance(action, ACTIONS):
            yield Problem("", f"{action!r} is no action.", "Use one, such as Drop() or Mask(value).")
        case Mask(value) if not _fits(node, value):
            yield Problem("", "its mask does not fit its type.", "Use a mask of the declared type.")
        case Mask(value) if not is_exact(value):
            remedy = "Use text without invisible characters, or a number up to 2^53."
            yield Problem("", "its mask cannot be written as it is.", remedy)
        case Clip(length) if length < 1 or not _is_kind(node, {Kind.TEXT}):
            yield Problem("", "a Clip cuts one text, to at least one character.", "Put it on a text field.")
        case Coarsen(step) if not all(fits(step, kind) for kind in _schema_kinds(node)):
            remedy = 'Use "15min", "hour", "day", "week" or "month" for times, a number for numbers.'
            yield Problem("", f"its type cannot be rounded to {step!r}.", remedy)
        case Handle() if not _is_kind(node, {Kind.TEXT}):
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
        bare = field.node.inner if isinstance(field.node, Nullable) else field.node
        rows = row_type(tree, field.node) if isinstance(bare, Listing) else None
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


def _notice_problems(field: Field, guard: Guard) -> Iterator[Problem]:
    if isinstance(guard.rule, Count | RowCap):
        yield Problem("", "a notice holds what the tool says, not what the shape fills in.", "Leave out Notice().")
    elif not (field.is_optional_key or _may_be_empty(field.node)):
        message, remedy = "it always holds something.", "Declare a list, a dict, a text or | None for a Notice()."
        if isinstance(field.node, Converted):
            message = "its serializer decides whether a notice holds something."
            remedy = 'Leave the serializer out, or declare | None and when_used="unless-none".'
        yield Problem("", message, remedy)


def _may_be_empty(node: Node) -> bool:
    """Whether a value in Python may be none, or an empty text, array or object."""
    match node:
        case Nullable() | Listing() | Keyed() | Scalar(Kind.TEXT | Kind.BYTES):
            return True
        case Scalar(_, schema):
            return may_be_none(node) or "" in schema.get("expected", ())
        case Root(_, inner):
            return _may_be_empty(inner)
        case Choice(options):
            return any(map(_may_be_empty, options))
        case _:
            return False


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


def _bare(node: Node) -> Node:
    return _bare(node.inner) if isinstance(node, Nullable | Root) else node
