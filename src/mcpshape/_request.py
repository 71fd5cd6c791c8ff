"""What every adapter does with a request: see who makes it, and refuse a call whose arguments are not there."""

from collections.abc import Mapping
from typing import Any

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.session import ServerSession

from mcpshape._caller import Caller
from mcpshape._cleaning import clean_text
from mcpshape._shaped import Shaped
from mcpshape.errors import UserError
from mcpshape.shape import Shape

# Nobody checks what a client says of itself or sends as a header; that much of it is read.
_LONGEST, _MOST_HEADERS = 200, 100


def read_caller(session: ServerSession, request: Any) -> Caller:
    """The caller of a request: its access token, what it says of itself, and its HTTP headers, cut to size."""
    token = get_access_token()
    info = getattr(session.client_params, "client_info", None)
    headers = list(getattr(request, "headers", {}).items())[:_MOST_HEADERS]
    return Caller(
        principal=token.client_id if token else None,
        subject=f"{(token.claims or {}).get('iss')} {token.subject}" if token and token.subject else None,
        scopes=frozenset(token.scopes if token else ()),
        client=_short(getattr(info, "name", None)),
        client_version=_short(getattr(info, "version", None)),
        protocol=session.protocol_version,
        headers={str(_short(name)).lower(): str(_short(value)) for name, value in headers},
    )


def refuse(shape: Shape, name: str, arguments: Mapping[str, Any]) -> Shaped | None:
    """The failure of a call with arguments that are missing or unknown, which a server would word in its own way."""
    if name not in shape.tools:
        return None
    tool = shape.tools[name]
    try:
        tool.parameters.check_names(arguments)
    except UserError as error:
        return shape.fail(error, where=tool.plan.where)
    return None


def _short(text: str | None) -> str | None:
    return clean_text(text)[:_LONGEST] if text else None
