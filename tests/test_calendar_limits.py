"""Calendars that are too large, too deep or too often for anybody: said, skipped or paged, within bounded time."""

import json
import logging
import re
import shlex
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import anyio
import pytest
from mcp import Client, StdioServerParameters

from calendar_data.documents import LARGEST, LARGEST_EVENT
from calendar_server import Config, build
from calendar_server.dtos import policy
from mcpshape.testing import decode
from test_calendar import command
from test_ics_cases import calendar

pytestmark = [pytest.mark.anyio, pytest.mark.no_cover]

UTC = ZoneInfo("UTC")
NOW = datetime(2026, 3, 2, 8, tzinfo=UTC)
GOOD = "UID:good\nDTSTART:20260302T100000Z\nDTEND:20260302T110000Z\nSUMMARY:Good"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def server(path: Path, level: str = "detailed", **options: Any) -> Any:
    return build(Config(**{"ics": [path], "zone": UTC, "now": NOW, "privacy": level, **options}))


async def call(client: Client, tool: str, **arguments: Any) -> Any:
    with anyio.fail_after(120):
        result = await client.call_tool(tool, arguments)
    (block,) = (block.text for block in result.content if block.type == "text")
    return block if result.is_error else decode(block)


async def ask(ics: str, path: Path, tool: str, *, level: str = "detailed", **arguments: Any) -> Any:
    await anyio.Path(path).write_text(ics)
    async with Client(server(path, level)) as client:
        return await call(client, tool, **arguments)


BOMBS = [
    "RRULE:FREQ=SECONDLY",
    "RRULE:FREQ=MINUTELY;COUNT=1000000000",
    "RRULE:FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30",
    "RRULE:FREQ=DAILY;BYHOUR=0,1,2,3,4,5,6,7;BYMINUTE=0,10,20,30,40,50;BYSECOND=0,10,20,30,40,50",
    "RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
    "RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
    "RRULE:FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30",
    "RRULE:FREQ=DAILY;INTERVAL=0",
    "RRULE:FREQ=DAILY;COUNT=-1",
    "RRULE:FREQ=NEVER",
    "RRULE:FREQ=DAILY;UNTIL=tomorrow",
    "DURATION:P99999999D\nRRULE:FREQ=DAILY",
    "RDATE:"
    + ",".join(
        f"202{year}{month:02}{day:02}T000000Z" for year in range(10) for month in range(1, 13) for day in range(1, 29)
    ),
]


@pytest.mark.parametrize("bomb", BOMBS, ids=lambda bomb: bomb[:40])
async def test_a_recurrence_bomb_does_not_go_off(bomb: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Bad input: it is skipped with a line in the log or bounded, and its neighbour is served."""
    ics = calendar(f"UID:bomb\nDTSTART:19700101T000000Z\n{bomb}\nSUMMARY:CANARY", GOOD)
    day = await ask(ics, tmp_path / "bomb.ics", "list_events", day="2026-03-02")
    assert "Good" in [event["title"] for event in day["events"]]
    assert len(day["events"]) <= 2
    assert "CANARY" not in caplog.text


async def test_a_file_that_is_too_large_is_said_to_be_missing(tmp_path: Path) -> None:
    """Bad input: a file of 200 MB beside a good one; it is not even read."""
    with (tmp_path / "huge.ics").open("wb") as huge:
        huge.truncate(200 * 2**20)
    (tmp_path / "good.ics").write_text(calendar(GOOD))
    async with Client(server(tmp_path)) as client:
        day = await call(client, "list_events", day="2026-03-02")
    assert [event["title"] for event in day["events"]] == ["Good"]
    assert [each["reason"] for each in day["unavailable"]] == ["too_large"]
    assert LARGEST < 200 * 2**20


async def test_an_event_that_is_too_large_is_left_out_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Bad input: more than any event has, in one line or in many."""
    long = "CANARY" * (LARGEST_EVENT // 6 + 1)
    ics = calendar(f"UID:long\nDTSTART:20260302T120000Z\nDESCRIPTION:{long}", GOOD)
    day = await ask(ics, tmp_path / "long.ics", "list_events", day="2026-03-02")
    assert [event["title"] for event in day["events"]] == ["Good"]
    assert "skipped an event without an end or too large, 1 times" in caplog.text
    assert "CANARY" not in caplog.text


async def test_a_note_of_three_megabytes_folded_after_each_character_comes_through_whole(tmp_path: Path) -> None:
    """Bad input, rule 9: folding as a bomb; what is not too large is never cut."""
    note = "ab\u00e9" * 2**20
    folded = "\r\n ".join(note[:100_000]) + note[100_000:]
    ics = calendar(GOOD + f"\nDESCRIPTION:{folded}")
    async with Client(server(tmp_path / "note.ics")) as client:
        (tmp_path / "note.ics").write_text(ics, newline="")
        day = await call(client, "list_events", day="2026-03-02")
        event = await call(client, "get_event", event_id=day["events"][0]["id"])
    assert event["notes"] == note


@pytest.mark.parametrize("level", policy.levels)
async def test_ten_thousand_attendees_are_counted_and_come_in_pages(level: str, tmp_path: Path) -> None:
    """Bad input, rule 9: no list is cut without a word; a page says how to get the next."""
    people = "\n".join(f"ATTENDEE;CN=Person {number}:mailto:p{number}@example.com" for number in range(10_000))
    (tmp_path / "all.ics").write_text(calendar(f"{GOOD}\n{people}"))
    async with Client(server(tmp_path / "all.ics", level)) as client:
        following = (await call(client, "next_event"))["event"]
        event = await call(client, "get_event", event_id=following["id"])
        cursor = event.get("page", {}).get("next")
        more = await call(client, "get_event", event_id=following["id"], cursor=cursor) if cursor else None
    assert event.get("attendee_count") == (None if level == "strict" else 10_000)
    if level not in {"standard", "detailed"}:
        assert not {"attendees", "page"} & (event.keys() | following.keys())
        return
    assert more is not None
    assert len(following["attendees"]) == 20
    assert event["page"]["total"] == 10_000
    assert [each["name"] for each in event["attendees"]] == [f"Person {number}" for number in range(100)]
    assert more["attendees"][0]["name"] == "Person 100"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("list_events", {"day": "0001-01-01"}),
        ("list_events", {"day": "9999-12-31"}),
        ("list_events_between", {"start": "9999-12-01", "end": "9999-12-31"}),
        ("find_free_time", {"day": "9999-12-31"}),
        ("find_free_time", {"day": "2026-03-02", "until": "2026-03-01"}),
        ("find_free_time", {"day": "2026-03-02", "until": "2026-05-01"}),
        ("find_free_time", {"day": "2026-03-02", "opens": "18:00", "closes": "09:00"}),
        ("find_free_time", {"day": "2026-03-02", "minutes": 0}),
        ("find_free_time", {"day": "2026-03-02", "buffer": -1}),
        ("find_free_time", {"day": "2026-03-02", "opens": "25:00"}),
        ("get_event", {"event_id": ""}),
    ],
)
async def test_an_argument_out_of_reach_is_an_error_that_says_what_to_ask(
    tool: str, arguments: dict[str, Any], tmp_path: Path
) -> None:
    """Bad input: never a traceback, never an answer to something else."""
    text = await ask(calendar(GOOD), tmp_path / "good.ics", tool, **arguments)
    assert isinstance(text, str)
    assert text.startswith("Error: ")
    assert "reference" not in text


@pytest.mark.parametrize(
    ("encoding", "title"),
    [("utf-8-sig", "Bräu"), ("utf-16", "Bräu 日本"), ("cp1252", "Bräu – 3 €"), ("utf-8", "Bräu")],
)
async def test_a_calendar_in_another_encoding_is_read(encoding: str, title: str, tmp_path: Path) -> None:
    """C14: what is no UTF-8 is what Windows writes; a line folded inside of a character is one."""
    path = tmp_path / "other.ics"
    path.write_bytes(calendar(GOOD.replace("Good", title)).replace("\n", "\r\n").encode(encoding))
    async with Client(server(path)) as client:
        event = (await call(client, "next_event"))["event"]
        assert event["title"] == title
        path.write_bytes(calendar(GOOD).encode().replace(b"Good", "ä".encode()[:1] + b"\r\n " + "ä".encode()[1:]))
    async with Client(server(path)) as client:
        assert (await call(client, "next_event"))["event"]["title"] == "ä"


def examined(*options: str) -> tuple[int, str]:
    import subprocess

    ended = subprocess.run(command("doctor", *options), capture_output=True, text=True, check=False)
    assert ended.stderr == "" or ended.returncode == 1
    return ended.returncode, ended.stdout


async def test_the_doctor_prints_hosts_that_start_the_server_it_examined(tmp_path: Path, monkeypatch: Any) -> None:
    """What it prints for Claude Desktop, Claude Code and VS Code starts the same server from any folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my calendar.ics").write_text(calendar(GOOD, head="X-WR-CALNAME:Mine\n"))
    code, text = examined("--ics", "my calendar.ics", "--tz", "UTC", "--now", "2026-03-02T08:00", "--privacy=minimal")
    assert code == 0
    assert re.search(r"^  Mine  ok +1 event$", text, re.MULTILINE)
    assert "Good" in text
    blocks = [json.loads(each) for each in re.findall(r"^    (\{\n.*?^    \})$", text, re.MULTILINE | re.DOTALL)]
    desktop, code_editor = blocks[0]["mcpServers"]["calendar"], blocks[1]["servers"]["calendar"]
    (line,) = re.findall(r"^    (claude mcp add .*)$", text, re.MULTILINE)
    words = shlex.split(line)
    assert code_editor == {"type": "stdio", **desktop}
    assert words[words.index("--") + 1 :] == [desktop["command"], *desktop["args"]]
    monkeypatch.chdir("/")
    started = StdioServerParameters(command=desktop["command"], args=desktop["args"])
    async with Client(started) as client:
        day = await call(client, "list_events", day="2026-03-02")
    assert [event["title"] for event in day["events"]] == ["Good"]


def test_the_doctor_says_what_is_wrong_with_which_calendar(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Exit code 1, the label, the reason and a remedy; no secret."""
    caplog.set_level(logging.INFO)
    (tmp_path / "good.ics").write_text(calendar(GOOD))
    (tmp_path / "bad.ics").write_text("no calendar")
    (tmp_path / "calendar.toml").write_text(
        '[[calendars]]\nlabel = "Good"\npath = "good.ics"\n[[calendars]]\nlabel = "Bad"\npath = "bad.ics"\n'
        '[[calendars]]\nlabel = "Away"\nurl = "http://127.0.0.1:9/CANARY"\nuser = "u"\npassword = "CANARY"\n'
    )
    code, text = examined("--config", str(tmp_path / "calendar.toml"), "--tz", "UTC")
    assert code == 1
    assert re.search(r"^  Good  ok +1 event$", text, re.MULTILINE)
    assert re.search(r"^  Bad   unreadable +Export it again as \.ics\.$", text, re.MULTILINE)
    assert re.search(r"^  Away  unreachable  \w.*\.$", text, re.MULTILINE)
    assert "CANARY" not in text
