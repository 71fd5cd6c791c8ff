"""Free time: the hours that are asked for, without those that are taken."""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from operator import attrgetter

_NOTHING = timedelta(0)
_DAY = timedelta(days=1)
_EVERY_DAY = range(7)


@dataclass(frozen=True, slots=True)
class Interval:
    """The time from `start` until just before `end`, both aware; what this module returns is in UTC."""

    start: datetime
    end: datetime


def hours(
    first: date, last: date, opens: time, closes: time, zone: tzinfo, *, weekdays: Collection[int] = _EVERY_DAY
) -> list[Interval]:
    """The hours from `opens` to `closes` of each day from `first` to `last`, as far as the day has them in the zone.

    `closes` at 00:00 is the midnight that follows; at any other time it has to be later than `opens`. Weekdays count
    from Monday, which is 0. A time that a clock change skips lies as far after the change as the clock then says (RFC
    5545, 3.3.5). Of a time that comes twice, hours open with the first and close with the second, so that they hold
    each moment at which the clock is between the two.
    """
    days = (first + _DAY * each for each in range((last - first).days + 1))
    asked = (_of_day(day, opens, closes, zone) for day in days if day.weekday() in weekdays)
    return [each for each in asked if each.start < each.end]


def merge(busy: Iterable[Interval]) -> list[Interval]:
    """The time that any of the intervals takes, in order, in intervals that neither overlap nor touch nor are empty."""
    merged: list[Interval] = []
    for each in sorted(map(_in_utc, busy), key=attrgetter("start")):
        if each.end <= each.start:
            continue
        if merged and each.start <= merged[-1].end:
            merged[-1] = Interval(merged[-1].start, max(merged[-1].end, each.end))
        else:
            merged.append(each)
    return merged


def free(
    asked: Sequence[Interval], busy: Iterable[Interval], *, least: timedelta, buffer: timedelta = _NOTHING
) -> list[Interval]:
    """The gaps of at least `least` in each of the asked intervals, which do not overlap.

    The buffer is kept free before and after each busy time, not at the edges of what is asked. What takes no time
    has no buffer. Asked intervals that touch are looked at one by one: `merge` them for gaps beyond midnight.
    """
    within = [_in_utc(each) for each in asked]
    taken = _taken(within, busy, buffer)
    gaps = (gap for each in within for gap in _gaps(each, taken))
    return [gap for gap in gaps if gap.end - gap.start >= least]


def _of_day(day: date, opens: time, closes: time, zone: tzinfo) -> Interval:
    # Where clocks change around midnight, or leave a day out, times of one day lie beyond the next midnight.
    ends = _at(day + _DAY, time(), zone)
    close = ends if closes == time() else max(_at(day, closes, zone), _at(day, closes, zone, fold=1))
    return Interval(_at(day, opens, zone), min(ends, close))


def _at(day: date, clock: time, zone: tzinfo, *, fold: int = 0) -> datetime:
    """With the fold 0, a skipped time has the offset before the change (PEP 495), as RFC 5545 says."""
    return datetime.combine(day, clock.replace(fold=fold), zone).astimezone(UTC)


def _in_utc(interval: Interval) -> Interval:
    """Python compares and subtracts times of one zone by their clocks, whatever their offsets."""
    return Interval(interval.start.astimezone(UTC), interval.end.astimezone(UTC))


def _taken(asked: Sequence[Interval], busy: Iterable[Interval], buffer: timedelta) -> list[Interval]:
    """What is busy around the asked intervals, with its buffer."""
    if not asked:
        return []
    # Times are held to the window first: at the ends of the calendar there is no room for a buffer.
    begins, ends = min(each.start for each in asked) - buffer, max(each.end for each in asked) + buffer
    near = (Interval(max(each.start, begins), min(each.end, ends)) for each in merge(busy))
    return merge(Interval(each.start - buffer, each.end + buffer) for each in near)


def _gaps(asked: Interval, taken: Sequence[Interval]) -> Iterator[Interval]:
    free_from = asked.start
    for each in taken[bisect_right(taken, asked.start, key=attrgetter("end")) :]:
        if each.start >= asked.end:
            break
        if free_from < each.start:
            yield Interval(free_from, each.start)
        free_from = each.end
    if free_from < asked.end:
        yield Interval(free_from, asked.end)
