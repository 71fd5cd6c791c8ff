"""When series take place: the same as the library says, from however long ago they are, and within bounds."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
import recurring_ical_events
from hypothesis import given
from hypothesis import strategies as st
from icalendar import Calendar
from icalendar import Event as VEvent

from calendar_data.components import start_of
from calendar_data.recurrence import TooOftenError, happenings, require_bearable, to_utc

ZONES = ("Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "UTC")
DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


def event(*lines: str) -> VEvent:
    text = "\n".join(["BEGIN:VCALENDAR", "BEGIN:VEVENT", "UID:1", *lines, "END:VEVENT", "END:VCALENDAR", ""])
    (found,) = Calendar.from_ical(text).events
    require_bearable(found)
    return found


def starts(component: VEvent, start: datetime, end: datetime) -> list[datetime]:
    found = happenings({0: component}, start, end, ZoneInfo("UTC"))
    return sorted(each.start for each in found if start <= each.start < end)


@st.composite
def rules(draw: st.DrawFn, start: datetime) -> str:
    """Rules with and without what makes them hard to go on from the middle."""
    frequency = draw(st.sampled_from(["DAILY", "WEEKLY", "MONTHLY", "YEARLY"]))
    parts = [f"FREQ={frequency}"]
    interval = draw(st.integers(1, 6))
    parts += [f"INTERVAL={interval}"] if interval > 1 or draw(st.booleans()) else []
    parts += [f"WKST={draw(st.sampled_from(DAYS))}"] if draw(st.booleans()) else []
    if draw(st.booleans()):
        days = draw(st.lists(st.sampled_from(DAYS), min_size=1, max_size=4, unique=True))
        prefix = draw(st.sampled_from(["", "", "2", "-1"])) if frequency in {"MONTHLY", "YEARLY"} else ""
        parts.append("BYDAY=" + ",".join(prefix + day for day in days))
    else:
        own = {"BYMONTHDAY": start.day, "BYMONTH": start.month}
        if frequency == "WEEKLY":
            del own["BYMONTHDAY"]
        parts += [f"{name}={value}" for name, value in own.items() if draw(st.booleans())]
    end = draw(st.sampled_from(["", "", "COUNT=400", "UNTIL=20240101T000000Z", "UNTIL=20260601T000000Z"]))
    return ";".join([*parts, end] if end else parts)


@given(
    st.data(),
    st.datetimes(datetime(1995, 1, 1), datetime(2023, 12, 31)),
    st.sampled_from(ZONES),
    st.dates(date(2021, 1, 1), date(2028, 1, 1)),
    st.integers(1, 120),
)
def test_a_series_from_long_ago_is_where_the_library_puts_it(
    data: st.DataObject, start: datetime, zone: str, first: date, length: int
) -> None:
    """Going on from the middle of a rule changes nothing, whatever the rule, its zone and its weeks."""
    start = start.replace(microsecond=0, second=0)
    rule = data.draw(rules(start))
    skipped = data.draw(st.dates(first, first + timedelta(days=length)))
    component = event(
        f"DTSTART;TZID={zone}:{start:%Y%m%dT%H%M%S}",
        "DURATION:PT45M",
        f"RRULE:{rule}",
        f"EXDATE;TZID={zone}:{skipped:%Y%m%d}T{start:%H%M%S}",
    )
    begin = datetime(first.year, first.month, first.day, tzinfo=UTC)
    end = begin + timedelta(days=length)
    found = starts(component, begin, end)
    calendar = Calendar()
    calendar.add_component(component)
    library = recurring_ical_events.of(calendar).between(begin - timedelta(days=2), end + timedelta(days=2))
    expected = sorted(to_utc(start_of(each), UTC) for each in library if isinstance(each, VEvent))
    assert found == [each for each in expected if begin <= each < end]


@pytest.mark.parametrize(
    "rule",
    [
        "FREQ=SECONDLY",
        "FREQ=MINUTELY;INTERVAL=5",
        "FREQ=SECONDLY;COUNT=100000",
        "FREQ=DAILY;BYHOUR=0,6,12,18;BYMINUTE=0,10,20,30,40,50;BYSECOND=0,30",
        "FREQ=HOURLY;BYMINUTE=0,30",
        "FREQ=YEARLY;BYHOUR=1,2,3,4;BYMINUTE=1,2,3,4,5,6,7;BYSECOND=1",
    ],
)
def test_a_rule_that_repeats_more_often_than_any_calendar_is_refused_at_once(rule: str) -> None:
    """Bad input: a bomb is never set off, however far the window is."""
    with pytest.raises(TooOftenError):
        event("DTSTART:19700101T000000Z", f"RRULE:{rule}")


@pytest.mark.parametrize(
    ("rule", "count"),
    [("FREQ=HOURLY", 24), ("FREQ=MINUTELY;INTERVAL=60", 24), ("FREQ=SECONDLY;INTERVAL=7200", 12)],
)
def test_a_rule_by_the_hour_is_no_bomb(rule: str, count: int) -> None:
    """What repeats as often as a clock strikes is served."""
    component = event("DTSTART:20251201T000000Z", "DURATION:PT1M", f"RRULE:{rule}")
    assert len(starts(component, datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC))) == count


def test_all_of_a_series_take_as_long_as_the_first() -> None:
    """C07, RFC 5545, 3.8.5.3: the exact length of DTEND, whatever clocks do; a DURATION in days keeps the clock."""
    zone = ZoneInfo("Europe/Berlin")
    window = datetime(2026, 3, 27, tzinfo=UTC), datetime(2026, 3, 31, tzinfo=UTC)
    exact = event(
        "DTSTART;TZID=Europe/Berlin:20260320T220000", "DTEND;TZID=Europe/Berlin:20260321T060000", "RRULE:FREQ=DAILY"
    )
    nominal = event("DTSTART;TZID=Europe/Berlin:20260320T220000", "DURATION:P1D", "RRULE:FREQ=DAILY")
    lengths = {each.end - each.start for each in happenings({0: exact}, *window, zone)}
    nights = {each.start.date(): each.end - each.start for each in happenings({0: nominal}, *window, zone)}
    assert lengths == {timedelta(hours=8)}
    assert nights[date(2026, 3, 28)] == timedelta(hours=23)
    assert nights[date(2026, 3, 29)] == timedelta(hours=24)
