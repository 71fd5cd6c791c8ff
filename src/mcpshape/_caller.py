"""Who is calling: recorded by an adapter for the time of one call, read by whatever narrows it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Caller:
    """What is known of a caller. `principal` is authenticated; `client` is what the client says of itself."""

    principal: str | None = None
    client: str | None = None

    @property
    def identity(self) -> str:
        """What keeps the handles of different callers apart."""
        return f"principal {self.principal}" if self.principal is not None else f"client {self.client}"


_CALLER: ContextVar[Caller | None] = ContextVar("mcpshape_caller", default=None)


def current_caller() -> Caller | None:
    """The caller of the call under way, or `None` where no adapter is attached."""
    return _CALLER.get()


@contextmanager
def calling(caller: Caller) -> Iterator[None]:
    """Record a caller for the time of one call."""
    token = _CALLER.set(caller)
    try:
        yield
    finally:
        _CALLER.reset(token)
