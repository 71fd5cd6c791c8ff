"""Ways to ask a server of the contract: each real client behind the same five questions, answered as on the wire."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol
from unittest.mock import patch

import anyio
import fastmcp
import httpx2
from fastmcp.client.transports import FastMCPTransport, StdioTransport, StreamableHttpTransport
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.session import ClientRequestContext
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitRequestParams, ElicitResult, Implementation

from contract.serving import build

NEWEST = "2026-07-28"
HERE = Path(__file__).parent
Transport = Literal["memory", "stdio", "http"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a server is and how it is asked."""

    kind: str
    transport: Transport
    revision: str
    client: str = "python"
    name: str = "contract"
    headers: dict[str, str] = field(default_factory=dict, compare=False)
    url: str | None = field(default=None, compare=False)
    folder: Path | None = field(default=None, compare=False)
    server: Any = field(default=None, compare=False)
    """What is asked in memory, where it is not a new server of the kind."""

    def __str__(self) -> str:
        return f"{self.kind}-{self.transport}-{self.revision}-{self.client}"

    @property
    def command(self) -> list[str]:
        """How the server is started over stdio."""
        return [sys.executable, "-m", "contract.serving", self.kind, "stdio"]


class Asker(Protocol):
    """A client that is connected. Its answers hold the keys that were sent and no others."""

    async def tools(self) -> dict[str, Any]: ...

    async def call(self, tool: str, **given: Any) -> dict[str, Any]: ...

    async def read(self, uri: str) -> dict[str, Any]: ...

    async def prompt(self, prompt: str) -> dict[str, Any]: ...

    async def instructions(self) -> str | None: ...

    async def cancel(self) -> dict[str, Any]:
        """Cancel the call of a tool that waits, and return what the server saw of it."""
        ...


@dataclass(frozen=True, slots=True)
class PythonAsker:
    """The client of the Python SDK, or FastMCP's, which share their session."""

    client: Any
    call_tool: Callable[[str, dict[str, Any]], Awaitable[Any]]

    async def tools(self) -> dict[str, Any]:
        return await _wire(self.client.session.list_tools())

    async def call(self, tool: str, **given: Any) -> dict[str, Any]:
        return await _wire(self.call_tool(tool, given))

    async def read(self, uri: str) -> dict[str, Any]:
        return await _wire(self.client.session.read_resource(uri))

    async def prompt(self, prompt: str) -> dict[str, Any]:
        return await _wire(self.client.session.get_prompt(prompt))

    async def instructions(self) -> str | None:
        found: str | None = self.client.session.instructions
        return found

    async def cancel(self) -> dict[str, Any]:
        before = await self._waited()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.call, "wait")
            await self._more("started", before)
            tasks.cancel_scope.cancel()
        seen = await self._more("cancelled", before)
        return {name: seen[name] - before[name] for name in before}

    async def _waited(self) -> dict[str, int]:
        seen: dict[str, int] = (await self.call("waited"))["structuredContent"]
        return seen

    async def _more(self, field: str, before: dict[str, int]) -> dict[str, int]:
        seen = before
        with anyio.move_on_after(10):
            while seen[field] == before[field]:
                seen = await self._waited()
        return seen


@dataclass(frozen=True, slots=True)
class NodeAsker:
    """The client of the TypeScript SDK, in a process of its own that answers line by line."""

    process: subprocess.Popen[str]

    async def tools(self) -> dict[str, Any]:
        return await self._ask("tools")

    async def call(self, tool: str, **given: Any) -> dict[str, Any]:
        return await self._ask("call", tool=tool, given=given)

    async def read(self, uri: str) -> dict[str, Any]:
        return await self._ask("read", uri=uri)

    async def prompt(self, prompt: str) -> dict[str, Any]:
        return await self._ask("prompt", prompt=prompt)

    async def instructions(self) -> str | None:
        found: str | None = (await self._ask("instructions")).get("instructions")
        return found

    async def cancel(self) -> dict[str, Any]:
        return await self._ask("cancel")

    async def _ask(self, operation: str, **rest: Any) -> dict[str, Any]:
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"operation": operation, **rest}) + "\n")
        self.process.stdin.flush()
        return await self.hear()

    async def hear(self) -> dict[str, Any]:
        assert self.process.stdout
        heard: dict[str, Any] = json.loads(await anyio.to_thread.run_sync(self.process.stdout.readline))
        return heard


async def _wire(answer: Awaitable[Any]) -> dict[str, Any]:
    """An answer with the keys that were sent, or the protocol error that came in its place."""
    try:
        result = await answer
    except MCPError as error:
        return {"error": error.error.model_dump(mode="json", exclude_unset=True)}
    dumped: dict[str, Any] = result.model_dump(by_alias=True, mode="json", exclude_unset=True)
    return dumped


async def _accept(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
    return ElicitResult(action="accept", content={"name": "ada"})


async def _accept_typed(*_: Any) -> dict[str, str]:
    return {"name": "ada"}


def offering(revision: str) -> AbstractContextManager[Any]:
    """A time in which the Python clients offer this revision in their handshake.

    `mode=` of the SDK's client takes a modern revision or the newest one with a handshake, so an older one can be had
    in no other way. Nothing else of the clients is changed, and what was agreed on is asserted.
    """
    return patch("mcp.client.session.LATEST_HANDSHAKE_VERSION", revision)


@asynccontextmanager
async def asking(place: Place) -> AsyncIterator[Asker]:
    """Connect to a server in the revision of the protocol that the place names."""
    async with AsyncExitStack() as stack:
        if place.client == "typescript":
            yield await _node(stack, place)
        else:
            yield await _python(stack, place)


async def _python(stack: AsyncExitStack, place: Place) -> Asker:
    options: dict[str, Any] = {
        "client_info": Implementation(name=place.name, version="1"),
        "mode": "auto" if place.revision == NEWEST else "legacy",
    }
    log = stack.enter_context(tempfile.TemporaryFile("w+"))  # noqa: SIM115 # The stack closes it.
    client: Any
    if place.client == "fastmcp":
        client = fastmcp.Client(_fast_transport(place, log), elicitation_handler=_accept_typed, **options)
    else:
        client = Client(await _transport(stack, place, log), elicitation_callback=_accept, cache=None, **options)
    with offering(place.revision):
        await stack.enter_async_context(client)
    assert client.protocol_version == place.revision
    return PythonAsker(client, client.call_tool_mcp if place.client == "fastmcp" else client.call_tool)


async def _transport(stack: AsyncExitStack, place: Place, log: Any) -> Any:
    if place.transport == "stdio":
        program, *arguments = place.command
        return stdio_client(StdioServerParameters(command=program, args=arguments, env=environment()), errlog=log)
    if place.transport == "http":
        assert place.url
        http = httpx2.AsyncClient(headers=place.headers, timeout=30)
        return streamable_http_client(place.url, http_client=await stack.enter_async_context(http))
    server = place.server or build(place.kind)
    return server._mcp_server if place.kind == "FastMCP" else server


def _fast_transport(place: Place, log: Any) -> Any:
    if place.transport == "stdio":
        program, *arguments = place.command
        return StdioTransport(program, arguments, env=environment(), keep_alive=False, log_file=log)
    if place.transport == "http":
        assert place.url
        return StreamableHttpTransport(place.url, headers=place.headers)
    return FastMCPTransport(place.server or build(place.kind))


async def _node(stack: AsyncExitStack, place: Place) -> Asker:
    program, *arguments = place.command
    reached = {"url": place.url, "headers": place.headers} if place.url else {"command": program, "args": arguments}
    told = json.dumps({"name": place.name, "revision": place.revision, **reached})
    process = subprocess.Popen(
        ["node", "client.mjs", told],
        cwd=place.folder,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    stack.enter_context(process)
    stack.callback(process.kill)
    asker = NodeAsker(process)
    assert await asker.hear() == {"connected": True}
    return asker


def environment() -> dict[str, str]:
    """The environment of a server, which finds this package."""
    return {**os.environ, "PYTHONPATH": str(HERE.parent), "FASTMCP_LOG_LEVEL": "CRITICAL"}
