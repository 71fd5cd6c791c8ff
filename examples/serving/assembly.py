"""Puts a server together: the tools of a shape, bound to what they work on, under settings that may change."""

from collections.abc import Callable, Collection, Mapping
from importlib.metadata import version
from pathlib import Path

from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations

from mcpshape import Shape
from mcpshape.mcpserver import attach
from mcpshape.settings import follow

READS_ONLY = ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=False)
"""What is said of tools that change nothing."""


def assemble(
    name: str,
    shape: Shape,
    tools: object,
    *,
    prefix: str,
    settings: Path | None = None,
    own: Collection[str] = (),
    options: Mapping[str, object],
    hints: Callable[[str], ToolAnnotations] = lambda _name: READS_ONLY,
) -> MCPServer:
    """A server with all tools of a shape.

    Args:
        name: How the server calls itself.
        shape: Its tools are methods.
        tools: The object that they are bound to.
        prefix: How its environment variables begin.
        settings: A settings file.
        own: The keys of the settings file that are the server's own.
        options: Settings that go before environment and file; `None` leaves one open.
        hints: What is said of a tool to clients.

    Raises:
        DefinitionError: The settings are broken.
    """
    said = {key: value for key, value in options.items() if value is not None}
    served = follow(shape, settings, prefix=prefix, options=said, others=frozenset(own))
    installed = version("mcpshape-examples")
    server = MCPServer(name, version=installed, instructions=served.instructions(), log_level="WARNING")
    for tool_name, tool in served.tools.items():
        server.add_tool(tool.bind(tools), annotations=hints(tool_name))
    attach(server, served)
    return server
