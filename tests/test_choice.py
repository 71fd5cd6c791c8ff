"""The format of an answer: chosen by server, by tool, by call, and by the name of an installed encoder."""

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from clients import KINDS, ask, list_tools, make_server
from mcpshape import DefinitionError, Shape
from mcpshape.encoders import Json, Markdown, Toon, find_encoder
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
    assert Shape(encoder="csv").render(TABLE).text == text
    shape = make_shape(formats=["toon", "csv"])
    assert shape.tools["by_call"].served(format="csv").content[0].text == text
    described = make_shape(encoder="csv").tools["by_server"].description
    assert described == "One line per event, in the block."
    assert_no_leak(make_shape(encoder="csv"))


@pytest.mark.usefixtures("with_csv")
def test_an_encoder_that_cannot_be_made_is_refused() -> None:
    """Rule 7: the package is named, and what is wrong with it."""
    with pytest.raises(DefinitionError, match="broken: mcpshape_csv:Missing cannot be made: AttributeError"):
        Shape(encoder="broken")


def test_an_unknown_encoder_is_refused() -> None:
    """Rule 7: on the server, on a tool and among the formats of a call; the choices are named."""
    message = "'xml' is not installed. Choose one of: json, markdown, toon."
    for use in (
        lambda: Shape(encoder="xml"),
        lambda: make_shape(formats=["xml"]),
        lambda: Shape(encoder=Toon()).tool(encoder="xml"),
        lambda: make_shape().using(encoder="xml"),
    ):
        with pytest.raises(DefinitionError, match=message):
            use()
    options: dict[str, Any] = {"encoder": Toon}
    with pytest.raises(DefinitionError, match="it is no encoder"):
        Shape(encoder=Toon()).tool(**options)(make_table)
