"""One way to ask either server class through its own real client, in memory."""

import json
from dataclasses import dataclass
from typing import Any

import fastmcp
import toon
from mcp import Client
from mcp.server.mcpserver import MCPServer

KINDS = ("MCPServer", "FastMCP")


@dataclass(frozen=True)
class Answer:
    text: str
    structured: Any
    is_error: bool
    wire: str
    blocks: int


def make_server(kind: str) -> Any:
    return MCPServer("test", log_level="CRITICAL") if kind == "MCPServer" else fastmcp.FastMCP("test")


async def ask(server: Any, tool: str, **arguments: Any) -> Answer:
    """Call a tool and return the whole answer."""
    if isinstance(server, MCPServer):
        async with Client(server) as client:
            return _answer(await client.call_tool(tool, arguments))
    async with fastmcp.Client(server) as fast_client:
        return _answer(await fast_client.call_tool_mcp(tool, arguments))


async def list_tools(server: Any) -> dict[str, dict[str, Any]]:
    """The published tools, by name, as they are on the wire."""
    if isinstance(server, MCPServer):
        async with Client(server) as client:
            tools = (await client.list_tools()).tools
    else:
        async with fastmcp.Client(server) as fast_client:
            tools = await fast_client.list_tools()
    return {tool.name: tool.model_dump(by_alias=True, exclude_none=True) for tool in tools}


def decode(text: str) -> Any:
    """The data of a TOON document."""
    return toon.decode(text)


def _answer(result: Any) -> Answer:
    wire = result.model_dump(by_alias=True, mode="json", exclude={"meta"})
    (block,) = [block for block in result.content if block.type == "text"]
    structured = result.structured_content
    return Answer(block.text, structured, bool(result.is_error), json.dumps(wire), len(result.content))
