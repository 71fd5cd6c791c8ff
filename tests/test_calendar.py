"""The calendar server, asked over stdio and HTTP by a real client."""

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import anyio
import pytest
from icalendar import Calendar
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import Implementation
from pydantic import BaseModel

from calendar_server import Config, build
from calendar_server.dtos import policy
from calendar_server.samples import OWNER, SAMPLE, sample_agenda
from calendar_server.tools import CalendarTools, shape
from clients import decode
from mcpshape import Keyring, Never, Shape, Since, When
from mcpshape.encoders import Toon
from mcpshape.testing import Secret, assert_no_leak
from mcpshape.testing import decode as decode_any

pytestmark = [pytest.mark.anyio, pytest.mark.no_cover]

BERLIN = ZoneInfo("Europe/Berlin")
FIXED = ["--tz", "Europe/Berlin", "--now", "2026-07-13T10:20"]
STRICT_KEYS = {"id", "title", "start", "end", "is_all_day", "is_busy", "my_attendance_status", "status"}
HOLDERS = {"date", "total", "days", "events", "event", "slots", "next_event", "minutes_until_next_event"}
HOLDERS |= {"until", "minutes"}  # What free time is made of.
HOLDERS |= {"page", "shown", "next"}  # What an answer says of its rows, which tells nothing of any event.
A3 = """date: 2026-07-13
total: 2
events[2]{id,title,status,time,calendar,location,video,attendees}:
  E1,Sprint planning,ongoing,"10:00 - 11:00",Work,null,Google Meet,3
  E2,1on1,null,"15:00 - 15:30",Work,Room A,null,2"""
A3_CALENDAR = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//test//EN
X-WR-CALNAME:Work
BEGIN:VEVENT
UID:1
DTSTAMP:20260701T000000Z
DTSTART;TZID=Europe/Berlin:20260713T100000
DTEND;TZID=Europe/Berlin:20260713T110000
SUMMARY:Sprint planning
X-GOOGLE-CONFERENCE:https://meet.google.com/abc-defg-hij
ATTENDEE:mailto:a@example.com
ATTENDEE:mailto:b@example.com
ATTENDEE:mailto:c@example.com
END:VEVENT
BEGIN:VEVENT
UID:2
DTSTAMP:20260701T000000Z
DTSTART;TZID=Europe/Berlin:20260713T150000
DTEND;TZID=Europe/Berlin:20260713T153000
SUMMARY:1on1
LOCATION:Room A
ATTENDEE:mailto:a@example.com
ATTENDEE:mailto:b@example.com
END:VEVENT
END:VCALENDAR
"""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def command(*options: str) -> list[str]:
    return [str(Path(sys.executable).parent / "mcpshape-calendar"), *options]


@asynccontextmanager
async def over_stdio(*options: str, client_info: Implementation | None = None) -> AsyncIterator[tuple[Client, Any]]:
    program, *arguments = command(*FIXED, *options)
    server = StdioServerParameters(command=program, args=arguments, env=dict(os.environ))
    with tempfile.TemporaryFile("w+") as log:
        async with Client(stdio_client(server, errlog=log), client_info=client_info) as client:
            yield client, log


@asynccontextmanager
async def over_http(*options: str) -> AsyncIterator[tuple[Client, Any]]:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    with tempfile.TemporaryFile("w+") as log:
        line = command(*FIXED, *options, "--transport", "http", "--port", str(port))
        server = subprocess.Popen(line, stdout=log, stderr=log)
        try:
            await _listening(port)
            async with Client(f"http://127.0.0.1:{port}/mcp") as client:
                yield client, log
        finally:
            server.terminate()
            server.wait()


async def _listening(port: int) -> None:
    with anyio.fail_after(30):
        while True:
            try:
                await (await anyio.connect_tcp("127.0.0.1", port)).aclose()
            except OSError:
                await anyio.sleep(0.05)
            else:
                return


async def ask(client: Client, tool: str, **arguments: Any) -> str:
    (block,) = (await client.call_tool(tool, arguments)).content
    assert block.type == "text"
    return block.text


def server_at(level: str, **options: Any) -> Any:
    fixed = {"ics": [SAMPLE], "zone": BERLIN, "me": OWNER, "now": datetime(2026, 7, 13, 10, 20, tzinfo=BERLIN)}
    return build(Config(**{**fixed, "privacy": level, **options}))


def sensitive(path: Path = SAMPLE) -> set[str]:
    """Every title, place, note, name, address, id and link of a calendar."""
    found: set[str] = set()
    for event in Calendar.from_ical(path.read_bytes()).walk("VEVENT"):
        items: list[tuple[str, Any]] = event.property_items(recursive=False)
        for name, value in items:
            if name in {
                "SUMMARY",
                "LOCATION",
                "DESCRIPTION",
                "UID",
                "URL",
                "X-GOOGLE-CONFERENCE",
                "ATTENDEE",
                "ORGANIZER",
            }:
                found |= {line.strip() for line in str(value).splitlines()}
                found |= {str(value.params["CN"])} if "CN" in getattr(value, "params", {}) else set()
    return {text.removeprefix("mailto:") for text in found if len(text) > 3}


def keys_of(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield key
            yield from keys_of(each)
    if isinstance(value, list):
        for each in value:
            yield from keys_of(each)


def test_the_library_gives_the_text_of_a3() -> None:
    """A1 to A4: values only, nulls written, the table kept, byte for byte."""

    class Row(BaseModel):
        id: str
        title: str
        status: str | None
        time: str
        calendar: str
        location: str | None
        video: str | None
        attendees: int | None

    class Day(BaseModel):
        date: str
        total: int
        events: list[Row]

    rows = [
        ("E1", "Sprint planning", "ongoing", "10:00 - 11:00", "Work", None, "Google Meet", 3),
        ("E2", "1on1", None, "15:00 - 15:30", "Work", "Room A", None, 2),
    ]
    events = [Row.model_validate(dict(zip(Row.model_fields, row, strict=True))) for row in rows]
    assert Shape(encoder=Toon()).render(Day(date="2026-07-13", total=2, events=events)).text == A3


@pytest.mark.parametrize("level", ["minimal", "standard", "detailed"])
async def test_the_server_gives_the_text_of_a3(level: str, tmp_path: Path) -> None:
    """The same two events from an .ics file, over stdio, ids aside."""
    path = tmp_path / "work.ics"
    path.write_text(A3_CALENDAR)
    async with over_stdio("--ics", str(path), "--privacy", level) as (client, _):
        text = await ask(client, "list_events", day="2026-07-13")
    for event, name in zip(decode(text)["events"], ("E1", "E2"), strict=True):
        text = text.replace(event["id"], name)
    assert text == A3


@pytest.mark.parametrize("written", ["toon", "markdown", "json"])
@pytest.mark.parametrize("transport", [over_stdio, over_http])
async def test_at_strict_only_eight_keys_and_no_private_byte_leave(transport: Any, written: str) -> None:
    """B1, B5, D05, D13: every tool, every format, both transports, errors and stderr included."""
    calls: list[tuple[str, dict[str, Any]]] = [
        ("list_events", {"day": "2026-07-13"}),
        ("list_events_between", {"start": "2026-07-13", "end": "2026-07-18"}),
        ("find_free_time", {"day": "2026-07-14", "minutes": 15}),
        ("next_event", {}),
        ("list_calendars", {}),
        ("list_events", {"day": "2026-07-13", "text": "Dentist"}),
        ("list_events", {"day": "2026-07-13", "calendar": "Work"}),
        ("list_events", {"day": "tomorrow"}),
        ("list_events", {"day": "2026-07-14", "unknown": "x"}),
        ("list_events_between", {"start": "2026-07-13", "end": "2020-07-13"}),
        ("get_event", {"event_id": "sprint-planning-7f3@calendar.example.com"}),
    ]
    async with transport("--format", written, "--structured") as (client, log):
        seen = [json.dumps((await client.list_tools()).model_dump(mode="json"))]
        results = [await client.call_tool(tool, arguments) for tool, arguments in calls]
        week = results[1].structured_content
        assert week is not None
        ids = {event["id"] for day in week["days"] for event in day["events"]}
        for event_id in ids:
            results += [
                await client.call_tool(tool, {"event_id": event_id}) for tool in ("get_event", "open_video_meeting")
            ]
    seen += [json.dumps(result.model_dump(mode="json", exclude={"meta"})) for result in results]
    log.seek(0) if not log.closed else None
    assert {key for result in results for key in keys_of(result.structured_content)} <= STRICT_KEYS | HOLDERS
    assert set(week["days"][0]["events"][0]) == STRICT_KEYS
    private = sensitive() - {"sprint-planning-7f3@calendar.example.com"}
    assert not [text for text in private for answer in seen if text in answer]


@pytest.mark.parametrize("level", policy.levels)
async def test_nothing_is_written_to_stderr_while_all_is_well(level: str) -> None:
    """D12: no value reaches a log at the default level."""
    async with over_stdio("--privacy", level) as (client, log):
        await ask(client, "list_events", day="2026-07-13")
        await ask(client, "get_event", event_id="unknown")
        log.seek(0)
        assert log.read() == ""


LEVEL_KEYS = {
    "strict": STRICT_KEYS,
    "minimal": STRICT_KEYS | {"location", "calendar", "attendee_count", "has_video"},
}
LEVEL_KEYS["standard"] = LEVEL_KEYS["minimal"] | {"page", "attendees", "organizer", "video_url", "url", "notes"}
LEVEL_KEYS["detailed"] = LEVEL_KEYS["standard"]


@pytest.mark.parametrize("level", policy.levels)
async def test_each_level_answers_its_question(level: str) -> None:
    """B1 to B3: the keys of one event at each level; e-mail addresses at detailed only."""
    async with Client(server_at(level)) as client:
        listing = decode(await ask(client, "list_events", day="2026-07-13"))
        event = decode(await ask(client, "get_event", event_id=listing["events"][1]["id"]))
    assert set(event) == LEVEL_KEYS[level]
    assert event["title"] == ("[Event]" if level == "strict" else "Sprint planning")
    people = event.get("attendees", [])
    assert ("email" in people[0] if people else False) == (level == "detailed")


@pytest.mark.parametrize(
    ("toggle", "gone"),
    [
        ("attendee_names", {"attendees", "page"}),
        ("video_url", {"video_url"}),
        ("notes", {"notes"}),
        ("organizer", {"organizer"}),
    ],
)
async def test_a_toggle_takes_its_field_away(toggle: str, gone: set[str]) -> None:
    """B4: each switch alone; a list of people that tells nothing is not told at all, nor how long it is."""
    async with Client(server_at("standard", toggles={toggle: False})) as client:
        listing = decode(await ask(client, "list_events", day="2026-07-13"))
        event = decode(await ask(client, "get_event", event_id=listing["events"][1]["id"]))
    assert set(event) == LEVEL_KEYS["standard"] - gone


async def test_busy_is_real_and_the_status_says_why_not() -> None:
    """B7, A1: free, cancelled and declined events are not busy."""
    async with Client(server_at("strict")) as client:
        week = decode(await ask(client, "list_events_between", start="2026-07-13", end="2026-07-17"))
    events = [event for day in week["days"] for event in day["events"]]
    assert {event["status"] for event in events if not event["is_busy"]} == {"free", "cancelled", "declined"}
    assert {event["status"] for event in events if event["is_busy"]} == {"completed", "ongoing", "tentative", None}
    assert week["total"] == len(events) == sum(day["total"] for day in week["days"])


EDGES = [
    ("ends at midnight", "DTSTART:20260712T210000Z", "DTEND:20260712T220000Z"),
    ("begins at midnight and takes no time", "DTSTART:20260712T220000Z", "DTEND:20260712T220000Z"),
    ("goes over midnight", "DTSTART;TZID=Europe/Berlin:20260713T230000", "DTEND;TZID=Europe/Berlin:20260714T010000"),
    ("floats", "DTSTART:20260714T233000", "DTEND:20260714T234500"),
    ("is two whole days", "DTSTART;VALUE=DATE:20260714", "DTEND;VALUE=DATE:20260716"),
]


async def test_an_event_is_on_every_day_that_it_touches(tmp_path: Path) -> None:
    """Also where it ends or begins at midnight; a range tells the same as its days one by one."""
    path = tmp_path / "edges.ics"
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//test//EN"]
    for title, start, end in EDGES:
        lines += ["BEGIN:VEVENT", f"UID:{title}", "DTSTAMP:20260101T000000Z", f"SUMMARY:{title}"]
        lines += [start, end, "END:VEVENT"]
    path.write_text("\n".join([*lines, "END:VCALENDAR"]))
    async with Client(server_at("minimal", ics=[path])) as client:
        range_ = await ask(client, "list_events_between", start="2026-07-11", end="2026-07-16")
        single = [decode(await ask(client, "list_events", day=f"2026-07-{day}")) for day in range(11, 17)]
    days = decode(range_)["days"]
    assert days == [day for day in single if day["events"]]
    assert {day["date"]: [event["title"] for event in day["events"]] for day in days} == {
        "2026-07-12": ["ends at midnight"],
        "2026-07-13": ["begins at midnight and takes no time", "goes over midnight"],
        "2026-07-14": ["goes over midnight", "is two whole days", "floats"],
        "2026-07-15": ["is two whole days"],
    }


async def test_the_next_event_is_the_next_one_that_keeps_its_owner_busy() -> None:
    """B5, C18: free time says how long it is until then, and at no level what it is that begins."""
    async with Client(server_at("minimal")) as client:
        event = decode(await ask(client, "next_event"))["event"]
    async with Client(server_at("detailed")) as client:
        free = decode(await ask(client, "find_free_time", day="2026-07-13", minutes=60))
    assert event["title"] == "1on1"
    assert set(free) == {"date", "until", "slots", "minutes_until_next_event"}
    assert free["minutes_until_next_event"] == 280
    assert [(slot["start"][11:16], slot["end"][11:16]) for slot in free["slots"]] == [
        ("11:00", "15:00"),
        ("15:30", "18:00"),
    ]


async def test_the_sentence_about_a_meeting_follows_the_level() -> None:
    """B5, D08: where the link is not told, neither is the sentence that holds it."""
    for level, toggles, told in (
        ("strict", {}, False),
        ("standard", {}, True),
        ("standard", {"video_url": False}, False),
    ):
        async with Client(server_at(level, toggles=toggles)) as client:
            listing = decode(await ask(client, "list_events", day="2026-07-13"))
            meeting = decode(await ask(client, "open_video_meeting", event_id=listing["events"][1]["id"]))
        assert ("message" in meeting) == told
        if told:
            assert meeting["message"] == "Open https://meet.google.com/kqz-wvtn-hxe to join Sprint planning."


async def test_an_event_without_a_meeting_has_no_sentence() -> None:
    """Rule 3: null, which means that there is none."""
    async with Client(server_at("standard")) as client:
        listing = decode(await ask(client, "list_events", day="2026-07-13"))
        meeting = decode(await ask(client, "open_video_meeting", event_id=listing["events"][2]["id"]))
    assert meeting["message"] is None


async def test_notes_are_prose_in_markdown_and_data_in_toon() -> None:
    """A6, A7, E05: one DTO, two formats; in Markdown the headings of a note stand below ours."""
    texts = []
    for written in ("toon", "markdown"):
        async with Client(server_at("standard", format=written)) as client:
            listing = decode_any(await ask(client, "list_events", day="2026-07-13"))
            texts.append(await ask(client, "get_event", event_id=listing["events"][1]["id"]))
    assert decode(texts[0])["notes"].startswith("# Goals\n\n- close")
    assert "## notes\n\n> ### Goals\n>\n> - close the import epic\n> - agree on the *beta* date" in texts[1]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--privacy", "full"], "there is no level 'full'. Choose one of: strict, minimal, standard, detailed."),
        (["--privacy", "standard", "--toggle", "note=off"], "there is no toggle 'note'. Choose one of: attendee_names"),
        (["--toggle", "notes=maybe"], "notes=maybe is no toggle; write one of attendee_names"),
        (["--toggle", "notes=on"], "toggles.notes: it is not offered at strict. It is offered from standard on."),
        (["--format", "xml"], "invalid choice: 'xml' (choose from"),
        (["--ics", "missing.ics"], "there is no file missing.ics"),
        (["--port", "http"], "http is no port; choose one from 1 to 65535"),
        (["--port", "0"], "0 is no port"),
        (["--port", "9000"], "--port needs --transport http"),
        (["--host", "0.0.0.0"], "--host needs --transport http"),
        (["--stateless"], "--stateless needs --transport http"),
        (["--priv", "strict"], "unrecognized arguments: --priv"),
        (["--tz", "Berlin"], "there is no time zone Berlin; write one such as Europe/Berlin"),
        (["--now", "soon"], "soon is no date and time; write one such as 2026-07-13T10:20"),
        (["--transport", "pigeon"], "invalid choice: 'pigeon'"),
    ],
)
def test_a_wrong_option_is_one_line_and_exit_code_2(options: list[str], line: str) -> None:
    """Bad input: the line names the choices."""
    ended = subprocess.run(command(*options), capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert line in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert ended.stdout == ""


async def test_a_broken_file_does_not_hide_the_readable_events(tmp_path: Path) -> None:
    """Bad input, C14: stderr names the calendar and the property, no value and no path; all else is served."""
    broken = A3_CALENDAR.replace("DTSTART;TZID=Europe/Berlin:20260713T100000", "DTSTART:CANARY")
    (tmp_path / "work.ics").write_text(
        broken + A3_CALENDAR.replace("UID:", "UID:x").replace("ATTENDEE:", "RDATE:CANARY\nATTENDEE:", 1)
    )
    options = ["--ics", str(tmp_path / "work.ics"), "--privacy", "minimal"]
    async with over_stdio(*options) as (client, log):
        listing = decode(await ask(client, "list_events", day="2026-07-13"))
        log.seek(0)
        stderr = log.read()
    assert [event["title"] for event in listing["events"]] == ["Sprint planning", "1on1", "1on1"]
    assert "Work: skipped an event without a readable DTSTART" in stderr
    assert "Work: skipped unreadable RDATE of an event" in stderr
    assert "CANARY" not in stderr
    assert "work.ics" not in stderr


@pytest.mark.parametrize("text", ["", "CANARY", "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:CANARY\n"])
def test_a_file_without_a_whole_calendar_is_refused_and_not_taken_for_free_time(text: str, tmp_path: Path) -> None:
    """Bad input: an empty answer would say that nothing is planned."""
    path = tmp_path / "noise.ics"
    path.write_text(text)
    ended = subprocess.run(command("--ics", str(path)), capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr == "mcpshape-calendar: none of the files can be read (unreadable). Export it again as .ics.\n"


PRIVATE = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//case//EN
BEGIN:VEVENT
UID:p1@example.test
DTSTAMP:20260101T000000Z
DTSTART;TZID=Europe/Berlin:20260302T100000
DTEND;TZID=Europe/Berlin:20260302T110000
RRULE:FREQ=WEEKLY;COUNT=3
CLASS:PRIVATE
SUMMARY:CANARY-3
END:VEVENT
BEGIN:VEVENT
UID:p1@example.test
DTSTAMP:20260101T000000Z
RECURRENCE-ID;TZID=Europe/Berlin:20260309T100000
DTSTART;TZID=Europe/Berlin:20260309T120000
DTEND;TZID=Europe/Berlin:20260309T130000
SUMMARY:CANARY-3b
LOCATION:CANARY-3c
END:VEVENT
BEGIN:VEVENT
UID:canary13@corp.example
DTSTAMP:20260101T000000Z
DTSTART:20260303T100000Z
DTEND:20260303T110000Z
CLASS:X-SECRET
SUMMARY:CANARY-5
LOCATION:Clinic CANARY-5
CATEGORIES:CANARY-5
ORGANIZER;CN=CANARY-5:mailto:canary13@corp.example
ATTENDEE;CN=CANARY-5;X-RESPONSE-COMMENT="canary13 is ill":mailto:c5@example.test
URL:https://zoom.us/j/555?pwd=CANARY-5
DESCRIPTION:Dial +49 30 1234567\\, PIN canary13
ATTACH:https://files.example.test/CANARY-5.pdf
X-APPLE-STRUCTURED-LOCATION;X-TITLE=CANARY-5:geo:1,2
END:VEVENT
END:VCALENDAR
"""


@pytest.mark.parametrize("level", policy.levels)
async def test_a_private_event_is_told_as_at_strict_at_every_level(level: str, tmp_path: Path) -> None:
    """D03, D05, D13: its changed occurrences too, unknown classes too; the time is busy all the same."""
    path = tmp_path / "private.ics"
    path.write_text(PRIVATE)
    now = datetime(2026, 3, 1, tzinfo=BERLIN)
    async with Client(server_at(level, ics=[path], now=now)) as client:
        month = await ask(client, "list_events_between", start="2026-03-01", end="2026-03-31")
        rows = [event for day in decode(month)["days"] for event in day["events"]]
        texts = [month, await ask(client, "next_event"), await ask(client, "find_free_time", day="2026-03-03")]
        for row in rows:
            texts += [await ask(client, tool, event_id=row["id"]) for tool in ("get_event", "open_video_meeting")]
    assert len(rows) == 4
    assert {row["title"] for row in rows} == {"[Event]"}
    assert {row.get("held_at") for row in rows} == ({None} if level == "strict" else {"strict"})
    assert all(row.get("time") or level == "strict" for row in rows)
    assert not [text for text in texts if "canary" in text.lower()]
    assert [slot["start"][11:16] for slot in decode(texts[2])["slots"]] == ["09:00", "12:00"]


def test_no_secret_of_the_sample_leaks_by_any_tool_level_format_or_channel() -> None:
    """B5, D08, D12: titles, places, people, notes and links, each with the rule that says who may be told."""
    secrets = [
        Secret("title", "Sprint planning", Since("minimal")),
        Secret("title of a private event", "Dentist", Never()),
        Secret("place of a private event", "Praxis Lindenhof", Never()),
        Secret("location", "Room Aurora", Since("minimal")),
        Secret("attendees.name", "Okafor, Chi", When("attendee_names")),
        Secret("attendees.email", "chi.okafor@example.net", When("attendee_emails")),
        Secret("organizer", "Kim Alvarez", Since("standard")),
        Secret("notes", "close the import epic", When("notes")),
        Secret("video_url", "meet.google.com/kqz-wvtn-hxe", When("video_url")),
        Secret("uid", "@calendar.example.com", Never()),
    ]
    now = datetime(2026, 7, 13, 9, 40, tzinfo=BERLIN)
    tools = CalendarTools(sample_agenda(), lambda: now)
    keyed = shape.using(keyring=Keyring(b"a secret of the test suite"))
    handles = [
        {"event_id": event["id"]}
        for day in decode_any(_first(keyed, tools, "list_events_between", start="2026-07-13", end="2026-07-18"))["days"]
        for event in day["events"]
    ]
    calls: dict[str, list[dict[str, Any]]] = {
        "list_events": [{"day": "2026-07-14"}, {"day": "Sprint planning"}],
        "list_events_between": [{"start": "2026-07-13", "end": "2026-07-18"}],
        "find_free_time": [{"day": "2026-07-13"}],
        "next_event": [{}, {"unknown": "Dentist"}],
        "get_event": [*handles, {"event_id": "Dentist"}],
        "open_video_meeting": handles,
        "list_calendars": [{}],
    }
    assert_no_leak(keyed, calls=calls, secrets=secrets, owner=tools)


def _first(keyed: Shape, tools: CalendarTools, name: str, **arguments: Any) -> Any:
    return keyed.tools[name].bind(tools)(**arguments)


async def test_two_clients_get_ids_of_their_own_that_a_replica_accepts(tmp_path: Path) -> None:
    """B7: at strict, over two processes that share a secret."""
    os.environ["MCPSHAPE_CALENDAR_SECRET"] = "a secret of the test suite"
    ids: dict[str, str] = {}
    try:
        for name in ("one", "two"):
            async with over_stdio(client_info=Implementation(name=name, version="1")) as (client, _):
                ids[name] = decode(await ask(client, "list_events", day="2026-07-13"))["events"][0]["id"]
            async with over_stdio(client_info=Implementation(name=name, version="1")) as (client, _):
                assert decode(await ask(client, "get_event", event_id=ids[name]))["id"] == ids[name]
                if name == "two":
                    assert "There is no event" in await ask(client, "get_event", event_id=ids["one"])
    finally:
        del os.environ["MCPSHAPE_CALENDAR_SECRET"]
    assert ids["one"] != ids["two"]


async def test_a_call_can_ask_for_a_narrower_answer() -> None:
    """B7: an argument of the call."""
    async with Client(server_at("detailed")) as client:
        assert "[Event]" in await ask(client, "list_events", day="2026-07-13", privacy="strict")


async def test_wrong_calls_say_what_to_do() -> None:
    """Bad input: wrong arguments, an unknown id, a day that is no date."""
    async with Client(server_at("minimal")) as client:
        results = [
            await client.call_tool("list_events", {"day": "2026-02-30"}),
            await client.call_tool("list_events", {}),
            await client.call_tool("find_free_time", {"day": "2026-07-13", "minutes": "many"}),
            await client.call_tool("get_event", {"event_id": "e0000000000"}),
            await client.call_tool("list_events_between", {"start": "2026-07-13", "end": "2026-07-12"}),
        ]
    texts = [block.text for result in results for block in result.content if block.type == "text"]
    assert len(texts) == len(results)
    assert all(result.is_error for result in results)
    assert "day: " in texts[0]
    assert texts[1] == "Error: day: this argument is missing. Correct the arguments and call again."
    assert "minutes: Input should be a valid integer" in texts[2]
    assert (
        texts[3]
        == "Error: There is no event with this id. Ids change from time to time; take a new one from another answer."
    )
    assert texts[4] == "Error: The last day has to be 0 to 92 days after the first. Ask for another last day."
