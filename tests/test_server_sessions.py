"""A whole session of each server without levels, as it was when somebody last read it."""

from difflib import unified_diff

import pytest

from server_sessions import REMAKE, SCRIPTS, Script, transcript
from sessions import Transport

pytestmark = [pytest.mark.anyio, pytest.mark.no_cover]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
async def test_a_session_is_the_one_that_was_reviewed_byte_for_byte(script: Script, transport: Transport) -> None:
    """The greeting, the tools, and every tool with good and bad arguments, over each transport in both revisions."""
    expected, heard = script.file.read_text(encoding="utf-8"), await transcript(script, transport)
    changed = unified_diff(expected.splitlines(), heard.splitlines(), "reviewed", f"heard over {transport}", n=1)
    assert heard == expected, "\n".join([f"If this is meant, run {REMAKE}, and read the diff:", *changed])


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_a_session_calls_every_tool(script: Script) -> None:
    """Each of those that the session is told of."""
    lines = script.file.read_text(encoding="utf-8").splitlines()
    told = {line.removeprefix(">>> the tool ") for line in lines if line.startswith(">>> the tool ")}
    assert told == {tool for tool, _ in script.calls}
