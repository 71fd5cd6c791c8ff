"""The adapter for the low-level `Server` of the MCP Python SDK."""

import inspect
from functools import partial
from typing import Any

from anyio.to_thread import run_sync
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, CallToolRequestParams, ListToolsResult, PaginatedRequestParams, Tool

from mcpshape.mcpserver import record
from mcpshape.shape import Shape


def attach(server: Server[Any], shape: Shape) -> None:
    """Record the caller of each request, so that grants can be narrowed and handles told apart by it.

    Raises:
        DefinitionError: The shape gives out handles of a kind that none of its tools takes back.
    """
    shape.check_handles()
    server.middleware.append(record(shape))


def add_tools(server: Server[Any], shape: Shape, *, owner: object = None) -> None:
    """Let a server list and call the tools of a shape, in place of handlers for these that it had.

    A parameter of a tool that is annotated with `ServerRequestContext` gets the context of the request. Functions that
    are not async run in a thread.

    Args:
        server: The server.
        shape: The shape.
        owner: The object that the tools belong to, where they are methods.
    """

    async def list_tools(_: ServerRequestContext[Any], __: PaginatedRequestParams) -> ListToolsResult:
        return ListToolsResult(
            tools=[
                Tool(
                    name=tool.name,
                    description=tool.description,
                    input_schema=tool.parameters.input_schema(tool.name),
                    output_schema=tool.output_schema,
                )
                for tool in shape.tools.values()
            ]
        )

    async def call_tool(ctx: ServerRequestContext[Any], params: CallToolRequestParams) -> Any:
        tool = shape.tools.get(params.name)
        if tool is None:
            raise MCPError(INVALID_PARAMS, "There is no tool of this name; tools/list names those that there are.")
        function = tool.served if owner is None else tool.bind(owner)
        given = dict.fromkeys(tool.parameters.named_by_type(ServerRequestContext), ctx)
        call = partial(function, **{**(params.arguments or {}), **given})
        return await call() if inspect.iscoroutinefunction(function) else await run_sync(call)

    server.add_request_handler("tools/list", PaginatedRequestParams, list_tools)
    server.add_request_handler("tools/call", CallToolRequestParams, call_tool)
