"""Who is calling: recorded by an adapter for the time of one call, read by whatever narrows it."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field

from mcpshape._holding import Holding


@dataclass(frozen=True, slots=True)
class Caller:
    """What is known of a caller.

    Args:
        principal: The client id of the access token.
        client: The name that the client gives of itself; nobody has checked it.
        subject: Whom the token stands for, unique for its issuer.
        scopes: What the token allows.
        client_version: Its version, likewise.
        protocol: The revision of MCP that the request is made in, such as `2026-07-28`.
        headers: The headers of the HTTP request, by names in lower case.
    """

    principal: str | None = None
    client: str | None = None
    subject: str | None = None
    scopes: frozenset[str] = frozenset()
    client_version: str | None = None
    protocol: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    @property
    def identity(self) -> str:
        """What keeps the handles of different callers apart."""
        if self.principal is None:
            return f"client {self.client}"
        return f"principal {self.principal}" + (f" for {self.subject}" if self.subject else "")


NOBODY = Caller()
"""A caller of whom nothing is known."""

_CALLER: ContextVar[Caller | None] = ContextVar("mcpshape_caller", default=None)


def current_caller() -> Caller | None:
    """The caller of the call under way, or `None` where no adapter is attached."""
    return _CALLER.get()


def calling(caller: Caller) -> AbstractContextManager[None]:
    """Record a caller for the time of one call."""
    return Holding(_CALLER, caller)
