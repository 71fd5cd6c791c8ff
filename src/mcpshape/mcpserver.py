"""The adapter for `MCPServer` of the MCP Python SDK."""

from dataclasses import dataclass
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
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
    server.middleware.append(Recording(shape, Audience(shape, server._subscriptions)))  # noqa: SLF001


def add_tools(server: MCPServer[Any], shape: Source, *, owner: object = None) -> None:
    """Add the tools that a shape has so far.

    Args:
        server: The server.
        shape: The shape.
        owner: The object that the tools belong to, where they are methods.
    """
    for tool in shape.tools.values():
        server.add_tool(tool.served if owner is None else tool.bind(owner))


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """The middleware of the SDK that `attach` adds, for whichever of its server classes."""

    source: Source
    audience: Audience

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Answer one request under what is in force when it begins."""
        with self.source.begin() as shape, calling(read_caller(ctx.session, ctx.request)):
            if ctx.method != "initialize":
                await self.audience.hear(ctx.session, shape)
            params = ctx.params or {}
            is_call = ctx.method == "tools/call"
            refused = refuse(shape, str(params.get("name")), params.get("arguments") or {}) if is_call else None
            return _renew(await call_next(ctx), self.source, shape) if refused is None else make_result(refused)


def _renew(result: HandlerResult, source: Source, shape: Shape) -> HandlerResult:
    """What a server says of itself and of its tools, as it is now; at this point results are plain data."""
    if not source.former or not isinstance(result, dict):
        return result
    changes: dict[str, Any] = {}
    if isinstance(tools := result.get("tools"), list):
        renewed = [{**tool, **relist(tool["name"], tool, source, shape)} for tool in tools]
        changes["tools"] = [{key: value for key, value in tool.items() if value is not None} for tool in renewed]
    if "capabilities" in result and result.get("instructions"):
        changes["instructions"] = reword(result["instructions"], source, shape)
    if "protocolVersion" in result:
        # Where there is a handshake, the SDK says on its own that the list never changes.
        capabilities = result["capabilities"]
        changes["capabilities"] = {**capabilities, "tools": {**capabilities.get("tools", {}), "listChanged": True}}
    return {**result, **changes}
