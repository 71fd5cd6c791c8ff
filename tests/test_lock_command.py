"""The command `mcpshape lock`, the lock of the calendar server, and the page about them."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

import calendar_server
from mcpshape import Always, Clip, Policy, Shape, Since
from mcpshape.cli import main
from mcpshape.encoders import Json
from test_docs import ROOT, blocks

COMMAND = str(Path(sys.executable).parent / "mcpshape")
PAGE = (ROOT / "docs" / "how-to" / "lock.md").read_text(encoding="utf-8")
WORKFLOW = ROOT / "docs" / "how-to" / "lock.yml"
POLICY = Policy(levels=("strict", "open"))


class Note(BaseModel):
    title: Annotated[str, Since("open")]


class Told(BaseModel):
    title: Annotated[str, Always()]


class Short(BaseModel):
    title: Annotated[str, Since("open"), Clip(3)]


def make(declared: Any) -> Shape:
    shape = Shape(POLICY, encoder=Json())

    def get_note() -> None: ...

    get_note.__annotations__["return"] = declared
    shape.tool(get_note)
    return shape


shape, wider, narrower, empty = make(Note), make(Told), make(Short), Shape(POLICY, encoder=Json())


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """The exit code, what was printed, and what was printed as an error."""
    try:
        main(["lock", *arguments])
        code = 0
    except SystemExit as ended:
        code = int(str(ended.code))
    printed = capsys.readouterr()
    return code, printed.out, printed.err


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_lock_is_written_and_holds(capsys: pytest.CaptureFixture[str]) -> None:
    """The file is there, with nothing beside it, one line says so, and a check of the same shape is silent."""
    assert run(capsys, "test_lock_command:shape") == (0, "Wrote mcpshape.lock, 6 lines.\n", "")
    assert len(Path("mcpshape.lock").read_text().splitlines()) == 6
    assert [path.name for path in Path().iterdir()] == ["mcpshape.lock"]
    assert "tool get_note title open show\n" in Path("mcpshape.lock").read_text()
    assert run(capsys, "test_lock_command:shape", "--check") == (0, "", "")
    assert run(capsys, "test_lock_command:shape", "--file", "other.lock") == (0, "Wrote other.lock, 6 lines.\n", "")
    assert Path("other.lock").read_bytes() == Path("mcpshape.lock").read_bytes()


def test_a_wider_shape_fails_with_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 1, what leaves, and what to do."""
    run(capsys, "test_lock_command:shape", "--file", "my notes.lock")
    before = Path("my notes.lock").read_bytes()
    told = "get_note: title now leaves at strict; the lock has it withheld there and shown from open on."
    command = "mcpshape lock test_lock_command:wider --file 'my notes.lock'"
    assert run(capsys, "test_lock_command:wider", "--check", "--file", "my notes.lock") == (
        1,
        f"{told}\nNarrow the rule, or run {command} and have the change reviewed.\n",
        "",
    )
    assert Path("my notes.lock").read_bytes() == before


def test_a_narrower_shape_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 0, with a note that the lock is out of date."""
    run(capsys, "test_lock_command:shape")
    note = "mcpshape: no more leaves than mcpshape.lock has, but it is out of date; run "
    assert run(capsys, "test_lock_command:narrower", "--check") == (
        0,
        "",
        f"{note}mcpshape lock test_lock_command:narrower\n",
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no mcpshape.lock; make it with mcpshape lock test_lock_command:shape"),
        (b"", "mcpshape.lock: line 1: it is no lock, which begins with mcpshape-lock 1."),
        (b"mcpshape-lock 7\n", "mcpshape.lock: line 1: it is of format 7, and this mcpshape reads 1."),
        (b"mcpshape-lock 1\n=======\n", "mcpshape.lock: line 2: a lock has no such line there."),
        (b"mcpshape-lock 1\n\xff\n", "mcpshape.lock is no UTF-8; restore it"),
    ],
)
def test_a_bad_lock_is_one_line(content: bytes | None, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Bad input: missing, empty, newer, badly merged, not UTF-8: one line that says what to do, exit code 2."""
    if content is not None:
        Path("mcpshape.lock").write_bytes(content)
    code, out, err = run(capsys, "test_lock_command:shape", "--check")
    assert (code, out) == (2, "")
    assert re.fullmatch(rf"mcpshape: {re.escape(message)}.*\n", err)


def test_a_lock_of_another_editor_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    """A byte order mark and the line ends of Windows change nothing."""
    run(capsys, "test_lock_command:shape")
    text = Path("mcpshape.lock").read_text(encoding="utf-8")
    Path("mcpshape.lock").write_text(text, encoding="utf-8-sig", newline="\r\n")
    assert run(capsys, "test_lock_command:shape", "--check") == (0, "", "")


@pytest.mark.parametrize(
    "place", ["", "/", "a folder", "no such folder/mcpshape.lock", "a file/mcpshape.lock", "x" * 300]
)
@pytest.mark.parametrize("check", [[], ["--check"]])
def test_a_place_that_is_none_is_one_line(place: str, check: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Bad input: what can be neither written nor read is told in one line, exit code 2."""
    Path("a folder").mkdir()
    Path("a file").touch()
    Path("a circle").symlink_to("a circle")
    code, out, err = run(capsys, "test_lock_command:shape", "--file", place, *check)
    assert (code, out) == (2, "")
    assert re.fullmatch(r"mcpshape: .*(cannot be (read|written).+|there is no .+)\n", err)
    assert sorted(path.name for path in Path().iterdir()) == ["a circle", "a file", "a folder"]


def test_a_device_is_no_lock(capsys: pytest.CaptureFixture[str]) -> None:
    """Bad input: what is neither a file nor a folder stays what it is."""
    message = f"mcpshape: {os.devnull} cannot be written: it is no file\n"
    assert run(capsys, "test_lock_command:shape", "--file", os.devnull) == (2, "", message)
    assert not Path(os.devnull).is_file()


def test_a_shape_without_tools_is_no_lock(capsys: pytest.CaptureFixture[str]) -> None:
    """Bad input: a module that does not register them would lock nothing, and so hold for ever."""
    message = "mcpshape: test_lock_command:empty has no tools; name the module that registers them\n"
    assert run(capsys, "test_lock_command:empty") == (2, "", message)


def test_a_full_disk_leaves_the_lock_as_it_was() -> None:
    """Bad input: the system refuses to write as much; the old file stays whole, with nothing beside it."""
    path = Path("mcpshape.lock")
    path.write_text("mcpshape-lock 1\n")
    limited = (
        "import resource, signal, sys; from mcpshape.cli import main\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (50, 50)); main(['lock', 'calendar_server:shape'])"
    )
    done = subprocess.run([sys.executable, "-c", limited], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    reason = "it cannot be written (File too large). Make room or choose another place."
    assert done.stderr == f"mcpshape: {path.resolve()}: file: {reason}\n"
    assert path.read_text() == "mcpshape-lock 1\n"
    assert [each.name for each in Path().iterdir()] == ["mcpshape.lock"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"import this\n", "it is no lock"),
        (b"\x00\xff", "it is no lock"),
        (b"mcpshape-lock 2\n", "it is of format 2, and this mcpshape reads 1"),
    ],
)
def test_only_a_lock_is_replaced(content: bytes, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Bad input: the name of another file, or a lock of a newer version, loses nothing."""
    Path("mcpshape.lock").write_bytes(content)
    code, out, err = run(capsys, "test_lock_command:shape")
    assert (code, out) == (2, "")
    assert err.startswith(f"mcpshape: mcpshape.lock is kept: {message}")
    assert err.endswith(" Name another file, or remove it.\n")
    assert Path("mcpshape.lock").read_bytes() == content
    Path("mcpshape.lock").write_bytes(b"")
    assert run(capsys, "test_lock_command:shape")[0] == 0


def test_links_and_mode_stay_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    """A link leads to the file that it led to, which has the mode that it had; a new one is readable by all."""
    Path("real.lock").write_text("mcpshape-lock 1\n<<<<<<< HEAD\n")
    Path("real.lock").chmod(0o640)
    Path("mcpshape.lock").symlink_to("real.lock")
    assert run(capsys, "test_lock_command:shape")[0] == 0
    assert Path("mcpshape.lock").is_symlink()
    assert Path("real.lock").read_text().startswith("mcpshape-lock 1\n")
    assert Path("real.lock").stat().st_mode & 0o777 == 0o640
    run(capsys, "test_lock_command:shape", "--file", "new.lock")
    assert Path("new.lock").stat().st_mode & 0o777 == 0o644
    Path("new.lock").unlink()
    assert len(list(Path().iterdir())) == 2


def called(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, "lock", *arguments], capture_output=True, text=True, check=False)


def test_the_lock_of_the_calendar_server_holds() -> None:
    """As a user runs it; the lock in the repository is what leaves, to the byte."""
    kept = ROOT / "examples" / "calendar_server" / "mcpshape.lock"
    done = called("calendar_server:shape", "--check", "--file", str(kept))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert called("calendar_server:shape").returncode == 0
    assert Path("mcpshape.lock").read_text(encoding="utf-8") == kept.read_text(encoding="utf-8")


def test_one_wider_rule_of_the_calendar_server_fails_the_check() -> None:
    """Show 3: the place of the events in a list, told at strict, fails with the sentence that names field and level."""
    source = Path(calendar_server.__file__).parent
    shutil.copytree(source, "calendar_server", ignore=shutil.ignore_patterns("__pycache__"))
    dtos = Path("calendar_server") / "dtos.py"
    rule = 'location: Annotated[str | None, Since("minimal"), Clip(300)]'
    assert dtos.read_text(encoding="utf-8").count(rule) == 1
    dtos.write_text(dtos.read_text(encoding="utf-8").replace(rule, rule.replace("minimal", "strict")), encoding="utf-8")
    has = "the lock has it withheld there and cut to 300 characters from minimal on."
    file = str(Path("calendar_server") / "mcpshape.lock")
    done = called("calendar_server:shape", "--check", "--file", file)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        f"list_events: events.location now leaves cut to 300 characters at strict; {has}",
        f"list_events_between: days.events.location now leaves cut to 300 characters at strict; {has}",
        f"Narrow the rule, or run mcpshape lock calendar_server:shape --file {file} and have the change reviewed.",
    ]


def test_the_page_shows_what_the_command_does() -> None:
    """docs/how-to/lock.md: the shown lock and the shown sentences come of the shown module and the shown change."""
    module, change = blocks("python", PAGE)
    made, checked = (shlex.split(each)[2:] for each in blocks("sh", PAGE))
    wrote, lock, sentences = blocks("text", PAGE)
    Path("rooms.py").write_text(module)
    assert called(*made).stdout == wrote
    assert Path("mcpshape.lock").read_text() == lock
    assert called(*checked).returncode == 0
    old = next(line for line in module.splitlines() if line.startswith("    title:"))
    Path("rooms.py").write_text(module.replace(f"{old}\n", change))
    done = called(*checked)
    assert (done.returncode, done.stdout) == (1, sentences)


def test_the_workflow_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """The example for GitHub Actions is YAML, is shown whole on the page, and what it runs last is the check."""
    text = WORKFLOW.read_text(encoding="utf-8")
    assert blocks("yaml", PAGE) == [text]
    (job,) = import_module("yaml").safe_load(text)["jobs"].values()
    runs = [shlex.split(step["run"]) for step in job["steps"] if "run" in step]
    assert runs[0][:4] == ["python", "-m", "pip", "install"]
    Path("rooms.py").write_text(blocks("python", PAGE)[0])
    assert called(*shlex.split(blocks("sh", PAGE)[0])[2:]).returncode == 0
    assert runs[1][:2] == ["mcpshape", "lock"]
    assert called(*runs[1][2:]).returncode == 0
