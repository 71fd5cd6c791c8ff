"""The calendars that icalendar and recurring-ical-events are tested with, which their packages bring along, served."""

import re
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from math import inf
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import icalendar
import pytest
import recurring_ical_events
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client

from calendar_data.feeds import Feed
from calendar_data.recurrence import to_utc
from calendar_data.sources import Piece, Tell
from calendar_server import Config, build
from calendar_server.agenda import Agenda
from mcpshape.testing import decode

pytestmark = [pytest.mark.anyio, pytest.mark.no_cover]

ZONES = ("America/New_York", "Pacific/Kiritimati")
DAY, WINDOW = timedelta(days=1), timedelta(days=91)
MOST_WINDOWS = 4
_ZONE = re.compile(rb"BEGIN:VTIMEZONE.*?END:VTIMEZONE", re.DOTALL)
_DATE = re.compile(rb"(?<!\d)((?:19|20|21)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|1\d|2[0-8]))(?!\d)")


@dataclass(frozen=True, slots=True)
class Sample:
    """One of the calendars; an event or another part that stands alone has a calendar put around it."""

    name: str
    content: bytes = field(repr=False)

    def __str__(self) -> str:
        return self.name

    def windows(self) -> list[tuple[date, date]]:
        """Some of the ranges of 92 days that hold the dates which the calendar names, the first and last ones."""
        days = sorted({_day(match[1]) for match in _DATE.finditer(_ZONE.sub(b"", self.content))})
        found: list[tuple[date, date]] = []
        for day in days or [date(2026, 7, 13)]:
            if not found or day > found[-1][1]:
                found.append((day - 10 * DAY, day - 10 * DAY + WINDOW))
        return found if len(found) <= MOST_WINDOWS else [*found[: MOST_WINDOWS // 2], *found[-MOST_WINDOWS // 2 :]]


@dataclass(frozen=True, slots=True)
class Given:
    """A source with one calendar."""

    content: bytes = field(repr=False)
    label: str = "Sample"

    def pieces(self, tell: Tell) -> list[Piece]:
        return [Piece("sample", self.label, 0, lambda: self.content)]


def _day(digits: bytes) -> date:
    return datetime.strptime(digits.decode(), "%Y%m%d").date()  # noqa: DTZ007 # A date has no zone.


def _samples(package: Any, *folders: str) -> Iterator[Sample]:
    root = Path(package.__file__).parent
    for path in sorted(path for folder in folders for path in (root / folder).rglob("*.ics")):
        content = path.read_bytes()
        is_whole = b"BEGIN:VCALENDAR" in content.upper()
        yield Sample(path.name, content if is_whole else b"BEGIN:VCALENDAR\r\n%b\r\nEND:VCALENDAR\r\n" % content)


def _each(samples: list[Sample], package: str) -> pytest.MarkDecorator:
    """A mark that gives a test each sample, and skips it where there are none."""
    none = [pytest.param(None, marks=pytest.mark.skip(reason=f"the installed {package} brings no calendars along"))]
    return pytest.mark.parametrize("sample", samples or none, ids=str)


PARSED = list(_samples(icalendar, "tests"))
REPEATED = list(_samples(recurring_ical_events, "test/calendars"))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def _ask_all(client: Client, sample: Sample) -> list[tuple[str, Any]]:
    """Every tool that tells of time, for each window, and an event by its id."""
    asked: list[tuple[str, dict[str, Any]]] = [("next_event", {}), ("list_calendars", {})]
    for first, last in sample.windows():
        asked += [
            ("list_events", {"day": str(first + 10 * DAY)}),
            ("list_events_between", {"start": str(first), "end": str(last)}),
            ("find_free_time", {"day": str(first), "until": str(first + 30 * DAY), "closes": "00:00"}),
        ]
    following = decode(await client.call_tool("next_event", {}))["event"]
    if following:
        asked += [(tool, {"event_id": following["id"]}) for tool in ("get_event", "open_video_meeting")]
    return [(tool, await client.call_tool(tool, arguments)) for tool, arguments in asked]


@_each([*PARSED, *REPEATED], "icalendar")
async def test_every_sample_is_answered_with_a_result_and_no_traceback(
    sample: Sample, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """C14: those that are broken on purpose too, over whole ranges, in a zone that is far from most."""
    zone = ZONES[-1]
    path = tmp_path / "sample.ics"
    path.write_bytes(sample.content)
    now = datetime.combine(sample.windows()[0][0], time(9), ZoneInfo(zone))
    config = Config(ics=[path], zone=ZoneInfo(zone), now=now, privacy="detailed")
    async with Client(build(config)) as client:
        answers = await _ask_all(client, sample)
    assert not [(tool, answer) for tool, answer in answers if answer.is_error]
    assert not [record for record in caplog.records if record.exc_info or record.levelname in {"ERROR", "CRITICAL"}]
    assert str(tmp_path) not in caplog.text


RIGHTLY_DIFFERENT = {
    "timezone_same_start_and_offset.ics": "Without END:VCALENDAR the file may be half written, so it is refused.",
}
"""Samples whose events are not those that the library gives, and why that is meant."""


@pytest.mark.parametrize("zone", ZONES)
def test_the_events_of_the_samples_are_those_that_the_library_gives(zone: str) -> None:
    """Each occurrence with its start, end and title, as often as the library gives it for the same window.

    The library refuses some of the calendars as a whole for something in them; those are compared to nothing.
    """
    different, compared = [], 0
    for sample in (each for each in (*PARSED, *REPEATED) if each.name not in RIGHTLY_DIFFERENT):
        agenda = _agenda(sample.content, ZoneInfo(zone))
        for first, last in sample.windows():
            expected = _given(sample.content, first, last, ZoneInfo(zone))
            if expected is not None:
                compared += 1
                different += [(sample.name, first)] if _found(agenda, first, last) != expected else []
    assert not different
    assert compared > 250


@pytest.mark.parametrize("sample", [each for each in PARSED if each.name in RIGHTLY_DIFFERENT], ids=str)
def test_no_difference_to_the_library_is_meant_that_is_none(sample: Sample) -> None:
    """The table has no row that has lost its reason."""
    zone = ZoneInfo(ZONES[0])
    agenda = _agenda(sample.content, zone)
    assert any(_found(agenda, *window) != _given(sample.content, *window, zone) for window in sample.windows())


KINDS = ("drop", "double", "swap", "cut")
Damage = tuple[str, int, int]
# No larger, so that a failure can be printed.
PLACES = st.integers(0, 1 << 16)


@given(st.sampled_from([*PARSED, *REPEATED]), st.lists(st.tuples(st.sampled_from(KINDS), PLACES, PLACES)))
def test_a_damaged_sample_is_answered_as_well(sample: Sample, damages: list[Damage]) -> None:
    """C14: lines that are missing, doubled, in another's place or cut, as transfers and bad exports leave them."""
    agenda = _agenda(_damaged(sample.content, damages), ZoneInfo(ZONES[0]))
    for first, last in sample.windows():
        for each in agenda.between(first, last):
            assert each.happening.start <= each.happening.end
        agenda.following(datetime.combine(first, time(), agenda.zone))


def _damaged(content: bytes, damages: list[Damage]) -> bytes:
    lines = content.splitlines(keepends=True)
    for kind, first, second in damages if lines else ():
        place, other = first % len(lines), second % len(lines)
        if kind == "drop" and len(lines) > 1:
            del lines[place]
        elif kind == "double":
            lines.insert(other, lines[place])
        elif kind == "swap":
            lines[place], lines[other] = lines[other], lines[place]
        elif kind == "cut":
            lines[place] = lines[place][: second % (len(lines[place]) + 1)]
    return b"".join(lines)


def _agenda(content: bytes, zone: ZoneInfo) -> Agenda:
    return Agenda([Feed(Given(content), lambda: datetime(2026, 7, 13, tzinfo=zone), every=inf)], zone)


def _found(agenda: Agenda, first: date, last: date) -> Counter[Any]:
    return Counter(
        (each.happening.start, each.happening.end, each.facts.title or "") for each in agenda.between(first, last)
    )


def _given(content: bytes, first: date, last: date, zone: ZoneInfo) -> Counter[Any] | None:
    """What the library gives, in UTC; a day that ends before it begins is one day long (RFC 5545, 3.6.1)."""
    start, end = (datetime.combine(each, time(), zone) for each in (first, last + DAY))
    found: Counter[Any] = Counter()
    try:
        events = _events(content, start, end)
    except Exception:
        return None
    for event in events:
        begins, ends = event["DTSTART"].dt, event["DTEND"].dt
        if not isinstance(begins, datetime):
            ends = max(ends, begins + DAY)
        found[to_utc(begins, zone), to_utc(ends, zone), str(event.get("SUMMARY", "")).strip()] += 1
    return found


def _events(content: bytes, start: datetime, end: datetime) -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        calendars = icalendar.Calendar.from_ical(content, multiple=True)
        return [event for each in calendars for event in recurring_ical_events.of(each).between(start, end)]
