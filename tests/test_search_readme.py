"""The README of the search server shows what the server answers, and settings that hold."""

import json
import os
import re
import shlex
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from readmes import block, readme, tools
from search_server.config import Config, read_own
from search_server.extracts import FORMATS
from search_server.server import build
from search_server.tools import shape
from test_search import paths, serving

pytestmark = [pytest.mark.anyio, pytest.mark.no_cover]
README = readme("search_server")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_the_recorded_answer_is_what_the_command_gives() -> None:
    """C7: what the Inspector printed, but for ids, which are made anew each time."""
    (line,) = re.findall(r"^npx (.*?)\n```", README, re.MULTILINE | re.DOTALL)
    words = shlex.split(line.replace("\\\n", " "))
    name = words[words.index("--tool-name") + 1]
    given = [words[place + 1].split("=", 1) for place, word in enumerate(words) if word == "--tool-arg"]
    arguments = {key: int(value) if value.isdigit() else value for key, value in given}
    server = StdioServerParameters(command=sys.executable, args=["-m", "search_server.cli"], env=dict(os.environ))
    async with Client(stdio_client(server)) as client:
        result = await client.call_tool(name, arguments)
    answered = json.loads(result.model_dump_json(by_alias=True, exclude_none=True, exclude={"meta", "result_type"}))

    def plain(value: object) -> object:
        return json.loads(re.sub(r"\b[a-p][a-z2-7]{10}\b", "ID", json.dumps(value)))

    assert plain(answered) == plain(json.loads(block(README, "json")))


async def test_the_settings_hold(tmp_path: Path) -> None:
    """All keys that are shown are known, and mean what the text says."""
    file = tmp_path / "search.toml"
    file.write_text(block(README, "toml"))
    (tmp_path / "archive").mkdir()
    (tmp_path / "archive" / "old.txt").write_bytes("Übergang".encode("cp1252"))
    own = read_own(file)
    folders = own.listed()
    assert [folder.label for folder in folders] == ["notes", "archive"]
    assert own.kept_at() == tmp_path / "search.db"
    config = Config(folders=folders[1:], index=own.kept_at(), index_mb=own.index_mb, settings=file)
    async with Client(build(config)) as client:
        assert await paths(client, "übergang") == {"archive/old.txt"}


async def test_the_questions_find_what_they_promise() -> None:
    """Each question of the table finds something in the documents of the harbour."""
    questions = re.findall(r"^\| `([^`]+)` \| (?:both|the two next|one of|a word|the first)", README, re.MULTILINE)
    assert len(questions) == 5
    async with serving() as client:
        for question in questions:
            assert await paths(client, question)


def test_the_page_names_every_tool_and_every_ending() -> None:
    """A13: a tool or an ending more is a word more."""
    assert tools(README) >= set(shape.tools)
    (files,) = re.findall(r"^- Files that end in (.*?), in the$", README, re.MULTILINE | re.DOTALL)
    assert re.findall(r"`\.(\w+)`", files) == list(FORMATS)
