"""Task lists for tests: as text, as a served file, and as rows of an answer."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from mcp import Client

from calendar_data.accounts import Looked
from calendar_data.files import Files
from calendar_data.sources import Source
from mcpshape.testing import decode
from tasks_server import Config, build

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 7, 13, 10, 20, tzinfo=BERLIN)


def calendar(*todos: str, name: str = "Home", end: str = "\r\n") -> bytes:
    """A calendar of tasks, each given as its lines."""
    inside = [line for todo in todos for line in ("BEGIN:VTODO", *todo.splitlines(), "END:VTODO")]
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//tests//tests//EN", f"X-WR-CALNAME:{name}", *inside]
    return "".join(line + end for line in [*lines, "END:VCALENDAR"]).encode()


def todo(uid: str, *lines: str) -> str:
    """The lines of a task."""
    return "\n".join([f"UID:{uid}", "DTSTAMP:20260101T000000Z", f"SUMMARY:{uid}", *lines])


class Asker:
    """A client that reads answers as data."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def ask(self, tool: str, **arguments: Any) -> Any:
        """The data of an answer that is no error."""
        result = await self.client.call_tool(tool, arguments)
        (text,) = (block.text for block in result.content if block.type == "text")
        assert not result.is_error, text
        return decode(text)

    async def fail(self, tool: str, **arguments: Any) -> str:
        """The text of an answer that is an error."""
        result = await self.client.call_tool(tool, arguments)
        (text,) = (block.text for block in result.content if block.type == "text")
        assert result.is_error, text
        assert result.structured_content is None
        return text

    async def rows(self, **arguments: Any) -> dict[str, Any]:
        """Tasks of all states by their titles."""
        found = await self.ask("list_tasks", **{"status": "all", **arguments})
        return {row["title"]: row for row in found["tasks"]}


@asynccontextmanager
async def served(
    *paths: Path, now: datetime = NOW, zone: tzinfo = BERLIN, sources: Sequence[Source] = (), **options: Any
) -> AsyncIterator[Asker]:
    """A server over files and other sources, which are looked at before each answer."""
    looked = [Looked(source, 0.0) for source in (*map(Files, paths), *sources)]
    async with Client(build(Config(sources=looked, zone=zone, now=now, **options))) as client:
        yield Asker(client)
