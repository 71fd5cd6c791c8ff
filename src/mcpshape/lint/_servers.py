"""Which tools of a server do not go through a shape."""

import asyncio
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer

from mcpshape._tool import is_served
from mcpshape.errors import DefinitionError, Problem
from mcpshape.lint._inspected import Found
from mcpshape.lowlevel import add_tools
from mcpshape.shape import Shape


def list_unshaped(server: object, shape: Shape) -> Iterator[Found]:
    """The tools of a server whose functions are not made by a shape.

    Raises:
        DefinitionError: It is no server of a class that is known.
    """
    if isinstance(server, Server):
        yield from _unshaped_handler(server)
        return
    for name, function in _functions(server):
        if not is_served(function):
            yield name, _unshaped(function, shape)


def is_server(found: object) -> bool:
    """Whether an object is a server of a class that is known."""
    return isinstance(found, MCPServer | Server) or _is_fastmcp(found)


def _is_fastmcp(found: object) -> bool:
    """Whether it is a FastMCP server; whoever has one has imported its package."""
    module = sys.modules.get("fastmcp")
    return module is not None and isinstance(found, module.FastMCP)


def _functions(server: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(server, MCPServer):
        # The SDK has no public way from a tool to its function.
        return [(tool.name, tool.fn) for tool in vars(server)["_tool_manager"].list_tools()]
    if _is_fastmcp(server):
        with ThreadPoolExecutor(1) as executor:  # A loop may run in this thread already.
            return executor.submit(lambda: asyncio.run(_fastmcp_functions(server))).result()
    problem = Problem("server", f"{type(server).__name__} is no server.", "Pass an MCPServer, Server or FastMCP.")
    raise DefinitionError("lint", [problem])


async def _fastmcp_functions(server: Any) -> list[tuple[str, Any]]:
    tools = await server.list_tools(run_middleware=False)
    return [(tool.name, await _fastmcp_function(tool)) for tool in tools]


async def _fastmcp_function(tool: Any) -> Any:
    """The function of a FastMCP tool, or of the one that it was made of, be it one of a server that is mounted."""
    mounted = getattr(tool, "__pydantic_private__", None) or {}
    if "_server" in mounted and "_original_name" in mounted:
        return await _fastmcp_function(await mounted["_server"].get_tool(mounted["_original_name"]))
    parent = getattr(tool, "parent_tool", None)
    return await _fastmcp_function(parent) if parent else getattr(tool, "fn", None)


def _unshaped(function: Any, shape: Shape) -> Problem:
    bare = getattr(function, "__func__", function)
    if any(tool.function is bare for tool in shape.tools.values()):
        return Problem("server", "it is served without its shape.", "Put @shape.tool() under the server's decorator.")
    message = f"{_name(function)} does not go through the shape."
    return Problem("server", message, "Put @shape.tool() on it, under the server's decorator.")


def _unshaped_handler(server: Server[Any]) -> Iterator[Found]:
    entry = server.get_request_handler("tools/call")
    if entry and getattr(entry.handler, "__module__", None) != add_tools.__module__:
        message = f"tools/call is answered by {_name(entry.handler)}, which does not go through the shape."
        yield "", Problem("server", message, "Let mcpshape.lowlevel.add_tools answer it.")


def _name(function: Any) -> str:
    return getattr(function, "__qualname__", None) or (type(function).__name__ if function else "what it calls")
