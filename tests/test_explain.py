"""What an answer costs and why: the figures, the reasons, and the command that prints them."""

import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import DictLoader
from pydantic import BaseModel

from mcpshape import Always, DefinitionError, Handle, Policy, Prose, Shape, Since, View
from mcpshape.__main__ import main as command
from mcpshape._budget import find_counter
from mcpshape._hosts import HOSTS
from mcpshape._layout import Layout
from mcpshape._tables import Array, as_table, find_arrays, obstacle
from mcpshape.cli import main
from mcpshape.encoders import Json, Markdown, Toon
from mcpshape.explain import Explanation, explain_tool

POLICY = Policy(levels=("strict", "open"))


class Event(BaseModel):
    id: Annotated[str, Handle("event")]
    title: Annotated[str, Since("open")]
    note: Annotated[str | None, Since("open"), Prose()] = None


class Day(BaseModel):
    date: Annotated[str, Always()]
    events: list[Event]


class Days(BaseModel):
    days: list[Day]


class Version(BaseModel):
    number: str
    state: str


class App(BaseModel):
    name: str
    bundle: str
    versions: list[Version]


class Apps(BaseModel):
    apps: list[App]


def make_days() -> Days:
    events = [Event(id=f"event-{place}", title=f"Title {place}") for place in range(6)]
    return Days(days=[Day(date="2026-03-02", events=events[:4]), Day(date="2026-03-03", events=events[4:])])


def make_apps() -> Apps:
    versions = [Version(number=f"1.{place}", state="READY_FOR_SALE") for place in range(5)]
    return Apps(
        apps=[App(name="One", bundle="b1", versions=versions), App(name="Two", bundle="b2", versions=versions[:1])]
    )


shape = Shape(POLICY, encoder=Toon(), grant=POLICY.grant("open"))
plain = Shape(encoder=Json())


@shape.tool(example=make_days)
def list_days() -> Days:
    return make_days()


@shape.tool()
def list_events() -> list[Event]:
    return []


@shape.tool(example=lambda: 1 / 0)
def list_nothing() -> list[Event]:
    return []


@plain.tool(example=make_apps)
def list_apps() -> Apps:
    return make_apps()


def explained() -> Explanation:
    return explain_tool(shape, "list_days")


def test_costs_are_those_of_the_texts_that_leave() -> None:
    """A5: each format at each level, counted on the real answers."""
    handles = re.compile(r"\b[a-p][a-z2-7]{10}\b")
    for each in explained().levels:
        for name, cost in each.formats.items():
            answered = shape.answer("list_days", make_days(), grant=POLICY.grant(each.level), encoder=name)
            assert cost.characters == len(answered.text)
            assert abs(cost.tokens - find_counter().count(answered.text)) <= 4 * len(handles.findall(answered.text))
    assert explained() == explained()
    assert [each.level for each in explained().levels] == ["strict", "open"]
    assert explain_tool(plain, "list_apps").levels[0].level is None


@pytest.mark.parametrize("which", ["days", "apps"])
def test_grouped_data_is_valid_in_all_formats_and_the_breaking_array_is_named(which: str) -> None:
    """A5: events by day, apps with their versions: never a table in one piece, and the author is told why."""
    shaped, tool, inner = (shape, "list_days", "events") if which == "days" else (plain, "list_apps", "versions")
    outer, nested = explain_tool(shaped, tool).arrays
    assert (outer.path, outer.arrays, outer.entries) == (which, 1, 2)
    assert outer.no_table == {"toon": f"{inner} holds an array", "markdown": f"{inner} holds an array"}
    assert (nested.path, nested.arrays, nested.entries) == (f"{which}.{inner}", 2, 6)
    assert nested.no_table == ({"markdown": "note is prose"} if which == "days" else {})
    assert nested.as_table is None
    assert outer.as_table
    assert outer.as_table.characters > 0
    value = make_days() if which == "days" else make_apps()
    texts = [shaped.answer(tool, value, encoder=name, structured=True) for name in ("toon", "markdown", "json")]
    data = texts[0].structured
    assert Toon().encode(View(data or {})) == texts[0].text
    assert json.loads(texts[2].text) == data


def test_one_table_is_what_the_author_could_have_had() -> None:
    """A5: joined rows, missing keys as null; none where values are arrays."""
    rows = [{"d": 1, "e": [{"x": 1}, {"y": 2}]}, {"d": 2, "e": []}, {"d": 3, "e": [{"x": 5}], "o": {"p": 1}}]
    assert as_table(Array("days", rows)) == [
        {"d": 1, "e.x": 1, "e.y": None, "e": None, "o.p": None},
        {"d": 1, "e.x": None, "e.y": 2, "e": None, "o.p": None},
        {"d": 2, "e.x": None, "e.y": None, "e": None, "o.p": None},
        {"d": 3, "e.x": 5, "e.y": None, "e": None, "o.p": 1},
    ]
    assert as_table(Array("tags", [{"tags": ["a", "b"]}])) is None
    assert as_table(Array("mixed", [1, {"a": 2}])) == [{"": 1, "a": None}, {"": None, "a": 2}]
    assert as_table(Array("none", [{"e": [{"f": []}], "g": [{"h": 1}]}])) is None


scalars = st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["", "a", "b c"])
objects = st.dictionaries(st.sampled_from("abc"), scalars, max_size=3)
entries = st.one_of(
    objects,
    st.dictionaries(st.sampled_from("abc"), scalars | objects | st.lists(scalars | objects, max_size=2), max_size=3),
    st.lists(scalars, max_size=2),
    scalars,
)
rows = st.lists(entries, min_size=1, max_size=4) | objects.flatmap(
    lambda first: st.lists(st.fixed_dictionaries(dict.fromkeys(first, scalars | objects)), min_size=1, max_size=4)
)


@given(rows, st.booleans())
def test_the_reason_agrees_with_what_the_encoders_write(array: list[Any], is_prose: bool) -> None:
    """A5: there is a reason exactly where the text is no table."""
    layout = Layout(fields={"rows": Layout(fields={"*": Layout(fields={"a": Layout(is_prose=is_prose)})})})
    for found in find_arrays({"rows": array}, layout):
        if found.path != "rows":
            continue
        toon = Toon().encode(View({"rows": array})).split("\n")[0]
        assert (obstacle(found, allows_groups=True) is None) == bool(re.match(r"rows\[\d+\]\{", toon))
        markdown = Markdown().encode(View({"rows": array}, layout))
        assert (obstacle(found, allows_groups=False) is None) == ("## rows\n\n|" in markdown)


def test_reasons_name_the_entry_and_the_key() -> None:
    """A5: path and reason."""
    reasons: dict[str, list[Any]] = {
        "entry 2 is no object": [{"a": 1}, 2],
        "entry 2 has no b": [{"a": 1, "b": 1}, {"a": 1}],
        "entry 1 has no b": [{"a": 1}, {"a": 1, "b": 1}],
        "entry 1 has no keys": [{}],
        "a.b holds an array": [{"a": {"b": []}}],
        "a is an object in some entries only": [{"a": {"b": 1}}, {"a": None}],
        "a. has no keys": [{"a": {}}],
    }
    assert {obstacle(Array("rows", each), allows_groups=True): each for each in reasons.values()} == reasons
    grouped = Array("rows", [{"a": {"b": 1}, "c": 2}, {"a": {"b": 2}, "c": 3}])
    assert obstacle(grouped, allows_groups=True) is None
    assert obstacle(grouped, allows_groups=False) == "a holds an object"


def test_hosts_are_told_by_what_they_show() -> None:
    """Hosts 1: text that is worth sending reaches some hosts only while it is sent alone."""
    costs = {each.host: each for each in explain_tool(plain, "list_apps").hosts}
    assert len(costs) == len(HOSTS)
    text, structured = costs["Cursor"], costs["VS Code Copilot"]
    assert (text.reads, structured.reads, costs["Copilot CLI"].reads) == ("text", "structured", "both")
    assert text.text_only == text.with_structured
    assert structured.with_structured.characters == len(json.dumps(make_apps().model_dump(), separators=(",", ":")))
    assert costs["Copilot CLI"].with_structured.characters > 2 * structured.with_structured.characters
    assert costs["Cline"].text_only.characters > text.text_only.characters
    assert not costs["Cline"].is_too_long
    many = Apps(apps=make_apps().apps * 40)
    cline = next(each for each in explain_tool(plain, "list_apps", many).hosts if each.host == "Cline")
    assert (cline.is_too_long, cline.limit) == (True, "8,000 characters")


@pytest.mark.parametrize(
    ("tool", "options", "message"),
    [
        ("nothing", {}, "there is no such tool. Known tools: list_days, list_events, list_nothing."),
        ("list_events", {}, "it has none. Pass example="),
        ("list_nothing", {}, "the function that makes it failed with ZeroDivisionError in line"),
        ("list_days", {"value": 5}, "it cannot be answered with: tool list_days returned int in place of Days."),
        ("list_days", {"level": "wide"}, "wide"),
    ],
)
def test_what_cannot_be_explained_is_said(tool: str, options: dict[str, Any], message: str) -> None:
    """Errors for authors say what to do."""
    with pytest.raises(DefinitionError) as caught:
        explain_tool(shape, tool, **options)
    assert message in str(caught.value)
    with pytest.raises(DefinitionError, match="this shape has no levels"):
        explain_tool(plain, "list_apps", level="open")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    main(["explain", *arguments])
    return capsys.readouterr().out


def test_the_command_prints_costs_arrays_and_hosts(capsys: pytest.CaptureFixture[str]) -> None:
    """Show 4: three tables, as wide as a page."""
    printed = run(capsys, "test_explain:shape", "list_days")
    assert printed.startswith("list_days: TOON, at the level open, text alone.\nCharacters / tokens (o200k_base)")
    assert "Text only (as set)" in printed
    assert re.search(r"days +2 .*TOON|days +2 .*events holds an array", printed)
    assert "Markdown: note is prose" in printed
    assert "6 in 2" in printed
    assert max(map(len, printed.splitlines())) <= 120
    printed = run(capsys, "test_explain:plain", "list_apps")
    assert "text and structuredContent" in printed
    assert "With structured (as set)" in printed
    assert "all fields" in printed


def test_the_command_takes_a_value_and_a_level_and_prints_json(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """For programs, and for tools without an example."""
    path = tmp_path / "value.json"
    path.write_text('[{"id": "1", "title": "t"}]')
    printed = run(capsys, "test_explain:shape", "list_events", "--value", str(path), "--level", "strict", "--json")
    told = json.loads(printed)
    assert (told["tool"], told["level"], told["arrays"][0]["path"]) == ("list_events", "strict", "result")
    path.write_text('{"day": 1}')
    assert "Cline" in run(capsys, "test_explain:plain", "list_apps")
    path.write_text('{"days": []}')
    assert "Entries" not in run(capsys, "test_explain:shape", "list_days", "--value", str(path))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["test_explain", "list_days"], "test_explain names no shape; write module:name"),
        (["no_such_module:shape", "list_days"], "there is no module no_such_module"),
        (["test_explain:nothing", "list_days"], "test_explain has no nothing; name its Shape"),
        (["test_explain:POLICY", "list_days"], "test_explain:POLICY is no Shape but Policy"),
        (["broken_module:shape", "nothing"], "broken_module cannot be imported: Shape: policy: wrong. Mend it."),
        (["crashing_module:shape", "nothing"], "crashing_module cannot be imported: SyntaxError: invalid syntax"),
        (["test_explain:shape", "nothing"], "nothing: there is no such tool."),
        (["test_explain:shape", "nothing", "--value", "missing.json"], "nothing: there is no such tool."),
        (["test_explain:shape", "list_days", "--level", "wide"], "wide"),
        (
            ["test_explain:shape", "list_days", "--value", "missing.json"],
            "missing.json cannot be read: No such file or directory",
        ),
        (["test_explain:shape"], "parameter TOOL requires an argument"),
        (["test_explain:shape", "list_days", "--colour"], "--colour"),
    ],
)
def test_a_wrong_command_line_is_one_line(
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever is wrong: one line that says what to do, exit code 2, no traceback."""
    broken = "from mcpshape import DefinitionError\nfrom mcpshape.errors import Problem\n"
    broken += 'raise DefinitionError("Shape", [Problem("policy", "wrong.", "Mend it.")])\n'
    (tmp_path / "broken_module.py").write_text(broken)
    (tmp_path / "crashing_module.py").write_text("def\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(SystemExit) as caught:
        main(["explain", *arguments])
    told = capsys.readouterr().err
    assert caught.value.code == 2
    assert re.fullmatch(rf"mcpshape: .*{re.escape(message)}.*\n", told)


def test_a_value_that_is_none_names_its_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The path in the file, and what was expected."""
    path = tmp_path / "value.json"
    path.write_text('{"days": [{"date": 5}]}')
    with pytest.raises(SystemExit):
        main(["explain", "test_explain:shape", "list_days", "--value", str(path)])
    assert "days.0.date: Input should be a valid string" in capsys.readouterr().err
    path.write_text("{")
    with pytest.raises(SystemExit):
        main(["explain", "test_explain:shape", "list_days", "--value", str(path)])
    assert "the file: Invalid JSON" in capsys.readouterr().err


def test_the_installed_command_explains_the_calendar() -> None:
    """Show 4: as a user runs it."""
    command = [str(Path(sys.executable).parent / "mcpshape"), "explain", "calendar_server:shape", "list_events_between"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert re.search(r"^detailed .*/", done.stdout, re.MULTILINE)
    assert re.search(r"^days +5 .*events holds an array", done.stdout, re.MULTILINE)


def test_the_formats_of_the_shape_are_the_ones_that_are_explained() -> None:
    """A5: its own encoder with its templates, and what it offers; not the built-in ones in their place."""

    class Note(BaseModel):
        text: str

    class Words:
        name, structured, vocabulary = "Words", False, Json().vocabulary

        def encode(self, view: View) -> str:
            return " ".join(view.data)

    templated = Markdown(templates={Note: "note"}, loader=DictLoader({"note": "{{ text }}"}))
    noted = Shape(encoder=Words(), formats=("toon", templated))

    @noted.tool(example=lambda: Note(text="abc"))
    def get_note() -> Note:
        return Note(text="abc")

    (only,) = explain_tool(noted, "get_note").levels
    assert {name: cost.characters for name, cost in only.formats.items()} == {"words": 4, "toon": 9, "markdown": 3}


def test_without_its_extra_the_command_says_what_it_needs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line in place of a traceback, also for the proof kit."""
    code = "import sys; sys.modules.update(cyclopts=None, hypothesis=None)\n"
    for run, extra in (("from mcpshape.__main__ import main; main()", "cli"), ("import mcpshape.testing", "testing")):
        done = subprocess.run([sys.executable, "-c", code + run], capture_output=True, text=True, check=False)
        assert done.returncode != 0
        assert done.stderr.strip().endswith(f"is not installed; install mcpshape-output[{extra}]")
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "mcpshape.cli", None)
        with pytest.raises(SystemExit) as caught:
            command()
    assert caught.value.code == 2
    assert "mcpshape.cli is not installed" in capsys.readouterr().err
    command(["--version"])
    assert capsys.readouterr().out.strip() == version("mcpshape-output")
    done = subprocess.run([sys.executable, "-m", "mcpshape", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == version("mcpshape-output")
