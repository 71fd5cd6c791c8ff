"""Servers in operation: replicas that share a secret, and traces."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from mcp import Client

from mcpshape.testing import decode
from replicas import CHEAP, MODES, Replica, calendar, call, replica, text_of
from test_settings import write

pytestmark = [pytest.mark.anyio, pytest.mark.no_cover]

SECRET = "0123456789abcdef-of-the-replicas"
WEEK = {"start": "2026-07-13", "end": "2026-07-19"}
FOREIGN_CURSOR = (
    "Error: This cursor does not fit here: it is expired, was changed, or belongs to another call. "
    "Use the cursor of an answer with the same arguments, or call without one to start over."
)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def two_calendars(folder: Path, *options: str, other: str = SECRET) -> AsyncIterator[tuple[Replica, Replica]]:
    """Two replicas: the secret of one comes from the environment, that of the other from a file in its settings."""
    (folder / "secret").write_text(f"{other}\n")
    write(folder / "settings.toml", 'secret_file = "secret"\nlimit = 1')
    variables = {"MCPSHAPE_CALENDAR_SECRET": SECRET, "MCPSHAPE_CALENDAR_LIMIT": "1"}
    options = ("--privacy", "minimal", *options)
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(calendar(*options, **variables))
        second = await stack.enter_async_context(calendar(*options, "--config", str(folder / "settings.toml")))
        yield first, second


async def pages(*clients: Client, tool: str, **arguments: Any) -> list[Any]:
    """All pages of a list, each from the next one of the clients."""
    answers: list[Any] = []
    cursor: Mapping[str, Any] = {}
    while True:
        result = await call(clients[len(answers) % len(clients)], tool, **arguments, **cursor)
        assert not result.is_error, text_of(result)
        answers.append(decode(result))
        if not (following := answers[-1]["page"]["next"]):
            return answers
        cursor = {"cursor": following}


@pytest.mark.parametrize("written", ["toon", "markdown", "json"])
async def test_replicas_with_one_secret_take_the_cursors_and_handles_of_each_other(
    written: str, tmp_path: Path
) -> None:
    """Whichever replica answers, pages go on and ids are known, at either revision of the protocol."""
    async with two_calendars(tmp_path, "--format", written) as (one, other):
        for mode in MODES:
            async with Client(one.url, mode=mode) as first, Client(other.url, mode=mode) as second:
                alternating = await pages(first, second, tool="list_events_between", **WEEK)
                assert len(alternating) > 2
                assert alternating == await pages(second, tool="list_events_between", **WEEK)
                events = [event for page in alternating for day in page["days"] for event in day["events"]]
                assert len(events) == alternating[0]["total"]
                for event in events:
                    told = [await call(each, "get_event", event_id=event["id"]) for each in (first, second)]
                    assert text_of(told[0]) == text_of(told[1])
                    assert decode(told[0])["title"] == event["title"]


async def test_replicas_with_two_secrets_refuse_what_the_other_one_gave_and_say_no_more(tmp_path: Path) -> None:
    """The error of an expired cursor or handle, with nothing that tells it from one."""
    async with (
        two_calendars(tmp_path, other="another-secret-of-32-characters!") as (one, other),
        Client(one.url) as first,
        Client(other.url) as second,
    ):
        page = (await pages(first, tool="list_events_between", **WEEK))[0]
        event_id = page["days"][0]["events"][0]["id"]
        foreign = [
            await call(second, "list_events_between", **WEEK, cursor=page["page"]["next"]),
            await call(second, "get_event", event_id=event_id),
        ]
        invented = await call(second, "get_event", event_id="abcdefghijk")
    assert [result.is_error for result in foreign] == [True, True]
    assert [result.structured_content for result in foreign] == [None, None]
    assert [text_of(result) for result in foreign] == [FOREIGN_CURSOR, text_of(invented)]


async def test_a_new_secret_in_its_file_holds_from_the_next_request_on(tmp_path: Path) -> None:
    """Rotation without a restart: what the old one made is refused, what the new one makes is taken."""
    async with (
        two_calendars(tmp_path, other="another-secret-of-32-characters!") as (one, other),
        Client(one.url) as first,
        Client(other.url) as second,
    ):
        new, old = [(await pages(each, tool="list_events_between", **WEEK))[0] for each in (first, second)]
        write(tmp_path / "secret", SECRET)
        for page, is_refused in ((old, True), (new, False)):
            event_id, cursor = page["days"][0]["events"][0]["id"], page["page"]["next"]
            assert (await call(second, "get_event", event_id=event_id)).is_error == is_refused
            assert (await call(second, "list_events_between", **WEEK, cursor=cursor)).is_error == is_refused


async def test_a_client_whose_name_nobody_kept_gets_the_narrowest_level_where_clients_are_named(tmp_path: Path) -> None:
    """Rule 4: without sessions, the name from a handshake is gone with the next request."""
    write(tmp_path / "settings.toml", 'level = "minimal"\n[clients."another"]\nlevel = "strict"')
    titles = {}
    async with calendar("--config", str(tmp_path / "settings.toml")) as server:
        for mode in MODES:
            async with Client(server.url, mode=mode) as client:
                day = decode(await call(client, "list_events", day="2026-07-13"))
            titles[mode] = {event["title"] for event in day["events"]}
    assert titles["legacy"] == {"[Event]"}
    assert "Sprint planning" in titles["auto"]


def spans_of(server: Replica) -> str:
    with urlopen(f"http://127.0.0.1:{server.port}/spans", timeout=10) as response:
        text: str = response.read().decode()
        return text


async def test_the_span_of_a_call_tells_what_was_disclosed_and_no_value() -> None:
    """`CurrentSpan` in a server: the attributes of the record stand beside those of the SDK, and nothing else does."""
    async with replica([*CHEAP, "--spans"], MCPSHAPE_LEVEL="minimal", MCPSHAPE_SECRET=SECRET) as server:
        async with Client(server.url) as client:
            row = decode(await call(client, "list_rows"))["rows"][0]
            assert "CANARY" in row["title"]
            await call(client, "get_row", row_id=row["id"])
            told, crashed = [await call(client, "fail", kind=kind) for kind in ("told", "hidden")]
        text = spans_of(server)
    assert "CANARY" in text_of(told)
    assert "CANARY" not in text_of(crashed)
    calls = [span for span in json.loads(text) if span["attributes"].get("mcp.method.name") == "tools/call"]
    assert [span["name"] for span in calls] == [
        "tools/call list_rows",
        "tools/call get_row",
        "tools/call fail",
        "tools/call fail",
    ]
    names = {name for name in calls[0]["attributes"] if name.startswith("mcpshape.")}
    assert names == {
        f"mcpshape.{name}"
        for name in (
            "tool", "level", "toggles", "format", "client", "narrowed_by", "disclosed", "masked", "withheld", "rows",
            "size",
        )
    }  # fmt: skip
    others = {name for span in calls for name in span["attributes"] if not name.startswith("mcpshape.")}
    assert others == {
        "mcp.method.name", "mcp.protocol.version", "jsonrpc.request.id", "gen_ai.operation.name", "gen_ai.tool.name",
        "error.type",
    }  # fmt: skip
    assert not [span for span in calls if span["events"]]
    assert calls[0]["attributes"]["mcpshape.level"] == "minimal"
    assert calls[0]["attributes"]["mcpshape.withheld"] == ["rows.room"]
    assert [span["attributes"].get("mcpshape.error") for span in calls] == [None, None, "user", "internal"]
    assert not [secret for secret in ("CANARY", SECRET, row["id"], "Monday") if secret in text]
