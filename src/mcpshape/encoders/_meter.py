"""How long a template may run and how much it may write, counted while it runs."""

from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import monotonic
from typing import Any

from mcpshape._holding import Holding

_HIGHEST_BITS = 256
# What C takes at most for one entry, in seconds, and how much text it compares or copies in that time.
_STEP, _TEXT_IN_A_STEP = 5e-8, 64


class LimitError(Exception):
    """A template ran longer or wrote more than it may."""


@dataclass(slots=True)
class Meter:
    """What the templates of one answer have used, of what they may.

    Args:
        seconds: The time left.
        characters: The room left, in characters of text and in entries of arrays.
    """

    seconds: float
    characters: int
    ends: float = 0.0

    def spend(self, amount: int = 0) -> None:
        """Take room for some more characters or entries, and see that there is time left.

        Raises:
            LimitError: There is none.
        """
        self.characters -= amount
        if self.characters < 0:
            raise LimitError("it writes more than it may")
        self.await_steps(0)

    def await_steps(self, steps: float) -> None:
        """See that there is time left for some steps in C, which nothing can stop.

        Raises:
            LimitError: There is none.
        """
        if monotonic() + steps * _STEP > self.ends:
            raise LimitError("it takes longer than it may")

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count while a template runs."""
        self.ends = monotonic() + self.seconds
        try:
            with Holding(_METER, self):
                yield
        finally:
            self.seconds = self.ends - monotonic()


_SIZED = (str, list, tuple, dict, range)
_METER: ContextVar[Meter | None] = ContextVar("mcpshape_meter", default=None)


def spend(amount: int = 0) -> None:
    """Take room from the meter of the template that runs, if one does."""
    if meter := _METER.get():
        meter.spend(amount)


def counted(entries: Iterable[Any]) -> Iterator[Any]:
    """The entries, each of them counted when it is taken."""
    for entry in entries:
        spend(1)
        yield entry


def entries_of(value: Any) -> Iterable[Any]:
    """What there is to go through in a value, each of it counted; nothing in null."""
    return () if value is None else counted(value)


def timed(value: Any, times: int = 1) -> Any:
    """The same value, once there is time to go through all that is in it, however deep, so many times."""
    meter, steps = _METER.get(), 0
    pending = [value] if meter and isinstance(value, _SIZED) else []
    while meter and pending:
        each = pending.pop()
        steps += 1 + (len(each) // _TEXT_IN_A_STEP if isinstance(each, str) else len(each))
        meter.await_steps(steps * times)
        inner = each.values() if isinstance(each, dict) else each if isinstance(each, list | tuple) else ()
        pending.extend(part for part in inner if isinstance(part, _SIZED))
    return value


def weighed(value: Any) -> Any:
    """The same value, once there is room for all that is in it, however deep."""
    pending = [value] if _METER.get() else []
    while pending:
        each = pending.pop()
        spend(1 + (len(each) if isinstance(each, Sized) else 0))
        inner = each.values() if isinstance(each, dict) else each if isinstance(each, list | tuple) else ()
        pending.extend(inner)
    return value


def bounded(operator: str, left: Any, right: Any) -> None:
    """See that an operation makes nothing huge.

    Raises:
        LimitError: It would.
    """
    if operator == "%" and not isinstance(left, int | float):
        raise LimitError("it formats text with %")
    if isinstance(left, int) and isinstance(right, int):
        widths = left.bit_length(), right.bit_length()
        bits = {"*": sum(widths), "**": widths[0] * right, "%": max(widths), "//": max(widths)}
        if bits.get(operator, 0) > _HIGHEST_BITS:
            raise LimitError("it makes a huge number")
    elif operator == "*" and not (isinstance(left, int | float) and isinstance(right, int | float)):
        raise LimitError("it multiplies what is no number")
    elif operator == "+":
        spend(sum(len(side) for side in (left, right) if isinstance(side, Sized)))
