"""A disclosure lock: what leaves of each path at each level, as a value and as a text for reviews."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from mcpshape.lock._outcome import Outcome
from mcpshape.policy import Policy, Toggle
from mcpshape.rules import Clip, Coarsen, Drop, Handle, Mask

FORMAT = 1
HEADER = "mcpshape-lock"
NO_LEVEL = "-"
BARE = re.compile(r"\w[\w-]*")
_COMMENT = "# What leaves of each path from a level on, until the next line of that path at another level."

Kind = Literal["tool", "resource"]


@dataclass(frozen=True, slots=True)
class Setting:
    """The level and the toggles that a shape has unless somebody sets others."""

    level: str
    toggles: frozenset[str]


@dataclass(frozen=True, slots=True)
class Step:
    """What becomes of a path from a level on while some toggles are on; `level` is `None` without a policy.

    All steps of a path at one level take the place of those at narrower levels. With the toggles of several of them on,
    the widest counts; with those of none, the path is withheld.
    """

    kind: Kind
    name: str
    path: str
    level: str | None
    outcome: Outcome
    toggles: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """Everything that a shape can let out.

    Args:
        levels: The levels, the narrowest first; none without a policy.
        toggles: The toggles by name.
        setting: What holds unless somebody sets something else.
        steps: What becomes of the paths of each tool and resource.
    """

    levels: tuple[str, ...] = ()
    toggles: Mapping[str, Toggle] = field(default_factory=dict)
    setting: Setting | None = None
    steps: frozenset[Step] = frozenset()

    @property
    def policy(self) -> Policy | None:
        """The levels and toggles, without rules for fields."""
        return Policy(levels=self.levels, toggles=self.toggles) if self.levels else None

    def rank(self, level: str | None) -> int:
        """The place of a level, 0 for the narrowest."""
        return self.levels.index(level) if level is not None else 0

    def text(self) -> str:
        """The lock as a file holds it: sorted, each thing on a line of its own."""
        lines = [
            f"{HEADER} {FORMAT}",
            _COMMENT,
            *self._policy_lines(),
            *map(_line, sorted(self.steps, key=self._place)),
        ]
        return "\n".join(lines) + "\n"

    def _policy_lines(self) -> Iterator[str]:
        if self.levels:
            yield _joined("levels", *map(word, self.levels))
        if self.setting:
            yield _joined("setting", word(self.setting.level), *_sorted(self.setting.toggles))
        for name, each in sorted(self.toggles.items()):
            needs = ("requires", word(each.requires)) if each.requires is not None else ()
            yield _joined("toggle", word(name), "on", word(each.on_since), "offered", word(each.offered_since), *needs)

    def _place(self, step: Step) -> tuple[str, str, str, int, list[str]]:
        return step.kind, step.name, step.path, self.rank(step.level), sorted(step.toggles)


def few_toggles(step: Step) -> tuple[int, list[str]]:
    """An order in which the step that needs the fewest toggles comes first."""
    return len(step.toggles), sorted(step.toggles)


def word(text: str) -> str:
    """A name as it stands in a lock: in quotes where it could be taken for something else."""
    return text if BARE.fullmatch(text) else quoted(text)


def quoted(value: Any) -> str:
    """A value as JSON in which everything can be seen."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isprintable() else json.dumps(value)


def _line(step: Step) -> str:
    level = NO_LEVEL if step.level is None else word(step.level)
    when = ("when", *_sorted(step.toggles)) if step.toggles else ()
    return _joined(step.kind, word(step.name), step.path, level, *_words(step.outcome), *when)


def _words(outcome: Outcome) -> Iterator[str]:
    match outcome.action:
        case Mask(value):
            yield from ("mask", quoted(value))
        case Clip(length):
            yield from ("clip", str(length))
        case Coarsen(step):
            yield from ("coarsen", word(step) if isinstance(step, str) else str(step))
        case Handle(kind):
            yield from ("handle", word(kind))
        case Drop():
            yield "drop"
        case _:
            yield "show"
    if outcome.without is not None:
        yield from ("without", word(outcome.without))
    if outcome.capped is not None:
        yield from ("capped", word(outcome.capped))


def _sorted(names: Iterable[str]) -> list[str]:
    return [word(name) for name in sorted(names)]


def _joined(*words: str) -> str:
    return " ".join(words)
