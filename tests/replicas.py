"""Servers as processes of their own over HTTP on loopback, and clients for them."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from mcp.types import CallToolResult

CALENDAR = [
    str(Path(sys.executable).parent / "mcpshape-calendar"),
    "--tz",
    "Europe/Berlin",
    "--now",
    "2026-07-13T10:20",
]
CHEAP = [sys.executable, str(Path(__file__).parent / "cheap_server.py")]
MODES = ("auto", "legacy")
"""How a client of the SDK connects: at the revision of today, or with the handshake of the ones before."""


@dataclass(frozen=True, slots=True)
class Replica:
    """A process that a test has started, and where it listens."""

    process: subprocess.Popen[bytes]
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    @property
    def is_gone(self) -> bool:
        return self.process.poll() is not None

    def kill(self) -> None:
        """End it with no chance to say goodbye."""
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


@contextmanager
def process(port: int, command: Sequence[str], **variables: str) -> Iterator[Replica]:
    """A process under a few environment variables, stopped by its id at the end."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MCPSHAPE_")}
    with tempfile.TemporaryFile() as log:
        started = subprocess.Popen(command, env={**kept, **variables}, stdout=log, stderr=log)
        try:
            yield Replica(started, port)
        finally:
            started.terminate()
            started.wait(30)


@asynccontextmanager
async def replica(command: Sequence[str], **variables: str) -> AsyncIterator[Replica]:
    """A server that takes `--port`, as soon as it listens."""
    port = free_port()
    with process(port, [*command, "--port", str(port)], **variables) as started:
        await listening(started)
        yield started


@asynccontextmanager
async def calendar(*options: str, **variables: str) -> AsyncIterator[Replica]:
    """The calendar example without sessions, with the sample week."""
    async with replica([*CALENDAR, "--transport", "http", "--stateless", *options], **variables) as started:
        yield started


async def listening(started: Replica) -> None:
    with anyio.fail_after(30):
        while not started.is_gone:
            try:
                await (await anyio.connect_tcp("127.0.0.1", started.port)).aclose()
            except OSError:
                await anyio.sleep(0.02)
            else:
                return
    raise AssertionError(f"it ended with {started.process.returncode} before it listened")


async def call(client: Client, tool: str, **arguments: Any) -> CallToolResult:
    """A call that is answered, error or not, with one text block."""
    result = await client.call_tool(tool, arguments)
    assert [block.type for block in result.content] == ["text"]
    return result


def text_of(result: CallToolResult) -> str:
    (block,) = result.content
    assert block.type == "text"
    return block.text
