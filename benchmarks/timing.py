"""How subjects are timed: each in turn, round by round, so that a slow machine slows all of them."""

from collections.abc import Callable, Mapping
from statistics import median
from time import perf_counter


def time_in_turn(subjects: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The median seconds of each subject, without the first round."""
    times: dict[str, list[float]] = {name: [] for name in subjects}
    for _ in range(rounds):
        for name, subject in subjects.items():
            started = perf_counter()
            subject()
            times[name].append(perf_counter() - started)
    return {name: median(taken[1:]) for name, taken in times.items()}
