"""The shape that a request began with, where it goes before the one that tools were defined with."""

from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any

from mcpshape._holding import Holding

_PINNED: ContextVar[tuple[tuple[object, Any], ...]] = ContextVar("mcpshape_pinned", default=())


def pinned(owner: object) -> Any:
    """What goes before `owner` in this request, or `None`."""
    for each, instead in _PINNED.get():
        if each is owner:
            return instead
    return None


def pinning(owner: object, instead: Any) -> AbstractContextManager[None]:
    """Let something go before `owner` until the end of a request, whatever changes meanwhile."""
    return Holding(_PINNED, ((owner, instead), *_PINNED.get()))
