"""A finished answer, before it is a result of one server class, and the record of what it told."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What one call disclosed, without a single value.

    Paths are dotted wire names; `disclosed` holds those that leave whole or changed by an action, `masked` and
    `withheld` the others. `narrowed_by` says whose part in the grant made it narrower.
    `rows` counts the entries of all lists of objects, `size` the bytes of both channels.
    """

    time: datetime
    tool: str
    level: str | None
    toggles: tuple[str, ...]
    format: str
    client: str | None
    principal: str | None
    narrowed_by: tuple[str, ...] = ()
    disclosed: tuple[str, ...] = ()
    masked: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    rows: int = 0
    size: int = 0
    error: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The record as plain data, the time in ISO 8601."""
        return {**asdict(self), "time": self.time.isoformat()}


class Sink(Protocol):
    """Where records go."""

    def write(self, record: Record) -> None:
        """Take one record; must not block for long."""
        ...


@dataclass(frozen=True, slots=True)
class Shaped:
    """A finished answer. `structured` is `None` where the result has no `structuredContent`.

    `record` is there where the shape has sinks.
    """

    text: str
    structured: dict[str, Any] | None = None
    is_error: bool = False
    record: Record | None = None
