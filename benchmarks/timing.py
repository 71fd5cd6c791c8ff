"""How subjects are timed: in turn, round by round, so that a slow moment of the machine slows all of them.

What counts is the time that the processor spends on this process, not the time that goes by, so that other work on the
machine is not counted. All subjects compute and none waits, so on a quiet machine the two are the same.
"""

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median, quantiles
from time import process_time

Repeat = Callable[[int], float | None]
"""Does the same job so many times; says what that took where it was done by another process."""

LEAST = 0.002


@dataclass(frozen=True, slots=True)
class Spread:
    """The middle of some figures, and the quarters around it."""

    figure: float
    low: float
    high: float

    def __mul__(self, factor: float) -> "Spread":
        return Spread(self.figure * factor, self.low * factor, self.high * factor)


def spread(figures: Sequence[float]) -> Spread:
    """The median and the quartiles; of a single figure that one."""
    low, _, high = quantiles(figures, n=4, method="inclusive") if len(figures) > 1 else [figures[0]] * 3
    return Spread(median(figures), low, high)


@dataclass(frozen=True, slots=True)
class Race:
    """The seconds that each subject took in each round."""

    times: Mapping[str, Sequence[float]]

    def seconds(self, name: str) -> Spread:
        """What a subject takes."""
        return spread(self.times[name])

    def ratio(self, name: str, base: str) -> Spread:
        """What a subject takes of what another one takes in the same round."""
        return spread([own / other for own, other in zip(self.times[name], self.times[base], strict=True)])

    def beyond(self, name: str, base: str) -> Spread:
        """The seconds that a subject takes beyond another one in the same round."""
        return spread([own - other for own, other in zip(self.times[name], self.times[base], strict=True)])


def repeated(job: Callable[[], object]) -> Repeat:
    """A job that is done so many times."""

    def repeat(number: int) -> None:
        for _ in range(number):
            job()

    return repeat


def race(subjects: Mapping[str, Repeat], rounds: int, *, least: float = LEAST) -> Race:
    """Time subjects in turn, each round beginning with another one.

    Garbage is collected between the measurements and never inside of one.

    Args:
        subjects: What is timed, by name.
        rounds: How often.
        least: The seconds that one measurement lasts at least; what is quicker is done several times in it.
    """
    names = list(subjects)
    with _no_garbage():
        numbers = {name: _number(subjects[name], least) for name in names}
        times: dict[str, list[float]] = {name: [] for name in names}
        for place in range(rounds):
            start = place % len(names)
            for name in names[start:] + names[:start]:
                gc.collect()
                times[name].append(_measure(subjects[name], numbers[name]))
    return Race(times)


def _number(subject: Repeat, least: float) -> int:
    """How often a subject is run for one measurement, once it has done what only a first time costs."""
    _measure(subject, 1)
    number = 1
    while number < 1 << 20 and (taken := _measure(subject, number) * number) < least:
        number = max(number * 2, int(number * least / max(taken, least / 10)))
    return number


def _measure(subject: Repeat, number: int) -> float:
    started = process_time()
    elsewhere = subject(number)
    return (process_time() - started if elsewhere is None else elsewhere) / number


@contextmanager
def _no_garbage() -> Iterator[None]:
    """Nothing is collected by itself, and what is there already is not looked through again."""
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()
