"""A finished answer, before it is a result of one server class."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Shaped:
    """A finished answer. `structured` is `None` where the result has no `structuredContent`."""

    text: str
    structured: dict[str, Any] | None = None
    is_error: bool = False
