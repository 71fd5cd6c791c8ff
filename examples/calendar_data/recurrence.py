"""When the events of one UID take place (RFC 5545, 3.8.5): in a window, with lengths that are true in every zone."""

from calendar import monthrange
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from math import prod
from typing import Any

from icalendar import Event as VEvent
from icalendar import vDDDTypes
from icalendar.prop import vRecur
from recurring_ical_events import EventAdapter, Occurrence, Series

from calendar_data.components import Moment, moment, put_moment, start_of, values

MOST_A_YEAR = 10_000
"""An event that can be there more often than that in a year is no event but a trap."""
_YEAR = timedelta(days=366)
_PERIODS = {
    "SECONDLY": timedelta(seconds=1),
    "MINUTELY": timedelta(minutes=1),
    "HOURLY": timedelta(hours=1),
    "DAILY": timedelta(days=1),
}
_STEPS = {**_PERIODS, "WEEKLY": timedelta(weeks=1)}
_IN_EVERY_MONTH = 28
_WITHOUT_DAYS = {"FREQ", "INTERVAL", "UNTIL", "WKST"}
# Parts that leave out some days or times of a rule by the day or finer, whenever it began.
_FILTERS = {"BYMONTH", "BYMONTHDAY", "BYYEARDAY", "BYDAY", "BYHOUR", "BYMINUTE", "BYSECOND"}
# Parts that say no more than DTSTART does.
_ITS_OWN = {
    "MONTHLY": (set(), {"BYMONTHDAY"}),
    "YEARLY": (set(), {"BYMONTH"}, {"BYMONTH", "BYMONTHDAY"}),
}
_WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
# The library looks at times without a zone as if they had that of the window.
_MARGIN = timedelta(days=2)
_BY_TIME = ("BYSECOND", "BYMINUTE", "BYHOUR")
_LEAP_YEAR, _MONTHS = 2024, 12
# What is beyond cannot be told in every zone.
_FIRST, _LAST, _FAR = datetime(2, 1, 1, tzinfo=UTC), datetime(9998, 12, 31, tzinfo=UTC), 5000


class TooOftenError(Exception):
    """A rule repeats more often than any calendar does."""


@dataclass(frozen=True, slots=True)
class Happening:
    """One occurrence: when it is, in UTC, and the place of the component that it comes from."""

    start: datetime
    end: datetime
    number: int
    is_all_day: bool
    is_floating: bool
    is_override: bool


class _Adapter(EventAdapter):
    def __init__(self, component: VEvent, number: int, exact: timedelta | None) -> None:
        super().__init__(component)
        self.component, self.number = component, number
        # 3.8.5.3: where there is a DTEND, all of a series take exactly as long as the first, whatever the clocks do.
        self.exact = exact


class _Occurrence(Occurrence):
    def __init__(self, adapter: _Adapter, start: Any = None, end: Any = None, sequence: int = -1) -> None:
        super().__init__(adapter, start, end, sequence)
        self.adapter, self.is_override = adapter, start is None and adapter.is_modification()


class _Series(Series):
    def occurrence(self, adapter: Any, start: Any = None, end: Any = None) -> _Occurrence:
        return _Occurrence(adapter, start, end)


def require_bearable(event: VEvent) -> None:
    """Check that the rules of an event can be worked out.

    Raises:
        TooOftenError: One repeats more often than any calendar does.
        ValueError: One never goes on, or is never true.
    """
    rules = values(event, "RRULE")
    if any(int(rule.get("INTERVAL", [1])[0]) < 1 or _is_never(rule) for rule in rules):
        raise ValueError("RRULE")
    if sum(map(_most_a_year, rules)) > MOST_A_YEAR:
        raise TooOftenError


def settle_overrides(events: Sequence[VEvent], anchor_of: Callable[[VEvent], Moment | None] = start_of) -> None:
    """Say which occurrence a change belongs to by time, where it only has the day of an event that has a time.

    `anchor_of` is what occurrences are counted from.
    """
    heads = [each for each in events if "RECURRENCE-ID" not in each]
    start = anchor_of(heads[0]) if heads else None
    for event in events:
        when = moment(event, "RECURRENCE-ID")
        if isinstance(start, datetime) and when is not None and not isinstance(when, datetime):
            put_moment(event, "RECURRENCE-ID", datetime.combine(when, start.time(), start.tzinfo))


def happenings(components: Mapping[int, VEvent], start: datetime, end: datetime, zone: tzinfo) -> Iterator[Happening]:
    """Where one event and its changed occurrences are between two moments, in no order.

    Args:
        components: The event and its overrides, which are bearable, by numbers under which the happenings name them.
        start: The first moment, in UTC.
        end: The moment after the last.
        zone: That of the reader, in which times without a zone are.

    Raises:
        ValueError: A rule cannot be read.
    """
    for occurrence in _occurrences(components, start - _MARGIN, end + _MARGIN, zone):
        begins, ends = _span(occurrence, zone)
        if begins < end and (ends > start or begins >= start):
            yield Happening(
                begins,
                ends,
                occurrence.adapter.number,
                not isinstance(occurrence.start, datetime),
                getattr(occurrence.start, "tzinfo", UTC) is None,
                occurrence.is_override,
            )


def _occurrences(components: Mapping[int, VEvent], start: datetime, end: datetime, zone: tzinfo) -> Iterable[Any]:
    adapters = [_Adapter(each, number, _exact(each, zone)) for number, each in components.items()]
    if not any(name in each for each in components.values() for name in ("RRULE", "RDATE", "RECURRENCE-ID")):
        return [_Occurrence(each) for each in adapters]
    between: Iterable[Any] = _series(adapters, start).between(start, end)
    return between


def midnight(day: date, zone: tzinfo) -> datetime:
    """The moment at which a day begins, in UTC."""
    return to_utc(datetime.combine(day, time()), zone)


def to_utc(when: Moment, zone: tzinfo) -> datetime:
    """A moment in UTC. What has no zone is in that of the reader, and a date begins with its first moment.

    A local time that a change of the clock skips or repeats is read as RFC 5545, 3.3.5 says.
    """
    if not isinstance(when, datetime):
        return midnight(when, zone)
    try:
        moment = (when if when.tzinfo else when.replace(tzinfo=zone)).astimezone(UTC)
    except OverflowError:
        return _FIRST if when.year < _FAR else _LAST
    return min(max(moment, _FIRST), _LAST)


def _span(occurrence: Any, zone: tzinfo) -> tuple[datetime, datetime]:
    start = to_utc(occurrence.start, zone)
    if not isinstance(occurrence.start, datetime):
        return start, midnight(max(occurrence.end, occurrence.start + timedelta(days=1)), zone)
    if occurrence.end - occurrence.start != occurrence.adapter.duration:
        return start, max(start, to_utc(occurrence.end, zone))
    if occurrence.adapter.exact is not None:
        return start, start + occurrence.adapter.exact
    # 3.8.5.3: days of a DURATION are days of the calendar, its hours are exact.
    duration = abs(occurrence.adapter.duration)
    days = to_utc(occurrence.start + timedelta(days=duration.days), zone)
    return start, days + timedelta(seconds=duration.seconds)


def _exact(component: VEvent, zone: tzinfo) -> timedelta | None:
    """The time from DTSTART to DTEND, whichever is first; the one without a zone is in that of the other."""
    start, end = moment(component, "DTSTART"), moment(component, "DTEND")
    if not (isinstance(start, datetime) and isinstance(end, datetime)):
        return None
    zone = start.tzinfo or end.tzinfo or zone
    return abs(to_utc(end, zone) - to_utc(start, zone))


def _series(adapters: Sequence[_Adapter], start: datetime) -> _Series:
    overrides = [each for each in adapters if each.is_modification()]
    if any(each.has_recurrence_rules() for each in overrides):
        return _Series(adapters)
    reach = max(each.extend_query_span_by[0] for each in adapters)
    return _Series([each if each in overrides else _forward(each, start - reach) for each in adapters])


def _forward(adapter: _Adapter, before: datetime) -> _Adapter:
    """The same events from shortly before a moment on, where the rule is one that goes on alike from there.

    A rule is worked out from its first event on, which for one of ten years ago is most of the work.
    """
    component, rules = adapter.component, values(adapter.component, "RRULE")
    start = start_of(component)
    later: Any = _later(rules[0], start, before) if len(rules) == 1 else start
    ahead: timedelta = later - start
    if ahead <= timedelta():
        return adapter
    moved = component.copy()
    for name in ("DTSTART", "DTEND"):
        if when := moment(component, name):
            moved[name] = vDDDTypes(when + ahead)
    return _Adapter(moved, adapter.number, adapter.exact)


def _later(rule: vRecur, start: Moment, before: datetime) -> Moment:
    """An event of a rule before some moment, from which on the rule has the same events as from its start on."""
    frequency, interval = str(rule["FREQ"][0]), int(rule.get("INTERVAL", [1])[0])
    parts = rule.keys() - _WITHOUT_DAYS
    ahead = before - to_utc(start, UTC)
    if ahead < _YEAR:
        return start
    if frequency in _STEPS and parts <= ({"BYDAY"} if frequency == "WEEKLY" else _FILTERS):
        day = start + _STEPS[frequency] * interval * (ahead // (_STEPS[frequency] * interval))
        return _in_week(rule, day) if parts and frequency == "WEEKLY" else day
    own = {"BYMONTH": [start.month], "BYMONTHDAY": [start.day]}
    is_own = parts in _ITS_OWN.get(frequency, ()) and all(list(rule[part]) == own[part] for part in parts)
    if is_own and start.day <= _IN_EVERY_MONTH:
        return _in_month(start, before, interval * (12 if frequency == "YEARLY" else 1))
    return start


def _in_month(start: Moment, before: datetime, interval: int) -> Moment:
    ahead = (before.year - start.year) * 12 + before.month - start.month - 1
    years, month = divmod(start.month - 1 + ahead // interval * interval, 12)
    return start.replace(year=start.year + years, month=month + 1)


def _in_week(rule: vRecur, day: Moment) -> Moment:
    """The first event of a weekly rule in the week of a day."""
    first = _WEEKDAYS.index(str(rule.get("WKST", ["MO"])[0]))
    monday = day - timedelta(days=(day.weekday() - first) % 7)
    week = [monday + timedelta(days=each) for each in range(7)]
    return next((each for each in week if _WEEKDAYS[each.weekday()] in rule["BYDAY"]), day)


def _most_a_year(rule: vRecur) -> float:
    """How often a rule can be true in a year at the most."""
    frequency, interval = str(rule.get("FREQ", [""])[0]), int(rule.get("INTERVAL", [1])[0])
    period = _PERIODS.get(frequency, timedelta(days=1)) * (interval if frequency in _PERIODS else 1)
    # A rule by the hour has its BYHOUR as a filter, one by the day has an event at each.
    finer = {"SECONDLY": (), "MINUTELY": ("BYSECOND",), "HOURLY": ("BYSECOND", "BYMINUTE")}
    most = _YEAR / period * prod(len(rule.get(each, "1")) for each in finer.get(frequency, _BY_TIME))
    if frequency in finer:
        most *= len(rule.get("BYHOUR", range(24))) / 24 * len(rule.get("BYDAY", range(7))) / 7
    return min(most, int(rule["COUNT"][0])) if int(rule.get("COUNT", [-1])[0]) >= 0 else most


def _is_never(rule: vRecur) -> bool:
    """Whether a rule waits for a day that no year has, such as 30 February."""
    days = [int(day) for day in rule.get("BYMONTHDAY", ())]
    lengths = [monthrange(_LEAP_YEAR, int(month))[1] for month in rule.get("BYMONTH", ()) if 1 <= int(month) <= _MONTHS]
    return bool(days and lengths) and min(map(abs, days)) > max(lengths)
