"""The format of an answer: chosen by server, by tool, by call, and by the name of an installed encoder."""

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jinja2 import DictLoader
from pydantic import BaseModel

from clients import KINDS, ask, list_tools, make_server
from mcpshape import DefinitionError, EncodingError, Shape, View
from mcpshape.encoders import Json, Markdown, Toon, find_encoder
from mcpshape.settings import follow
from mcpshape.testing import assert_no_leak, decode

pytestmark = pytest.mark.anyio
PACKAGE = Path(__file__).parent / "csv_package"


class Row(BaseModel):
    id: int
    title: str | None = None


class Table(BaseModel):
    day: str = "Monday"
    rows: list[Row]


TABLE = Table(rows=[Row(id=1, title='a, "b"'), Row(id=2)])


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The encoder of somebody else, installed as any distribution is."""
    place = tmp_path_factory.mktemp("installed")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target", str(place)]
    built = place.parent / "source"
    built.mkdir(exist_ok=True)
    for each in PACKAGE.glob("*.*"):
        (built / each.name).write_bytes(each.read_bytes())
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(built)], check=True)
    return place


@pytest.fixture
def with_csv(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(installed)
    importlib.invalidate_caches()


def make_table() -> Table:
    return TABLE


def make_shape(**options: Any) -> Shape:
    shape = Shape(**{"encoder": Toon(), **options})

    @shape.tool()
    def by_server() -> Table:
        """One {entry} per event, in the {listing}."""
        return TABLE

    @shape.tool(encoder=Markdown())
    def by_tool() -> Table:
        """One {entry} per event, in the {listing}."""
        return TABLE

    @shape.tool(ask={"format"})
    def by_call() -> Table:
        """One {entry} per event, in the {listing}."""
        return TABLE

    return shape


@pytest.mark.parametrize("kind", KINDS)
async def test_the_format_is_chosen_by_server_tool_and_call(kind: str) -> None:
    """A15: each of the three, through a real client, with descriptions that fit (A11)."""
    shape, server = make_shape(), make_server(kind)
    for tool in shape.tools.values():
        server.add_tool(tool.served)
    assert (await ask(server, "by_server")).text.startswith("day: Monday\nrows[2]{id,title}:")
    assert (await ask(server, "by_tool")).text.startswith("- day: Monday\n\n## rows\n\n| id | title |")
    answers = {each: (await ask(server, "by_call", format=each)).text for each in ("toon", "markdown", "json")}
    assert answers == {each: find_encoder(each).encode(shape.view(TABLE)) for each in answers}
    assert (await ask(server, "by_call")).text == answers["toon"]
    listed = await list_tools(server)
    assert listed["by_server"]["description"] == "One entry per event, in the list."
    assert listed["by_tool"]["description"] == "One row per event, in the table."
    assert listed["by_call"]["description"] == "One entry per event, in the list."
    offered = listed["by_call"]["inputSchema"]["properties"]["format"]
    assert offered["anyOf"][0]["enum"] == ["json", "markdown", "toon"]
    assert offered["description"] == "Write the answer as this in place of toon."


def test_neutral_words_stay_where_the_usual_format_has_others() -> None:
    """A11: a description that says row and table would be wrong for most of the formats that a caller may choose."""
    shape = make_shape(encoder=Markdown())
    assert shape.tools["by_server"].description == "One row per event, in the table."
    assert shape.tools["by_call"].description == "One entry per event, in the list."


def test_structured_follows_the_usual_format_and_no_call_changes_it() -> None:
    """Hosts 5: where a schema is published, every success has its structured part, in whatever format the text is."""
    shape = make_shape(encoder=Json())
    assert shape.tools["by_call"].output_schema
    assert shape.tools["by_tool"].output_schema is None
    result = shape.tools["by_call"].served(format="toon")
    assert result.content[0].text.startswith("day: Monday")
    assert result.structured_content == decode(result.content[0].text)
    text_only = make_shape().tools["by_call"].served(format="json")
    assert text_only.structured_content is None
    assert text_only.content[0].text.startswith("{")


def test_a_shape_in_another_format_keeps_what_its_tools_chose() -> None:
    """`using` changes the server's choice; a tool's own choice stays."""
    changed = make_shape().using(encoder="json", formats=["json", Toon(codec="python-toon")])
    assert {name: tool.encoder.name for name, tool in changed.tools.items()} == {
        "by_server": "JSON",
        "by_tool": "Markdown",
        "by_call": "JSON",
    }
    assert changed.tools["by_call"].served(format="toon").content[0].text.startswith("day: Monday")
    assert "Input should be 'json' or 'toon'" in changed.tools["by_call"].served(format="markdown").content[0].text


@pytest.mark.usefixtures("with_csv")
def test_an_installed_encoder_is_chosen_by_its_name() -> None:
    """Rule 11: no registry; the entry points of installed packages are looked up when a name is asked for."""
    text = 'day,Monday\n\nrows,id,title\n,1,"a, ""b"""\n,2,null\n'
    assert Shape(encoder="sample-csv").render(TABLE).text == text
    shape = make_shape(formats=["toon", "sample-csv"])
    assert shape.tools["by_call"].served(format="csv").content[0].text == text
    described = make_shape(encoder="sample-csv").tools["by_server"].description
    assert described == "One line per event, in the block."
    assert_no_leak(make_shape(encoder="sample-csv"))


@pytest.mark.usefixtures("with_csv")
def test_an_encoder_that_cannot_be_made_is_refused() -> None:
    """Rule 7: the package is named, and what is wrong with it."""
    with pytest.raises(DefinitionError, match="sample-broken: mcpshape_csv:Missing cannot be made: AttributeError"):
        Shape(encoder="sample-broken")


def test_an_unknown_encoder_is_refused() -> None:
    """Rule 7: on the server, on a tool and among the formats of a call; the choices are named."""
    message = r"'no-such-format' is not installed. Choose one of: .*json, .*toon"
    for use in (
        lambda: Shape(encoder="no-such-format"),
        lambda: make_shape(formats=["no-such-format"]),
        lambda: Shape(encoder=Toon()).tool(encoder="no-such-format"),
        lambda: make_shape().using(encoder="no-such-format"),
    ):
        with pytest.raises(DefinitionError, match=message):
            use()
    options: dict[str, Any] = {"encoder": Toon}
    with pytest.raises(DefinitionError, match="it is no encoder"):
        Shape(encoder=Toon()).tool(**options)(make_table)


def test_what_an_encoder_adds_of_its_own_is_cleaned() -> None:
    """D10, rule 10: an escape or a lone surrogate of its own neither leaves nor breaks the transport."""

    class Dirty:
        name, structured, vocabulary = "Dirty", False, Json().vocabulary

        def encode(self, view: View) -> str:
            return f"a\ud800b\x1b[31m {view.data['day']}"

    assert Shape(encoder=Dirty()).render(TABLE).text == "a\ufffdb Monday"


@pytest.mark.parametrize("text", [None, b"bytes", "", " \n"])
def test_an_encoder_that_returns_no_text_is_an_encoding_error(text: Any) -> None:
    """A9: whatever it returns in place of text."""

    class Silent:
        name, structured, vocabulary = "Silent", False, Json().vocabulary

        def encode(self, view: View) -> Any:
            return text

    assert "written as Silent: the encoder returned no text." in Shape(encoder=Silent()).render(TABLE).text


def test_an_encoder_that_fails_on_clean_data_is_asked_once() -> None:
    """The careful projection is for data that needs it, not for whatever fails."""
    asked = []

    class Failing:
        name, structured, vocabulary = "Failing", False, Json().vocabulary

        def encode(self, view: View) -> str:
            asked.append(view)
            raise EncodingError(self.name, "it is out of order")

    assert Shape(encoder=Failing()).render(TABLE).is_error
    assert len(asked) == 1
    assert Shape(encoder=Failing()).render(Table(day="a\x1b[0m", rows=[])).is_error
    assert len(asked) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"pge": "rows"},
            "pge: there is no option of this name. There are: ask, budget, empty, encoder, example, limit",
        ),
        ({"ask": "colour"}, "ask: 'colour' cannot be asked for. Choose from: fields, format, limit, privacy."),
        ({"example": TABLE}, "example: it is no function. Pass one that makes the DTO"),
    ],
)
def test_options_that_are_none_are_refused(options: dict[str, Any], message: str) -> None:
    """Rule 7: with those that there are."""
    with pytest.raises(DefinitionError) as caught:
        Shape(encoder=Toon()).tool(**options)(make_table)
    assert message in str(caught.value)


def test_one_name_is_as_good_as_a_list_of_one() -> None:
    """`ask="format"` and `formats="json"` are not read letter by letter."""
    shape = Shape(encoder=Toon(), formats="json")
    shape.tool(ask="format")(make_table)
    assert "'json' or 'toon'" in shape.tools["make_table"].served(format="xml").content[0].text


def test_a_format_that_is_named_is_the_one_that_the_shape_has(tmp_path: Path) -> None:
    """A15: a template is not lost where settings, a tool, a copy or an answer name the format that it belongs to."""

    class Note(BaseModel):
        text: str

    templated = Markdown(templates={Note: "note"}, loader=DictLoader({"note": "Note: {{ text }}"}))
    note = Note(text="abc")

    def make(**options: Any) -> Shape:
        shape = Shape(**options)

        @shape.tool(ask={"format"})
        def get_note() -> Note:
            return note

        @shape.tool(encoder="markdown")
        def get_named() -> Note:
            return note

        return shape

    shape = make(encoder=Toon(), formats=(Toon(), templated, "json"))
    assert shape.answer("get_note", note, encoder="markdown").text == "Note: abc"
    assert shape.answer("get_named", note).text == "Note: abc"
    assert shape.using(encoder="markdown").answer("get_note", note).text == "Note: abc"
    assert shape.using(tools={"get_note": {"encoder": "markdown"}}).answer("get_note", note).text == "Note: abc"
    assert make(encoder="markdown", formats=(templated,)).answer("get_note", note).text == "Note: abc"
    path = tmp_path / "settings.toml"
    for written in ('format = "markdown"', '[tools.get_note]\nformat = { name = "markdown" }'):
        path.write_text(written, encoding="utf-8")
        (block,) = follow(shape, path).tools["get_note"].served().content
        assert block.text == "Note: abc"
    path.write_text('format = { name = "markdown", raw_prose = true }', encoding="utf-8")
    (block,) = follow(shape, path).tools["get_note"].served().content
    assert block.text == "- text: abc"
