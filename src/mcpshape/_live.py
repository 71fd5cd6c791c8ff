"""A shape that follows settings: what a request begins with is in force until it ends, whatever changes meanwhile."""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from threading import Lock
from typing import Any, Protocol

from mcpshape._pinned import pinned, pinning
from mcpshape._tool import Tool
from mcpshape.shape import Shape


class Source(Protocol):
    """What an adapter serves: a `Shape`, or a `Live` one."""

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools, as a server is given them."""
        ...

    def check_handles(self) -> None:
        """See that handles of every kind are taken back."""
        ...

    def begin(self) -> AbstractContextManager[Shape]:
        """A context in which one request is answered; it gives the shape in force."""
        ...

    @property
    def former(self) -> Sequence[Shape]:
        """The shapes whose texts a server may have been given, which are out of date by now."""
        ...


class Followed(Protocol):
    """Settings that can change."""

    def apply(self, shape: Shape) -> Shape | None:
        """The shape under the settings of now, or `None` where nothing changed since the last time.

        Raises:
            DefinitionError: At the first time only: the settings cannot hold.
        """
        ...


class Live:
    """A shape under settings that may change while a server runs; `attach` and `add_tools` take it in place of one.

    Each request looks at the settings once, when it begins. Made by `mcpshape.settings.follow`.
    """

    def __init__(self, shape: Shape, settings: Followed) -> None:
        self._shape, self._settings, self._lock = shape, settings, Lock()
        self._now, self._former = shape, [shape]
        self._renew()

    def current(self) -> Shape:
        """The shape that a request which begins now is answered with."""
        with self._lock:
            self._renew()
            return self._now

    @contextmanager
    def begin(self) -> Iterator[Shape]:
        """What a request is answered with, from its beginning to its end; adapters call it."""
        if begun := pinned(self._shape.decisions):
            yield begun
            return
        now = self.current()
        with pinning(self._shape.decisions, now):
            yield now

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools, whose served functions answer under the settings of the request that calls them."""
        return {name: replace(tool, served=self._serve(tool)) for name, tool in self._given_out().tools.items()}

    def instructions(self) -> str:
        """What a model has to know to read the answers of now, for the server's `instructions`."""
        return self._given_out().instructions()

    @property
    def former(self) -> Sequence[Shape]:
        """The shapes whose texts a server may have been given; adapters look for them."""
        return self._former

    def check_handles(self) -> None:
        """See that handles of every kind that some tool gives out are taken back by one; adapters call it.

        Raises:
            DefinitionError: Nobody takes back a kind.
        """
        self.current().check_handles()

    def _given_out(self) -> Shape:
        now = self.current()
        self._former = [*self._former, *([now] if now not in self._former else [])]
        return now

    def _renew(self) -> None:
        changed = self._settings.apply(self._shape)
        if changed is not None:
            self._now = changed

    def _serve(self, tool: Tool) -> Callable[..., Any]:
        """A function that looks like the tool's own and is the one of the settings in force."""

        def serve_sync(*args: Any, **kwargs: Any) -> Any:
            with self.begin() as shape:
                return shape.tools[tool.name].served(*args, **kwargs)

        async def serve_async(*args: Any, **kwargs: Any) -> Any:
            with self.begin() as shape:
                return await shape.tools[tool.name].served(*args, **kwargs)

        return functools.wraps(tool.served)(serve_async if inspect.iscoroutinefunction(tool.served) else serve_sync)
