"""One definition on three classes, and what attaching a shape leaves alone."""

from pathlib import Path
from typing import Annotated, Any

import anyio
import fastmcp
import pytest
from fastmcp.dependencies import Depends
from fastmcp.exceptions import ToolError
from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resolve import Resolve
from pydantic import BaseModel

import mcpshape.fastmcp
import mcpshape.lowlevel
import mcpshape.mcpserver
from contract.asking import HERE, NEWEST, Place, asking
from contract.conversation import DAY, normal, sum_up
from contract.differences import NEW, OLD, table
from contract.extras import Wanted
from contract.places import PLACES
from contract.serving import KINDS
from contract.snapshot import difference
from contract.tools import make_shape
from mcpshape import Always, Shape, UserError
from mcpshape.encoders import Toon

ROOT = HERE.parents[1]
DEFINITIONS = [HERE / f"on_{name}.py" for name in ("mcpserver", "lowlevel", "fastmcp")]


class Named(BaseModel):
    name: Annotated[str, Always()]


def test_one_definition_runs_on_all_classes_with_class_and_import_changed() -> None:
    """Show 2: about 20 lines, the same but for the docstring and the imports."""
    bodies = [[line for line in _lines(path)[1:] if "import" not in line] for path in DEFINITIONS]
    assert bodies[0] == bodies[1] == bodies[2]
    assert all(len([line for line in _lines(path) if line]) <= 20 for path in DEFINITIONS)


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def test_the_matrix_is_whole() -> None:
    """Three classes, three transports, three revisions; what is left out is left out for a reason that stands there."""
    python = {(place.kind, place.transport, place.revision) for place in PLACES if place.client == "python"}
    assert len(python) == len(KINDS) * 3 * len(OLD + NEW)
    counts = {
        client: len([place for place in PLACES if place.client == client]) for client in ("fastmcp", "typescript")
    }
    assert counts == {"fastmcp": 24, "typescript": 12}


def test_the_page_shows_the_table_of_differences() -> None:
    """docs/how-to/servers.md: `table()` of `contract.differences` makes it."""
    assert table() in (ROOT / "docs" / "how-to" / "servers.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", ["MCPServer", "FastMCP"])
def test_tools_that_are_methods_are_added_for_their_object(kind: str) -> None:
    """`add_tools(owner=)`: the object that the tools belong to."""
    shape = Shape(encoder=Toon())

    class Tools:
        def __init__(self, name: str) -> None:
            self.name = name

        @shape.tool()
        def get(self) -> Named:
            """Get it."""
            return Named(name=self.name)

    server: Any = MCPServer("test", log_level="CRITICAL") if kind == "MCPServer" else fastmcp.FastMCP("test")
    adapter: Any = mcpshape.mcpserver if kind == "MCPServer" else mcpshape.fastmcp
    adapter.add_tools(server, shape, owner=Tools("ada"))
    assert _text(Place(kind=kind, transport="memory", revision=NEWEST, server=server), "get") == "name: ada"


@pytest.mark.parametrize("kind", KINDS)
def test_without_attach_the_class_words_the_names_of_arguments(kind: str) -> None:
    """The rows of the table that say so; nothing else is served here but the shape's tools."""
    adapter: Any = {"MCPServer": mcpshape.mcpserver, "Server": mcpshape.lowlevel, "FastMCP": mcpshape.fastmcp}[kind]
    server: Any = {"MCPServer": MCPServer, "Server": Server, "FastMCP": fastmcp.FastMCP}[kind]("test")
    adapter.add_tools(server, make_shape().using(clients={}))
    place = Place(kind=kind, transport="memory", revision=NEWEST, server=server)
    given = {"day": DAY, "by": {"words": []}, "most": 1, "extra": "x"}
    calls: dict[str, tuple[str, dict[str, Any]]] = {
        "missing": ("search", {}), "unknown": ("search", given), "protocol error": ("refuse", {}),
    }  # fmt: skip
    for name, (tool, arguments) in calls.items():
        row = difference(f"unattached {name}", NEWEST)
        assert row
        assert sum_up(normal(_call(place, tool, **arguments), place)).splitlines()[0] == row.answer(kind)


def test_fastmcp_can_be_told_to_keep_the_texts_of_exceptions() -> None:
    """What the table advises for prompts."""
    server = fastmcp.FastMCP("test", mask_error_details=True)

    @server.prompt
    def broken() -> str:
        raise KeyError("CANARY")

    async def asked() -> str:
        async with asking(Place(kind="FastMCP", transport="memory", revision=NEWEST, server=server)) as asker:
            return sum_up(await asker.prompt("broken"))

    assert anyio.run(asked) == "protocol error -32603: Error rendering prompt 'broken'"


def test_errors_of_other_tools_of_fastmcp_stay_as_they_are() -> None:
    """The adapter of FastMCP looks at protocol errors only."""
    server = fastmcp.FastMCP("test")
    mcpshape.fastmcp.attach(server, Shape(encoder=Toon()))

    @server.tool
    def other() -> str:
        raise ToolError("mine")

    assert _text(Place(kind="FastMCP", transport="memory", revision=NEWEST, server=server), "other") == "mine"


def test_a_context_of_the_low_level_server_may_be_optional() -> None:
    """It is filled by the server and known to no client."""
    server: Server[Any] = Server("test")
    shape = Shape(encoder=Toon())

    @shape.tool()
    def get(ctx: Annotated[ServerRequestContext | None, "why"] = None) -> Named:
        """Get it."""
        return Named(name="context" if ctx else "no context")

    mcpshape.lowlevel.add_tools(server, shape)
    mcpshape.lowlevel.attach(server, shape)
    place = Place(kind="Server", transport="memory", revision=NEWEST, server=server)
    assert _text(place, "get") == "name: context"
    assert "there are: none" in _text(place, "get", ctx=1)


def test_a_dependency_of_fastmcp_may_stand_in_the_annotation() -> None:
    """As well as in the default."""
    server = fastmcp.FastMCP("test")
    shape = Shape(encoder=Toon())

    @server.tool
    @shape.tool()
    async def get(by: Annotated[Wanted, Depends(lambda: Wanted(name="ada"))], again: int = 1) -> Named:
        """Get it."""
        return Named(name=f"{by.name} {again}")

    mcpshape.fastmcp.attach(server, shape)
    place = Place(kind="FastMCP", transport="memory", revision=NEWEST, server=server)
    assert _text(place, "get") == "name: ada 1"
    assert "there are: again" in _text(place, "get", by={"name": "x"})


def test_a_parameter_of_mcpserver_may_be_optional() -> None:
    """A context in a union is filled by the server and known to no client, and so is what a resolver makes."""
    server = MCPServer("test", log_level="CRITICAL")
    shape = Shape(encoder=Toon())

    @server.tool()
    @shape.tool()
    async def get(by: Annotated[Wanted, Resolve(lambda: Wanted(name="ada"))], ctx: Context | None = None) -> Named:
        """Get it."""
        return Named(name=by.name if ctx else "no context")

    mcpshape.mcpserver.attach(server, shape)
    place = Place(kind="MCPServer", transport="memory", revision=NEWEST, server=server)
    assert _text(place, "get") == "name: ada"
    assert "there are: none" in _text(place, "get", ctx=1)


def _call(place: Place, tool: str, **given: Any) -> dict[str, Any]:
    async def asked() -> dict[str, Any]:
        async with asking(place) as asker:
            return await asker.call(tool, **given)

    return anyio.run(asked)


def _text(place: Place, tool: str, **given: Any) -> str:
    (block,) = _call(place, tool, **given)["content"]
    return str(block["text"])


@pytest.mark.parametrize("kind", ["MCPServer", "FastMCP"])
def test_resources_fail_alike_whether_they_are_async_or_not(kind: str) -> None:
    """A failure has the text that a tool would give; an error of the protocol stays the one that was raised."""
    server: MCPServer[Any] | fastmcp.FastMCP[Any] = (
        MCPServer("test", log_level="CRITICAL") if kind == "MCPServer" else fastmcp.FastMCP("test")
    )
    shape = Shape(encoder=Toon())

    @server.resource("room://failing")
    @shape.resource
    def failing() -> Named:
        raise UserError("There is no room.")

    @server.resource("room://refusing")
    @shape.resource
    def refusing() -> Named:
        raise MCPError(-32001, "not now")

    @server.resource("room://refusing/later")
    @shape.resource
    async def refusing_later() -> Named:
        raise MCPError(-32001, "not now")

    async def read() -> list[str]:
        async with asking(Place(kind=kind, transport="memory", revision=NEWEST, server=server)) as asker:
            uris = ("room://failing", "room://refusing", "room://refusing/later")
            return [sum_up(await asker.read(uri)) for uri in uris]

    refused = "protocol error -32001: not now"
    assert anyio.run(read) == ["protocol error -32603: Error: There is no room.", refused, refused]


def test_a_context_that_nobody_fills_is_a_result_too() -> None:
    """Rule 6: called by hand without what a framework would give."""

    def get(ctx: Context) -> Named:
        return Named(name="x")

    served: Any = Shape(encoder=Toon()).tool()(get)
    result: Any = served()
    assert result.content[0].text.startswith("Error: The arguments do not fit")
