"""How two answers differ: by what happens to each key, and line by line."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

from pydantic_core import to_json

from mcpshape._guards import Plan
from mcpshape._paths import walk_actions
from mcpshape.policy import Grant
from mcpshape.rules import Action, Clip, Coarsen, Drop, Handle, Mask, Show

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
    actions = [dict(walk_actions(plan, grant)) for grant in (here, there)]
    return [
        Change(
            path=path,
            here=name_action(one),
            there=name_action(other),
            is_wider=_width(one) >= _width(other),
        )
        for path in sorted(actions[0].keys() | actions[1].keys())
        if (one := actions[0].get(path, Drop())) != (other := actions[1].get(path, Drop()))
    ]


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


def _width(action: Action) -> int:
    match action:
        case Drop():
            return 0
        case Mask():
            return 1
        case Show():
            return 3
        case _:
            return 2


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
