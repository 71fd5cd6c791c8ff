"""The adapter for `MCPServer` of the MCP Python SDK: tells a shape who is calling."""

from typing import Any

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import MCPServer

from mcpshape._caller import Caller, calling
from mcpshape._cleaning import clean_text
from mcpshape._result import make_result
from mcpshape.errors import UserError
from mcpshape.shape import Shape

_LONGEST_NAME = 200


def attach(server: MCPServer[Any], shape: Shape) -> None:
    """Record the caller of each request, so that grants can be narrowed and handles told apart by it.

    Missing and unknown arguments of the shape's tools are then named as other mistakes in arguments are.

    The principal is the client id of the access token; the client name is what the client says of itself.

    Raises:
        DefinitionError: The shape gives out handles of a kind that none of its tools takes back.
    """
    shape.check_handles()

    async def record(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        with calling(_caller(ctx)):
            refused = _refuse(ctx, shape)
            return await call_next(ctx) if refused is None else refused

    server.middleware.append(record)


def _refuse(context: ServerRequestContext[Any, Any], shape: Shape) -> HandlerResult:
    """The failure of a call with arguments that are missing or unknown, which the server would word in its own way."""
    params = context.params or {}
    if context.method != "tools/call" or params.get("name") not in shape.tools:
        return None
    tool = shape.tools[params["name"]]
    try:
        tool.parameters.check_names(params.get("arguments") or {})
    except UserError as error:
        return make_result(shape.fail(error, where=tool.plan.where))
    return None


def _caller(context: ServerRequestContext[Any, Any]) -> Caller:
    token = get_access_token()
    info = getattr(context.session, "client_params", None)
    name = getattr(getattr(info, "client_info", None), "name", None)
    return Caller(principal=token.client_id if token else None, client=_short(name))


def _short(name: str | None) -> str | None:
    return clean_text(name)[:_LONGEST_NAME] if name else None
