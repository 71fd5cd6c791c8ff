"""The adapter for `MCPServer` of the MCP Python SDK: tells a shape who is calling."""

from typing import Any

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import MCPServer

from mcpshape._caller import Caller, calling
from mcpshape._cleaning import clean_text
from mcpshape.shape import Shape

_LONGEST_NAME = 200


def attach(server: MCPServer[Any], shape: Shape) -> None:
    """Record the caller of each request, so that grants can be narrowed and handles told apart by it.

    The principal is the client id of the access token; the client name is what the client says of itself.

    Raises:
        DefinitionError: The shape gives out handles of a kind that none of its tools takes back.
    """
    shape.check_handles()

    async def record(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        with calling(_caller(ctx)):
            return await call_next(ctx)

    server.middleware.append(record)


def _caller(context: ServerRequestContext[Any, Any]) -> Caller:
    token = get_access_token()
    info = getattr(context.session, "client_params", None)
    name = getattr(getattr(info, "client_info", None), "name", None)
    return Caller(principal=token.client_id if token else None, client=_short(name))


def _short(name: str | None) -> str | None:
    return clean_text(name)[:_LONGEST_NAME] if name else None
