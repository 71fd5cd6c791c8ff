"""Free time: asked hours without busy ones, in every time zone."""

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import partial
from itertools import pairwise
from random import Random
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from calendar_server.availability import Interval, free, hours, merge

MONDAY = date(2026, 3, 2)
MIDNIGHT, NINE, SIX = time(0), time(9), time(18)
HOUR, MINUTE, NOTHING = timedelta(hours=1), timedelta(minutes=1), timedelta(0)
BERLIN = ZoneInfo("Europe/Berlin")
ZONES = sorted(available_timezones())
# Around these days many zones change their clocks, or leave a day out.
CHANGES = [
    *(
        date(year, month, day)
        for year in (1990, 2010, 2026, 2040)
        for month in (3, 4, 10, 11)
        for day in (1, 4, 25, 28)
    ),
    date(1993, 8, 20),
    date(2011, 12, 29),
    date(2015, 8, 14),
    date(2018, 5, 4),
]
days = st.one_of(st.dates(date(1990, 1, 2), date(2040, 12, 30)), st.sampled_from(CHANGES))
zones = st.sampled_from(ZONES).map(ZoneInfo)
clocks = st.one_of(st.times(), st.builds(time, st.integers(0, 23), st.sampled_from((0, 15, 30, 59))), st.just(MIDNIGHT))
lengths = st.one_of(st.timedeltas(NOTHING, HOUR * 60), st.integers(0, 90).map(lambda count: MINUTE * count))


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def between(start: str, end: str) -> Interval:
    """What lies between two times of the Monday, in UTC."""
    return Interval(at(f"2026-03-02T{start}"), at(f"2026-03-02T{end}"))


def total(intervals: list[Interval]) -> timedelta:
    return sum((each.end.astimezone(UTC) - each.start.astimezone(UTC) for each in intervals), NOTHING)


def assert_in_order(intervals: list[Interval]) -> None:
    """None is empty, and none begins before the one in front of it has ended."""
    assert all(each.start < each.end for each in intervals)
    assert all(one.end <= other.start for one, other in pairwise(intervals))
    assert all(moment.tzinfo is UTC for each in intervals for moment in (each.start, each.end))


@st.composite
def asked(draw: st.DrawFn) -> list[Interval]:
    """The hours of one day to four in any zone."""
    first = draw(days)
    last = first + timedelta(days=draw(st.integers(0, 3)))
    return hours(first, last, draw(clocks), draw(clocks), draw(zones))


@st.composite
def busy(draw: st.DrawFn, around: list[Interval]) -> list[Interval]:
    """Busy times before, across and within what is asked, in any zone."""
    origin = around[0].start if around else at("2026-03-02T00:00")
    begins = [origin + draw(lengths) - HOUR * 5 for _ in range(draw(st.integers(0, 6)))]
    return [_span(start, start + draw(lengths), draw(zones)) for start in begins]


def _span(start: datetime, end: datetime, zone: tzinfo) -> Interval:
    return Interval(start.astimezone(zone), end.astimezone(zone))


@st.composite
def days_and_busy(draw: st.DrawFn) -> tuple[list[Interval], list[Interval]]:
    around = draw(asked())
    return around, draw(busy(around))


OPEN = hours(MONDAY, MONDAY, NINE, SIX, UTC)
LONG, INSIDE, TOUCHING = between("08:30", "12:00"), between("10:00", "10:30"), between("12:00", "13:00")
EDGE = between("17:00", "19:00")


@pytest.mark.parametrize("turn", range(4))
def test_only_true_gaps_are_free(turn: int) -> None:
    """C18: a short meeting in a long one opens no gap, touching ones no empty slot, and the edges count."""
    taken = [LONG, INSIDE, TOUCHING, EDGE]
    shuffled = Random(turn).sample(taken, len(taken))
    assert free(OPEN, shuffled, least=30 * MINUTE) == [between("13:00", "17:00")]
    assert free(OPEN, shuffled, least=NOTHING) == [between("13:00", "17:00")]


def test_shorter_gaps_are_dropped() -> None:
    """C18: with a minimum length, shorter slots are dropped; one of just that length stays."""
    taken = [between("09:29", "12:00"), between("12:30", "18:00")]
    assert free(OPEN, taken, least=30 * MINUTE) == [between("12:00", "12:30")]
    assert free(OPEN, taken, least=31 * MINUTE) == []
    assert free(OPEN, taken, least=NOTHING) == [between("09:00", "09:29"), between("12:00", "12:30")]


@pytest.mark.parametrize(
    "taken",
    [[between("08:00", "19:00")], [between("09:00", "18:00")], [between("09:00", "12:00"), between("12:00", "18:00")]],
)
def test_full_day_has_no_gap(taken: list[Interval]) -> None:
    """C18: not even one without length."""
    assert free(OPEN, taken, least=NOTHING) == []


@pytest.mark.parametrize(
    "taken", [[], [between("07:00", "09:00")], [between("18:00", "19:00")], [between("12:00", "12:00")]]
)
def test_what_takes_none_of_the_hours_leaves_them_whole(taken: list[Interval]) -> None:
    """C18: at the edges, beyond them, and without length."""
    assert free(OPEN, taken, least=NOTHING) == OPEN


def test_interval_that_takes_no_time_is_dropped() -> None:
    empty, reversed_ = between("11:00", "11:00"), between("13:00", "12:00")
    assert merge([empty, TOUCHING, reversed_, LONG]) == [between("08:30", "13:00")]
    assert merge([empty, reversed_]) == []


def test_nothing_asked_is_nothing_free() -> None:
    assert free([], [LONG], least=NOTHING) == []


def test_buffer_is_kept_around_busy_times_and_not_at_the_edges() -> None:
    taken = [between("10:00", "11:00"), between("11:20", "12:00"), between("18:10", "19:00"), between("14:00", "14:00")]
    slots = free(OPEN, taken, least=NOTHING, buffer=15 * MINUTE)
    assert slots == [between("09:00", "09:45"), between("12:15", "17:55")]


def test_buffer_has_room_at_the_ends_of_the_calendar() -> None:
    always = [Interval(datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))]
    assert free(OPEN, always, least=NOTHING, buffer=HOUR) == []


def test_gap_beyond_midnight_is_whole_where_the_hours_are_merged() -> None:
    whole = hours(MONDAY, MONDAY + timedelta(days=1), MIDNIGHT, MIDNIGHT, UTC)
    taken = [between("00:00", "22:00"), Interval(at("2026-03-03T02:00"), at("2026-03-04T00:00"))]
    assert free(whole, taken, least=3 * HOUR) == []
    assert free(merge(whole), taken, least=3 * HOUR) == [Interval(at("2026-03-02T22:00"), at("2026-03-03T02:00"))]


def test_busy_times_of_one_zone_are_not_compared_by_their_clocks() -> None:
    """The hour from 02:00 to 03:00 comes twice on this day in Berlin."""
    first, second = (datetime(2026, 10, 25, 2, 30, fold=fold, tzinfo=BERLIN) for fold in (0, 1))
    assert merge([Interval(first, second)]) == [Interval(at("2026-10-25T00:30"), at("2026-10-25T01:30"))]
    night = hours(date(2026, 10, 25), date(2026, 10, 25), time(1), time(4), BERLIN)
    slots = free(night, [Interval(first, second)], least=NOTHING)
    assert total(slots) == total(night) - HOUR == 3 * HOUR


@pytest.mark.parametrize(
    ("zone", "day", "length"),
    [
        ("Europe/Berlin", "2026-03-29", 23),
        ("Europe/Berlin", "2026-03-30", 24),
        ("Europe/Berlin", "2026-10-25", 25),
        ("Australia/Lord_Howe", "2026-04-05", 24.5),
        ("Australia/Lord_Howe", "2026-10-04", 23.5),
        ("America/Havana", "2026-03-08", 23),  # 00:00 is skipped.
        ("America/Havana", "2026-11-01", 25),  # 00:00 comes twice.
        ("America/Asuncion", "2023-03-25", 25),  # The last hour comes twice.
        ("Asia/Pyongyang", "2018-05-04", 23.5),  # The last half hour is skipped.
    ],
)
def test_whole_day_is_as_long_as_its_clock_says(zone: str, day: str, length: float) -> None:
    on = date.fromisoformat(day)
    assert total(hours(on, on, MIDNIGHT, MIDNIGHT, ZoneInfo(zone))) == HOUR * length


def test_day_that_a_zone_leaves_out_has_no_hours() -> None:
    """Samoa went from 29 to 31 December 2011."""
    apia, first, last = ZoneInfo("Pacific/Apia"), date(2011, 12, 29), date(2011, 12, 31)
    assert [each.start.astimezone(apia).day for each in hours(first, last, NINE, SIX, apia)] == [29, 31]
    assert total(hours(first, last, MIDNIGHT, MIDNIGHT, apia)) == 48 * HOUR


@pytest.mark.parametrize(
    ("day", "opens", "closes", "start", "end"),
    [
        ("2026-03-29", "01:00", "02:30", "00:00", "01:30"),
        ("2026-03-29", "02:30", "04:00", "01:30", "02:00"),
        ("2026-10-25", "01:00", "02:30", "2026-10-24T23:00", "01:30"),
        ("2026-10-25", "02:30", "04:00", "00:30", "03:00"),
        ("2026-10-25", "02:15", "02:30", "00:15", "01:30"),
    ],
)
def test_hours_that_a_clock_change_cuts(day: str, opens: str, closes: str, start: str, end: str) -> None:
    """RFC 5545, 3.3.5: a skipped time has the offset before; hours open with the first and close with the second."""
    on = date.fromisoformat(day)
    begins, ends = (at(clock if "T" in clock else f"{day}T{clock}") for clock in (start, end))
    found = hours(on, on, time.fromisoformat(opens), time.fromisoformat(closes), BERLIN)
    assert found == [Interval(begins, ends)]


@pytest.mark.parametrize(
    ("opens", "closes", "day"),
    [(NINE, NINE, MONDAY), (SIX, NINE, MONDAY), (time(2, 30), time(3, 15), date(2026, 3, 29))],
)
def test_hours_that_close_before_they_open_are_none(opens: time, closes: time, day: date) -> None:
    assert hours(day, day, opens, closes, BERLIN) == []


def test_hours_end_with_the_day_where_they_close_at_midnight() -> None:
    assert hours(MONDAY, MONDAY, SIX, MIDNIGHT, UTC) == [Interval(at("2026-03-02T18:00"), at("2026-03-03T00:00"))]


def test_hours_are_those_of_the_weekdays_that_are_asked_for() -> None:
    of = partial(hours, MONDAY, MONDAY + timedelta(days=13), NINE, SIX, UTC)
    assert [each.start.day for each in of(weekdays={0, 4})] == [2, 6, 9, 13]
    assert len(of()) == 14
    assert of(weekdays=()) == hours(MONDAY, MONDAY - timedelta(days=1), NINE, SIX, UTC) == []


@given(days, st.integers(0, 5), clocks, clocks, zones)
@example(date(2010, 11, 6), 2, MIDNIGHT, time(23, 30), ZoneInfo("America/St_Johns"))
@example(date(2011, 12, 29), 2, NINE, SIX, ZoneInfo("Pacific/Apia"))
def test_hours_are_in_order_in_every_zone(first: date, more: int, opens: time, closes: time, zone: ZoneInfo) -> None:
    found = hours(first, first + timedelta(days=more), opens, closes, zone)
    assert_in_order(found)
    assert len(found) <= more + 1


@given(days, st.integers(0, 5), zones)
def test_whole_days_leave_no_gap(first: date, more: int, zone: ZoneInfo) -> None:
    last = first + timedelta(days=more)
    begins, ends = (datetime.combine(day, MIDNIGHT, zone).astimezone(UTC) for day in (first, last + timedelta(days=1)))
    assert merge(hours(first, last, MIDNIGHT, MIDNIGHT, zone)) == merge([Interval(begins, ends)])


@given(days, clocks, clocks, zones, st.integers(0, 24 * 60 - 1))
def test_hours_hold_each_moment_whose_clock_lies_between(
    day: date, opens: time, closes: time, zone: ZoneInfo, minute: int
) -> None:
    """A time of the day that comes once or twice is asked for each time; times around midnight are those of a day."""
    clock = time(*divmod(minute, 60))
    found = hours(day, day, opens, closes, zone)
    within = opens <= clock and (clock < closes or closes == MIDNIGHT)
    (whole,) = hours(day, day, MIDNIGHT, MIDNIGHT, zone) or [Interval(at("2026-03-02T00:00"), at("2026-03-02T00:00"))]
    moments = {datetime.combine(day, clock.replace(fold=fold), zone).astimezone(UTC) for fold in (0, 1)}
    for moment in moments:
        is_real = moment.astimezone(zone).replace(tzinfo=None, fold=0) == datetime.combine(day, clock)
        if within and is_real and whole.start <= moment < whole.end:
            assert any(each.start <= moment < each.end for each in found) or _opens_in_a_gap(day, opens, zone)


def _opens_in_a_gap(day: date, opens: time, zone: ZoneInfo) -> bool:
    local = datetime.combine(day, opens.replace(fold=0), zone)
    return local.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != local.replace(tzinfo=None)


@given(days_and_busy())
def test_free_and_busy_times_are_together_what_is_asked(case: tuple[list[Interval], list[Interval]]) -> None:
    """C18: neither overlaps the other, and nothing is left out or counted twice."""
    around, taken = case
    slots = free(around, taken, least=NOTHING)
    covered = [
        Interval(max(one.start, other.start), min(one.end, other.end)) for one in around for other in merge(taken)
    ]
    covered = [each for each in covered if each.start < each.end]
    assert_in_order(slots)
    assert total(slots) + total(covered) == total(around)
    assert merge([*slots, *covered]) == merge(around)


@given(st.data(), days_and_busy())
def test_order_of_busy_times_does_not_matter(data: st.DataObject, case: tuple[list[Interval], list[Interval]]) -> None:
    around, taken = case
    shuffled = data.draw(st.permutations(taken))
    assert merge(shuffled) == merge(taken) == merge(merge(taken)) == merge([*taken, *taken])
    assert free(around, shuffled, least=NOTHING) == free(around, merge(taken), least=NOTHING)


@given(days_and_busy())
def test_merged_times_neither_overlap_nor_touch(case: tuple[list[Interval], list[Interval]]) -> None:
    merged = merge(case[1])
    assert_in_order(merged)
    assert all(one.end < other.start for one, other in pairwise(merged))


@given(days_and_busy(), lengths, lengths, lengths)
def test_more_buffer_never_gives_more_free_time(
    case: tuple[list[Interval], list[Interval]], least: timedelta, one: timedelta, more: timedelta
) -> None:
    around, taken = case
    narrow, wide = (free(around, taken, least=least, buffer=buffer) for buffer in (one, one + more))
    assert all(any(slot.start <= each.start and each.end <= slot.end for slot in narrow) for each in wide)
    assert all(slot.end - slot.start >= least for slot in [*narrow, *wide])
    assert_in_order(narrow)


@given(days_and_busy(), lengths, lengths)
def test_buffer_lies_between_free_and_busy_times(
    case: tuple[list[Interval], list[Interval]], least: timedelta, buffer: timedelta
) -> None:
    around, taken = case
    for slot in free(around, taken, least=least, buffer=buffer):
        assert any(each.start <= slot.start and slot.end <= each.end for each in around)
        assert all(slot.end + buffer <= each.start or each.end + buffer <= slot.start for each in merge(taken))


@given(days_and_busy(), lengths)
def test_minimum_length_only_drops(case: tuple[list[Interval], list[Interval]], least: timedelta) -> None:
    around, taken = case
    every = free(around, taken, least=NOTHING)
    assert free(around, taken, least=least) == [slot for slot in every if slot.end - slot.start >= least]
