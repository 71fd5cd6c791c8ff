"""Servers that run once a session, and one conversation for each way to ask them."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from contract.asking import HERE, Place, Transport, asking, environment
from contract.conversation import Transcript, converse
from contract.differences import NEW, OLD
from contract.serving import KINDS

NPM_PACKAGE = "@modelcontextprotocol/sdk@1.32.2"
FOLDER = HERE.parents[1] / "build" / "typescript-client"
TRANSPORTS: tuple[Transport, ...] = ("memory", "stdio", "http")
PYTHON = [
    Place(kind=kind, transport=transport, revision=revision, client=client)
    for client in ("python", "fastmcp")
    for kind in KINDS
    for transport in TRANSPORTS
    for revision in OLD + NEW
    # FastMCP's client asks the low-level Server as a process only, since it takes no object of that class.
    if (client, kind, transport) != ("fastmcp", "Server", "memory")
]
# The TypeScript SDK 1 speaks no revision after 2025-11-25, and nothing in another language is asked in memory.
TYPESCRIPT = [
    Place(kind=kind, transport=transport, revision=revision, client="typescript")
    for kind in KINDS
    for transport in TRANSPORTS[1:]
    for revision in OLD
]
PLACES = PYTHON + TYPESCRIPT


class Servers:
    """Servers over HTTP, each started when it is first asked and ended with the session."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._urls: dict[str, tuple[str, str]] = {}

    def urls(self, kind: str) -> tuple[str, str]:
        """Where the open server of a class is, and the one that needs a token."""
        if kind not in self._urls:
            process = subprocess.Popen(
                [sys.executable, "-m", "contract.serving", kind, "http"],
                env=environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            self._stack.callback(_end, process)
            assert process.stdout
            first, second = (int(process.stdout.readline()) for _ in range(2))
            self._urls[kind] = (f"http://127.0.0.1:{first}/mcp", f"http://127.0.0.1:{second}/mcp")
        return self._urls[kind]


def _end(process: subprocess.Popen[str]) -> None:
    """End a process that ends with its standard input, or by its id where it does not."""
    with process:
        assert process.stdin
        process.stdin.close()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    with ExitStack() as stack:
        yield Servers(stack)


@pytest.fixture(scope="session")
def folder() -> Path:
    """Where the TypeScript SDK is installed with a client on it; nothing of it is kept in the repository."""
    if not (shutil.which("node") and shutil.which("npm")):
        pytest.skip("node and npm are not installed, so nothing was asked by the client of the TypeScript SDK")
    FOLDER.mkdir(parents=True, exist_ok=True)
    if not (FOLDER / "node_modules" / "@modelcontextprotocol").exists():
        line = ["npm", "install", "--no-save", "--no-package-lock", "--no-audit", "--no-fund", NPM_PACKAGE]
        done = subprocess.run(line, cwd=FOLDER, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    shutil.copy(HERE / "client.mjs", FOLDER)
    return FOLDER


@pytest.fixture(scope="session")
def transcripts() -> dict[Place, Transcript]:
    return {}


@pytest.fixture(params=PLACES, ids=str)
def place(request: pytest.FixtureRequest, servers: Servers) -> Place:
    """A class, a transport, a revision and a client."""
    place: Place = request.param
    if place.client == "typescript":
        place = replace(place, folder=request.getfixturevalue("folder"))
    return replace(place, url=servers.urls(place.kind)[0]) if place.transport == "http" else place


@pytest.fixture
def heard(place: Place, transcripts: dict[Place, Transcript]) -> Transcript:
    """What was answered there; asked once a session."""
    if place not in transcripts:
        transcripts[place] = anyio.run(_converse, place)
    return transcripts[place]


async def _converse(place: Place) -> Transcript:
    async with asking(place) as asker:
        return await converse(asker)
