"""The adapter for FastMCP 4 (extra `fastmcp`)."""

from typing import Any

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from mcp.shared.exceptions import MCPError
from typing_extensions import override

from mcpshape._caller import Caller, calling
from mcpshape._request import read_caller, refuse
from mcpshape.shape import Shape


def attach(server: FastMCP[Any], shape: Shape) -> None:
    """Record the caller of each request, so that grants can be narrowed and handles told apart by it.

    Missing and unknown arguments of the shape's tools are then named as other mistakes in arguments are, and an
    `MCPError` of a tool stays an error of the protocol.

    Raises:
        DefinitionError: The shape gives out handles of a kind that none of its tools takes back.
    """
    shape.check_handles()
    server.add_middleware(_Record(shape))


def add_tools(server: FastMCP[Any], shape: Shape, *, owner: object = None) -> None:
    """Add the tools that a shape has so far.

    Args:
        server: The server.
        shape: The shape.
        owner: The object that the tools belong to, where they are methods.
    """
    for tool in shape.tools.values():
        server.add_tool(tool.served if owner is None else tool.bind(owner))


class _Record(Middleware):
    def __init__(self, shape: Shape) -> None:
        self.shape = shape

    @override
    async def on_request(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        with calling(_caller(context)):
            return await call_next(context)

    @override
    async def on_call_tool(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        refused = refuse(self.shape, context.message.name, context.message.arguments or {})
        if refused:
            raise ToolError(refused.text)
        try:
            return await call_next(context)
        except ToolError as error:
            # FastMCP makes a result of it, whose text says less than the code did.
            if isinstance(error.__cause__, MCPError):
                raise error.__cause__ from None
            raise


def _caller(context: MiddlewareContext[Any]) -> Caller:
    request = context.fastmcp_context.request_context if context.fastmcp_context else None
    return read_caller(request.session, request.request) if request else Caller()
