"""The README and the command of the releases server."""

import json
import re
from pathlib import Path

import pytest

from app_store import app_store, small_account
from readmes import block, plain, printed, readme, tools
from releases_server.cli import COMMAND as CLI
from releases_server.config import OWN_SETTINGS, read_own
from releases_server.doctor import whole_paths
from releases_server.tools import shape
from test_releases import write
from test_releases_pull import settings

pytestmark = pytest.mark.no_cover

COMMAND = "mcpshape-releases"
README = readme("releases_server")


Capture = pytest.CaptureFixture[str]


def run(capture: Capture, *arguments: str) -> tuple[object, str, str]:
    """The exit code of the command, and what it prints."""
    with pytest.raises(SystemExit) as ended:
        CLI.run(arguments)
    printed, said = capture.readouterr()
    return ended.value.code, printed, said


def test_the_recorded_output_is_what_the_doctor_prints() -> None:
    """But for the time it took, and where the command is installed."""
    (line,) = re.findall(rf"^{COMMAND} (doctor)$", README, re.MULTILINE)
    assert plain(printed(COMMAND, line)) == plain(block(README, "text"))


def test_the_table_names_every_tool() -> None:
    """A13: a tool more is a line more."""
    assert tools(README) >= set(shape.tools)


def test_the_settings_hold(tmp_path: Path) -> None:
    """All keys that are shown are known; paths are beside the file."""
    (tmp_path / "releases.toml").write_text(block(README, "toml"))
    own = read_own(tmp_path / "releases.toml")
    key = own.key()
    assert key
    assert key.file == tmp_path / "AuthKey_2X9R4HXF34.p8"
    assert [(each.app, each.path, each.platform) for each in own.folders()] == [
        ("com.example.lumen", tmp_path / "fastlane/metadata", None),
        ("com.example.lumen", tmp_path / "fastlane/metadata-mac", "MAC_OS"),
    ]
    assert set(own.model_fields_set) - {"folder"} <= OWN_SETTINGS


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("key_id = 5", "key_id"),
        ('key_file = "a.p8"', "key_id"),
        ('issuer_id = "a"', "key_file"),
        ('[[metadata]]\napp = "a"', "metadata.0.path"),
        ('[[metadata]]\napp = "a"\npath = "b"\npasword = "hunter2"', "metadata.0.pasword"),
        ('pasword = "hunter2"', "pasword"),
        ('store = "~nobody-at-all/x"\nkey_id="a"', "home"),
        ("store = ", "TOML"),
    ],
)
def test_mistakes_in_the_settings_are_named_in_one_line(
    written: str, told: str, tmp_path: Path, capsys: Capture
) -> None:
    """Without what stands there."""
    (tmp_path / "releases.toml").write_text(written)
    code, _, said = run(capsys, "doctor", "--config", str(tmp_path / "releases.toml"))
    assert code == 2
    assert told in said
    assert "hunter2" not in said
    assert len(said.splitlines()) == 1


def test_a_pull_without_key_or_store_says_what_is_missing(tmp_path: Path, capsys: Capture) -> None:
    """In one line, with exit code 2."""
    (tmp_path / "releases.toml").write_text('key_file = "a.p8"\nkey_id = "b"\n')
    for arguments, told in (([], "key_file"), (["--config", str(tmp_path / "releases.toml")], "--store")):
        code, _, said = run(capsys, "pull", *arguments)
        assert code == 2
        assert told in said


def test_the_doctor_says_what_is_wrong_with_each(tmp_path: Path, capsys: Capture) -> None:
    """Store, key and folders, each with what to do; and the host is started with whole paths."""
    folder = write(tmp_path / "metadata", {"en-US/name.txt": "x", "de/name.txt": "x"})
    with app_store(small_account()) as server:
        file = settings(tmp_path, server)
    arguments = ["--config", str(file), f"--metadata=com.example.lumen={folder}"]
    code, printed, _ = run(capsys, "doctor", *arguments)
    assert code == 1
    assert lines(printed)["store"] == "empty Run mcpshape-releases pull."
    assert lines(printed)["key"] == "ok makes tokens; nothing was sent"
    assert lines(printed)["com.example.lumen"] == "ok drafts in 1 locale, 1 ignored"
    hosts = json.loads(printed.split("Edit Config)\n")[1].split("\n\n")[0])
    assert hosts["mcpServers"]["releases"]["args"][-2:] == arguments[-2:]
    small_account().write(tmp_path / "store")
    assert run(capsys, "doctor", *arguments)[0] == 0
    (tmp_path / "AuthKey.p8").write_text("no key")
    write(tmp_path / "store", {"v1/apps/page-1.json": "{"})
    code, printed, _ = run(capsys, "doctor", *arguments)
    assert code == 1
    assert lines(printed)["store"].startswith("damaged ")
    assert lines(printed)["key"].startswith("bad_key ")


def lines(printed: str) -> dict[str, str]:
    """What is said of each thing that is read."""
    found = (line.split(maxsplit=1) for line in printed.partition("  read in ")[0].splitlines()[1:])
    return {label: " ".join(rest.split()) for label, rest in found}


def test_hosts_start_with_whole_paths_of_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever way an option is written."""
    folder = write(tmp_path / "metadata", {"en-US/name.txt": "x"})
    monkeypatch.chdir(tmp_path)
    assert whole_paths(["--metadata", "a=metadata", "--store", "s"]) == [
        *("--metadata", f"a={folder}"),
        *("--store", f"{tmp_path / 's'}"),
    ]
    assert whole_paths(["--metadata=a=metadata", "--format=toon"]) == [f"--metadata=a={folder}", "--format=toon"]
