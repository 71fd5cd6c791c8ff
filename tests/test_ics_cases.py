"""Calendars that are hard to read, and what must not be told of them, each asked for through a real client."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from mcp import Client

from calendar_server import Config, build
from calendar_server.dtos import policy
from mcpshape.testing import decode

pytestmark = [pytest.mark.anyio, pytest.mark.no_cover]

BERLIN = "Europe/Berlin"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def served(tmp_path: Path) -> Any:
    """A way to ask one tool of a server over some iCalendar text."""

    async def ask(ics: str | bytes, tool: str, *, now: str = "2026-01-01T00:00", **options: Any) -> Any:
        path = tmp_path / "work.ics"
        path.write_bytes(ics if isinstance(ics, bytes) else ics.encode())
        zone = ZoneInfo(options.pop("zone", BERLIN))
        level, me = options.pop("level", "standard"), options.pop("me", "")
        moment = datetime.fromisoformat(now).replace(tzinfo=zone)
        toggles = options.pop("toggles", {})
        arguments = options
        config = Config(ics=[path], zone=zone, me=me, now=moment, privacy=level, toggles=toggles, format="toon")
        async with Client(build(config)) as client:
            result = await client.call_tool(tool, arguments)
        (block,) = (block.text for block in result.content if block.type == "text")
        return block if result.is_error else decode(block)

    return ask


def calendar(*events: str, head: str = "") -> str:
    """A VCALENDAR of events that are given by their lines."""
    whole = [f"BEGIN:VEVENT\nDTSTAMP:20260101T000000Z\n{lines}\nEND:VEVENT\n" for lines in events]
    return f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//test//EN\n{head}{''.join(whole)}END:VCALENDAR\n"


def titles(day: Any) -> list[str | None]:
    return [event["title"] for event in day["events"]]


def slots(free: Any) -> list[str]:
    return [f"{slot['start'][11:16]}-{slot['end'][11:16]}" for slot in free["slots"]]


@pytest.mark.parametrize("zone", ["America/Denver", "Asia/Tokyo", "Pacific/Kiritimati", "Pacific/Pago_Pago"])
@pytest.mark.parametrize(
    "end", ["DTEND;VALUE=DATE:20260611", "DURATION:P1D", "TRANSP:OPAQUE", "DTEND;VALUE=DATE:20260610"]
)
async def test_an_all_day_event_is_a_date_in_every_zone(served: Any, zone: str, end: str) -> None:
    """C01, RFC 5545, 3.6.1: DTEND is not part of it; without one, or with none after its start, it is one day long."""
    ics = calendar(f"UID:a1\nDTSTART;VALUE=DATE:20260610\n{end}\nSUMMARY:Off")
    days = {day: await served(ics, "list_events", day=f"2026-06-{day}", zone=zone) for day in ("09", "10", "11")}
    assert [titles(day) for day in days.values()] == [[], ["Off"], []]
    assert days["10"]["events"][0]["time"] == "all day"
    event = await served(ics, "get_event", event_id=days["10"]["events"][0]["id"], zone=zone)
    assert (event["start"], event["end"], event["is_all_day"]) == ("2026-06-10", "2026-06-10", True)


CANCELLED = calendar(
    "UID:s1\nDTSTART;TZID=Europe/Berlin:20260302T100000\nDTEND;TZID=Europe/Berlin:20260302T110000\n"
    "RRULE:FREQ=WEEKLY;COUNT=4\nSUMMARY:Sync\nX-GOOGLE-CONFERENCE:https://meet.google.com/abc-defg-hij",
    "UID:s1\nRECURRENCE-ID{recurrence}\nDTSTART;TZID=Europe/Berlin:20260309T100000\n"
    "DTEND;TZID=Europe/Berlin:20260309T110000\nSTATUS:CANCELLED\nSUMMARY:Sync",
)


@pytest.mark.parametrize("recurrence", [":20260309T090000Z", ";TZID=Europe/Berlin:20260309T100000"])
async def test_a_cancelled_occurrence_takes_no_time_and_is_never_the_next(served: Any, recurrence: str) -> None:
    """C03: whichever way RECURRENCE-ID is written; it is marked, free time ignores it, the next event is another."""
    ics = CANCELLED.replace("{recurrence}", recurrence)
    day = await served(ics, "list_events", day="2026-03-09")
    free = await served(ics, "find_free_time", day="2026-03-09")
    following = await served(ics, "next_event", now="2026-03-09T08:00")
    assert [event["status"] for event in day["events"]] == ["cancelled"]
    assert slots(free) == ["09:00-18:00"]
    assert following["event"]["start"].startswith("2026-03-16T10:00")


FLOATING = calendar(
    "UID:f2\nDTSTART:20260310T093000\nDTEND:20260310T103000\nSUMMARY:Run",
    "UID:f3\nDTSTART:20260310T083000Z\nDTEND:20260310T091500Z\nSUMMARY:Call",
)


async def test_floating_times_are_those_of_the_reader_and_say_so(served: Any) -> None:
    """C05: sorting, next event and free time work on the mix, and a floating time has no offset."""
    zone = "America/New_York"
    day = await served(FLOATING, "list_events", day="2026-03-10", zone=zone)
    strict = await served(FLOATING, "list_events", day="2026-03-10", zone=zone, level="strict")
    following = await served(FLOATING, "next_event", zone=zone, now="2026-03-10T05:00")
    free = await served(FLOATING, "find_free_time", day="2026-03-10", zone=zone)
    assert [(event["title"], event["time"]) for event in day["events"]] == [
        ("Call", "04:30 - 05:15"),
        ("Run", "09:30 - 10:30 local time"),
    ]
    assert [event["start"] for event in strict["events"]] == ["2026-03-10T04:30:00-04:00", "2026-03-10T09:30:00"]
    assert following["event"]["title"] == "Run"
    assert slots(free) == ["09:00-09:30", "10:30-18:00"]


async def test_floating_times_of_a_calendar_with_a_zone_are_in_that_zone(served: Any) -> None:
    """C05: X-WR-TIMEZONE."""
    match = "UID:f1\nDTSTART:20260310T210000\nDTEND:20260310T224500\nSUMMARY:Match"
    ics = calendar(match, head="X-WR-TIMEZONE:Europe/Brussels\n")
    day = await served(ics, "list_events", day="2026-03-10", zone="America/New_York")
    assert [event["time"] for event in day["events"]] == ["16:00 - 17:45"]


CLOCKS = calendar(
    "UID:d1\nDTSTART;TZID=Europe/Berlin:20260323T090000\nDTEND;TZID=Europe/Berlin:20260323T093000\n"
    "RRULE:FREQ=WEEKLY;COUNT=2\nSUMMARY:Weekly",
    "UID:d2\nDTSTART;TZID=Europe/Berlin:20260328T023000\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=3\nSUMMARY:Night job",
    "UID:d3\nDTSTART;TZID=Europe/Berlin:20261024T023000\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=3\nSUMMARY:Autumn job",
)


async def test_series_keep_their_clock_and_their_length_when_clocks_change(served: Any) -> None:
    """C07, RFC 5545, 3.3.5: a time in a gap has the offset before it, one there twice is the first."""
    months = [("2026-03-20", "2026-04-01"), ("2026-10-24", "2026-10-26")]
    found = [await served(CLOCKS, "list_events_between", start=a, end=b, level="strict") for a, b in months]
    times = [(event["start"], event["end"]) for range_ in found for day in range_["days"] for event in day["events"]]
    assert times == [
        ("2026-03-23T09:00:00+01:00", "2026-03-23T09:30:00+01:00"),
        ("2026-03-28T02:30:00+01:00", "2026-03-28T03:30:00+01:00"),
        ("2026-03-29T03:30:00+02:00", "2026-03-29T04:30:00+02:00"),
        ("2026-03-30T02:30:00+02:00", "2026-03-30T03:30:00+02:00"),
        ("2026-03-30T09:00:00+02:00", "2026-03-30T09:30:00+02:00"),
        ("2026-10-24T02:30:00+02:00", "2026-10-24T03:30:00+02:00"),
        ("2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00"),
        ("2026-10-26T02:30:00+01:00", "2026-10-26T03:30:00+01:00"),
    ]


@pytest.mark.parametrize(
    ("day", "minutes"), [("2026-03-29", 22 * 60), ("2026-10-25", 24 * 60), ("2026-06-01", 24 * 60)]
)
async def test_free_time_counts_the_hours_that_a_day_has(served: Any, day: str, minutes: int) -> None:
    """C07: days of 23 and 25 hours, with an hour of work in the night of each change."""
    free = await served(CLOCKS, "find_free_time", day=day, opens="00:00", closes="00:00", minutes=1)
    assert sum(slot["minutes"] for slot in free["slots"]) == minutes


EDGES = calendar(
    "UID:m1\nDTSTART;TZID=Europe/Berlin:20260302T200000\nDTEND;TZID=Europe/Berlin:20260303T000000\nSUMMARY:Late",
    "UID:m2\nDTSTART;TZID=Europe/Berlin:20260301T200000\nDTEND;TZID=Europe/Berlin:20260305T100000\nSUMMARY:Trip",
    "UID:m3\nDTSTART;TZID=Europe/Berlin:20260302T233000\nDTEND;TZID=Europe/Berlin:20260303T003000\nSUMMARY:Night",
    "UID:m4\nDTSTART;TZID=Europe/Berlin:20260303T090000\nDTEND;TZID=Europe/Berlin:20260303T093000\nSUMMARY:Standup",
)


async def test_a_day_is_half_open_and_running_events_do_not_hide_the_next(served: Any) -> None:
    """C09: what ends at midnight is not on the day after; what is on another day carries the date."""
    day = await served(EDGES, "list_events", day="2026-03-03", now="2026-03-03T00:10")
    following = await served(EDGES, "next_event", now="2026-03-03T00:10")
    assert [(event["title"], event["time"], event["status"]) for event in day["events"]] == [
        ("Trip", "2026-03-01 20:00 - 2026-03-05 10:00", "ongoing"),
        ("Night", "2026-03-02 23:30 - 00:30", "ongoing"),
        ("Standup", "09:00 - 09:30", None),
    ]
    assert following["event"]["title"] == "Standup"


LINKS = [
    (
        "DESCRIPTION:Join here<https://teams.microsoft.com/l/meetup-join/19%3ameeting_abc%40thread.v2/0?context=%7b%7d>",
        "https://teams.microsoft.com/l/meetup-join/19%3ameeting_abc%40thread.v2/0?context=%7b%7d",
        None,
    ),
    (
        'DESCRIPTION:<a href="https://us02web.zoom.us/j/85512340000?pwd=xY9">Join</a>',
        "https://us02web.zoom.us/j/85512340000?pwd=xY9",
        None,
    ),
    ("LOCATION:Room 4 (https://zoom.us/my/team.room).", "https://zoom.us/my/team.room", "Room 4"),
    ("LOCATION:zoom.us/j/99 via Zoom", None, "via Zoom"),
    ("X-GOOGLE-CONFERENCE:https://meet.google.com/abc-defg-hij", "https://meet.google.com/abc-defg-hij", None),
    (
        "CONFERENCE;VALUE=URI:https://teams.microsoft.com/l/meetup-join/19%3ameeting_x/0\nDESCRIPTION:https://zoom.us/j/5",
        "https://teams.microsoft.com/l/meetup-join/19%3ameeting_x/0",
        None,
    ),
    (
        "LOCATION:https://uni.zoom-x.de/j/61000000000?pwd=a&amp\\;b=1",
        "https://uni.zoom-x.de/j/61000000000?pwd=a&b=1",
        None,
    ),
    ("DESCRIPTION:https://zoom.us.evil.example/j/1 and http://zoom.us/j/1", None, None),
]


@pytest.mark.parametrize(("lines", "link", "place"), LINKS)
async def test_a_link_to_join_is_found_exactly_and_is_no_place(
    served: Any, lines: str, link: str | None, place: str | None
) -> None:
    """C11: properties that are made for links win over text; the place, which minimal tells, holds no link."""
    ics = calendar(f"UID:l\nDTSTART:20260302T100000Z\nSUMMARY:Call\n{lines}")
    event = (await served(ics, "next_event", now="2026-03-02T00:00"))["event"]
    told = await served(ics, "list_events", day="2026-03-02", level="minimal")
    assert (event["video_url"], event["location"]) == (link, place)
    assert "://" not in json.dumps(told)


SEVERAL = (
    calendar("UID:k1\nDTSTART:20260302T080000Z\nDTEND:20260302T090000Z\nSUMMARY:One")
    + "BEGIN:VCALENDAR\nVERSION:2.0\nBEGIN:VTIMEZONE\nTZID:Broken\nBEGIN:STANDARD\nDTSTART:CANARY\nEND:STANDARD\n"
    "END:VTIMEZONE\nBEGIN:VEVENT\nDTSTART:20260302T100000Z\nSUMMARY:Two\nEND:VEVENT\n"
    "BEGIN:VEVENT\nUID:k3\nDTSTART;TZID=Broken:20260302T113000\nSUMMARY:Three\nBEGIN:VALARM\nUID:k1\nEND:VEVENT\n"
    "BEGIN:VEVENT\nUID:k4\nSUMMARY:CANARY\nEND:VEVENT\n"
    "BEGIN:VEVENT\nUID:k5\nDTSTART:20260302T123000Z\nDTEND:nonsense\nSUMMARY:Five\nEND:VEVENT\nEND:VCALENDAR\n"
)


async def test_what_is_broken_does_not_take_the_rest_with_it(
    served: Any, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    """C14: several VCALENDARs, a bad VTIMEZONE, no UID, an alarm without an end, no DTSTART, a bad DTEND."""
    day = await served(SEVERAL, "list_events", day="2026-03-02", zone="UTC")
    again = await served(
        SEVERAL.replace("VERSION", "X-EXPORTED:now\nVERSION"), "list_events", day="2026-03-02", zone="UTC"
    )
    assert titles(day) == ["One", "Two", "Three", "Five"]
    assert titles(again) == titles(day)
    assert "CANARY" not in caplog.text
    assert str(tmp_path) not in caplog.text


OVERLAPPING = calendar(
    "UID:o1\nDTSTART:20260302T083000Z\nDTEND:20260302T120000Z\nSUMMARY:CANARY",
    "UID:o2\nDTSTART:20260302T100000Z\nDTEND:20260302T103000Z\nSUMMARY:CANARY",
    "UID:o3\nDTSTART:20260302T120000Z\nDTEND:20260302T130000Z\nSUMMARY:CANARY",
    "UID:o4\nDTSTART:20260302T170000Z\nDTEND:20260302T190000Z\nSUMMARY:CANARY",
)


@pytest.mark.parametrize("level", policy.levels)
async def test_free_time_is_what_no_event_takes_and_names_none(served: Any, level: str) -> None:
    """C18: events inside of others, touching ones, and those that reach over the edge."""
    free = await served(OVERLAPPING, "find_free_time", day="2026-03-02", zone="UTC", level=level)
    short = await served(OVERLAPPING, "find_free_time", day="2026-03-02", zone="UTC", level=level, minutes=241)
    assert slots(free) == ["13:00-17:00"]
    assert slots(short) == []
    assert "CANARY" not in json.dumps(free)


TOOLS: list[tuple[str, dict[str, Any]]] = [
    ("list_events", {"day": "2026-03-02"}),
    ("list_events_between", {"start": "2026-03-01", "end": "2026-03-31"}),
    ("find_free_time", {"day": "2026-03-02"}),
    ("next_event", {}),
    ("list_calendars", {}),
]


async def all_that_leaves(path: Path, level: str, written: str, *, me: str = "") -> str:
    """The list of tools, and the whole result of each tool for each event, as JSON."""
    moment = datetime(2026, 3, 1, tzinfo=ZoneInfo("UTC"))
    config = Config(ics=[path], zone=ZoneInfo("UTC"), me=me, now=moment, privacy=level, format=written, structured=True)
    async with Client(build(config)) as client:
        leaving = [(await client.list_tools()).model_dump(mode="json")]
        results = [await client.call_tool(*call) for call in TOOLS]
        month = results[1].structured_content
        assert month is not None
        ids = [event["id"] for day in month["days"] for event in day["events"]]
        assert ids
        for event_id in ids:
            results += [
                await client.call_tool(tool, {"event_id": event_id}) for tool in ("get_event", "open_video_meeting")
            ]
        leaving += [result.model_dump(mode="json") for result in results]
        failures = [await client.call_tool("list_events", {"day": day}) for day in ("CANARY", "2026-02-30")]
        leaving += [failure.model_dump(mode="json", exclude={"content"}) for failure in failures]
    return json.dumps(leaving, ensure_ascii=False)


CANARY = """UID:canary13@corp.example
DTSTART:20260302T100000Z
DTEND:20260302T110000Z
{privacy}SUMMARY:CANARY-5
LOCATION:Clinic CANARY-5
CATEGORIES:CANARY-5
COLOR:CANARY-5
RRULE:FREQ=WEEKLY;COUNT=3
ORGANIZER;CN=CANARY-5;SENT-BY="mailto:canary13@corp.example":mailto:canary13@corp.example
ATTENDEE;CN=CANARY-5;X-RESPONSE-COMMENT="canary13 is ill":mailto:c5-canary13@example.test
URL:https://zoom.us/j/555?pwd=CANARY-5
CONTACT:CANARY-5
COMMENT:CANARY-5
DESCRIPTION:Dial +49 30 1234567\\, PIN canary13
ATTACH:https://files.example.test/CANARY-5.pdf
X-APPLE-STRUCTURED-LOCATION;X-TITLE=CANARY-5:geo:1,2
GEO:1.0;2.0
X-CANARY-13:CANARY-5
BEGIN:VALARM
ACTION:DISPLAY
DESCRIPTION:CANARY-5
TRIGGER:-PT10M
END:VALARM"""


@pytest.mark.parametrize("privacy", ["CLASS:PRIVATE\n", "CLASS:CONFIDENTIAL\n", "CLASS:X-ONLY-ME\n", "CLASS\n"])
@pytest.mark.parametrize("level", policy.levels)
async def test_of_a_private_event_only_its_time_is_told(level: str, privacy: str, tmp_path: Path) -> None:
    """D05: at every level, by every tool; no flag, no count; a CLASS that says nothing counts as private."""
    (tmp_path / "work.ics").write_text(calendar(CANARY.replace("{privacy}", privacy)))
    leaving = await all_that_leaves(tmp_path / "work.ics", level, "toon")
    assert "canary" not in leaving.lower()
    assert "zoom" not in leaving.lower()
    assert "busy" in leaving or level != "strict"


@pytest.mark.parametrize("written", ["toon", "markdown", "json"])
@pytest.mark.parametrize("level", policy.levels)
async def test_a_level_that_hides_people_and_notes_hides_every_copy_of_them(
    level: str, written: str, tmp_path: Path
) -> None:
    """D01, D13: both channels, every format; nothing of UID, organizer, comments, alarms, files, X- properties."""
    (tmp_path / "work.ics").write_text(calendar(CANARY.replace("{privacy}", "")))
    leaving = (await all_that_leaves(tmp_path / "work.ics", level, written)).lower()
    shows = {"strict": set[str](), "minimal": {"canary-5"}, "standard": {"canary-5", "pin canary13"}}
    shows["detailed"] = shows["standard"] | {"c5-canary13@example.test"}
    for text in ("canary13 is ill", "canary13@corp.example", "files.example", "alarm"):
        assert text not in leaving
    for text in shows["detailed"]:
        assert (text in leaving) == (text in shows[level])


async def test_a_name_that_is_an_address_is_no_name(served: Any) -> None:
    """D13: at standard names are told and addresses are not, whatever programs write into CN."""
    people = [
        "ada@example.com",
        "Bo (bo@example.com)",
        "'Chi, Dr.'",
        "Dee\\, Dana",
        "Kim <kim@example.com>",
        "mailto:x@y.example",
    ]
    lines = "\n".join(f'ATTENDEE;CN="{name}":mailto:a{place}@example.com' for place, name in enumerate(people))
    ics = calendar(
        f"UID:n\nDTSTART:20260302T100000Z\nSUMMARY:Call\n{lines}\nATTENDEE;CN=Unquoted, Jo:mailto:q@example.com"
    )
    event = (await served(ics, "next_event", now="2026-03-02T00:00"))["event"]
    names = [person["name"] for person in event["attendees"]]
    assert names == [None, "Bo", "Chi, Dr.", "Dee, Dana", "Kim", None, "Unquoted, Jo"]


SERIES = """UID:p1
DTSTART;TZID=Europe/Berlin:20260302T100000
DTEND;TZID=Europe/Berlin:20260302T110000
RRULE:FREQ=WEEKLY;COUNT=3
CLASS:{series}
SUMMARY:SERIES"""
CHANGED = """UID:p1
RECURRENCE-ID;TZID=Europe/Berlin:20260309T100000
DTSTART;TZID=Europe/Berlin:20260309T120000
DTEND;TZID=Europe/Berlin:20260309T130000
CLASS:{changed}
SUMMARY:CHANGED
LOCATION:CANARY-3c"""


@pytest.mark.parametrize(
    ("series", "changed", "told"),
    [
        ("PRIVATE", None, []),
        ("PRIVATE", "PUBLIC", []),
        ("PUBLIC", "CONFIDENTIAL", ["SERIES", "SERIES"]),
        ("PUBLIC", "PUBLIC", ["SERIES", "CHANGED", "SERIES"]),
        ("PUBLIC", None, ["SERIES", "CHANGED", "SERIES"]),
    ],
)
@pytest.mark.parametrize("is_split", [False, True])
async def test_the_strictest_class_of_series_and_changed_occurrence_wins(
    series: str, changed: str | None, told: list[str], tmp_path: Path, *, is_split: bool
) -> None:
    """D03: also where they are in two files of one folder."""
    whole = SERIES.format(series=series)
    override = CHANGED.format(changed=changed) if changed else CHANGED.replace("CLASS:{changed}\n", "")
    folder = tmp_path / "calendars"
    folder.mkdir()
    for place, ics in enumerate([calendar(whole), calendar(override)] if is_split else [calendar(whole, override)]):
        (folder / f"{place}.ics").write_text(ics)
    moment = datetime(2026, 3, 1, tzinfo=ZoneInfo(BERLIN))
    async with Client(build(Config(ics=[folder], zone=ZoneInfo(BERLIN), now=moment, privacy="detailed"))) as client:
        (block,) = (await client.call_tool("list_events_between", {"start": "2026-03-01", "end": "2026-03-31"})).content
    assert block.type == "text"
    rows = [event for day in decode(block.text)["days"] for event in day["events"]]
    assert len(rows) == 3
    assert [row["title"] for row in rows if row["title"] != "[Event]"] == told
    assert ("CANARY" in block.text) == ("CHANGED" in told)


async def test_a_search_finds_nothing_in_what_is_not_told(served: Any) -> None:
    """D06: neither a text nor a calendar that the level withholds, nor those of a held event, can be guessed at."""
    ics = calendar(
        "UID:1\nDTSTART:20260302T100000Z\nSUMMARY:Sprint\nDESCRIPTION:budget",
        "UID:2\nDTSTART:20260302T110000Z\nSUMMARY:Dentist\nCLASS:PRIVATE",
        head="X-WR-CALNAME:Work\n",
    )
    day = {"day": "2026-03-02", "zone": "UTC"}

    async def found(level: str, **asked: str) -> Any:
        answer = await served(ics, "list_events", level=level, **day, **asked)
        return answer if isinstance(answer, str) else titles(answer)

    assert await found("standard", text="SPRINT") == ["Sprint"]
    assert await found("standard", text="budget") == ["Sprint"]
    assert await found("minimal", text="budget") == []
    assert await found("detailed", text="dentist") == []
    assert await found("detailed", calendar="Work") == ["Sprint"]
    assert "Choose one of: Work." in await found("minimal", calendar="Home")
    for asked in ({"text": "Sprint"}, {"text": "nothing"}, {"calendar": "Work"}, {"calendar": "Home"}):
        refused = await found("strict", **asked)
        (name,) = asked
        assert refused == (
            f"Error: {name}: It is not told at this level, so nothing can be searched by it. Call again without {name}."
        )


async def test_free_time_and_sentences_are_made_of_what_may_be_told(served: Any) -> None:
    """D08: no tool has a text of its own; where the link is withheld, there is no sentence about it."""
    ics = calendar("UID:1\nDTSTART:20260302T100000Z\nSUMMARY:CANARY-8\nURL:https://zoom.us/j/1?pwd=CANARY-8")
    for level in policy.levels:
        event_id = (await served(ics, "next_event", level=level))["event"]["id"]
        meeting = await served(ics, "open_video_meeting", level=level, event_id=event_id)
        assert ("message" in meeting) == (level in {"standard", "detailed"})
        assert ("CANARY-8" in json.dumps(meeting)) == (level != "strict")


async def test_invisible_text_of_a_calendar_does_not_leave(served: Any) -> None:
    """D10: tags, bidi overrides and zero-width signs go, joiners that mean something stay."""
    title = "Lunch\U0001f3f4\U000e0069\U000e0067\U000e006e\U000e007f a\u202ecod.exe pa\u200bypal"
    ics = calendar(f"UID:1\nDTSTART:20260302T100000Z\nSUMMARY:{title} می\u200cخواهم 👨\u200d👩\u200d👧")
    event = (await served(ics, "next_event"))["event"]
    assert not {"\u202e", "\u200b", "\U000e0069", "\U000e007f"} & set(event["title"])
    assert "می\u200cخواهم 👨\u200d👩\u200d👧" in event["title"]


async def test_no_value_reaches_the_log(served: Any, caplog: pytest.LogCaptureFixture) -> None:
    """D12: neither of an event nor of an argument, from any library, at the default level and below."""
    caplog.set_level("DEBUG")
    ics = calendar("UID:1\nDTSTART:20260302T100000Z\nSUMMARY:CANARY-12\nDESCRIPTION:CANARY-12\nDTEND:CANARY-12")
    await served(ics, "list_events", day="2026-03-02", text="CANARY-12b")
    await served(ics, "list_events", day="CANARY-12b")
    await served(ics, "get_event", event_id="CANARY-12b")
    told = [record.getMessage() for record in caplog.records if record.levelname != "DEBUG"]
    assert not [text for text in told if "CANARY" in text]


@pytest.mark.parametrize(
    ("lines", "busy", "mine", "status"),
    [
        ("", True, None, None),
        ("TRANSP:OPAQUE", True, None, None),
        ("TRANSP:transparent", False, None, "free"),
        ("STATUS:CANCELLED", False, None, "cancelled"),
        ("STATUS:TENTATIVE", True, None, "tentative"),
        ("X-MICROSOFT-CDO-BUSYSTATUS:FREE", False, None, "free"),
        ("X-MICROSOFT-CDO-BUSYSTATUS:OOF", True, None, None),
        ("X-MICROSOFT-CDO-BUSYSTATUS:TENTATIVE\nTRANSP:OPAQUE", True, None, "tentative"),
        ("ATTENDEE;PARTSTAT=ACCEPTED:mailto:me@example.com", True, "accepted", None),
        ("ATTENDEE;PARTSTAT=declined:MAILTO:Me@Example.com", False, "declined", "declined"),
        ("ATTENDEE;PARTSTAT=TENTATIVE:mailto:me@example.com", True, "tentative", "tentative"),
        ("ATTENDEE;PARTSTAT=DELEGATED:mailto:me@example.com", False, "delegated", "free"),
        ("ATTENDEE:mailto:me@example.com", True, "needs_action", "needs_action"),
        ("ATTENDEE;PARTSTAT=X-NEW:mailto:me@example.com", True, "needs_action", "needs_action"),
        ("ATTENDEE;PARTSTAT=DECLINED:mailto:other@example.com", True, None, None),
        ("ATTENDEE;EMAIL=me@example.com;PARTSTAT=DECLINED:urn:uuid:1", False, "declined", "declined"),
        ("STATUS:CANCELLED\nATTENDEE;PARTSTAT=ACCEPTED:mailto:me@example.com", False, "accepted", "cancelled"),
    ],
)
async def test_whether_an_event_takes_time_is_what_it_and_its_owner_say(
    served: Any, lines: str, busy: bool, mine: str | None, status: str | None
) -> None:
    """B7: the real value at every level, and free time agrees with it."""
    ics = calendar(f"UID:1\nDTSTART:20260302T100000Z\nDTEND:20260302T110000Z\n{lines}")
    asked = {"zone": "UTC", "me": "me@example.com", "level": "strict", "day": "2026-03-02"}
    (event,) = (await served(ics, "list_events", **asked))["events"]
    assert (event["is_busy"], event["my_attendance_status"], event["status"]) == (busy, mine, status)
    assert slots(await served(ics, "find_free_time", **asked)) == (
        ["09:00-10:00", "11:00-18:00"] if busy else ["09:00-18:00"]
    )


@pytest.mark.parametrize(
    ("now", "status"),
    [
        ("2026-03-02T09:44", None),
        ("2026-03-02T09:45", "starting_soon"),
        ("2026-03-02T10:00", "ongoing"),
        ("2026-03-02T10:59", "ongoing"),
        ("2026-03-02T11:00", "completed"),
    ],
)
async def test_the_status_goes_with_the_clock(served: Any, now: str, status: str | None) -> None:
    """A1: a value, not a decoration."""
    ics = calendar("UID:1\nDTSTART:20260302T100000Z\nDTEND:20260302T110000Z")
    (event,) = (await served(ics, "list_events", day="2026-03-02", zone="UTC", now=now))["events"]
    assert event["status"] == status
    assert event["title"] is None


ZONED = """BEGIN:VCALENDAR
VERSION:2.0
BEGIN:VTIMEZONE
TZID:Customized Time Zone
BEGIN:STANDARD
DTSTART:19700101T000000
TZOFFSETFROM:{offset}
TZOFFSETTO:{offset}
END:STANDARD
END:VTIMEZONE
BEGIN:VEVENT
UID:{offset}
DTSTART;TZID=Customized Time Zone:20260302T100000
DTEND;TZID=Customized Time Zone:20260302T110000
SUMMARY:{offset}
END:VEVENT
END:VCALENDAR
"""


async def test_zones_of_the_same_name_in_two_files_are_two_zones(tmp_path: Path) -> None:
    """Custom zones: Outlook calls whatever it does not know Customized Time Zone."""
    for place, offset in enumerate(("+0500", "-0300", "+0900")):
        (tmp_path / f"{place}.ics").write_text(ZONED.format(offset=offset))
    moment = datetime(2026, 3, 1, tzinfo=ZoneInfo("UTC"))
    async with Client(build(Config(ics=[tmp_path], zone=ZoneInfo("UTC"), now=moment, privacy="minimal"))) as client:
        (block,) = (await client.call_tool("list_events", {"day": "2026-03-02"})).content
    assert block.type == "text"
    rows = {event["title"]: event["time"] for event in decode(block.text)["events"]}
    assert rows == {"+0500": "05:00 - 06:00", "-0300": "13:00 - 14:00", "+0900": "01:00 - 02:00"}


@pytest.mark.parametrize(
    ("zone", "time"),
    [
        ("W. Europe Standard Time", "09:00 - 10:00"),
        ("Eastern Standard Time", "15:00 - 16:00"),
        ('"(UTC+09:00) Osaka, Sapporo, Tokyo"', "01:00 - 02:00"),
        ("/freeassociation.sourceforge.net/Europe/Berlin", "09:00 - 10:00"),
        ("US/Eastern", "15:00 - 16:00"),
        ("Nobody/Knows", "10:00 - 11:00 local time"),
    ],
)
async def test_zones_go_by_many_names(served: Any, zone: str, time: str) -> None:
    """Windows names, the names that Windows shows, names with a vendor; one that nobody knows is local time."""
    ics = calendar(f"UID:1\nDTSTART;TZID={zone}:20260302T100000\nDURATION:PT1H\nSUMMARY:Call")
    (event,) = (await served(ics, "list_events", day="2026-03-02", zone="UTC"))["events"]
    assert event["time"] == time


@pytest.mark.parametrize("line", ["DTEND:2026und so", "RRULE:FREQ=DAILY;BYDAY=NEVER", "CREATED:gestern"])
async def test_a_broken_line_in_a_calendar_with_a_zone_takes_nothing_with_it(served: Any, line: str) -> None:
    """X-WR-TIMEZONE, and a line that transfers and bad exports have cut: the event is there without it."""
    events = ("UID:a\nSUMMARY:One\nDTSTART:20260310T090000", "UID:b\nSUMMARY:Two\nDTSTART:20260310T100000")
    broken = calendar(f"{events[0]}\n{line}", events[1], head="X-WR-TIMEZONE:Europe/Brussels\n")
    assert titles(await served(broken, "list_events", day="2026-03-10")) == ["One", "Two"]


async def test_events_that_share_a_uid_without_being_one_are_all_there(served: Any) -> None:
    """Some programs give every event the same UID; of versions of one event the last counts."""
    one = "UID:1\nDTSTART:20260302T100000Z\nDTEND:20260302T110000Z"
    other = "UID:1\nDTSTART:20260302T120000Z\nDTEND:20260302T130000Z\nSUMMARY:Other"
    old = "UID:2\nSEQUENCE:1\nDTSTART:20260302T140000Z\nDTEND:20260302T150000Z\nSUMMARY:Old"
    new = "UID:2\nSEQUENCE:2\nDTSTART:20260302T160000Z\nDTEND:20260302T170000Z\nSUMMARY:New"
    ics = calendar(f"{one}\nSUMMARY:One", other, new, old)
    assert titles(await served(ics, "list_events", day="2026-03-02")) == ["One", "Other", "New"]


SPLIT = calendar(
    "UID:r\nDTSTART:20260302T090000Z\nDTEND:20260302T100000Z\nRRULE:FREQ=DAILY;UNTIL=20260306T090000Z\n"
    "RDATE;VALUE=PERIOD:20260302T200000Z/PT3H,20260303T200000Z/20260303T203000Z\nEXDATE;VALUE=DATE:20260304\nSUMMARY:Series",
    "UID:r\nRECURRENCE-ID;RANGE=THISANDFUTURE:20260305T090000Z\nDTSTART:20260305T110000Z\nDTEND:20260305T113000Z\n"
    "SUMMARY:Later",
    "UID:r\nRECURRENCE-ID:20260303T090000Z\nDTSTART:20260302T070000Z\nDTEND:20260302T080000Z\nSUMMARY:Moved",
)


async def test_series_have_additions_exceptions_and_changes(served: Any) -> None:
    """RFC 5545: RDATE with periods, EXDATE as dates, an occurrence on another day, one that changes all that follow."""
    week = await served(SPLIT, "list_events_between", start="2026-03-01", end="2026-03-08", zone="UTC")
    assert {day["date"]: [(row["title"], row["time"]) for row in day["events"]] for day in week["days"]} == {
        "2026-03-02": [("Moved", "07:00 - 08:00"), ("Series", "09:00 - 10:00"), ("Series", "20:00 - 23:00")],
        "2026-03-03": [("Series", "20:00 - 20:30")],
        "2026-03-05": [("Later", "11:00 - 11:30")],
        "2026-03-06": [("Later", "11:00 - 11:30")],
    }


NIGHTS = calendar(
    "UID:n\nDTSTART;TZID=Europe/Berlin:20240113T220000\nDTEND;TZID=Europe/Berlin:20240114T060000\nRRULE:FREQ=WEEKLY\n"
    "SUMMARY:Night shift"
)


async def test_an_old_series_keeps_its_length_on_both_sides_of_a_change_of_clocks(served: Any) -> None:
    """C07: also where the events of a quarter are worked out from the night of the change on."""
    days = ("2026-03-21", "2026-04-04", "2026-05-02", "2026-10-24", "2026-11-07")
    found = [await served(NIGHTS, "list_events", day=day) for day in days]
    times = [
        event["time"][:5] + event["time"][-5:] for day in found for event in day["events"] if "2026" in event["time"]
    ]
    assert times == ["22:0006:00", "22:0006:00", "22:0006:00", "22:0005:00", "22:0006:00"]


async def test_an_until_in_local_time_is_in_the_zone_of_the_series(served: Any) -> None:
    """RFC 5545, 3.3.10, wants UTC; some programs write the time of the last event as it is."""
    for until, count in (("20260309T220000", 3), ("20260310T015959Z", 2), ("20260310T020000Z", 3)):
        ics = calendar(f"UID:u\nDTSTART;TZID=America/New_York:20260223T220000\nRRULE:FREQ=WEEKLY;UNTIL={until}")
        range_ = await served(ics, "list_events_between", start="2026-02-20", end="2026-03-30", zone="America/New_York")
        assert range_["total"] == count


@pytest.mark.parametrize(
    "when", [";VALUE=DATE:20260309", ":20260309T090000Z", ";TZID=America/New_York:20260309T050000"]
)
async def test_a_change_belongs_to_its_occurrence_however_that_is_named(served: Any, when: str) -> None:
    """RECURRENCE-ID as a date, in UTC or in another zone: the original is not there beside it."""
    ics = calendar(
        "UID:c\nDTSTART;TZID=Europe/Berlin:20260302T100000\nDURATION:PT1H\nRRULE:FREQ=WEEKLY;COUNT=3\nSUMMARY:Series",
        f"UID:c\nRECURRENCE-ID{when}\nDTSTART;TZID=Europe/Berlin:20260310T150000\nDURATION:PT1H\nSUMMARY:Moved",
    )
    month = await served(ics, "list_events_between", start="2026-03-01", end="2026-03-31")
    rows = [(day["date"][-2:], event["title"]) for day in month["days"] for event in day["events"]]
    assert rows == [("02", "Series"), ("10", "Moved"), ("16", "Series")]


@pytest.mark.parametrize(
    ("name", "time"),
    [
        ("W. Europe Standard Time", "20:00 - 21:00"),
        ("europe/brussels", "20:00 - 21:00"),
        ("Foo/Bar", "21:00 - 22:00 local time"),
        ("GMT+0200", "21:00 - 22:00 local time"),
    ],
)
async def test_a_zone_of_a_calendar_that_nobody_knows_takes_no_event_away(served: Any, name: str, time: str) -> None:
    """X-WR-TIMEZONE by its Windows name, in another case, or as nonsense."""
    event = "UID:x\nDTSTART:20260310T210000\nDTEND:20260310T220000\nSUMMARY:Match"
    day = await served(calendar(event, head=f"X-WR-TIMEZONE:{name}\n"), "list_events", day="2026-03-10", zone="UTC")
    assert [event["time"] for event in day["events"]] == [time]


@pytest.mark.parametrize(
    ("lines", "day"),
    [
        ("DTSTART:20260101T000000Z\nDTEND:99991231T235959Z", "2026-03-10"),
        ("DTSTART:20260101T000000\nDTEND:99991231T235959", "2026-03-10"),
        ("DTSTART:00010101T000000Z\nDTEND:20270101T000000Z", "2026-03-10"),
        ("DTSTART;VALUE=DATE:00010101\nDTEND;VALUE=DATE:99991231", "2026-03-10"),
        ("DTSTART:20260310T080000Z\nDURATION:P737800D\nRRULE:FREQ=YEARLY", "2026-03-10"),
        ("DTSTART:20260310T080000Z\nRDATE;VALUE=PERIOD:20260515T080000Z/20260515", "2026-03-10"),
        ("DTSTART:20260310T080000Z\nRRULE:RSCALE=GREGORIAN;FREQ=YEARLY", "2026-03-10"),
        ("DTSTART:20260310T080000Z\nRRULE:FREQ=DAILY;BYSETPOS=0", "2026-03-10"),
        ("DTSTART:20260310T080000Z\nRRULE:FREQ=DAILY;INTERVAL=-1", "2026-03-10"),
        ("DTSTART:20260303T080000Z\nRRULE:FREQ=WEEKLY;BYDAY=MO, TU, WE", "2026-03-10"),
    ],
)
@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York"])
async def test_an_event_at_the_edge_of_what_can_be_counted_is_there(
    served: Any, tmp_path: Path, lines: str, day: str, zone: str
) -> None:
    """Whatever cannot be worked out of an event, it is there once; asked again and in any order, without a failure."""
    (tmp_path / "edge.ics").write_text(calendar(f"UID:e\nSUMMARY:Edge\n{lines}"))
    moment = datetime(2026, 3, 10, tzinfo=ZoneInfo(zone))
    config = Config(ics=[tmp_path / "edge.ics"], zone=ZoneInfo(zone), now=moment, privacy="minimal")
    async with Client(build(config)) as client:
        for each in (day, "2010-05-15", "2026-05-15", "2199-12-31", "1900-01-01", day):
            answers = [await client.call_tool("list_events", {"day": each}), await client.call_tool("next_event", {})]
            assert not [answer for answer in answers if answer.is_error]
        (block,) = answers[0].content
    assert block.type == "text"
    assert [event["title"] for event in decode(block.text)["events"]] == ["Edge"]


UNSEEN = [
    "BEGIN:VALARM\nTRIGGER:-PT5M\nCLASS:PRIVATE",
    "DESCRIPTION:raw\nBEGIN:intro\nCLASS:PRIVATE",
    "CL\0ASS:PRIVATE",
    "\ufeffCLASS:PRIVATE",
    "\u00a0CLASS:PRIVATE",
    "item1.CLASS:PRIVATE",
    "CLASS;X=1:\n PRIVATE",
    "X-CALENDARSERVER-ACCESS:CONFIDENTIAL",
]


@pytest.mark.parametrize("line", UNSEEN)
async def test_a_line_about_privacy_counts_wherever_it_stands(served: Any, line: str) -> None:
    """D05: behind an alarm without an end, behind text that looks like a component, with signs that nobody sees."""
    day = await served(
        calendar(f"UID:1\nDTSTART:20260302T100000Z\nSUMMARY:CANARY\n{line}"),
        "list_events",
        day="2026-03-02",
        zone="UTC",
        level="detailed",
    )
    assert "CANARY" not in json.dumps(day)


MASTER = "UID:s\\,1\nDTSTART:20260302T100000Z\nRRULE:FREQ=WEEKLY;COUNT=4\n"
OVERRIDE = "UID:s,1\nRECURRENCE-ID:20260309T100000Z\nDTSTART:20260309T120000Z\nSUMMARY:CANARY"


@pytest.mark.parametrize(
    "others",
    [
        [f"{MASTER}CLASS:PRIVATE"],
        [f"{MASTER}CLASS:PRIVATE".replace("DTSTART:2026", "DTSTART:nonsense")],
        [MASTER, OVERRIDE.replace("CANARY", "x\nSEQUENCE:0\nCLASS:PRIVATE")],
        [
            MASTER,
            "UID:s,1\nRECURRENCE-ID;RANGE=THISANDFUTURE:20260302T100000Z\nDTSTART:20260302T110000Z\nCLASS:PRIVATE",
        ],
    ],
)
async def test_a_change_is_as_private_as_anything_of_its_series(served: Any, others: list[str]) -> None:
    """D03: a series that cannot be read, an escaped UID, a second change, one that changes all that follow."""
    ics = calendar(*others, OVERRIDE)
    month = await served(ics, "list_events_between", start="2026-03-01", end="2026-03-31", zone="UTC", level="detailed")
    assert month["total"] > 0
    assert "CANARY" not in json.dumps(month)


async def test_a_series_that_has_no_end_in_its_file_counts_as_private(served: Any) -> None:
    """D03: nobody knows what would have stood in it."""
    ics = calendar(OVERRIDE).replace("BEGIN:VEVENT", f"BEGIN:VEVENT\n{MASTER}BEGIN:VEVENT", 1)
    month = await served(ics, "list_events_between", start="2026-03-01", end="2026-03-31", zone="UTC", level="detailed")
    assert month["total"] == 1
    assert "CANARY" not in json.dumps(month)


@pytest.mark.parametrize(
    "url",
    [
        "https://eu.safelinks.protection.outlook.com/?url=https%3A%2F%2Fzoom.us%2Fj%2F1%3Fpwd%3DCANARY",
        "https://www.google.com/url?q=https://zoom.us/j/1?pwd=CANARY",
        "http://zoom.us/j/1?pwd=CANARY",
        "zoommtg://zoom.us/join?confno=CANARY",
        "https://u@zoom.us/j/CANARY",
        "Join https://zoom.us/j/CANARY",
        "mailto:CANARY@example.com",
    ],
)
async def test_the_switch_for_video_links_holds_for_the_link_of_an_event(served: Any, url: str) -> None:
    """B4: whatever leads into a meeting, or to a person, is no page of an event."""
    ics = calendar(f"UID:1\nDTSTART:20260302T100000Z\nURL:{url}\nLOCATION:Hall\\, {url}")
    event = (await served(ics, "next_event", toggles={"video_url": False}))["event"]
    assert event["url"] is None
    assert "CANARY" not in json.dumps(await served(ics, "next_event", level="minimal")) or url.startswith("mailto")
    page = calendar("UID:1\nDTSTART:20260302T100000Z\nURL:https://events.example.com/4?x=(1)")
    assert (await served(page, "next_event"))["event"]["url"] == "https://events.example.com/4?x=(1)"


@pytest.mark.parametrize("sign", ["(", "a", "a.", "a@", "<", "[a", "-", " ,"])
@pytest.mark.parametrize("name", ["LOCATION:", 'ATTENDEE;CN="', "X-WR-CALNAME:", "URL:https://"])
async def test_hostile_text_takes_no_longer_than_other_text(served: Any, name: str, sign: str) -> None:
    """Bad input: half a megabyte of one sign; what backtracks on it would not end within this test run."""
    line = f"{name}{sign * 250_000}" + ('":mailto:x@example.com' if "CN" in name else "")
    head = f"{line}\n" if name.startswith("X-WR") else ""
    ics = calendar("UID:1\nDTSTART:20260302T100000Z\nSUMMARY:Good" + ("" if head else f"\n{line}"), head=head)
    assert titles(await served(ics, "list_events", day="2026-03-02")) == ["Good"]
