"""Records of what was disclosed, one a call, and the places where they can go. No record holds a value."""

import json
import logging
from dataclasses import dataclass, field

from mcpshape._shaped import Record, Sink

__all__ = ["CurrentSpan", "JsonLines", "Record", "Sink"]


@dataclass(frozen=True, slots=True)
class JsonLines:
    """Records as one JSON object a line, at the level INFO of a logger."""

    logger: logging.Logger = field(default_factory=lambda: logging.getLogger("mcpshape.disclosure"))

    def write(self, record: Record) -> None:
        """Log one record."""
        self.logger.info("%s", json.dumps(record.to_dict(), ensure_ascii=False))


@dataclass(frozen=True, slots=True)
class CurrentSpan:
    """Records as attributes `mcpshape.*` of the current OpenTelemetry span; nothing where there is none."""

    def write(self, record: Record) -> None:
        """Set the attributes."""
        from opentelemetry.trace import get_current_span

        told = {name: value for name, value in record.to_dict().items() if value is not None and name != "time"}
        get_current_span().set_attributes({f"mcpshape.{name}": value for name, value in told.items()})
