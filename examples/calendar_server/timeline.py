"""When all events of some calendars are: found by day, and worked out no earlier than somebody asks."""

import logging
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, tzinfo
from math import inf
from time import monotonic
from typing import Any, NamedTuple

from icalendar import Event as VEvent

from calendar_server.components import moment, read_components, start_of
from calendar_server.documents import Block
from calendar_server.meaning import UNREADABLE, Facts, read_facts
from calendar_server.recurrence import MOST_A_YEAR, Happening, TooOftenError, happenings, require_bearable
from calendar_server.sources import SourceError, Tell

_LOG = logging.getLogger("calendar_server")
_DAY = timedelta(days=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LONG = 2 * 24 * 60 * 60
_MOST_CHUNKS, _TELL_EVERY = 64, 100
_TOO_LONG = 2.0
_EVER = datetime(1000, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)
PATIENCE = 30.0
"""The most seconds that working out a quarter of a year may take."""


class Labelled(NamedTuple):
    """An event as text, and the calendar that it belongs to."""

    label: str
    block: Block


class Found(NamedTuple):
    """An event at one time, with what tells it from all others."""

    happening: Happening
    identity: str
    label: str
    facts: Facts
    is_private: bool


@dataclass(slots=True, eq=False)
class Course:
    """All that some calendars say of one UID. It is read when somebody asks."""

    source: str
    uid: str = field(repr=False)
    labelled: Sequence[Labelled] = field(repr=False)
    read: list[tuple[Labelled, VEvent]] | None = field(default=None, repr=False)
    facts: dict[int, Facts] = field(default_factory=dict, repr=False)
    once: "list[Found] | None" = field(default=None, repr=False)

    @property
    def label(self) -> str:
        """The calendar that it is in."""
        return self.labelled[0].label

    @property
    def days(self) -> tuple[date, date] | None:
        """The first and last day on which it can be; `None` where it repeats or cannot be told so easily."""
        return self.labelled[0].block.days if len(self.labelled) == 1 else None

    def components(self) -> list[tuple[Labelled, VEvent]]:
        """The events that it is made of, without those that cannot be read."""
        if self.read is None:
            by_block = {id(each.block): each for each in self.labelled}
            pairs = read_components([each.block for each in self.labelled], self.label)
            self.read = [(by_block[id(block)], event) for block, event in pairs if self._is_bearable(event)]
        return self.read

    def happenings(self, start: datetime, end: datetime, zone: tzinfo) -> Iterator[Happening]:
        """Where it puts events between two moments, in no order."""
        for numbers in _apart([event for _, event in self.components()]):
            yield from happenings({number: self.components()[number][1] for number in numbers}, start, end, zone)

    def is_private(self, number: int) -> bool:
        """Whether an event is held back: the strictest of the series and of its changed occurrence counts."""
        series = [labelled for labelled, event in self.components() if "RECURRENCE-ID" not in event]
        return any(each.block.is_private for each in [*series, self.components()[number][0]])

    def tell(self, happening: Happening, owners: Collection[str]) -> Found:
        """An event at one time with all that is said of it."""
        labelled, event = self.components()[happening.number]
        if happening.number not in self.facts:
            self.facts[happening.number] = self._read_facts(event, owners)
        identity = f"{self.source}|{self.uid}|{_key(happening, event)}"
        is_private = self.is_private(happening.number)
        return Found(happening, identity, labelled.label, self.facts[happening.number], is_private)

    def _is_bearable(self, event: VEvent) -> bool:
        try:
            require_bearable(event)
        except TooOftenError:
            _LOG.warning("%s: skipped an event that repeats more than %d times a year", self.label, MOST_A_YEAR)
        except Exception:
            _LOG.warning("%s: skipped an event whose rule cannot be read", self.label)
        else:
            return True
        return False

    def _read_facts(self, event: VEvent, owners: Collection[str]) -> Facts:
        try:
            return read_facts(event, owners)
        except Exception:
            _LOG.warning("%s: an event takes its time, but nothing else of it can be read", self.label)
            return UNREADABLE


def _apart(components: Sequence[VEvent]) -> list[list[int]]:
    """The numbers of components that make up one series each.

    Some programs give events that have nothing to do with each other the same UID. Of versions of one event only the
    last counts (SEQUENCE, 3.8.7.4); what is of one version and begins at another time is another event.
    """
    heads = [number for number, event in enumerate(components) if "RECURRENCE-ID" not in event]
    newest = max((_version(components[number]) for number in heads), default=0)
    starts: dict[str, int] = {}
    for number in heads:
        if _version(components[number]) == newest:
            starts[str(start_of(components[number]))] = number
    kept = sorted(starts.values(), key=lambda number: "RRULE" not in components[number])
    overrides = [number for number in range(len(components)) if number not in heads]
    first = [[*kept[:1], *overrides]] if kept or overrides else []
    return [*first, *([number] for number in kept[1:])]


def _version(event: VEvent) -> int:
    value: Any = event.get("SEQUENCE", 0)
    return int(value)


def _key(happening: Happening, event: VEvent) -> str:
    """Which of the occurrences of a series it is; a moved one is known by where it was (RECURRENCE-ID)."""
    if not happening.is_override:
        return happening.start.isoformat()
    original = moment(event, "RECURRENCE-ID")
    if isinstance(original, datetime) and original.tzinfo:
        original = original.astimezone(UTC)
    return f"moved {original}"


class Timeline:
    """The events of all courses by time, as somebody in one zone sees them."""

    def __init__(self, courses: Sequence[Course], zone: tzinfo, owners: Collection[str]) -> None:
        self._zone, self._owners = zone, owners
        self._series = [course for course in courses if course.days is None]
        self._by_day: dict[date, list[Course]] = {}
        self._chunks: dict[int, _Chunk] = {}
        for course in courses:
            if course.days:
                first, last = course.days
                for number in range((last - first).days + 1):
                    self._by_day.setdefault(first + number * _DAY, []).append(course)

    def between(self, start: datetime, end: datetime, tell: Tell) -> list[Found]:
        """The events that touch the time between two moments, in order.

        Raises:
            SourceError: Working it out takes too long.
        """
        first, last = start.date() - _DAY, end.date() + _DAY
        days = (first + number * _DAY for number in range((last - first).days + 1))
        courses = {id(course): course for day in days for course in self._by_day.get(day, ())}
        told = [each for course in courses.values() for each in self._single(course)]
        quarters = range(_quarter(start), _quarter(end) + 1)
        for quarter in quarters:
            chunk = self._chunk(quarter, tell)
            since = start if quarter == quarters[0] else max(start, chunk.start)
            for place, each in chunk.between(start, end, since):
                told.append(self._series[place].tell(each, self._owners))
        touching = [each for each in told if touches(each.happening, start, end)]
        return sorted(touching, key=lambda each: (each.happening.start, each.happening.end, each.identity))

    def warm(self, when: datetime, tell: Tell) -> None:
        """Work out the quarter of a year around a moment, so that nobody has to wait for it."""
        self._chunk(_quarter(when), tell)

    def _single(self, course: Course) -> list[Found]:
        if course.once is None:
            found = _worked_out(course, *_EVER, self._zone)
            course.once = [course.tell(each, self._owners) for each in found]
            course.read = None
        return course.once

    def _chunk(self, quarter: int, tell: Tell) -> "_Chunk":
        if quarter not in self._chunks:
            if len(self._chunks) >= _MOST_CHUNKS:
                del self._chunks[next(iter(self._chunks))]
            self._chunks[quarter] = _Chunk(quarter, self._series, self._zone, tell)
        return self._chunks[quarter]


def touches(happening: Happening, start: datetime, end: datetime) -> bool:
    """Whether an event is in part or whole between two moments; one that takes no time is where it begins."""
    return happening.start < end and (happening.end > start or happening.start >= start)


class _Chunk:
    """The events of a quarter of a year in order, in so few bytes that many years of them can be kept."""

    def __init__(self, quarter: int, series: Sequence[Course], zone: tzinfo, tell: Tell) -> None:
        self.start, end = _begin(quarter), _begin(quarter + 1)
        until, rows = monotonic() + PATIENCE, []
        for place, course in enumerate(series):
            rows += [_row(place, each) for each in _worked_out(course, self.start, end, zone)]
            if place % _TELL_EVERY == 0:
                tell(place, len(series))
            if monotonic() > until:
                raise SourceError("too_slow", "Leave out the calendars that repeat the most.")
        rows.sort()
        self._starts, self._ends = array("q", (row[0] for row in rows)), array("q", (row[1] for row in rows))
        self._places, self._numbers = array("l", (row[2] for row in rows)), array("l", (row[3] for row in rows))
        self._flags = bytes(row[4] for row in rows)
        # Few events are long; they are looked at one by one, so that the others can be found by when they begin.
        self._long = [number for number, row in enumerate(rows) if row[1] - row[0] > _LONG]

    def between(self, start: datetime, end: datetime, since: datetime) -> Iterator[tuple[int, Happening]]:
        """The events between two moments that begin since a third, each with the place of its course."""
        lower = start.timestamp() - _LONG
        first, last = bisect_left(self._starts, lower), bisect_left(self._starts, end.timestamp())
        least = since.timestamp() if since > start else -inf
        for row in [*(row for row in self._long if row < first), *range(first, last)]:
            if self._ends[row] >= start.timestamp() and self._starts[row] >= least:
                yield self._places[row], self._happening(row)

    def _happening(self, row: int) -> Happening:
        start, end = (_EPOCH + timedelta(seconds=each[row]) for each in (self._starts, self._ends))
        flags = self._flags[row]
        return Happening(start, end, self._numbers[row], bool(flags & 1), bool(flags & 2), bool(flags & 4))


def _row(place: int, each: Happening) -> tuple[int, int, int, int, int]:
    flags = each.is_all_day | each.is_floating << 1 | each.is_override << 2
    start, end = (int((moment - _EPOCH).total_seconds()) for moment in (each.start, each.end))
    return start, end, place, each.number, flags


def _worked_out(course: Course, start: datetime, end: datetime, zone: tzinfo) -> list[Happening]:
    """Where a course puts events; one that cannot be worked out puts none, and the log says so once."""
    try:
        course.components()
        began = monotonic()
        found = list(course.happenings(start, end, zone))
        if monotonic() - began < _TOO_LONG:
            return found
        # A rule that is never true, as on 30 February, is looked for until the end of all time.
        _LOG.warning("%s: skipped a series that takes too long to be worked out", course.label)
    except Exception:  # A library that fails on one series must not take the others with it.
        _LOG.warning("%s: skipped a series that cannot be worked out", course.label)
    course.read = []
    return []


def _quarter(when: datetime) -> int:
    return when.year * 4 + (when.month - 1) // 3


def _begin(quarter: int) -> datetime:
    year, number = divmod(quarter, 4)
    return datetime(year, number * 3 + 1, 1, tzinfo=UTC)
