"""The READMEs of the example servers show what is printed, and name what is there."""

import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import calendar_server.config
import tasks_server.config
from calendar_data.dav import CalDav
from calendar_data.files import Files
from readmes import block, plain, printed, readme, tools

pytestmark = pytest.mark.no_cover

SERVERS = {"calendar_server": "mcpshape-calendar", "tasks_server": "mcpshape-tasks"}


@pytest.mark.parametrize(("package", "command"), SERVERS.items())
def test_the_recorded_output_is_what_the_doctor_prints(package: str, command: str) -> None:
    """But for ids, the time it took, and where the command is installed."""
    text = readme(package)
    (line,) = re.findall(rf"^{command} (doctor --tz .*)$", text, re.MULTILINE)
    assert plain(printed(command, line)) == plain(block(text, "text"))


@pytest.mark.parametrize("package", SERVERS)
def test_the_table_names_every_tool(package: str) -> None:
    """A13: a tool more is a line more."""
    assert tools(readme(package)) >= set(import_module(package).shape.tools)


@pytest.mark.parametrize("config", [calendar_server.config, tasks_server.config], ids=lambda module: module.__name__)
def test_the_settings_hold(config: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All keys that are shown are known, and the sources are those that the text promises."""
    package = config.__name__.partition(".")[0]
    (tmp_path / "server.toml").write_text(block(readme(package), "toml"))
    (tmp_path / "work.password").write_text("secret\n")
    monkeypatch.delenv("CALDAV_URL", raising=False)
    home, work = (each.source for each in config.read_own(tmp_path / "server.toml").looked())
    assert isinstance(home, Files)
    assert isinstance(work, CalDav)
    assert (home.label, work.label) == ("Home", "Work")
    assert work.may_write == (package == "tasks_server")
    assert "secret" not in repr(work)
