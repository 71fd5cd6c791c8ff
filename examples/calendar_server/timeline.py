"""When all events of some calendars are: found by day, and worked out no earlier than somebody asks."""

import logging
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta, tzinfo
from math import inf
from threading import Lock
from time import monotonic

from calendar_data.recurrence import Happening
from calendar_data.sources import SourceError, Tell
from calendar_server.courses import Course, Found

_LOG = logging.getLogger("calendar_server")
_DAY = timedelta(days=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LONG = 2 * 24 * 60 * 60
_MOST_CHUNKS, _TELL_EVERY = 64, 20
_TOO_LONG, _QUARTER_DAYS = 2.0, 92
_EVER = datetime(1000, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)
PATIENCE = 30.0
"""The most seconds that working out a quarter of a year may take."""


class Timeline:
    """The events of all courses by time, as somebody in one zone sees them."""

    def __init__(self, courses: Sequence[Course], zone: tzinfo, owners: Collection[str]) -> None:
        self._zone, self._owners = zone, owners
        self._series = [course for course in courses if course.days is None]
        self._by_day: dict[date, list[Course]] = {}
        self._chunks: dict[int, _Chunk] = {}
        self._lock = Lock()
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
        """Read and work out the quarter of a year around a moment, so that nobody has to wait for it."""
        chunk = self._chunk(_quarter(when), tell)
        for number in range(_QUARTER_DAYS):
            tell(number, _QUARTER_DAYS)
            for course in self._by_day.get(chunk.start.date() + number * _DAY, ()):
                self._single(course)

    def _single(self, course: Course) -> list[Found]:
        if course.once is None:
            found = _worked_out(course, *_EVER, self._zone)
            course.once = [course.tell(each, self._owners) for each in found]
            course.read = None
        return course.once

    def _chunk(self, quarter: int, tell: Tell) -> "_Chunk":
        if (known := self._chunks.get(quarter)) is not None:
            return known
        with self._lock:
            if (known := self._chunks.get(quarter)) is None:
                known = self._chunks[quarter] = _Chunk(quarter, self._series, self._zone, tell)
                if len(self._chunks) > _MOST_CHUNKS:
                    del self._chunks[next(iter(self._chunks))]
            return known


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
    """Where a course puts events. One whose repetitions cannot be worked out puts them once, and the log says so."""
    for _ in range(2):
        try:
            course.components()
            began = monotonic()
            found = list(course.happenings(start, end, zone))
        except Exception:  # A library that fails on one series must not take the others with it.
            course.simplify("cannot be worked out")
            continue
        if monotonic() - began > _TOO_LONG:
            # A rule that is never true is looked for until the end of all time.
            course.simplify("take too long to be worked out")
        return found
    return []


def _quarter(when: datetime) -> int:
    return when.year * 4 + (when.month - 1) // 3


def _begin(quarter: int) -> datetime:
    year, number = divmod(quarter, 4)
    return datetime(year, number * 3 + 1, 1, tzinfo=UTC)
