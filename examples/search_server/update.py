"""One look at the folders: what is new, changed or gone goes into the index, and what cannot be is said."""

import logging
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import NamedTuple

from search_server.drafts import Draft, draft
from search_server.folders import LARGEST, File, Folder, ReadError, Reason, files
from search_server.index import Index
from search_server.store import is_broken, name_of

_LOG = logging.getLogger("search_server")
_AT_ONCE, _CHARACTERS_AT_ONCE = 100, 2_000_000


class Gap(NamedTuple):
    """What an answer may lack, or have as it was: how many documents of a folder, why, and the path of one of them."""

    folder: str
    reason: Reason
    documents: int | None = None
    example: str | None = None


@dataclass(slots=True)
class Update:
    """Folders, and the index that is brought up to date with them.

    Args:
        folders: The folders.
        index: The index.
        tell: Is called whenever some documents were read.
        left: How many documents of each folder are still to be read; counts down meanwhile.
        refused: Files that nothing can be made of in the state that they have, from one look to the next.
        looking: Seconds that it took to see which files there are.
    """

    folders: Sequence[Folder]
    index: Index
    tell: Callable[[int, int], None]
    left: Counter[str] = field(default_factory=Counter)
    refused: dict[str, tuple[str, Reason]] = field(default_factory=dict)
    looking: float = 0.0
    _gaps: dict[str, Reason] = field(default_factory=dict)
    _out_of_sight: list[str] = field(default_factory=list)

    def run(self) -> list[Gap]:
        """What is missing in the index after it. What cannot be read stays in it as it was."""
        try:
            return self._brought_up_to_date()
        except sqlite3.Error as error:
            if not is_broken(error):
                return self._unwritten(error)
        try:  # An index that turns out to be broken has been begun anew.
            return self._brought_up_to_date()
        except sqlite3.Error as error:
            return self._unwritten(error)

    def _brought_up_to_date(self) -> list[Gap]:
        self._gaps.clear()
        self._out_of_sight.clear()
        self.left.clear()
        began = monotonic()
        seen = {file.identity: file for folder in self.folders for file in self._files(folder)}
        self.looking = monotonic() - began
        known = self.index.known()
        changed = [file for name, file in seen.items() if name not in known or known[name].state != file.state]
        gone = [name for name in known if name not in seen and not name.startswith(tuple(self._out_of_sight))]
        self.left.update(file.folder.label for file in changed)
        for start in range(0, len(gone), _AT_ONCE):
            self.index.write([], gone[start : start + _AT_ONCE])
        for batch in self._batches(changed):
            self._write(batch)
            self.tell(len(batch), len(changed))
        self.left.clear()
        return list(self._told())

    def _write(self, batch: Sequence[Draft]) -> None:
        """Put documents into the index; where there is no room for all of them, those that come first."""
        try:
            self.index.write(batch)
        except sqlite3.Error as error:
            if len(batch) == 1 or is_broken(error):
                raise
            for each in batch:
                self.index.write([each])

    def _files(self, folder: Folder) -> Iterator[File]:
        try:
            yield from files(folder, self._pass_by)
        except ReadError as error:
            self._pass_by(folder.label, error.reason)

    def _pass_by(self, identity: str, reason: Reason) -> None:
        """Documents that cannot be seen are not gone: they stay."""
        self._gaps[identity] = reason
        self._out_of_sight.append(f"{identity.removesuffix('/')}/")

    def _batches(self, changed: Iterable[File]) -> Iterator[list[Draft]]:
        batch: list[Draft] = []
        size = 0
        for file in changed:
            if read := self._draft(file):
                batch.append(read)
                size += read.length
            if len(batch) >= _AT_ONCE or size >= _CHARACTERS_AT_ONCE:
                yield batch
                batch, size = [], 0
            self.left[file.folder.label] -= 1
        if batch:
            yield batch

    def _draft(self, file: File) -> Draft | None:
        """A document, unless it cannot be read. What would fail again is not read again."""
        state: str
        reason: Reason
        state, reason = self.refused.get(file.identity, ("", "unreadable"))
        if state != file.state:
            try:
                return self._read(file)
            except ReadError as error:
                reason = error.reason
            except Exception as error:  # One document must not silence the others.
                _LOG.warning("a document cannot be read: %s", type(error).__name__)
                self.refused[file.identity] = file.state, "unreadable"
        self._gaps[file.identity] = reason
        return None

    def _read(self, file: File) -> Draft:
        if file.size > LARGEST:
            raise ReadError("too_large")
        try:
            return draft(file)
        except ReadError as error:
            if error.reason == "binary":
                self.refused[file.identity] = file.state, "binary"
            raise

    def _told(self) -> Iterator[Gap]:
        """What was passed by, a folder and a reason at a time."""
        kinds: dict[tuple[str, Reason], list[str]] = {}
        for identity, reason in self._gaps.items():
            kinds.setdefault((identity.partition("/")[0], reason), []).append(identity)
        for (folder, reason), names in kinds.items():
            inner = sorted(name for name in names if "/" in name)
            # Nobody knows how many documents are in a folder that cannot be looked into.
            count = None if any(name.endswith("/") for name in inner) else len(inner)
            yield Gap(folder, reason, count or None, _shown(inner[0]) if inner else None)

    def _unwritten(self, error: sqlite3.Error) -> list[Gap]:
        _LOG.warning("the index cannot be written (%s)", name_of(error))
        reason: Reason = "index_full" if name_of(error) == "SQLITE_FULL" else "index_failed"
        missing = [Gap(folder.label, reason, self.left[folder.label] or None) for folder in self.folders]
        self.left.clear()
        return [*self._told(), *missing]


def _shown(identity: str) -> str:
    return identity.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
