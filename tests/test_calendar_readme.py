"""The README of the calendar server shows what it prints and settings that hold."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from calendar_data.files import Files
from calendar_server.config import read_own
from calendar_server.tools import shape
from test_calendar import command

README = (Path(__file__).parents[1] / "examples" / "calendar_server" / "README.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    return str(found)


def test_the_recorded_output_is_what_the_doctor_prints() -> None:
    """But for ids, which are made anew each time, the time it took, and where the command is installed."""
    (line,) = re.findall(r"^mcpshape-calendar (doctor --tz .*)$", README, re.MULTILINE)
    ended = subprocess.run(command(*line.split()), capture_output=True, text=True, check=True)
    printed = ended.stdout.replace(str(Path(sys.executable).with_name("mcpshape-calendar")), "bin/mcpshape-calendar")

    def plain(text: str) -> str:
        return re.sub(r"\d+\.\d s", "0.0 s", re.sub(r"^( +)[a-z][a-z2-7]{10},", r"\1ID,", text, flags=re.MULTILINE))

    assert plain(printed).strip() == plain(block("text")).strip()


def test_the_settings_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All keys that are shown are known, and the sources are those that the text promises."""
    (tmp_path / "calendar.toml").write_text(block("toml"))
    (tmp_path / "work.password").write_text("secret\n")
    monkeypatch.delenv("CALDAV_URL", raising=False)
    own = read_own(tmp_path / "calendar.toml")
    home, work = (each.source for each in own.looked())
    assert isinstance(home, Files)
    assert (home.label, work.label) == ("Home", "Work")
    assert "secret" not in repr(work)


def test_the_table_names_every_tool() -> None:
    """A13: a tool more is a line more."""
    assert set(re.findall(r"^\| `(\w+)` \|", README, re.MULTILINE)) >= set(shape.tools)
