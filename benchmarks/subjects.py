"""Who answers: each subject is a tool on a server, called without a transport, up to the bytes of its result."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import toon
import toon_format
import toons
from fastmcp import FastMCP
from mcp.server.mcpserver import MCPServer
from mcp.types import CallToolResult, TextContent
from pii_mcp.fastmcp import PiiScrubMiddleware
from pydantic import BaseModel
from pydantic_core import to_json
from toony import Limits
from toony.pydantic import ToonTypeAdapter

from by_hand import escaped_alike, escaped_plainly, join_table
from data import KEYRING, LEVEL, Rows, Workload
from mcpshape import Shape
from mcpshape.encoders import Encoder, Json, Markdown, Toon
from timing import Repeat

Server = MCPServer | FastMCP
Holds = Literal["the level", "all of it", "what a scrubber leaves"]

ALONE = "MCPServer alone"
BY_HAND, BY_HAND_STRUCTURED = "model_dump and toons", "model_dump and toons, structured"
NATIVE = "mcpshape, TOON, toons"
STRUCTURED = "mcpshape, TOON, toons, structured"
BY_LEVEL = "mcpshape, TOON, toons, at {}"
SCRUBBED, SCRUBBED_ROWS = "FastMCP and pii-mcp", "1,000 rows"
# Without these toony refuses 100,000 rows.
_LIMITS = Limits(max_elements=10_000_000)


@dataclass(frozen=True, slots=True)
class Subject:
    """A server with one tool, `answer`; `level` is what it is to keep to, `holds` what its answer has to hold."""

    server: Server = field(repr=False)
    holds: Holds = "all of it"
    level: str | None = None

    async def result(self) -> CallToolResult:
        """One call."""
        returned: Any = await self.server.call_tool("answer", {})
        if isinstance(returned, CallToolResult):
            return returned
        # What FastMCP does with it on its way out.
        parts = returned.to_mcp_result()
        if isinstance(parts, CallToolResult):
            return parts
        content, structured = parts if isinstance(parts, tuple) else (parts, None)
        return CallToolResult(content=content, structured_content=structured)

    async def wire(self) -> bytes:
        """One call up to the bytes of its result, as both server classes write it."""
        return to_json((await self.result()).model_dump(by_alias=True, mode="json", exclude_none=True))

    def repeat(self, runner: asyncio.Runner) -> Repeat:
        """The call as something to be timed."""

        async def calls(number: int) -> None:
            for _ in range(number):
                await self.wire()

        return lambda number: runner.run(calls(number))


def subjects(workload: Workload) -> dict[str, Subject]:
    """All that can answer with a workload, what the others are compared with first."""
    found = {ALONE: _bare(MCPServer("alone"), workload), "FastMCP alone": _bare(FastMCP("alone"), workload)}
    found |= _shaped(workload)
    dto = workload.dto
    found |= {name: _writing(partial(write, dto)) for name, write in _codecs(workload).items()}
    found[BY_HAND_STRUCTURED] = _sending(lambda: _both(dto.model_dump(mode="json")))
    if isinstance(dto, Rows):
        found["Markdown by hand, escaped alike"] = _writing(partial(join_table, dto, escaped_alike))
        found["Markdown by hand, escaped plainly"] = _writing(partial(join_table, dto, escaped_plainly))
        if workload.name == SCRUBBED_ROWS:
            found[SCRUBBED] = _scrubbed(workload)
    return found


def _bare(server: Server, workload: Workload) -> Subject:
    dto = workload.dto

    async def answer() -> Any:
        return dto

    answer.__annotations__["return"] = type(dto)
    server.tool()(answer)
    return Subject(server)


def _shaped(workload: Workload) -> dict[str, Subject]:
    encoders: Mapping[str, tuple[Encoder, bool | None]] = {
        NATIVE: (Toon(codec="toons"), None),
        STRUCTURED: (Toon(codec="toons"), True),
        "mcpshape, TOON, python-toon": (Toon(codec="python-toon"), None),
        "mcpshape, TOON, toon-format": (Toon(codec="toon-format"), None),
        "mcpshape, Markdown": (Markdown(), None),
        "mcpshape, JSON": (Json(), None),
        "mcpshape, JSON, text only": (Json(), False),
    }
    found = {name: _through(workload, encoder, structured) for name, (encoder, structured) in encoders.items()}
    others = [level for level in workload.policy.levels if level != LEVEL] if workload.policy else []
    return found | {BY_LEVEL.format(level): _through(workload, Toon(codec="toons"), level=level) for level in others}


def _through(
    workload: Workload, encoder: Encoder, structured: bool | None = None, *, level: str | None = None
) -> Subject:
    """The workload through a shape on MCPServer."""
    dto, grant = workload.dto, workload.grant(level)
    shape = Shape(workload.policy, encoder=encoder, grant=grant, structured=structured, keyring=KEYRING)

    async def answer() -> Any:
        return dto

    answer.__annotations__["return"] = type(dto)
    server = MCPServer("shaped")
    server.tool()(shape.tool(answer))
    return Subject(server, "the level", grant.level if grant else None)


def _codecs(workload: Workload) -> dict[str, Callable[[BaseModel], str]]:
    """A codec called by hand on what pydantic dumps; toony takes the JSON that pydantic writes."""
    adapter = ToonTypeAdapter(type(workload.dto))
    return {
        BY_HAND: lambda dto: toons.dumps(dto.model_dump(mode="json")),
        "model_dump and python-toon": lambda dto: str(toon.encode(dto.model_dump(mode="json"))),
        "model_dump and toon-format": lambda dto: toon_format.dumps(dto.model_dump(mode="json")),
        "toony with pydantic": lambda dto: str(adapter.dump_toon(dto, limits=_LIMITS)),
    }


def _both(data: dict[str, Any]) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=toons.dumps(data))], structured_content=data)


def _writing(write: Callable[[], str]) -> Subject:
    """A tool that writes its text by itself."""
    return _sending(lambda: CallToolResult(content=[TextContent(type="text", text=write())]))


def _sending(send: Callable[[], CallToolResult]) -> Subject:
    """A tool that makes its result by itself."""

    async def answer() -> CallToolResult:
        return send()

    server = MCPServer("sending")
    server.tool()(answer)
    return Subject(server)


def _scrubbed(workload: Workload) -> Subject:
    """The model through FastMCP and a middleware that replaces what looks like personal data."""
    bare = _bare(FastMCP("scrubbed"), workload)
    if isinstance(bare.server, FastMCP):
        bare.server.add_middleware(PiiScrubMiddleware())
    return Subject(bare.server, "what a scrubber leaves")
