"""A shape that follows settings: what a request begins with is in force until it ends, whatever changes meanwhile."""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from threading import Lock
from typing import Any, Protocol

from mcpshape._pinned import pinned, pinning
from mcpshape._tool import Tool
from mcpshape.shape import Shape


class Source(Protocol):
    """What an adapter serves: a `Shape`, or a `Live` one."""

    def begin(self) -> AbstractContextManager[Shape]:
        """A context in which one request is answered; it gives the shape in force."""
        ...

    def rewrites(self, tool: str, description: str) -> bool:
        """Whether a listed tool has to be described anew."""
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
        self._written: set[tuple[str, str]] = set()
        self._write(shape)
        self._now = shape
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
        return {name: replace(tool, served=self._serve(tool)) for name, tool in self.current().tools.items()}

    def rewrites(self, tool: str, description: str) -> bool:
        """Whether a listed tool has the description of now or one from before; adapters call it."""
        return (tool, description) in self._written

    def _renew(self) -> None:
        changed = self._settings.apply(self._shape)
        if changed is not None:
            self._now = changed
            self._write(changed)

    def _write(self, shape: Shape) -> None:
        self._written |= {(name, tool.description.strip()) for name, tool in shape.tools.items()}

    def _serve(self, tool: Tool) -> Callable[..., Any]:
        """A function that looks like the tool's own and is the one of the settings in force."""

        def serve_sync(*args: Any, **kwargs: Any) -> Any:
            with self.begin() as shape:
                return shape.tools[tool.name].served(*args, **kwargs)

        async def serve_async(*args: Any, **kwargs: Any) -> Any:
            with self.begin() as shape:
                return await shape.tools[tool.name].served(*args, **kwargs)

        return functools.wraps(tool.served)(serve_async if inspect.iscoroutinefunction(tool.served) else serve_sync)
