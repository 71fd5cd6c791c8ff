"""The shape that a request began with, where it goes before the one that tools were defined with."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_PINNED: ContextVar[tuple[tuple[object, Any], ...]] = ContextVar("mcpshape_pinned", default=())


def pinned(owner: object) -> Any:
    """What goes before `owner` in this request, or `None`."""
    return next((instead for each, instead in _PINNED.get() if each is owner), None)


@contextmanager
def pinning(owner: object, instead: Any) -> Iterator[None]:
    """Let something go before `owner` until the end of a request, whatever changes meanwhile."""
    token = _PINNED.set(((owner, instead), *_PINNED.get()))
    try:
        yield
    finally:
        _PINNED.reset(token)
