"""A file as it was last seen, at the price of one look for each later question whether it is still the same."""

import re
import time
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcpshape.errors import DefinitionError, Problem

# Two changes within one tick of a file system's clock look alike; a file this young is read at each look.
_YOUNG = 2_000_000_000
_PLACE = re.compile(r"\(at (line \d+, column \d+)\)")

Look = tuple[int, int, int]
"""When a file was written (`mtime_ns`), its size, and its number (inode), which a rename changes."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a file held; for one that could not be read, why."""

    look: Look | None
    content: bytes | str = field(repr=False)
    is_young: bool = False

    def is_same(self, path: Path) -> bool:
        """Whether the file can be taken to hold the same still."""
        return not self.is_young and _look_at(path) == self.look


def see(path: Path) -> Seen:
    """Read a file."""
    look = _look_at(path)
    is_young = look is not None and abs(time.time_ns() - look[0]) < _YOUNG
    try:
        return Seen(look, path.read_bytes(), is_young)
    except OSError as error:
        return Seen(look, type(error).__name__, is_young)


def parse(path: Path, seen: Seen) -> dict[str, Any]:
    """What a TOML file holds.

    Raises:
        DefinitionError: It is missing or broken; the text tells nothing of what it holds.
    """
    if isinstance(seen.content, str):
        raise _broken(path, f"it cannot be read ({seen.content}).", "Name a file that can be.")
    if not seen.content.strip():
        # A file that is being written is empty for a moment, which must not be taken for "nothing is set".
        raise _broken(path, "it is empty.", "Write a comment where nothing is to be set.")
    try:
        return tomllib.loads(seen.content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise _broken(path, "it is no UTF-8.", "Save it as UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        found = _PLACE.search(str(error))
        raise _broken(path, f"it is no TOML{f' at {found[1]}' if found else ''}.", "Mend it.") from None


def _look_at(path: Path) -> Look | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _broken(path: Path, message: str, remedy: str) -> DefinitionError:
    return DefinitionError(f"settings {path}", [Problem("file", message, remedy)])
