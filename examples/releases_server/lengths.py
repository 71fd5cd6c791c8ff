"""How long a text is, and whether it may be longer than Apple takes."""

from dataclasses import dataclass
from typing import Literal

import regex

Verdict = Literal["over", "may_be_over"]
_NEAR = 0.99
_CLUSTER = regex.compile(r"\X")


@dataclass(frozen=True, slots=True)
class Measure:
    """A text in characters as a person counts them, in UTF-16 units, and in bytes of UTF-8."""

    characters: int
    utf16: int
    utf8: int
    lines: int = 0

    def verdict(self, limit: int | None) -> Verdict | None:
        """What is to be said of a limit in characters.

        Apple does not document how it counts: App Store Connect refused a text of 3,978 symbols with emoji at a limit
        of 4,000 (fastlane#19130). What fits however one counts gets `None`.
        """
        if limit is None:
            return None
        if self.characters > limit:
            return "over"
        is_near = self.utf16 > self.characters and self.utf16 >= _NEAR * limit
        return "may_be_over" if is_near or self.utf16 + self.lines > limit else None


def measure(text: str) -> Measure:
    """Count a text, without anything being taken off it."""
    encoded = text.encode("utf-8", "replace")
    units = len(text.encode("utf-16-le", "replace")) // 2
    characters = len(text) if text.isascii() else sum(1 for _ in _CLUSTER.finditer(text))
    # A line break is one character to a person and may be two to whoever stores it.
    return Measure(characters, units, len(encoded), text.count("\n"))
