"""How two answers differ: by what happens to each key, and line by line."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

from pydantic_core import to_json

from mcpshape._guards import Plan
from mcpshape._paths import Step, walk
from mcpshape.policy import Grant
from mcpshape.rules import Action, Clip, Coarsen, Drop, Handle, Mask, Show, Until

# Of more lines the comparison would take minutes, and nobody reads it.
_MOST_LINES = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A key that is told in another way: what happens to it here and there, in words.

    `is_wider` says whether more is told here; where neither tells more than the other, it does as well.
    """

    path: str
    here: str
    there: str
    is_wider: bool


@dataclass(frozen=True, slots=True)
class Line:
    """A line of each text, side by side; `None` where one has no such line."""

    here: str | None
    there: str | None

    @property
    def is_same(self) -> bool:
        """Whether both have it."""
        return self.here == self.there


def list_changes(plan: Plan, here: Grant | None, there: Grant | None) -> list[Change]:
    """The keys to which two grants do different things, by their paths."""
    before = {step.path: step for step in walk(plan, there)}
    after = {step.path: step for step in walk(plan, here)}
    changes = (_change(path, after.get(path), before.get(path)) for path in sorted(before.keys() | after.keys()))
    return [change for change in changes if change]


def _change(path: str, here: Step | None, there: Step | None) -> Change | None:
    """What differs at a path; a step that is missing is inside of something that is withheld."""
    words = [_name(step) for step in (here, there)]
    if words[0] == words[1]:
        return None
    width, other = _width(here), _width(there)
    is_wider = width > other or width == other == _ALTERED
    return Change(path=path, here=words[0], there=words[1], is_wider=is_wider)


def _name(step: Step | None) -> str:
    match step:
        case None:
            return name_action(Drop())
        case Step(path, Until(_, then), Drop()):
            holder, dot, _ = path.rpartition(".")
            return f"told as {holder}{dot}{then}"
        case _:
            return name_action(step.action)


def name_action(action: Action) -> str:
    """What happens to a key, in words."""
    match action:
        case Drop():
            return "withheld"
        case Mask(value):
            return f"masked as {value if isinstance(value, str) else to_json(value, fallback=str).decode()}"
        case Clip(length):
            return f"cut to {length} characters"
        case Coarsen(step):
            return f"coarsened to {step}"
        case Handle(kind):
            return f"an opaque id of the kind {kind}"
        case _:
            return "told"


_ALTERED, _TOLD = 2, 3


def _width(step: Step | None) -> int:
    """How much is told, roughly."""
    match step:
        case Step(_, Until(), Drop()) | Step(_, _, Show()):
            return _TOLD
        case Step(_, _, Mask()):
            return 1
        case None | Step(_, _, Drop()):
            return 0
        case _:
            return _ALTERED


def compare_lines(here: str, there: str) -> list[Line]:
    """Two texts side by side."""
    one, other = here.splitlines(), there.splitlines()
    if max(len(one), len(other)) > _MOST_LINES:
        return [Line(*pair) for pair in zip_longest(one, other)]
    return list(_aligned(one, other))


def _aligned(one: list[str], other: list[str]) -> Iterator[Line]:
    for _, start, end, first, last in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        yield from (Line(*pair) for pair in zip_longest(one[start:end], other[first:last]))


def find_first(data: Any, path: str) -> Any:
    """The first value at a dotted path of a view that is not null; `None` where there is none."""
    if not path:
        return data
    if isinstance(data, list):
        return next((found for each in data if (found := find_first(each, path)) is not None), None)
    key, _, rest = path.partition(".")
    return find_first(data[key], rest) if isinstance(data, Mapping) and key in data else None
