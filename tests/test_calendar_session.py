"""A whole session of the calendar server, over each transport, as it was when somebody last read it."""

from difflib import unified_diff

import pytest

from calendar_session import CALLS, FILE, REMAKE, transcript
from sessions import Transport, lines

pytestmark = [pytest.mark.anyio, pytest.mark.no_cover]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_every_transport_gives_the_session_that_was_reviewed_byte_for_byte(transport: Transport) -> None:
    """The greeting, the tools, and every tool with good and bad arguments, level by level, in both revisions."""
    expected, heard = FILE.read_text(encoding="utf-8"), await transcript(transport)
    changed = unified_diff(expected.splitlines(), heard.splitlines(), "reviewed", f"heard over {transport}", n=1)
    assert heard == expected, "\n".join([f"If this is meant, run {REMAKE}, and read the diff:", *changed])


def test_the_session_calls_every_tool() -> None:
    """Each of those that the session is told of, and one that there is not."""
    headings = [line for line in FILE.read_text(encoding="utf-8").splitlines() if line.startswith(">>> the tool ")]
    told = {heading.removeprefix(">>> the tool ").partition(":")[0] for heading in headings}
    assert told | {"no_such_tool"} == {tool for tool, _ in CALLS}


def test_no_line_of_the_session_is_one_long_text() -> None:
    """What has several lines is told line by line, wherever it stands."""
    long = "x" * 200
    assert list(lines({"a": {"text": "one\n\ntwo", "more": [long, {"n": None}]}, "b": ["x"]})) == [
        "a.text:",
        "| one",
        "|",
        "| two",
        f'a.more.0: "{long}"',
        'a.more.1: {"n": null}',
        'b: ["x"]',
    ]
