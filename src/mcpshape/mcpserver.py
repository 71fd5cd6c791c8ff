"""The adapter for `MCPServer` of the MCP Python SDK."""

from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from mcp.server.mcpserver import MCPServer

from mcpshape._caller import calling
from mcpshape._request import read_caller, refuse
from mcpshape._result import make_result
from mcpshape.shape import Shape


def attach(server: MCPServer[Any], shape: Shape) -> None:
    """Record the caller of each request, so that grants can be narrowed and handles told apart by it.

    Missing and unknown arguments of the shape's tools are then named as other mistakes in arguments are.

    The principal is the client id of the access token; the client name is what the client says of itself.

    Raises:
        DefinitionError: The shape gives out handles of a kind that none of its tools takes back.
    """
    shape.check_handles()
    server.middleware.append(record(shape))


def add_tools(server: MCPServer[Any], shape: Shape, *, owner: object = None) -> None:
    """Add the tools that a shape has so far.

    Args:
        server: The server.
        shape: The shape.
        owner: The object that the tools belong to, where they are methods.
    """
    for tool in shape.tools.values():
        server.add_tool(tool.served if owner is None else tool.bind(owner))


def record(shape: Shape) -> ServerMiddleware[Any]:
    """The middleware of the SDK that `attach` adds, for whichever of its server classes."""

    async def recorded(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        with calling(read_caller(ctx.session, ctx.request)):
            params = ctx.params or {}
            is_call = ctx.method == "tools/call"
            refused = refuse(shape, str(params.get("name")), params.get("arguments") or {}) if is_call else None
            return await call_next(ctx) if refused is None else make_result(refused)

    return recorded
