"""The adapter for `MCPServer` of the MCP Python SDK."""

from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from mcp.server.mcpserver import MCPServer

from mcpshape._caller import calling
from mcpshape._changes import Audience, relist, reword
from mcpshape._live import Source
from mcpshape._request import read_caller, refuse
from mcpshape._result import make_result
from mcpshape.shape import Shape


def attach(server: MCPServer[Any], shape: Source) -> None:
    """Record the caller of each request, so that grants can be narrowed and handles told apart by it.

    Missing and unknown arguments of the shape's tools are then named as other mistakes in arguments are. A shape that
    follows settings (`mcpshape.settings.follow`) is listed as it is now, and clients are told when that changes.

    The principal is the client id of the access token; the client name is what the client says of itself.

    Raises:
        DefinitionError: The shape gives out handles of a kind that none of its tools takes back.
    """
    shape.check_handles()
    # The bus is an argument of the server and no attribute; its own context reaches it like this.
    server.middleware.append(record(shape, Audience(shape, server._subscriptions)))  # noqa: SLF001


def record(source: Source, audience: Audience) -> ServerMiddleware[Any]:
    """The middleware of the SDK that `attach` adds, for whichever of its server classes."""

    async def recorded(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        with source.begin() as shape, calling(read_caller(ctx.session, ctx.request)):
            if ctx.method != "initialize":
                await audience.hear(ctx.session, shape)
            params = ctx.params or {}
            is_call = ctx.method == "tools/call"
            refused = refuse(shape, str(params.get("name")), params.get("arguments") or {}) if is_call else None
            return _renew(await call_next(ctx), source, shape) if refused is None else make_result(refused)

    return recorded


def _renew(result: HandlerResult, source: Source, shape: Shape) -> HandlerResult:
    """What a server says of itself and of its tools, as it is now; at this point results are plain data."""
    if not source.former or not isinstance(result, dict):
        return result
    if isinstance(tools := result.get("tools"), list):
        return {**result, "tools": [_without_none({**tool, **relist(tool["name"], tool, source, shape)}) for tool in tools]}
    if isinstance(capabilities := result.get("capabilities"), dict):
        told = reword(result["instructions"], source, shape) if result.get("instructions") else None
        result = {**result, **({"instructions": told} if told else {})}
        if "protocolVersion" in result and "tools" in capabilities:
            offered = {**capabilities, "tools": {**capabilities["tools"], "listChanged": True}}
            result = {**result, "capabilities": offered}
    return result


def _without_none(tool: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in tool.items() if value is not None}
