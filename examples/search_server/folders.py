"""Folders of documents: which files are in them, as they are now, and what is in a file."""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG
from typing import Literal, NamedTuple

from search_server.extracts import FORMATS, Format

MOST, LARGEST = 50_000, 64 * 2**20
"""Documents of one folder, and bytes of one document."""
Reason = Literal[
    "missing", "unreadable", "too_large", "too_many", "binary", "not_yet_read", "index_full", "index_failed"
]
# No link is followed at the end, and what is no file any more does not block.
_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
_SECOND = 10**9
_LAST_SECOND = 253_402_300_799  # Of the year 9999.


class ReadError(Exception):
    """A folder or a document cannot be read."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason: Reason = reason


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder with the label that it is shown under. `encoding` is how to read what is not UTF-8."""

    label: str
    path: Path = field(repr=False)
    encoding: str | None = None


class File(NamedTuple):
    """A document in a folder, as it was when the folder was looked at; `changed` in seconds since 1970."""

    folder: Folder
    place: str
    file: str
    format: Format
    state: str
    changed: int
    size: int

    @property
    def identity(self) -> str:
        """What it is known by."""
        return f"{self.folder.label}/{self.place}"

    @property
    def path(self) -> str:
        """What is shown of where it is: the label of the folder and the way from there on."""
        return self.identity.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


Tell = Callable[[str, Reason], None]
"""Is told of what is left out: its identity, and why."""


def files(folder: Folder, tell: Tell, *, most: int = MOST) -> Iterator[File]:
    """The documents of a folder and all below it, at most so many, none of which is read.

    Links, hidden files and what is no regular file are passed by. So is what a name does not show to be a document.

    Raises:
        ReadError: There is no such folder, or it may not be read.
    """
    waiting, count = [("", str(folder.path))], 0
    while waiting:
        place, path = waiting.pop()
        for entry in _entries(path, folder, place, tell):
            inner = f"{place}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                waiting.append((f"{inner}/", entry.path))
            elif found := _file(entry, folder, inner):
                count += 1
                if count > most:
                    tell(folder.label, "too_many")
                    return
                yield found


def read(file: File) -> tuple[bytes, str]:
    """What is in a file, and its state as it was then.

    Raises:
        ReadError: It is too large, or cannot be read.
    """
    try:
        handle = os.open(file.file, _FLAGS)
    except OSError as error:
        raise ReadError("unreadable") from error
    with os.fdopen(handle, "rb") as opened:
        seen = os.fstat(handle)
        if not S_ISREG(seen.st_mode):
            raise ReadError("unreadable")
        if seen.st_size > LARGEST:
            raise ReadError("too_large")
        try:
            return opened.read(LARGEST), _state(seen)
        except OSError as error:
            raise ReadError("unreadable") from error


def _entries(path: str, folder: Folder, place: str, tell: Tell) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(path) as entries:
            return [entry for entry in entries if not entry.name.startswith(".")]
    except OSError as error:
        if not place:
            raise ReadError("missing") from error
        tell(f"{folder.label}/{place}", "unreadable")
        return []


def _file(entry: "os.DirEntry[str]", folder: Folder, place: str) -> File | None:
    kind = FORMATS.get(place.rpartition(".")[2].lower()) if "." in entry.name else None
    if kind is None:
        return None
    try:
        seen = entry.stat(follow_symlinks=False)
    except OSError:
        return None
    if not S_ISREG(seen.st_mode):
        return None
    return File(
        folder,
        place,
        entry.path,
        kind,
        _state(seen),
        min(max(seen.st_mtime_ns // _SECOND, 0), _LAST_SECOND),
        seen.st_size,
    )


def _state(seen: os.stat_result) -> str:
    """What changes when a file does. A clock that stands still while a file is written twice is waited for."""
    # The time of the last change of anything (ctime) cannot be set back, that of the contents can.
    latest = max(seen.st_mtime_ns, seen.st_ctime_ns)
    grain = 2 * _SECOND if seen.st_mtime_ns % _SECOND == 0 else _SECOND // 20
    is_fresh = 0 <= time.time_ns() - latest < grain
    return f"{seen.st_mtime_ns}-{seen.st_ctime_ns}-{seen.st_size}-{seen.st_ino}{'?' if is_fresh else ''}"
