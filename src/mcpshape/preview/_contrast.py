"""How two answers differ: by what happens to each key, and line by line."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

from pydantic_core import to_json

from mcpshape._guards import WHOLE, Plan
from mcpshape._nodes import Choice, Converted, Keyed, Listing, Node, Nullable, Positions, Reference, Root, Scalar, parts
from mcpshape._paths import Step, walk
from mcpshape._telling import name_form, tells_no_more
from mcpshape.policy import Grant
from mcpshape.rules import Action, Drop, Mask, Until

# Of more lines the comparison would take minutes, and nobody reads it.
_MOST_LINES = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A key that is told in another way: what happens to it here and there, in words.

    `is_wider` says whether more is told here; where neither tells more than the other, it does as well. `is_of_rows`
    says that it is about the rows of a list that is told either way, `holds_dtos` that there is nothing at the key but
    DTOs, whose keys are told of as well.
    """

    path: str
    here: str
    there: str
    is_wider: bool
    is_of_rows: bool = False
    holds_dtos: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A line of each text, side by side; `None` where one has no such line."""

    here: str | None
    there: str | None

    @property
    def is_same(self) -> bool:
        """Whether both have it."""
        return self.here == self.there


Steps = Mapping[tuple[str, str], Step]
"""The fields of a plan under one grant, by their paths and the keys of their DTO classes."""


def list_changes(plan: Plan, here: Grant | None, there: Grant | None) -> list[Change]:
    """The keys to which two grants do different things, by their paths."""
    after, before = ({(step.path, step.record): step for step in walk(plan, grant)} for grant in (here, there))
    found = (_compare(plan, place, after, before) for place in sorted(before.keys() | after.keys()))
    return list(dict.fromkeys(change for change in found if change))


def _compare(plan: Plan, place: tuple[str, str], after: Steps, before: Steps) -> Change | None:
    """What differs at a place; a step that is missing is inside of something that is withheld."""
    here, there = after.get(place), before.get(place)
    words = [name_action(step.action if step else Drop()) for step in (here, there)]
    actions = [step.action if step else Drop() for step in (here, there)]
    for index, steps in enumerate((after, before)):
        if (successor := _find_successor(plan, place, steps)) is not None:
            words[index], actions[index] = f"told as {successor.path}", successor.action
    if words[0] != words[1]:
        holds_dtos = not any(step.is_cut or _holds_values(step.node) for step in (here, there) if step)
        return Change(
            path=place[0], here=words[0], there=words[1], is_wider=not tells_no_more(*actions), holds_dtos=holds_dtos
        )
    if here and there and here.gone != there.gone and not isinstance(here.action, Drop):
        rows = [name_rows(step.gone) for step in (here, there)]
        return Change(path=place[0], here=rows[0], there=rows[1], is_wider=here.gone is None, is_of_rows=True)
    return None


def _holds_values(node: Node) -> bool:
    """Whether there is anything in a node that is not inside of a DTO: a value, or a key that is data."""
    return isinstance(node, Scalar) or any(map(_holds_values, parts(node)))


def _find_successor(plan: Plan, place: tuple[str, str], steps: Steps) -> Step | None:
    """The field that has taken over from one at a place, if one has."""
    path, key = place
    match steps.get(place):
        case Step(_, Until(_, then), Drop()):
            successor = plan.declared.records[key].field(then)
            holder, dot, _ = path.rpartition(".")
            return steps.get((f"{holder}{dot}{successor.key}", key)) if successor else None
        case _:
            return None


def name_rows(gone: str | None) -> str:
    """Which rows of a list are told, in words."""
    return f"without rows where {gone} is true" if gone else "all rows"


def name_action(action: Action) -> str:
    """What happens to a key, in words."""
    match action:
        case Drop():
            return "withheld"
        case Mask(value):
            return f"masked as {value if isinstance(value, str) else to_json(value, fallback=str).decode()}"
        case _:
            return name_form(action) or "told"


def compare_lines(here: str, there: str) -> list[Line]:
    """Two texts side by side."""
    one, other = here.splitlines(), there.splitlines()
    if max(len(one), len(other)) > _MOST_LINES:
        return [Line(*pair) for pair in zip_longest(one, other)]
    return list(_aligned(one, other))


def _aligned(one: list[str], other: list[str]) -> Iterator[Line]:
    # Lines that occur often are no anchors in a long text, or comparing a few hundred of them would take a minute.
    for _, start, end, first, last in SequenceMatcher(None, one, other, autojunk=True).get_opcodes():
        yield from (Line(*pair) for pair in zip_longest(one[start:end], other[first:last]))


def collect_values(plan: Plan, data: Mapping[str, Any]) -> dict[str, list[Any]]:
    """All values in the data of a view by the paths of their fields; what recurs counts as where it was first."""
    found: dict[str, list[Any]] = {}
    root = data.get(WHOLE.key) if plan.is_wrapped else data
    for path, value in _visit(plan, plan.declared.root, root, "", {}):
        found.setdefault(path, []).append(value)
    return found


def _visit(plan: Plan, node: Node, value: Any, path: str, seen: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    match node:
        case Reference(key) if isinstance(value, Mapping):
            path = seen.get(key, path)
            for field in plan.declared.records[key].fields:
                if field.key in value:
                    yield f"{path}{field.key}", value[field.key]
                    yield from _visit(plan, field.node, value[field.key], f"{path}{field.key}.", {**seen, key: path})
        case Keyed(_, values) if isinstance(value, Mapping):
            for each in value.values():
                yield from _visit(plan, values, each, path, seen)
        case Listing(items) if isinstance(value, list):
            for each in value:
                yield from _visit(plan, items, each, path, seen)
        case Positions(nodes) if isinstance(value, list):
            for inner, each in zip(nodes, value, strict=False):
                yield from _visit(plan, inner, each, path, seen)
        case Nullable() | Root() | Converted() | Choice():
            for inner in parts(node):
                yield from _visit(plan, inner, value, path, seen)
        case _:
            return
