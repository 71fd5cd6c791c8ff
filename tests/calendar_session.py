"""Write calendar_session.txt: all that the calendar server says in one session, level by level.

A session is held in both revisions of the protocol that hosts speak today. What the two answer alike is there once. An
answer that is the same as at an earlier level is there as a reference to it.
"""

import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp import Client

from calendar_server.dtos import policy
from calendar_server.samples import OWNER, SAMPLE
from replicas import CALENDAR
from sessions import Call, Transport, both, connected

FILE = Path(__file__).with_name("calendar_session.txt")
REMAKE = "PYTHONPATH=tests python -m calendar_session"
SECRET = {"MCPSHAPE_CALENDAR_SECRET": "0123456789abcdef-of-the-sessions"}
# A month that takes more than one page, beside the sample week.
ROTA = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//mcpshape//rota//EN
X-WR-CALNAME:Rota
BEGIN:VEVENT
UID:rota-on-call@calendar.example.com
DTSTAMP:20260701T080000Z
DTSTART;TZID=Europe/Berlin:20260901T180000
DTEND;TZID=Europe/Berlin:20260901T220000
RRULE:FREQ=DAILY;COUNT=45
SUMMARY:On call for orders and invoices, and for whatever the day shift has left to be done
LOCATION:Control room
END:VEVENT
END:VCALENDAR
"""
# Events are named in the order in which they are first told, and so are cursors.
STANDUP, PLANNING, ONE_ON_ONE, PRIVATE, CUSTOMER = "event-1", "event-2", "event-3", "event-4", "event-6"
DAY, WEEK = {"day": "2026-07-13"}, {"start": "2026-07-13", "end": "2026-07-19"}
MONTH = {"start": "2026-09-01", "end": "2026-10-15"}
CALLS: tuple[Call, ...] = (
    ("list_events_between", WEEK),
    ("list_events", DAY),
    ("list_events", DAY | {"text": "sprint"}),
    ("list_events", DAY | {"text": "board.example.com"}),
    ("list_events", DAY | {"text": "dentist"}),
    ("list_events", DAY | {"calendar": "Work"}),
    ("list_events", DAY | {"calendar": "Rota"}),
    ("list_events", {"day": "2026-07-19"}),
    ("list_events", DAY | {"privacy": "strict"}),
    ("list_events_between", WEEK | {"calendar": "Work", "text": "room"}),
    ("list_events_between", {"start": "2026-07-14", "end": "2026-07-14", "format": "markdown"}),
    ("list_events_between", {"start": "2026-09-01", "end": "2026-09-01", "format": "json"}),
    ("list_events_between", MONTH),
    ("list_events_between", MONTH | {"cursor": "cursor-1"}),
    ("find_free_time", DAY),
    ("find_free_time", DAY | {"until": "2026-07-19", "minutes": 45, "buffer": 15, "workdays_only": True}),
    ("find_free_time", {"day": "2026-07-16", "opens": "20:00", "closes": "00:00", "minutes": 60}),
    ("find_free_time", DAY | {"minutes": 600}),
    ("next_event", {}),
    ("list_calendars", {}),
    ("get_event", {"event_id": STANDUP}),
    ("get_event", {"event_id": PLANNING}),
    ("get_event", {"event_id": PRIVATE}),
    ("get_event", {"event_id": CUSTOMER}),
    ("open_video_meeting", {"event_id": PLANNING}),
    ("open_video_meeting", {"event_id": ONE_ON_ONE}),
    ("open_video_meeting", {"event_id": PRIVATE}),
    ("open_video_meeting", {"event_id": CUSTOMER}),
    ("get_event", {"event_id": "abcdefghijk"}),
    ("get_event", {"event_id": "sprint-planning-7f3@calendar.example.com"}),
    ("get_event", {"event_id": PLANNING, "cursor": "abcdefgh"}),
    ("open_video_meeting", {"event_id": 7}),
    ("list_events", {}),
    ("list_events", {"day": "2026-02-30"}),
    ("list_events", {"day": "1066-10-14"}),
    ("list_events", DAY | {"calendar": "Home"}),
    ("list_events", DAY | {"when": "noon"}),
    ("list_events", DAY | {"privacy": "detailed"}),
    ("list_events_between", {"start": "2026-07-19", "end": "2026-07-13"}),
    ("list_events_between", {"start": "2026-07-01", "end": "2026-12-01"}),
    ("list_events_between", MONTH | {"cursor": "abcdefgh"}),
    ("list_events_between", WEEK | {"cursor": "cursor-1"}),
    ("list_events_between", WEEK | {"format": "xml"}),
    ("find_free_time", DAY | {"until": "2026-07-12"}),
    ("find_free_time", DAY | {"opens": "18:00", "closes": "09:00"}),
    ("find_free_time", DAY | {"minutes": 0, "opens": "noon"}),
    ("no_such_tool", DAY),
)


async def transcript(transport: Transport) -> str:
    """The whole file, as heard over one transport."""
    heard: dict[str, dict[str, str]] = {}

    async def hold(level: str) -> None:
        heard[level] = await both(lambda mode: _connected(transport, mode, level), CALLS, "event")

    async with anyio.create_task_group() as group:
        for level in policy.levels:
            group.start_soon(hold, level)
    sections = "".join(_section(level, heard) for level in policy.levels)
    return f"Made by {REMAKE}\n{sections}"


def _section(level: str, heard: dict[str, dict[str, str]]) -> str:
    earlier = policy.levels[: policy.levels.index(level)]
    parts = [f"\n=== {level}\n\n"]
    for step, answer in heard[level].items():
        same = next((each for each in earlier if heard[each][step] == answer), None)
        parts.append(f">>> {step}: as at {same}\n" if same else f">>> {step}\n{answer}\n\n")
    return "".join(parts)


@asynccontextmanager
async def _connected(transport: Transport, mode: Any, level: str) -> AsyncIterator[Client]:
    """A client of a server of its own, for the sample week and the rota."""
    with tempfile.TemporaryDirectory() as folder:
        rota = Path(folder) / "rota.ics"
        rota.write_text(ROTA)
        options = ["--ics", str(SAMPLE), "--ics", str(rota), "--me", OWNER, "--privacy", level]
        async with connected(transport, mode, [*CALENDAR, *options], **SECRET) as client:
            yield client


if __name__ == "__main__":
    FILE.write_text(anyio.run(transcript, "stdio"), encoding="utf-8")
    print(f"Wrote {FILE.name}; read what has changed in it.", file=sys.stderr)
