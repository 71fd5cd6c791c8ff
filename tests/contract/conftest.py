"""Servers that run once a session, and one conversation for each way to ask them."""

import fcntl
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from contract.asking import HERE, Place, asking, offering
from contract.conversation import Transcript, converse
from contract.places import PLACES, Servers
from npm_packages import install

NPM_PACKAGE = "@modelcontextprotocol/sdk@1.32.2"
FOLDER = HERE.parents[1] / "build" / "typescript-client"
CLIENT = FOLDER / "client.mjs"


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    with ExitStack() as stack:
        yield Servers(stack)


@pytest.fixture(scope="session")
def folder() -> Path:
    """Where the TypeScript SDK is installed with a client on it; nothing of it is kept in the repository."""
    install(NPM_PACKAGE, FOLDER)
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not CLIENT.exists() or CLIENT.read_bytes() != (HERE / "client.mjs").read_bytes():
            shutil.copy(HERE / "client.mjs", CLIENT)
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
def heard(place: Place, transcripts: dict[Place, Transcript], request: pytest.FixtureRequest) -> Transcript:
    """What was answered there; asked once a session."""
    if place not in transcripts:
        others = _collected(request.session, place) if place.transport == "stdio" else {place}
        anyio.run(_converse, [replace(each, folder=place.folder) for each in others], transcripts)
    return transcripts[place]


def _collected(session: pytest.Session, place: Place) -> set[Place]:
    """The servers that are to be started for the same client and revision in this session."""
    calls = [getattr(item, "callspec", None) for item in session.items]
    found = {call.params.get("place") for call in calls if call}
    alike = (place.transport, place.revision, place.client)
    return {each for each in found if isinstance(each, Place) and (each.transport, each.revision, each.client) == alike}


async def _converse(places: Sequence[Place], transcripts: dict[Place, Transcript]) -> None:
    """Hold the conversations side by side, where each has a server of its own."""

    async def converse_at(place: Place) -> None:
        async with asking(place) as asker:
            transcripts[place] = await converse(asker)

    with offering(places[0].revision):
        async with anyio.create_task_group() as tasks:
            for place in places:
                tasks.start_soon(converse_at, place)
