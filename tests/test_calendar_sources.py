"""Where calendars come from: the same answers from files and from CalDAV, whatever fails meanwhile."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from threading import Event as Signal
from typing import Any
from zoneinfo import ZoneInfo

import anyio
import pytest
from icalendar import Calendar
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from pydantic import SecretStr

from calendar_data.accounts import Looked
from calendar_data.dav import CalDav
from calendar_data.files import Files
from calendar_data.sources import Piece, Source, SourceError, Tell
from calendar_server import Config, build
from calendar_server.dtos import policy
from calendar_server.samples import OWNER, SAMPLE
from mcpshape.testing import decode
from radicale_server import Account, radicale
from test_calendar import command

pytestmark = [pytest.mark.anyio, pytest.mark.no_cover]

ZONE = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 7, 13, 10, 20, tzinfo=ZONE)
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("list_events", {"day": "2026-07-14"}),
    ("list_events_between", {"start": "2026-07-10", "end": "2026-07-20"}),
    ("find_free_time", {"day": "2026-07-13", "until": "2026-07-17", "buffer": 10}),
    ("next_event", {}),
    ("list_calendars", {}),
]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def account(tmp_path: Path) -> Iterator[Account]:
    """A CalDAV account with the sample week in a calendar called Work."""
    folder = tmp_path / "radicale"
    folder.mkdir()
    with radicale(folder) as running:
        running.calendar("work", shown="Work")
        for ics in objects(SAMPLE.read_bytes()):
            running.put("work", ics)
        yield running


def objects(content: bytes) -> Iterator[str]:
    """A calendar as CalDAV has it (RFC 4791, 4.1): one object for each UID."""
    (whole,) = Calendar.from_ical(content, multiple=True)
    by_uid: dict[str, list[Any]] = {}
    for event in whole.walk("VEVENT"):
        by_uid.setdefault(str(event["UID"]), []).append(event)
    for events in by_uid.values():
        part = Calendar()
        part.add("version", "2.0")
        part.add("prodid", "-//test//EN")
        for event in events:
            part.add_component(event)
        yield part.to_ical().decode()


def config(sources: Sequence[Source], **options: Any) -> Config:
    looked = [Looked(source, 0.0) for source in sources]
    return Config(**{"sources": looked, "zone": ZONE, "me": OWNER, "now": NOW, "privacy": "detailed", **options})


def dav(account: Account, label: str = "Work") -> CalDav:
    return CalDav(label=label, url=account.url, user=account.user, password=SecretStr(account.password))


async def call(client: Client, tool: str, arguments: dict[str, Any] | None = None) -> Any:
    result = await client.call_tool(tool, arguments or {})
    (block,) = (block.text for block in result.content if block.type == "text")
    return block if result.is_error else decode(block)


async def answers(served: Config) -> list[Any]:
    """All that a client gets to know, of each event by its id as well."""
    async with Client(build(served)) as client:
        found = [await call(client, *each) for each in CALLS]
        for day in found[1]["days"]:
            for event in day["events"]:
                found += [
                    await call(client, tool, {"event_id": event["id"]}) for tool in ("get_event", "open_video_meeting")
                ]
        return found


@pytest.mark.parametrize("level", policy.levels)
async def test_a_calendar_gives_the_same_answers_as_a_file_and_through_caldav(level: str, account: Account) -> None:
    """The whole sample week with its series, changed and cancelled occurrences; ids included."""
    by_file = await answers(config([Files(SAMPLE, "Work")], privacy=level))
    by_dav = await answers(config([dav(account)], privacy=level))
    assert by_dav == by_file
    assert len(by_file) > 20


async def test_while_a_source_is_down_its_last_reading_serves_and_says_since_when(
    account: Account, tmp_path: Path
) -> None:
    """The others are not silenced; the label is told where the level tells labels; all is well once it is back."""
    (tmp_path / "home.ics").write_bytes(SAMPLE.read_bytes().replace(b"SUMMARY:", b"SUMMARY:Home "))
    served = config([dav(account), Files(tmp_path / "home.ics", "Home")])
    day = {"day": "2026-07-13"}
    async with Client(build(served)) as client:
        before = await call(client, "list_events", day)
        account.stop()
        down = [await call(client, *each) for each in CALLS]
        strict = await call(client, "list_events", {**day, "privacy": "strict"})
        account.start()
        after = await call(client, "list_events", day)
        event = {"event_id": before["events"][0]["id"]}
        assert (await call(client, "get_event", event))["id"] == event["event_id"]
    outage = {"calendar": "Work", "reason": "unreachable", "since": NOW.isoformat(), "last_read": NOW.isoformat()}
    assert before["total"] == 6
    assert after == before
    assert [each["unavailable"] for each in down] == [[outage]] * len(CALLS)
    assert {event["title"] for event in down[0]["events"]} >= {"Customer call Nordwind", "Home Customer call Nordwind"}
    assert strict["unavailable"] == [{key: value for key, value in outage.items() if key != "calendar"}]
    assert "unavailable" not in before


async def test_what_was_never_read_is_said_to_be_missing(account: Account) -> None:
    """An empty answer alone would say that the time is free."""
    account.stop()
    async with Client(build(config([dav(account)]))) as client:
        free = await call(client, "find_free_time", {"day": "2026-07-13"})
        labels = await call(client, "list_calendars")
    assert free["unavailable"][0]["last_read"] is None
    assert labels["calendars"] == [{"label": "Work"}]


async def test_a_changed_file_is_read_again_and_a_broken_one_is_not_believed(tmp_path: Path) -> None:
    """Files and folders: new, changed, half-written, gone; each holds from the next call on."""
    folder = tmp_path / "calendars"
    folder.mkdir()
    whole = SAMPLE.read_text()
    (folder / "a.ics").write_text(whole)
    async with Client(build(config([Files(folder, "Mine")]))) as client:

        async def look() -> tuple[int, list[str]]:
            day = await call(client, "list_events", {"day": "2026-07-13"})
            return day["total"], [each["reason"] for each in day.get("unavailable", [])]

        seen = [await look()]
        for change in (
            lambda: (folder / "b.ics").write_text(whole.replace("UID:", "UID:b")),
            lambda: (folder / "b.ics").write_text(whole[:900]),
            lambda: (folder / "b.ics").write_bytes(b""),
            lambda: (folder / "notes.txt").write_text("no calendar"),
            (folder / "b.ics").unlink,
            lambda: folder.rename(tmp_path / "elsewhere"),
            lambda: (tmp_path / "elsewhere").rename(folder),
        ):
            change()
            seen.append(await look())
    good: tuple[int, list[str]] = (3, [])
    broken, gone = (6, ["unreadable"]), (3, ["missing"])
    assert seen == [good, (6, []), broken, broken, broken, good, gone, good]


class Slow:
    """A source that gives nothing before it may."""

    label = "Slow"

    def __init__(self) -> None:
        self.may_go = Signal()

    def pieces(self, tell: Tell) -> Sequence[Piece]:
        for step in range(1000):
            tell(step, 1000)
            if self.may_go.wait(0.02):
                break
        return []


async def test_a_client_that_waits_hears_how_it_goes() -> None:
    """Progress notifications while a source is read; they grow, and the answer comes as always."""
    slow = Slow()
    heard: list[tuple[float, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, message))
        if len(heard) == 3:
            slow.may_go.set()

    async with Client(build(config([slow]))) as client:
        with anyio.fail_after(30):
            result = await client.call_tool("next_event", {}, progress_callback=hear)
    assert not result.is_error
    steps = [progress for progress, _ in heard]
    assert steps == sorted(set(steps))
    assert {message for _, message in heard} == {"Reading the calendars"}


class Broken:
    """A source that fails in a way that nobody thought of."""

    label = "Broken"

    def __init__(self, failure: Callable[[], Exception]) -> None:
        self.failure = failure

    def pieces(self, tell: Tell) -> Sequence[Piece]:
        raise self.failure()


async def test_a_source_that_fails_does_not_silence_the_others() -> None:
    """Whatever it raises; a crash in a source of somebody's own is no crash of the server."""
    for failure in (lambda: SourceError("denied", "Check the password."), lambda: ValueError("CANARY")):
        served = config([Broken(failure), Files(SAMPLE, "Work")])
        async with Client(build(served)) as client:
            day = await call(client, "list_events", {"day": "2026-07-13"})
        assert day["total"] == 3
        assert [each["calendar"] for each in day["unavailable"]] == ["Broken"]


SETTINGS = """
level = "detailed"
me = ["ada@example.com"]
zone = "Europe/Berlin"

[[calendars]]
label = "Work"
url = "{url}"
user = "{user}"
password = {{ {kind} = "{secret}" }}

[[calendars]]
label = "Files"
path = "files"
"""


@pytest.mark.parametrize("kind", ["env", "file"])
async def test_calendars_stand_in_the_settings_file_and_secrets_elsewhere(
    kind: str, account: Account, tmp_path: Path
) -> None:
    """Over stdio; neither address, user, password nor path is in any answer, description or line of the log."""
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "own.ics").write_bytes(SAMPLE.read_bytes())
    (tmp_path / "secret").write_text(f"{account.password}\n")
    secret = "WORK_PASSWORD" if kind == "env" else "secret"
    settings = tmp_path / "calendar.toml"
    settings.write_text(SETTINGS.format(url=account.url, user=account.user, kind=kind, secret=secret))
    program, *arguments = command("--config", str(settings), "--now", "2026-07-13T10:20")
    server = StdioServerParameters(
        command=program, args=arguments, env={**os.environ, "WORK_PASSWORD": account.password}
    )
    with (tmp_path / "log").open("w+") as log:
        async with Client(stdio_client(server, errlog=log)) as client:
            seen = [(await client.list_tools()).model_dump(mode="json")]
            found = [await call(client, *each) for each in CALLS]
            account.stop()
            found += [await call(client, *each) for each in CALLS]
        log.seek(0)
        told = json.dumps([*seen, *found]) + log.read()
    assert found[4]["calendars"] == [{"label": "Files"}, {"label": "Work"}]
    assert found[0]["total"] == 6
    for text in (account.url, f"127.0.0.1:{account.port}", account.user, account.password, str(tmp_path), "own.ics"):
        assert text not in told


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("calendars = 3\n", "calendars: it cannot be used."),
        ('[[calendars]]\npath = "x"\n', "calendars.0.label: it is missing."),
        ('[[calendars]]\nlabel = "x"\nurl = "https://x"\npath = "y"\n', "calendars.0: it cannot be used."),
        ('[[calendars]]\nlabel = "x"\npassword = "CANARY"\n', "calendars.0: it cannot be used."),
        (
            '[[calendars]]\nlabel = "x"\nurl = "https://x"\npasword = "CANARY"\n',
            "calendars.0.pasword: there is no such",
        ),
        ('[[calendars]]\nlabel = "x"\nurl = "http://CANARY.example"\n', "calendars.0: "),
        ('[[calendars]]\nlabel = "x"\nurl = "https://x"\ntoken = { env = "NO_SUCH" }\n', "its secret is not there."),
        ('[[calendars]]\nlabel = "x"\npath = "x"\n[[calendars]]\nlabel = "x"\npath = "y"\n', "its label is taken."),
        ('zone = "Berlin"\n', "zone: it cannot be used."),
        ("CANARY", "it is no TOML file that can be read."),
    ],
)
async def test_a_mistake_in_the_calendars_of_a_settings_file_is_one_line(text: str, line: str, tmp_path: Path) -> None:
    """Exit code 2; the line names the place and not what stands there."""
    (tmp_path / "calendar.toml").write_text(text)
    ended = await anyio.run_process(command("--config", str(tmp_path / "calendar.toml")), check=False)
    assert ended.returncode == 2
    assert line in ended.stderr.decode()
    assert ended.stderr.count(b"\n") == 1
    assert b"CANARY" not in ended.stderr
