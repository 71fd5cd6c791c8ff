"""What is saved is what was looked at, and all else in the file and around it stays as it was."""

import os
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpshape import DefinitionError
from mcpshape._whole_file import replacing
from mcpshape.preview import choose
from mcpshape.preview._revision import Edit, require_same, revise
from mcpshape.preview._saving import SettingsFile
from test_preview import POLICY, ROWS, SHAPE, Rows


def save(path: Path, **chosen: Any) -> SettingsFile:
    """Save a choice as the page does: what is in force, some of it changed, looked at, confirmed."""
    file = SettingsFile(path, "SAVED_")
    choice = choose(file.apply(SHAPE), **chosen)
    file.save(SHAPE, choice, file.review(SHAPE, choice).seen)
    return file


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'level = "strict"', b'level = "open"\ntoggles = {mails = false}\n\n[tools.list_bare]\nformat = "json"\n'),
        (
            b'# a\r\nlevel = "strict" # b\r\n\r\n[tools.list_bare]\r\nformat = "markdown" # c\r\n',
            (
                b'# a\r\nlevel = "open" # b\r\ntoggles = {mails = false}\r\n'
                b'\r\n[tools.list_bare]\r\nformat = "json" # c\r\n'
            ),
        ),
        (
            b'\xef\xbb\xbf"level" = \'strict\' # b\ntools."list_bare".format = "toon" # c\n',
            b'\xef\xbb\xbf"level" = "open" # b\ntools."list_bare".format = "json" # c\ntoggles = {mails = false}\n',
        ),
        (
            (
                b'toggles.names = false # a\nlevel = "minimal"\n'
                b'toggles.mails = false # b\ntools = { list_bare = { format = "toon" } }\n'
            ),
            (
                b'toggles.names = true # a\nlevel = "open"\n'
                b'toggles.mails = false # b\ntools = { list_bare = { format = "json" } }\n'
            ),
        ),
        (
            (
                b'level = "minimal"\n[toggles]\nnames = false # Ada asked.\nmails = false\n\n# Of tools.\n'
                b'[tools.list_bare.format]\nname = "toon" # a\ndelimiter = "tab"\n# b\n[[ours]]\n# c\n[[ours]]\n'
            ),
            (
                b'level = "open"\n[toggles]\nnames = true # Ada asked.\nmails = false\n\n# Of tools.\n'
                b'[tools.list_bare.format]\nname = "json" # a\n# b\n[[ours]]\n# c\n[[ours]]\n'
            ),
        ),
    ],
    ids=["no line end", "CRLF", "BOM and quotes", "dotted and inline", "tables"],
)
def test_all_else_in_the_file_stays_as_it_was(tmp_path: Path, before: bytes, after: bytes) -> None:
    """Comments, order, quotes, line ends, keys of the server's own: only what was chosen changes."""
    path = tmp_path / "Einstellungen für später.toml"
    path.write_bytes(before)
    file = save(path, tool="list_bare", level="open", toggles={"mails": False}, format="json")
    assert path.read_bytes() == after
    assert file.apply(SHAPE).grant == POLICY.grant("open", toggles={"mails": False})


@given(
    st.lists(
        st.sampled_from(["# note\n", "\n", "ours = 1 # x\n", 'mine.a = "#"\n', 'mine.b = """\n# no\n"""\n']),
        unique=True,
    ),
    st.lists(st.sampled_from(['level = "strict" # y\n', "toggles.names = false\n"]), unique=True),
    st.lists(st.sampled_from(["[clients.x]\n# z\n", "[other]\nlevel = 1 # w\n", "[[more]]\n# v\n"]), unique=True),
    st.sampled_from(["\n", "\r\n"]),
)
def test_comments_and_foreign_keys_outlive_every_edit(
    top: list[str], settings: list[str], tables: list[str], end: str
) -> None:
    """Whatever stands around the settings, in whatever order."""
    text = "".join([*top, *settings, *tables]).replace("\n", end)
    edits = [Edit(("level",), "open"), Edit(("toggles", "names"), True), Edit(("format",), "json")]
    revised = revise(text.encode(), edits).decode()
    was, now = tomllib.loads(text), tomllib.loads(revised)
    assert now == {**was, "level": "open", "toggles": {"names": True}, "format": "json"}
    assert text.count("#") == revised.count("#")
    assert not text or revised.count("\n") == revised.count(end)


def test_what_cannot_be_edited_is_refused_with_what_to_write(tmp_path: Path) -> None:
    """Rather than changing something else as well; the file stays."""
    with pytest.raises(ValueError, match="something else"):
        require_same('level = "strict"', {"level": "open"})
    with pytest.raises(ValueError, match="Invalid value"):
        revise(b"level =", [])
    # TOML as Python reads it, and more than the library that edits it does.
    text = "[tools.list_bare.budget]\nchars = 100\n[tools.list_bare]\n[tools]\n[tools.list_bare.format]\n"
    path = tmp_path / "settings.toml"
    path.write_text(f'level = "strict"\n{text}name = "toon"\n', encoding="utf-8")
    with pytest.raises(DefinitionError, match='Write it by hand: level = "open"'):
        save(path, level="open")
    assert path.read_text(encoding="utf-8").startswith('level = "strict"\n')
    assert [each.name for each in tmp_path.iterdir()] == ["settings.toml"]


def test_a_level_of_the_environment_is_not_written_into_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Saving a format beside it does not make the file wider than it was, for when the variable is gone."""
    path = tmp_path / "settings.toml"
    path.write_text('level = "strict"\n', encoding="utf-8")
    monkeypatch.setenv("SAVED_LEVEL", "open")
    file = save(path, tool="list_rows", format="json")
    assert path.read_text(encoding="utf-8") == 'level = "strict"\nformat = "json"\n'
    monkeypatch.delenv("SAVED_LEVEL")
    assert file.apply(SHAPE).grant == SHAPE.grant


def test_nothing_is_written_where_nothing_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No empty file comes to be, which a server could not follow."""
    monkeypatch.setenv("SAVED_LEVEL", "open")
    save(tmp_path / "settings.toml", format="toon")
    assert list(tmp_path.iterdir()) == []


def test_toggles_that_a_level_does_not_offer_are_off_in_the_file(tmp_path: Path) -> None:
    """So that a file that names them can be lowered, and keeps what it says beside them."""
    path = tmp_path / "settings.toml"
    path.write_text('level = "open"\n[toggles]\nnames = true # Ada asked.\n', encoding="utf-8")
    save(path, level="strict")
    assert path.read_text(encoding="utf-8") == 'level = "strict"\n[toggles]\nnames = false # Ada asked.\n'


def test_a_change_between_the_list_and_the_file_is_seen(tmp_path: Path) -> None:
    """The list tells of the file as it was when making the list began; a file that is gone has changed as well."""
    path = tmp_path / "settings.toml"
    path.write_text('level = "strict"\n', encoding="utf-8")
    file = SettingsFile(path, "SAVED_")
    choice = choose(file.apply(SHAPE), level="open")

    def interfere() -> Rows:
        path.write_text('level = "minimal"\n', encoding="utf-8")
        return ROWS

    seen = file.review(SHAPE.using(tools={"list_rows": {"example": interfere}}), choice).seen
    with pytest.raises(DefinitionError, match="has changed since you looked"):
        file.save(SHAPE, choice, seen)
    path.unlink()
    for told in (seen, ""):
        with pytest.raises(DefinitionError, match="has changed since you looked"):
            file.save(SHAPE, choice, told)


@pytest.mark.parametrize("name", ["x" * 300, "file/settings.toml", "loop"])
def test_a_path_that_nothing_can_stand_at_is_refused_at_once(tmp_path: Path, name: str) -> None:
    """Too long, inside of a file, a link to itself: it is named, and is not taken for a file that is yet to come."""
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(DefinitionError, match="cannot be read"):
        SettingsFile(tmp_path / name).apply(SHAPE)
    with pytest.raises(DefinitionError, match="cannot be written"), replacing(tmp_path / name / "new", b""):
        pass


def test_a_link_to_nothing_yet_becomes_one_to_the_file(tmp_path: Path) -> None:
    """The file comes to be where the link leads."""
    (tmp_path / "link").symlink_to(tmp_path / "real")
    save(tmp_path / "link", level="minimal")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text(encoding="utf-8") == 'level = "minimal"\n'


def test_a_link_keeps_the_secret_that_lies_beside_it(tmp_path: Path) -> None:
    """The names of files in it count from the link, wherever it leads."""
    (tmp_path / "real").mkdir()
    (tmp_path / "secret").write_bytes(b"x" * 32)
    (tmp_path / "real" / "settings.toml").write_text('secret_file = "secret"\n', encoding="utf-8")
    (tmp_path / "link.toml").symlink_to(tmp_path / "real" / "settings.toml")
    save(tmp_path / "link.toml", level="minimal")
    written = (tmp_path / "real" / "settings.toml").read_text(encoding="utf-8")
    assert written == 'secret_file = "secret"\nlevel = "minimal"\n'


def test_owner_and_mode_stay_and_a_file_that_may_not_be_written_to_too(tmp_path: Path) -> None:
    """The server that reads it may be another user than the one who saves."""
    path = tmp_path / "settings.toml"
    path.write_text("old", encoding="utf-8")
    owner = (12_345, 23_456) if os.geteuid() == 0 else (os.geteuid(), os.getegid())
    os.chown(path, *owner)
    path.chmod(0o640)
    with replacing(path, b"new"):
        pass
    assert ((path.stat().st_uid, path.stat().st_gid), stat.S_IMODE(path.stat().st_mode)) == (owner, 0o640)
    path.chmod(0o440)
    with pytest.raises(DefinitionError, match="cannot be written .Permission denied"), replacing(path, b"newer"):
        pass
    assert path.read_text(encoding="utf-8") == "new"
