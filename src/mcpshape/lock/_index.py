"""A lock by tool or resource and path, to look up what becomes of a path under a grant."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

from mcpshape.lock._lock import Kind, Lock, Step
from mcpshape.lock._outcome import WITHHELD, Outcome, join

Answer = tuple[Kind, str]
Levels = dict[str | None, tuple[Step, ...]]


@dataclass(frozen=True, slots=True)
class Index:
    """A lock and its steps, by what they are about and the level at which they begin to hold."""

    lock: Lock
    answers: Mapping[Answer, Mapping[str, Levels]]

    @property
    def levels(self) -> tuple[str | None, ...]:
        """The levels, or the one that stands for having none."""
        return self.lock.levels or (None,)

    def steps(self, answer: Answer, path: str, level: str | None) -> tuple[Step, ...]:
        """The steps of a path that hold at a level."""
        levels = self.answers.get(answer, {}).get(path, {})
        reached = [each for each in levels if self.lock.rank(each) <= self.lock.rank(level)]
        return levels[max(reached, key=self.lock.rank)] if reached else ()

    def outcome(self, answer: Answer, path: str, level: str | None, toggles: frozenset[str]) -> Outcome:
        """What becomes of a path at a level with some toggles on."""
        found = (step.outcome for step in self.steps(answer, path, level) if step.toggles <= toggles)
        return reduce(join, found, WITHHELD)

    def peer(self, other: Lock, level: str | None) -> str | None:
        """The level of this lock that one of another lock is held against: the same one or its narrower neighbour."""
        if not self.lock.levels:
            return None
        known = [each for each in other.levels[: other.rank(level) + 1] if each in self.lock.levels]
        return known[-1] if known else self.lock.levels[0]


def index(lock: Lock) -> Index:
    """Look through a lock once."""
    answers: dict[Answer, dict[str, Levels]] = {}
    for step in lock.steps:
        levels = answers.setdefault((step.kind, step.name), {}).setdefault(step.path, {})
        levels[step.level] = (*levels.get(step.level, ()), step)
    return Index(lock, answers)
