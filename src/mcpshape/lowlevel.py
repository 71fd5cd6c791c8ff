"""The adapter for the low-level `Server` of the MCP Python SDK."""

import inspect
from functools import partial
from typing import Any

from anyio.to_thread import run_sync
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import SubscriptionBus
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, CallToolRequestParams, ListToolsResult, PaginatedRequestParams, Tool

from mcpshape._changes import Audience, serve_subscriptions
from mcpshape._live import Source
from mcpshape._tool import Tool as Shaped
from mcpshape.errors import DefinitionError, Problem
from mcpshape.mcpserver import Recording


def attach(server: Server[Any], shape: Source, *, bus: SubscriptionBus | None = None) -> None:
    """Record the caller of each request, so that grants can be narrowed and handles told apart by it.

    Where a shape follows settings (`mcpshape.settings.follow`), clients are told when its tools change.

    Args:
        server: The server.
        shape: The shape.
        bus: What the server's handler of `subscriptions/listen` is made with. Where it has none, it gets one.

    Raises:
        DefinitionError: The shape gives out handles of a kind that none of its tools takes back, or it follows settings
            and the server has subscriptions from a bus that was not passed.
    """
    shape.check_handles()
    told = serve_subscriptions(server) if shape.former and bus is None else bus
    server.middleware.append(Recording(shape, Audience(shape, told)))


def add_tools(server: Server[Any], shape: Source, *, owner: object = None) -> None:
    """Let a server list and call the tools of a shape, in place of handlers for these that it had.

    A parameter of a tool that is annotated with `ServerRequestContext` gets the context of the request. Functions that
    are not async run in a thread.

    Args:
        server: The server.
        shape: The shape.
        owner: The object that the tools belong to, where they are methods.

    Raises:
        DefinitionError: The shape tells callers apart, and it is not attached to the server.
    """
    with shape.begin() as now:
        if now.decisions.entries and not any(isinstance(each, Recording) for each in server.middleware):
            problem = Problem("attach", "callers are told apart and none is recorded.", "Call attach before add_tools.")
            raise DefinitionError("add_tools", [problem])

    async def list_tools(_: ServerRequestContext[Any], __: PaginatedRequestParams) -> ListToolsResult:
        with shape.begin() as now:
            return ListToolsResult(tools=[_list(tool) for tool in now.tools.values()])

    async def call_tool(ctx: ServerRequestContext[Any], params: CallToolRequestParams) -> Any:
        with shape.begin() as now:
            tool = now.tools.get(params.name)
            if tool is None:
                raise MCPError(INVALID_PARAMS, "There is no tool of this name; tools/list names those that there are.")
            function = tool.served if owner is None else tool.bind(owner)
            given = dict.fromkeys(tool.parameters.named_by_type(ServerRequestContext), ctx)
            call = partial(function, **{**(params.arguments or {}), **given})
            return await call() if inspect.iscoroutinefunction(function) else await run_sync(call)

    server.add_request_handler("tools/list", PaginatedRequestParams, list_tools)
    server.add_request_handler("tools/call", CallToolRequestParams, call_tool)


def _list(tool: Shaped) -> Tool:
    return Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.parameters.input_schema(tool.name),
        output_schema=tool.output_schema,
    )
