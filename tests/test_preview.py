"""What the preview shows is what leaves, and what it saves is what it showed."""

import json
import stat
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from calendar_server import shape as calendar
from mcpshape import (
    Clip,
    Coarsen,
    DefinitionError,
    Handle,
    Ladder,
    Mask,
    Policy,
    Shape,
    Show,
    Since,
    Toggle,
    When,
)
from mcpshape._caller import calling
from mcpshape._example import still
from mcpshape._whole_file import replacing
from mcpshape.encoders import Json, Toon
from mcpshape.preview import IN_FORCE, choose, preview_tool
from mcpshape.preview._choice import flip, list_switches
from mcpshape.preview._contrast import compare_lines, list_changes
from mcpshape.preview._form import make_caller
from mcpshape.preview._saving import SettingsFile
from mcpshape.testing._leaks import all_grants
from tasks_server import shape as tasks

POLICY = Policy(
    levels=("strict", "minimal", "open"),
    toggles={
        "names": Toggle(on_since="open", offered_since="minimal"),
        "mails": Toggle(on_since="open", offered_since="open", requires="names"),
    },
)


class Row(BaseModel):
    id: Annotated[str, Handle("row")]
    title: Annotated[str, Since("minimal", below=Mask("[Row]"))]
    name: Annotated[str | None, When("names")]
    mail: Annotated[str | None, When("mails")]
    place: Annotated[str, Since("open"), Clip(5)]
    day: Annotated[date, Ladder({"strict": Coarsen("month"), "open": Show()})]
    number: Annotated[int, Since("minimal", below=Mask(0))]


class Rows(BaseModel):
    rows: list[Row]


ROWS = Rows(
    rows=[
        Row(id="1", title="One", name=None, mail="one@example.com", place="Here", day=date(2026, 3, 4), number=1),
        Row(id="2", title="Two", name="Ada", mail=None, place="There and back", day=date(2026, 3, 5), number=2),
    ]
)


def make_shape(**options: Any) -> Shape:
    shape = Shape(POLICY, **{"encoder": Toon(), **options})

    @shape.tool(example=lambda: ROWS)
    def list_rows() -> Rows:
        """List the rows, one {entry} each."""
        return ROWS

    @shape.tool(example=lambda: ROWS.rows, privacy="minimal", encoder="markdown")
    def list_bare() -> list[Row]:
        """List them without more."""
        return ROWS.rows

    @shape.tool()
    def get_row(row_id: Annotated[str, Handle("row", among=lambda: ["1", "2"])]) -> Row:
        """Get one."""
        return next(row for row in ROWS.rows if row.id == row_id)

    return shape


SHAPE = make_shape()
grants = st.sampled_from(list(all_grants(POLICY)))


@pytest.mark.parametrize("tool", list(calendar.tools))
def test_the_preview_is_what_the_tool_would_answer(tool: str) -> None:
    """B6: for every grant of the calendar, text and data are those that the shape itself gives."""
    example = calendar.tools[tool].options.example
    assert example
    for grant in all_grants(calendar.policy):
        assert grant
        flips = (
            {name: name in grant.toggles for name in calendar.policy.widest(grant.level).toggles}
            if calendar.policy
            else {}
        )
        for name in (None, "json"):
            seen = preview_tool(calendar, choose(calendar, tool=tool, level=grant.level, toggles=flips, format=name))
            served = still(calendar, grant=grant, tools={tool: {"encoder": name}})
            answered = served.answer(tool, example())
            assert (seen.text, seen.structured) == (answered.text, answered.structured)
            assert seen.size == len(answered.text.encode())
            assert (seen.output_schema, seen.description) == (
                served.tools[tool].output_schema,
                served.tools[tool].description,
            )
            assert (seen.level, list(seen.toggles)) == (grant.level, sorted(grant.toggles))


def test_a_server_without_levels_is_shown_as_easily() -> None:
    """B8: no level, no toggles, nothing to compare with."""
    seen = preview_tool(tasks, choose(tasks))
    assert (seen.level, seen.contrast, list(seen.reasons), list(seen.withheld)) == (None, None, [], [])
    with pytest.raises(DefinitionError, match="has no levels"):
        choose(tasks, level="strict")
    with pytest.raises(DefinitionError, match="no level 'strict'"):
        choose(tasks, against="strict")


def test_choosing_a_level_sets_its_toggles_and_each_can_be_flipped() -> None:
    """B4: what a level does not offer cannot be flipped; what needs another is off with it."""
    assert [each.name for each in list_switches(POLICY.grant("strict"))] == []
    assert [(each.name, each.is_on) for each in list_switches(POLICY.grant("minimal"))] == [("names", False)]
    without = flip(POLICY, "open", ["mails"])
    assert without.toggles == frozenset()
    assert [(each.name, each.is_held) for each in list_switches(without)] == [("names", False), ("mails", True)]
    assert choose(SHAPE, level="open", toggles={"mails": False}).grant == flip(POLICY, "open", ["names"])
    with pytest.raises(DefinitionError, match="not offered at minimal"):
        choose(SHAPE, level="minimal", toggles={"mails": True})
    with pytest.raises(DefinitionError, match="no level 'wide'"):
        flip(POLICY, "wide", [])


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"tool": "nothing"}, "Known tools: get_row, list_bare, list_rows"),
        ({"level": "wide"}, "there is no level 'wide'"),
        ({"format": "yaml"}, "Choose one of: toon, markdown, json"),
        ({"against": "wide"}, "there is no level 'wide'"),
    ],
)
def test_what_is_not_there_cannot_be_chosen(wrong: Mapping[str, Any], says: str) -> None:
    """An unknown name is an error that lists the known ones, never the widest."""
    with pytest.raises(DefinitionError, match=says):
        choose(SHAPE, **wrong)


def test_a_tool_without_an_example_says_so() -> None:
    """It cannot be shown, and a shape that has nothing else neither."""
    with pytest.raises(DefinitionError, match="Pass example= to shape.tool"):
        preview_tool(SHAPE, choose(SHAPE, tool="get_row"))
    with pytest.raises(DefinitionError, match="none of them has an example"):
        choose(Shape(encoder=Json()))


def test_callers_are_narrowed_as_in_a_call_and_named() -> None:
    """B7: principal, scope and client narrow what was chosen; the page says who did."""
    strict = POLICY.grant("strict")
    shape = make_shape(clients={"noisy": strict}, scopes={"read": POLICY.grant("minimal")}, grant=POLICY.grant("open"))
    for caller, level, narrowed in [
        (make_caller(scope="read", client="other"), "minimal", ["scope read"]),
        (make_caller(client="other"), "strict", ["principal unknown"]),
        (make_caller(principal="app", client="other"), "strict", ["scope unknown"]),
        (make_caller(scope="read", client="noisy"), "strict", ["scope read", "client noisy"]),
    ]:
        seen = preview_tool(shape, choose(shape, tool="list_rows", level="open", caller=caller))
        assert (seen.level, list(seen.narrowed)) == (level, narrowed)
        with calling(caller):
            assert still(shape).answer("list_rows", ROWS).text == seen.text


def test_the_caller_who_is_told_most_is_looked_at_first() -> None:
    """Whoever decides sees what leaves at most, unless another caller is chosen."""
    minimal, strict = POLICY.grant("minimal"), POLICY.grant("strict")
    for entries, level in [
        ({"clients": {"noisy": strict}}, "open"),
        ({"principals": {"app": minimal}}, "open"),
        ({"scopes": {"read": minimal, "all": POLICY.grant("open")}}, "open"),
        ({"scopes": {"read": minimal}, "clients": {"noisy": strict}}, "minimal"),
        ({}, "open"),
    ]:
        shape = make_shape(grant=POLICY.grant("open"), **entries)
        seen = preview_tool(shape, choose(shape, tool="list_rows"))
        assert seen.level == level


def test_keys_in_another_form_say_which() -> None:
    """A handle, a cut and a rounded value are not told as they are."""
    seen = preview_tool(SHAPE, choose(SHAPE, tool="list_rows", level="strict"))
    assert seen.changed == {"rows.day": "rounded down to month", "rows.id": "as a handle of the kind row"}
    assert not set(seen.changed) & {*seen.told, *seen.masked, *seen.withheld}
    wide = preview_tool(SHAPE, choose(SHAPE, tool="list_rows", level="open"))
    assert wide.changed == {"rows.id": "as a handle of the kind row", "rows.place": "cut to 5 characters"}


def test_a_comparison_names_what_differs() -> None:
    """The keys, in words, and both texts line by line."""
    seen = preview_tool(SHAPE, choose(SHAPE, tool="list_rows", level="open", against="strict"))
    assert seen.contrast
    assert {change.path: (change.here, change.there) for change in seen.contrast.changes} == {
        "rows.title": ("told", "masked as [Row]"),
        "rows.name": ("told", "withheld"),
        "rows.mail": ("told", "withheld"),
        "rows.place": ("cut to 5 characters", "withheld"),
        "rows.day": ("told", "rounded down to month"),
        "rows.number": ("told", "masked as 0"),
    }
    assert all(change.is_wider for change in seen.contrast.changes)
    there = preview_tool(SHAPE, choose(SHAPE, tool="list_rows", level="strict"))
    assert [line.here for line in seen.contrast.lines if line.here is not None] == seen.text.splitlines()
    assert [line.there for line in seen.contrast.lines if line.there is not None] == there.text.splitlines()
    assert there.contrast
    assert there.contrast.is_same
    handle = list_changes(SHAPE.tools["list_rows"].plan, POLICY.grant("open"), POLICY.grant("open"))
    assert handle == []


@given(st.lists(st.sampled_from("abc"), max_size=8), st.lists(st.sampled_from("abc"), max_size=8))
def test_a_comparison_holds_both_texts_whole(one: list[str], other: list[str]) -> None:
    """Nothing of either is lost, and equal lines stand beside each other where it says so."""
    lines = compare_lines("\n".join(one), "\n".join(other))
    assert [line.here for line in lines if line.here is not None] == "\n".join(one).splitlines()
    assert [line.there for line in lines if line.there is not None] == "\n".join(other).splitlines()
    assert all(line.is_same for line in lines) == (one == other) or not (one and other)


def test_very_long_texts_are_compared_line_by_line_at_once() -> None:
    """Finding the least difference of many lines would take minutes."""
    lines = compare_lines("a\n" * 5_000, "b\n" * 5_001)
    assert len(lines) == 5_001
    assert lines[-1].here is None


def test_hosts_that_read_the_same_stand_together() -> None:
    """Each host once, with what its model reads; where that is more than it takes, it is named."""
    seen = preview_tool(SHAPE, choose(SHAPE, tool="list_rows", format="json"))
    names = [name for shown in seen.hosts for name in shown.hosts]
    assert len(names) == len(set(names)) == 13
    by_host = {name: shown for shown in seen.hosts for name in shown.hosts}
    assert by_host["Cursor"].text == seen.text
    assert json.loads(by_host["Claude Code"].text) == seen.structured
    assert by_host["Copilot CLI"].text.startswith(seen.text)
    assert json.loads(by_host["Cline"].text)["structuredContent"] == seen.structured
    long = Shape(encoder=Toon())

    class Text(BaseModel):
        text: str

    @long.tool(example=lambda: Text(text="word " * 2_000))
    def get_text() -> Text:
        """Get it."""
        return Text(text="")

    shown = preview_tool(long, choose(long)).hosts
    assert [name for each in shown for name in each.too_long_for] == ["Cline"]


SETTINGS = """# What may be told.
level = "strict"  # nobody has decided yet

me = ["ada@example.com"]

[toggles]
names = false

[tools.list_rows]
# Short answers.
budget = { chars = 8000 }

[clients.noisy]
level = "strict"
"""


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def make_file(tmp_path: Path, text: str | None = SETTINGS) -> SettingsFile:
    path = tmp_path / "settings.toml"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    return SettingsFile(path, "PREVIEWED_")


def test_saving_says_first_what_would_newly_leave(tmp_path: Path) -> None:
    """Each tool and key that would be told more of, with the value in the example; and what would no longer be."""
    file = make_file(tmp_path)
    found = file.review(SHAPE, choose(SHAPE, level="open", toggles={"mails": False}))
    assert found.widens
    told = {
        (each.tool, each.change.path): (each.change.there, each.change.here, each.example) for each in found.widened
    }
    assert told == {
        ("list_rows", "rows.title"): ("masked as [Row]", "told", "One"),
        ("list_rows", "rows.name"): ("withheld", "told", "Ada"),
        ("list_rows", "rows.place"): ("withheld", "cut to 5 characters", "Here"),
        ("list_rows", "rows.day"): ("rounded down to month", "told", "2026-03-04"),
        ("list_rows", "rows.number"): ("masked as 0", "told", 1),
        ("list_bare", "title"): ("masked as [Row]", "told", "One"),
        ("list_bare", "name"): ("withheld", "told", "Ada"),
        ("list_bare", "number"): ("masked as 0", "told", 1),
        ("get_row", "title"): ("masked as [Row]", "told", None),
        ("get_row", "name"): ("withheld", "told", None),
        ("get_row", "place"): ("withheld", "cut to 5 characters", None),
        ("get_row", "day"): ("rounded down to month", "told", None),
        ("get_row", "number"): ("masked as 0", "told", None),
    }
    back = make_file(tmp_path, 'level = "open"').review(SHAPE, choose(SHAPE, level="strict"))
    assert not back.widens
    assert ("list_rows", "rows.name") in {(tool, change.path) for tool, change in back.narrowed}
    assert file.review(SHAPE, choose(SHAPE, format="json")).newly_structured == ["list_rows", "get_row"]


def test_saving_keeps_everything_else_in_the_file(tmp_path: Path) -> None:
    """Comments, other settings and the server's own keys stay; the toggles are those of the choice."""
    file = make_file(tmp_path)
    choice = choose(SHAPE, tool="list_rows", level="open", toggles={"mails": False}, format="json")
    file.save(SHAPE, choice, file.review(SHAPE, choice).seen)
    text = file.path.read_text(encoding="utf-8")
    assert tomllib.loads(text) == {
        "level": "open",
        "format": "json",
        "me": ["ada@example.com"],
        "toggles": {"names": True, "mails": False},
        "tools": {"list_rows": {"budget": {"chars": 8000}}},
        "clients": {"noisy": {"level": "strict"}},
    }
    assert [line for line in text.splitlines() if "#" in line] == [
        "# What may be told.",
        'level = "open"  # nobody has decided yet',
        "# Short answers.",
    ]
    assert file.own_keys() == ["me"]
    usual = choose(SHAPE, tool="list_bare", level="open", format="toon")
    file.save(SHAPE, usual, file.review(SHAPE, usual).seen)
    written = tomllib.loads(file.path.read_text(encoding="utf-8"))
    assert written["toggles"] == {"names": True, "mails": True}
    assert written["tools"]["list_bare"] == {"format": "toon"}
    assert (
        file.review(SHAPE, usual).seen != file.review(SHAPE, choose(SHAPE)).seen or not file.review(SHAPE, usual).widens
    )


@settings(max_examples=20)
@given(grants, grants, st.sampled_from([None, "toon", "json"]))
def test_what_was_saved_is_in_force(
    tmp_path_factory: pytest.TempPathFactory, first: Any, second: Any, name: str | None
) -> None:
    """For any two choices, one after the other: the second holds, and what it widens was announced."""
    file = make_file(tmp_path_factory.mktemp("settings"), None)
    for grant in (first, second):
        flips = {name: name in grant.toggles for name in POLICY.widest(grant.level).toggles}
        choice = choose(SHAPE, level=grant.level, toggles=flips, format=name)
        before, review = file.apply(SHAPE), file.review(SHAPE, choice)
        file.save(SHAPE, choice, review.seen)
        now = file.apply(SHAPE)
        assert now.grant == grant
        told = [list_changes(now.tools[tool].plan, now.grant, before.grant) for tool in ("list_rows", "get_row")]
        wider = [change for changes in told for change in changes if change.is_wider]
        assert sorted(each.path for each in wider) == sorted(
            each.change.path for each in review.widened if each.tool != "list_bare"
        )


def test_a_server_without_levels_saves_its_format(tmp_path: Path) -> None:
    """B8: and a format that is set already keeps its options."""
    file = make_file(tmp_path, 'format = { name = "toon", delimiter = "tab" }\n')
    for name, written in [("toon", {"name": "toon", "delimiter": "tab"}), ("json", {"name": "json"})]:
        choice = choose(tasks, format=name)
        file.save(tasks, choice, file.review(tasks, choice).seen)
        assert tomllib.loads(file.path.read_text(encoding="utf-8")) == {"format": written}


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    """Whoever saves sees first what is there now."""
    file = make_file(tmp_path)
    choice = choose(SHAPE, level="open")
    seen = file.review(SHAPE, choice).seen
    file.path.write_text('level = "minimal"\n', encoding="utf-8")
    with pytest.raises(DefinitionError, match="has changed since you looked"):
        file.save(SHAPE, choice, seen)
    assert file.path.read_text(encoding="utf-8") == 'level = "minimal"\n'


@pytest.mark.parametrize(("name", "value"), [("LEVEL", "strict"), ("FORMAT", "markdown")])
def test_the_environment_goes_before_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    """What would not hold is not written."""
    monkeypatch.setenv(f"PREVIEWED_{name}", value)
    file = make_file(tmp_path)
    choice = choose(SHAPE, level="open", format="json")
    with pytest.raises(DefinitionError, match="environment goes before it.*PREVIEWED_"):
        file.save(SHAPE, choice, file.review(SHAPE, choice).seen)
    assert file.path.read_text(encoding="utf-8") == SETTINGS
    assert names_in(tmp_path) == ["settings.toml"]


@pytest.mark.parametrize("text", ["level = ", b"\xff", "", 'level = "wide"', "toggles = 3"])
def test_a_broken_file_is_named_and_kept(tmp_path: Path, text: str | bytes) -> None:
    """It is neither read nor written over."""
    file = SettingsFile(tmp_path / "settings.toml")
    file.path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(DefinitionError, match="settings.toml"):
        file.apply(SHAPE)
    with pytest.raises(DefinitionError, match="settings.toml"):
        file.save(SHAPE, choose(SHAPE, level="open"), file._seen())
    assert file.path.read_bytes() == (text.encode() if isinstance(text, str) else text)
    assert names_in(tmp_path) == ["settings.toml"]


def test_a_file_is_replaced_whole_with_its_permissions(tmp_path: Path) -> None:
    """A link stays one; what is new is for its owner; what fails leaves the old one and nothing else."""
    real, link = tmp_path / "real", tmp_path / "link"
    with replacing(real, b"old"):
        pass
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    real.chmod(0o640)
    link.symlink_to(real)
    with replacing(link, b"new") as candidate:
        assert (real.read_bytes(), candidate.read_bytes()) == (b"old", b"new")
    assert link.is_symlink()
    assert (real.read_bytes(), stat.S_IMODE(real.stat().st_mode)) == (b"new", 0o640)
    with pytest.raises(DefinitionError, match="cannot be written"), replacing(tmp_path / "none" / "file", b""):
        pass
    with pytest.raises(KeyError), replacing(real, b"never"):
        raise KeyError
    assert real.read_bytes() == b"new"
    assert names_in(tmp_path) == ["link", "real"]


def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    """What cannot be written whole replaces nothing, and is named in one line."""
    path = tmp_path / "settings.toml"
    path.write_text("old", encoding="utf-8")
    program = (
        "import resource, signal, sys; from pathlib import Path; from mcpshape._whole_file import replacing\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "with replacing(Path(sys.argv[1]), b'x' * 2000): pass\n"
    )
    ended = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=False)
    assert "cannot be written (File too large). Make room" in ended.stderr
    assert path.read_text(encoding="utf-8") == "old"
    assert names_in(tmp_path) == ["settings.toml"]


def test_a_preview_is_plain_data() -> None:
    """For programs: it can be written as JSON."""
    for against in (IN_FORCE, "open"):
        seen = preview_tool(SHAPE, choose(SHAPE, tool="list_rows", against=against)).to_dict()
        assert json.loads(json.dumps(seen))["tool"] == "list_rows"
