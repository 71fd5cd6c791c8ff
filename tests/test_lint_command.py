"""The command `mcpshape lint`: silent on the example servers, one line a finding, exit codes, and its configuration."""

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fastmcp import FastMCP
from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel

import calendar_server
import releases_server
import search_server
import tasks_server
from calendar_server.samples import NOW, OWNER, SAMPLE, ZONE
from mcpshape import Shape
from mcpshape.cli import main
from mcpshape.encoders import Toon
from mcpshape.lint import list_rules
from mcpshape.settings import follow
from search_server.samples import SAMPLE as HARBOUR
from tasks_server.samples import SAMPLE as LISTS

ROOT = Path(__file__).parents[1]
SERVERS = ["calendar", "tasks", "releases", "search"]


class Room(BaseModel):
    name: str


shape = Shape(encoder=Toon())
clean = Shape(encoder=Toon())
empty = Shape(encoder=Toon())
live = follow(clean, None, prefix="MCPSHAPE_LINT_TEST_")
served = FastMCP("rooms")


@shape.tool(example=lambda: Room(name="-"))
def get_room() -> Room:
    """Get a room, one row."""
    return Room(name="-")


@clean.tool(example=lambda: Room(name="Blue"))
def get_blue() -> Room:
    """Get the room."""
    return Room(name="Blue")


@served.tool
def count_rooms() -> int:
    """Count the rooms."""
    return 1


FOUND = """\
get_room: description: "row" is a word of Markdown. Write {entry}, which becomes entry. [foreign-word]
get_room: Room.name: its example holds "-" where there is nothing. \
Declare it with | None and return None, which is written as null. [decoration]
""".splitlines()


def make_calendar() -> MCPServer:
    return calendar_server.build(calendar_server.Config(ics=[SAMPLE], zone=ZONE, me=[OWNER], now=NOW))


def make_tasks() -> MCPServer:
    return tasks_server.build(tasks_server.Config(ics=[LISTS], zone=ZONE, now=NOW))


def make_releases() -> MCPServer:
    return releases_server.build(releases_server.Config())


def make_search() -> MCPServer:
    return search_server.build(search_server.Config(folders=[HARBOUR]))


async def make_later() -> FastMCP:
    await asyncio.sleep(0)
    return served


def make_nothing() -> None: ...


def make_broken() -> None:
    raise RuntimeError("no\nway")


class Run:
    """What a run of the command prints and ends with."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *arguments: str) -> None:
        try:
            main(["lint", *arguments])
            self.code: Any = 0
        except SystemExit as ended:
            self.code = ended.code
        printed = capsys.readouterr()
        self.lines, self.out, self.err = printed.out.splitlines(), printed.out, printed.err


@pytest.mark.no_cover
@pytest.mark.parametrize("name", SERVERS)
def test_the_example_servers_have_no_finding(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Show 2: silent, also about the tools of the server as it is built; the price of the search is paid on purpose."""
    monkeypatch.chdir(ROOT / "examples")
    run = Run(capsys, f"{name}_server:shape", "--server", f"test_lint_command:make_{name}")
    assert (run.code, run.out, run.err) == (0, "", "")


@pytest.mark.no_cover
def test_the_search_pays_the_price_that_its_project_says_is_meant(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Hosts 1: nothing but this is ignored on the example servers."""
    monkeypatch.chdir(tmp_path)
    run = Run(capsys, "search_server:shape")
    assert run.code == 1
    assert {line.rpartition(" ")[2] for line in run.lines} == {"[structured-price]"}
    assert "hides the text in Claude Code, VS Code Copilot, Codex CLI, pydantic-ai and costs" in run.lines[0]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The configuration of a project, in a folder below of which the command runs."""
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    return tmp_path / "pyproject.toml"


def test_a_finding_is_a_line_and_ends_with_one(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit codes for CI: 0 and silence, 1 and findings."""
    assert (Run(capsys, "test_lint_command:shape").lines, Run(capsys, "test_lint_command:shape").code) == (FOUND, 1)
    assert (Run(capsys, "test_lint_command:clean").out, Run(capsys, "test_lint_command:clean").code) == ("", 0)
    ignored = Run(capsys, "test_lint_command:shape", "--ignore", "decoration", "--ignore", "foreign-word")
    assert (ignored.out, ignored.code) == ("", 0)


def test_json_is_for_programs_also_where_nothing_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    """Stable keys."""
    run = Run(capsys, "test_lint_command:shape", "--format", "json")
    found = json.loads(run.out)["findings"]
    assert run.code == 1
    assert [list(each) for each in found] == [["rule", "tool", "place", "message", "remedy"]] * 2
    assert [(each["rule"], each["tool"], each["place"]) for each in found] == [
        ("foreign-word", "get_room", "description"),
        ("decoration", "get_room", "Room.name"),
    ]
    run = Run(capsys, "test_lint_command:clean", "--format=json")
    assert (json.loads(run.out), run.code) == ({"findings": []}, 0)


@pytest.mark.parametrize("server", ["served", "make_later"])
def test_the_server_is_one_or_a_function_that_builds_one(server: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Tools that do not go through the shape."""
    run = Run(capsys, "test_lint_command:clean", "--server", f"test_lint_command:{server}")
    assert (run.code, len(run.lines)) == (1, 1)
    assert run.lines[0].startswith("count_rooms: server: count_rooms does not go through the shape.")


CONFIG = """
[tool.mcpshape.lint]
ignore = ["foreign-word"]
server = "test_lint_command:served"

[tool.mcpshape.lint.shapes."test_lint_command:shape".tools.get_room]
ignore = ["decoration"]

[tool.mcpshape.lint.shapes."test_lint_command:clean"]
server = "test_lint_command:make_releases"
"""


def test_a_project_says_what_is_meant(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The nearest table upwards; what is said of one shape is added; the command line goes before."""
    project.write_text(CONFIG)
    (project.parent / "inner" / "pyproject.toml").write_text("[tool.other]\nmcpshape = 1\n")
    assert [line.rpartition("[")[2] for line in Run(capsys, "test_lint_command:shape").lines] == ["unshaped-tool]"]
    assert Run(capsys, "test_lint_command:shape", "--ignore", "unshaped-tool").lines == []
    assert Run(capsys, "test_lint_command:clean").lines == []
    assert len(Run(capsys, "test_lint_command:clean", "--server", "test_lint_command:served").lines) == 1
    (project.parent / "inner" / "pyproject.toml").write_text("[tool.mcpshape.lint]\n")
    assert Run(capsys, "test_lint_command:shape").lines == FOUND


TABLE = "[tool.mcpshape.lint]\n"


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        (
            TABLE + 'colour = "red"',
            "tool.mcpshape.lint: there is no key 'colour'. Keys: ignore, server, shapes,",
        ),
        (TABLE + 'ignore = ["rows"]', "ignore: there is no rule 'rows'. Rules: foreign-word, withheld-name,"),
        (TABLE + 'ignore = "decoration"', 'tool.mcpshape.lint.ignore: it is no list of rules. Write it as in ["no-'),
        (TABLE + "ignore = [5]", "tool.mcpshape.lint.ignore: it is no list of rules."),
        (TABLE + "server = 5", "tool.mcpshape.lint.server: it is no text. Write module:name."),
        (TABLE + 'tools = ["a"]', "tool.mcpshape.lint.tools: it is no table."),
        (TABLE + "shapes = 5", "tool.mcpshape.lint.shapes: it is no table."),
        (TABLE + 'shapes."a:b" = 5', "tool.mcpshape.lint.shapes.a:b: it is no table."),
        (TABLE + 'shapes."a:b".shapes = {}', "tool.mcpshape.lint.shapes.a:b: there is no key 'shapes'. Keys: ignore,"),
        (TABLE + "[tool.mcpshape.lint.tools.get_it]", "tools: there is no tool 'get_it'. Tools: get_room."),
        (TABLE + "tools.get_room = 5", "tool.mcpshape.lint.tools.get_room: it is no table."),
        (TABLE + "tools.get_room.rules = []", "tool.mcpshape.lint.tools.get_room: there is no key 'rules'."),
        (TABLE + 'tools.get_room.ignore = ["x"]', "ignore: there is no rule 'x'."),
        ("tool.mcpshape.lint = 5", "tool.mcpshape.lint: it is no table."),
        ("[tool", "pyproject.toml: it is no TOML: "),
        ("a = " + "[" * 100_000, "pyproject.toml: it is no TOML: "),
        ("\udcff", "pyproject.toml: it is no TOML: "),
        (TABLE + 'server = "test_lint_command:nothing"', "test_lint_command has no nothing; name its Server"),
    ],
)
def test_what_is_wrong_in_a_project_is_one_line(
    toml: str, message: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A configuration with a typo silences nothing: exit code 2."""
    project.write_bytes(toml.encode(errors="surrogateescape"))
    run = Run(capsys, "test_lint_command:shape")
    assert (run.code, run.out) == (2, "")
    assert re.fullmatch(rf"mcpshape: .*{re.escape(message)}.*\n", run.err)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no_such_module:shape"], "there is no module no_such_module"),
        (["test_lint_command"], "test_lint_command names no shape; write module:name"),
        (["test_lint_command:empty"], "tools: the shape has none. Import the module with its tools."),
        (["test_lint_command:Room"], "test_lint_command:Room is no Shape but ModelMetaclass; name a Shape"),
        (["test_lint_command:live"], "test_lint_command:live is no Shape but Live; name the Shape that it follows"),
        (["test_lint_command:shape", "--ignore", "x"], "ignore: there is no rule 'x'. Rules: foreign-word,"),
        (["test_lint_command:shape", "--format", "xml"], "xml"),
        (["test_lint_command:shape", "--server", "here"], "here names no server; write module:name"),
        (["test_lint_command:shape", "--server", "test_lint_command:ROOT"], "test_lint_command:ROOT is no server but"),
        (
            ["test_lint_command:shape", "--server", "test_lint_command:make_nothing"],
            "is no server but NoneType;",
        ),
        (
            ["test_lint_command:shape", "--server", "test_lint_command:make_broken"],
            "test_lint_command:make_broken cannot be built: RuntimeError: no way",
        ),
        (["test_lint_command:shape", "--server", "test_lint_command:Run"], "cannot be built: TypeError: "),
        ([], "parameter SHAPE requires an argument"),
    ],
)
def test_a_wrong_command_line_is_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever is wrong: one line that says what to do, exit code 2, no traceback."""
    run = Run(capsys, *arguments)
    assert (run.code, run.out) == (2, "")
    assert re.fullmatch(rf"(?i)mcpshape: .*{re.escape(message)}.*\n", run.err)


def test_a_module_that_does_not_import_is_one_line(tmp_path: Path) -> None:
    """As CI runs it: nothing on stdout, one line on stderr, exit code 2."""
    (tmp_path / "broken.py").write_text("1 / 0\n")
    command = [sys.executable, "-m", "mcpshape", "lint", "broken:shape"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "mcpshape: broken cannot be imported: ZeroDivisionError: division by zero\n"


def test_a_project_file_that_cannot_be_read_is_said(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is there and cannot be read is no empty configuration."""
    project.mkdir()
    run = Run(capsys, "test_lint_command:clean")
    assert (run.code, run.out) == (2, "")
    assert run.err.endswith("pyproject.toml: it cannot be read: Is a directory. Make it readable.\n")
    project.rmdir()
    Path("pyproject.toml").symlink_to("pyproject.toml")
    assert "it cannot be read: Too many levels" in Run(capsys, "test_lint_command:clean").err


def test_a_working_directory_that_is_gone_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    """No traceback."""
    Path.cwd().rmdir()
    assert Run(capsys, "test_lint_command:clean").err == (
        "mcpshape: the working directory is gone; run this in another one\n"
    )


def test_the_rules_are_those_that_findings_name() -> None:
    """Stable names."""
    assert len(set(list_rules())) == len(list_rules()) == 13
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)+|decoration", rule) for rule in list_rules())
