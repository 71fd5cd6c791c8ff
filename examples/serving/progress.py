"""Tells whoever waits for a call how far the work is that it waits for."""

from dataclasses import dataclass
from typing import Any

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.session import ServerSession

_TELL_EVERY = 0.5


@dataclass(slots=True)
class Progress:
    """How many steps of work are done that somebody may be waiting for."""

    steps: int = 0

    def tell(self, _done: int, _total: int) -> None:
        """Count a step."""
        self.steps += 1


@dataclass(frozen=True, slots=True, eq=False)
class Telling:
    """A middleware; the message says what is being done."""

    progress: Progress
    message: str

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Answer a request; a client that asked for progress hears of it twice a second."""
        if ctx.method != "tools/call":
            return await call_next(ctx)
        result, failure = None, None
        async with anyio.create_task_group() as group:
            group.start_soon(self._tell, ctx.session)
            try:
                result = await call_next(ctx)
            except Exception as error:  # Raised in here, it would reach the client as a group of exceptions.
                failure = error
            group.cancel_scope.cancel()
        if failure is not None:
            raise failure
        return result

    async def _tell(self, session: ServerSession) -> None:
        told = self.progress.steps
        while True:
            await anyio.sleep(_TELL_EVERY)
            # The protocol wants progress that grows.
            if self.progress.steps > told:
                told = self.progress.steps
                await session.report_progress(told, message=self.message)
