"""The command `mcpshape preview`: the page until it is interrupted, text, JSON, and what it says of mistakes."""

import contextlib
import io
import json
import os
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path

import pytest

from mcpshape.cli import main


class Printed(io.StringIO):
    """Output that is handed on as it comes."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: queue.SimpleQueue[str] = queue.SimpleQueue()

    def write(self, text: str) -> int:
        self.lines.put(text)
        return len(text)


def test_the_command_serves_the_page_until_it_is_interrupted() -> None:
    """It prints the address, with what was chosen, and ends quietly with Ctrl+C."""
    printed, pages = Printed(), list[str]()

    def look() -> None:
        with urllib.request.urlopen(printed.lines.get(timeout=20).split()[1]) as page:
            pages.append(page.read().decode())
        os.kill(os.getpid(), signal.SIGINT)

    looking = threading.Thread(target=look)
    looking.start()
    with contextlib.redirect_stdout(printed):
        main(["preview", "calendar_server:shape", "--level", "strict", "--tool", "next_event"])
    looking.join()
    assert "<title>next_event at strict · calendar_server:shape</title>" in pages[0]


def test_the_installed_command_prints_text_and_json(tmp_path: Path) -> None:
    """The same without a page, at the settings of a file and for a caller."""
    settings = tmp_path / "settings.toml"
    settings.write_text('level = "standard"\n[clients.noisy]\nlevel = "minimal"\n', encoding="utf-8")
    arguments = ["preview", "calendar_server:shape", "--settings", str(settings), "--tool", "get_event"]
    command = [str(Path(sys.executable).with_name("mcpshape")), *arguments, "--json", "--client", "noisy"]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert (told["level"], told["narrowed"], told["contrast"]["changes"]) == ("minimal", ["client noisy"], [])


def test_the_text_has_all_parts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As the page has them, marked by signs where the page has colours."""
    main(["preview", "calendar_server:shape", "--text", "--tool", "get_event", "--level", "detailed", "--off", "notes"])
    printed = capsys.readouterr().out
    for heading in ("What a model reads", "Keys", "Who decided", "Beside what is in force", "What each host shows"):
        assert heading in printed
    assert "\n+ attendees[3]{name,email}:\n" in printed
    assert '\n- title: "[Event]"\n' in printed
    assert "notes: off (usually on at detailed)" in printed
    assert "\nIn another form: id as a handle of the kind event\n" in printed
    main(["preview", "calendar_server:shape", "--text", "--tool", "list_calendars"])
    assert "In another form" not in capsys.readouterr().out
    main(["preview", "tasks_server:shape", "--text", "--format", "json"])
    printed = capsys.readouterr().out
    assert "Output schema" in printed
    assert "Keys" not in printed
    main(["preview", "calendar_server:shape", "--text", "--client", "noisy"])
    assert "The same." in capsys.readouterr().out
    settings = tmp_path / "settings.toml"
    settings.write_text('[clients.noisy]\nlevel = "strict"\n', encoding="utf-8")
    asked = ["--settings", str(settings), "--client", "noisy", "--level", "minimal"]
    main(["preview", "calendar_server:shape", "--text", *asked])
    assert "Narrowed by client noisy." in capsys.readouterr().out
    main(["preview", "calendar_server:shape", "--json", *asked])
    assert json.loads(capsys.readouterr().out)["level"] == "strict"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["calendar_server:shape", "--level", "wide"], "there is no level 'wide'"),
        (["calendar_server:shape", "--off", "nothing"], "there is no toggle 'nothing'"),
        (["calendar_server:shape", "--settings", "."], "cannot be read"),
        (["calendar_server:shape", "--tool", "nothing"], "there is no such tool"),
        (["nowhere:shape"], "there is no module nowhere"),
        (["test_preview_command:nothing"], "test_preview_command has no nothing; name its Shape"),
        (["calendar_server:shape", "--port", "-1"], "--port"),
        (["calendar_server:shape", "--port", "99999"], "--port"),
        (["calendar_server:shape", "--settings", "x" * 300], "it cannot be read"),
        (["calendar_server:shape", "--settings", "/dev/null/x.toml"], "it cannot be read"),
        (["calendar_server:shape", "--prefix", "OURS_"], "--prefix is of use with --settings alone"),
        (["calendar_server:shape", "--on", "notes", "--off", "notes"], "notes cannot be both on and off"),
        (
            ["calendar_server:shape", "--level", "standard", "--off", "attendee_names", "--on", "attendee_emails"],
            "it needs attendee_names, which is off",
        ),
        (["calendar_server:shape", "--client", "\udcff"], "its name is no Unicode"),
        (["calendar_server:shape", "--tool", "\udcff"], "there is no such tool"),
        (["\udcff:shape"], "there is no module"),
    ],
)
def test_what_cannot_be_shown_is_one_line(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    """On stderr, with exit code 2."""
    with pytest.raises(SystemExit) as ended:
        main(["preview", *arguments, "--text"])
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("mcpshape: ")
    assert says in line


def test_a_taken_port_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """It says which, and what to do."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SystemExit) as ended:
            main(["preview", "calendar_server:shape", "--port", str(port)])
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"port {port}: it cannot be had" in line
    assert "--port" in line


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The page needs more than the command."""
    monkeypatch.setitem(sys.modules, "mcpshape.preview._app", None)
    with pytest.raises(SystemExit):
        main(["preview", "calendar_server:shape"])
    assert "install mcpshape-output[preview]" in capsys.readouterr().err


def test_the_how_to_opens_the_page_and_has_its_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """docs/how-to/preview.md: the command that serves can be run, and the pictures are there."""
    page = Path(__file__).parents[1] / "docs" / "how-to" / "preview.md"
    text = page.read_text(encoding="utf-8")
    command = next(line for line in text.splitlines() if line.startswith("mcpshape preview"))
    (tmp_path / "settings.toml").write_text('level = "minimal"\n', encoding="utf-8")
    with contextlib.chdir(tmp_path):
        main([*command.split()[1:], "--json"])
    assert json.loads(capsys.readouterr().out)["level"] == "minimal"
    pictures = [Path(target.partition("#")[0]) for target in re.findall(r"!\[.+\]\((.+)\)", text)]
    assert [picture.name for picture in pictures] == ["preview-light.png", "preview-dark.png", "preview-review.png"]
    assert all((page.parent / picture).read_bytes().startswith(b"\x89PNG") for picture in pictures)


BROKEN = """
from typing import Annotated
from mcpshape import Mask, Policy, Shape, Since
from pydantic import BaseModel

class Told(BaseModel):
    x: Annotated[str, Since("open", below=Mask("[hidden] :lock: " + "m" * 300))]

shape = Shape(Policy(levels=("strict", "open")), encoder="toon")

@shape.tool(example=lambda: Told(x="Zo\u00eb :smile:"))
def get_it() -> Told:
    "Get it."

@shape.tool(example=lambda: open("hunter2"))
def get_more() -> Told:
    "Get more."
"""


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mcpshape", "preview", *arguments]
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **environment},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_text_is_printed_as_it_is(tmp_path: Path) -> None:
    """Brackets, names of emoji and long masks in the table too; where a terminal has no such letters, it says so."""
    (tmp_path / "broken_place.py").write_text(BROKEN, encoding="utf-8")
    printed = run(tmp_path, "broken_place:shape", "--text", "--level", "open").stdout
    assert 'x: "Zo\u00eb :smile:"' in printed
    assert "masked as [hidden] :lock:" in printed
    assert printed.count("m") >= 600
    narrow = run(tmp_path, "broken_place:shape", "--text", "--level", "open", PYTHONIOENCODING="ascii")
    assert (narrow.returncode, narrow.stderr.splitlines()) == (
        2,
        ["mcpshape: not all of the output can be written as ascii; set PYTHONIOENCODING=utf-8"],
    )
    told = run(tmp_path, "broken_place:shape", "--json", "--level", "open", PYTHONIOENCODING="ascii")
    assert json.loads(told.stdout)["data"] == {"x": "Zo\u00eb :smile:"}


def test_what_others_raise_is_named_without_its_text(tmp_path: Path) -> None:
    """An example that fails may say in its exception what nobody is to see; an import says what its author has to."""
    (tmp_path / "broken_place.py").write_text(BROKEN, encoding="utf-8")
    (tmp_path / "broken_import.py").write_text("shape = 1 .shape", encoding="utf-8")
    failed = run(tmp_path, "broken_place:shape", "--text", "--tool", "get_more")
    assert failed.returncode == 2
    assert "failed with FileNotFoundError in line 15 of broken_place.py. Mend it." in failed.stderr
    assert "hunter2" not in failed.stderr + failed.stdout
    (line,) = run(tmp_path, "broken_import:shape", "--text").stderr.splitlines()
    assert "broken_import cannot be imported: AttributeError: 'int' object has no attribute 'shape'" in line


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names of files are Unicode")
def test_a_settings_file_whose_name_is_no_text_can_be_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its bytes are its name all the same."""
    path = tmp_path / "\udcff.toml"
    path.write_text('level = "minimal"\n', encoding="utf-8")
    main(["preview", "calendar_server:shape", "--json", "--settings", str(path)])
    assert json.loads(capsys.readouterr().out)["level"] == "minimal"
