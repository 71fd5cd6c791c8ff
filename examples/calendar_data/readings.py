"""What was read of a CalDAV account, and what of it is still to be read."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from threading import Lock

from calendar_data.asking import Place
from calendar_data.multistatus import Resource

_BATCH = 50


@dataclass(frozen=True, slots=True)
class Read:
    """What was read of an object, and where; no data means that it is left out."""

    state: Hashable
    data: bytes | None
    url: str = ""


@dataclass(slots=True)
class CalendarRead:
    """What was read of a calendar, and by what the server tells whether it is still so."""

    mark: tuple[str | None, ...] = ()
    token: str | None = None
    objects: dict[str, Read] = field(default_factory=dict)


@dataclass(slots=True)
class AccountRead:
    """What is kept from one refresh to the next."""

    places: list[Place] = field(default_factory=list)
    calendars: dict[str, CalendarRead] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)


@dataclass(frozen=True, slots=True)
class Work:
    """What is still to be read of a calendar, and by what it will be known when it has been."""

    url: str
    calendar: CalendarRead
    wanted: Sequence[Resource]
    mark: tuple[str | None, ...]
    token: str | None

    def batches(self) -> Iterator[Sequence[Resource]]:
        return (self.wanted[start : start + _BATCH] for start in range(0, len(self.wanted), _BATCH))

    def finish(self) -> None:
        self.calendar.mark, self.calendar.token = self.mark, self.token
