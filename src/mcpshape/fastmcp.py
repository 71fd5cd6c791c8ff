"""The adapter for FastMCP 4 (extra `fastmcp`)."""

from collections.abc import Sequence
from typing import Any

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import Tool
from mcp.shared.exceptions import MCPError
from typing_extensions import override

from mcpshape._caller import Caller, calling
from mcpshape._changes import Audience, relist, reword, serve_subscriptions
from mcpshape._live import Source
from mcpshape._request import read_caller, refuse
from mcpshape.shape import Shape


def attach(server: FastMCP[Any], shape: Source) -> None:
    """Record the caller of each request, so that grants can be narrowed and handles told apart by it.

    Missing and unknown arguments of the shape's tools are then named as other mistakes in arguments are, and an
    `MCPError` of a tool stays an error of the protocol. A shape that follows settings (`mcpshape.settings.follow`) is
    listed as it is now, and clients are told when that changes.

    Raises:
        DefinitionError: The shape gives out handles of a kind that none of its tools takes back.
    """
    shape.check_handles()
    # FastMCP serves no subscriptions of its own; its low-level server does, once it has a handler.
    audience = Audience(shape, serve_subscriptions(server._mcp_server) if shape.former else None)  # noqa: SLF001
    server.add_middleware(_Record(shape, audience))


def add_tools(server: FastMCP[Any], shape: Source, *, owner: object = None) -> None:
    """Add the tools that a shape has so far.

    Args:
        server: The server.
        shape: The shape.
        owner: The object that the tools belong to, where they are methods.
    """
    for tool in shape.tools.values():
        server.add_tool(tool.served if owner is None else tool.bind(owner))


class _Record(Middleware):
    def __init__(self, source: Source, audience: Audience) -> None:
        self.source, self.audience = source, audience

    @override
    async def on_request(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        request = context.fastmcp_context.request_context if context.fastmcp_context else None
        caller = read_caller(request.session, request.request) if request else Caller()
        with self.source.begin() as shape, calling(caller):
            if request and context.method != "initialize":
                await self.audience.hear(request.session, shape)
            return await call_next(context)

    @override
    async def on_initialize(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        return self._reword(await call_next(context))

    @override
    async def on_discover(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        return self._reword(await call_next(context))

    @override
    async def on_list_tools(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Sequence[Tool]:
        with self.source.begin() as shape:
            return [self._relist(tool, shape) for tool in await call_next(context)]

    @override
    async def on_call_tool(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        with self.source.begin() as shape:
            refused = refuse(shape, context.message.name, context.message.arguments or {})
            if refused:
                raise ToolError(refused.text)
            try:
                return await call_next(context)
            except ToolError as error:
                # FastMCP makes a result of it, whose text says less than the code did.
                if isinstance(error.__cause__, MCPError):
                    raise error.__cause__ from None
                raise

    def _relist(self, tool: Tool, shape: Shape) -> Tool:
        listed = {"description": tool.description, "inputSchema": tool.parameters}
        changes = relist(tool.name, listed, self.source, shape)
        return tool.model_copy(update={_NAMES[key]: value for key, value in changes.items()}) if changes else tool

    def _reword(self, result: Any) -> Any:
        with self.source.begin() as shape:
            if not getattr(result, "instructions", None):
                return result
            return result.model_copy(update={"instructions": reword(result.instructions, self.source, shape)})


_NAMES = {"description": "description", "inputSchema": "parameters", "outputSchema": "output_schema"}
"""What FastMCP calls the keys of a listed tool."""
