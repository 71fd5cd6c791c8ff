"""What one projection needs beside the value: who makes its handles, and which rows of a long list are wanted."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from mcpshape._tokens import Handles

PAGE = "page"
"""The key of what an answer says of its rows."""


@dataclass(slots=True)
class Window:
    """The rows from `start` on, at most `most`; `total` and `shown` are known once the list has been projected."""

    start: int = 0
    most: int | None = None
    total: int | None = None
    shown: int = 0

    def cut(self, rows: Sequence[Any]) -> Sequence[Any]:
        """The wanted rows."""
        kept = rows[self.start :] if self.most is None else rows[self.start : self.start + self.most]
        self.total, self.shown = len(rows), len(kept)
        return kept

    @property
    def end(self) -> int:
        """Where the rows after the shown ones begin."""
        return self.start + self.shown

    @property
    def has_more(self) -> bool:
        """Whether rows follow the shown ones."""
        return self.total is not None and self.end < self.total


@dataclass(slots=True)
class Scope:
    """Passed to the serializer as its context.

    `handles` grow longer where two would collide; `is_held` says whether a row was held, once all are written.
    """

    handles: Handles | None = None
    window: Window = field(default_factory=Window)
    is_held: bool = False
