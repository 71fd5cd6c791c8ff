"""The tutorial: whoever does what it says gets what it shows, and the server that comes out answers hosts."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from code_blocks import Block, Follower, has_begun, read_blocks, read_commands
from npm_packages import install

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "tutorial.md"
NOT_RUN = {
    "mkdir my-calendar": "the test makes the folder",
    "cd my-calendar": "commands run in it",
    "python -m venv .venv": "the tests run in an environment that has what the next but one installs",
    ". .venv/bin/activate": "likewise",
    "python -m pip install PATH/TO/mcpshape[preview,testing,tokens] pytest": "make test installs the wheel",
    "mcpshape preview server:shape": "it serves until it is stopped; test_preview_command runs it",
    "claude mcp add calendar --": "it changes the settings of a program; the command that it adds is run below",
    "npx @modelcontextprotocol/inspector --cli": "run below, where node is installed",
}
PYTHON, FOLDER = "/path/to/my-calendar/.venv/bin/python", "/path/to/my-calendar"
INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"

pytestmark = pytest.mark.no_cover


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is there at the end; on the way, each command printed what the page shows."""
    made = tmp_path_factory.mktemp("my-calendar")
    Follower(made, tuple(NOT_RUN)).follow(PAGE)
    return made


@pytest.fixture(scope="module")
def shown() -> dict[str, Any]:
    """The whole result that the page shows, as the Inspector prints it."""
    (block,) = [block for block in read_blocks(PAGE) if block.language == "json" and block.title is None]
    result: dict[str, Any] = json.loads(block.text)
    return result


def commands() -> Iterator[list[str]]:
    for block in read_blocks(PAGE):
        yield from read_commands(block) if block.language == "sh" else ()


def files(name: str) -> list[Block]:
    return [block for block in read_blocks(PAGE) if block.title == name]


def test_the_final_server_is_what_became_of_the_steps(folder: Path) -> None:
    """It is printed whole, character by character what the reader has by then."""
    first, *_, last = files("server.py")
    assert (first.language, last.language) == ("python", "python")
    assert last.text == (folder / "server.py").read_text(encoding="utf-8")


def test_nothing_is_left_out_without_a_reason() -> None:
    """Each reason is one for a command of the page."""
    assert [start for start in NOT_RUN if not any(has_begun(words, [start]) for words in commands())] == []


def host_lines() -> list[list[str]]:
    """How the hosts start the server: by their files, and by the command of Claude Code."""
    found = [json.loads(block.text) for block in read_blocks(PAGE) if block.language == "json" and block.title]
    servers = [(config.get("mcpServers") or config["servers"])["calendar"] for config in found]
    (added,) = [words[words.index("--") + 1 :] for words in commands() if words[0] == "claude"]
    return [*([server["command"], *server["args"]] for server in servers), added]


@pytest.mark.parametrize("line", host_lines(), ids=["Claude Desktop", "VS Code", "Claude Code"])
def test_the_final_server_answers_when_a_host_starts_it(
    line: list[str], folder: Path, shown: dict[str, Any], tmp_path: Path
) -> None:
    """As each host is told to start it, in another folder, over stdio."""
    program, *arguments = [sys.executable if word == PYTHON else word.replace(FOLDER, str(folder)) for word in line]

    async def ask() -> Any:
        command = StdioServerParameters(command=program, args=arguments, cwd=tmp_path, env=dict(os.environ))
        async with Client(command) as client:
            (tool,) = (await client.list_tools()).tools
            assert tool.name == "list_events"
            return await client.call_tool("list_events", {"day": "2026-07-13"})

    result = anyio.run(ask)
    told = json.loads(result.model_dump_json(by_alias=True, exclude_none=True, exclude={"meta", "result_type"}))
    assert told == shown


def test_the_inspector_prints_what_is_shown(folder: Path, shown: dict[str, Any]) -> None:
    """C7: the command as it stands, but for where the Inspector and Python are."""
    (command,) = [words for words in commands() if words[0] == "npx"]
    words = [sys.executable if word == ".venv/bin/python" else word for word in command[2:]]
    program = install(INSPECTOR, ROOT / "build" / "inspector") / "node_modules" / ".bin" / "mcp-inspector"
    ended = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout) == shown
