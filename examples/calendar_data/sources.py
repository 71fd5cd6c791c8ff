"""What a source of calendar data gives, and how it says that it cannot."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

Reason = Literal["missing", "unreachable", "denied", "unreadable", "too_large", "too_slow"]

Tell = Callable[[int, int], None]
"""Is told how much of some work is done, and how much there is."""


Edit = Callable[[bytes], bytes | None]
"""Makes new content of what there is; nothing where there is nothing to change."""

Change = Callable[[Edit], bool]
"""Stores what an edit makes of the content as it is now; whether somebody else changed it meanwhile.

Then the edit was made again of what they wrote. Raises a `NotWrittenError` or a `SourceError` where it is not stored,
and an `UnsureError` where that is not known.
"""


class SourceError(Exception):
    """A source cannot be read now. Neither reason nor remedy holds a path, an address, a name or a value."""

    def __init__(self, reason: Reason, remedy: str) -> None:
        super().__init__(reason)
        self.reason: Reason = reason
        self.remedy = remedy


class UnsureError(Exception):
    """Whether a change has arrived is not known: the answer to it was lost."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some iCalendar data: a file, or an object of a CalDAV calendar.

    `name` tells it from the other pieces of its source and is never shown; `label` is the calendar that it belongs to.
    While `state` is the same, so is what `load` gives; it raises a `SourceError` where it gives nothing. A label that
    is only a guess gives way to the name that the data has for itself. Without `change` it is only read.
    """

    name: str = field(repr=False)
    label: str
    state: Hashable = field(repr=False)
    load: Callable[[], bytes] = field(repr=False)
    is_guess: bool = field(default=False, repr=False)
    change: Change | None = field(default=None, repr=False)


class Source(Protocol):
    """Where pieces come from. Its label is all that is ever shown of it."""

    @property
    def label(self) -> str: ...

    def pieces(self, tell: Tell) -> Sequence[Piece]:
        """What the source holds now; takes a bounded time.

        Raises:
            SourceError: It cannot be read.
        """
        ...
