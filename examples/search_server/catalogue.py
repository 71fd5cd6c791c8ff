"""Folders with an index of them, which is kept like they are."""

import logging
import sqlite3
import threading
from collections.abc import Callable, Sequence
from time import monotonic
from typing import TypeVar

from mcpshape import UserError
from search_server.folders import Folder
from search_server.index import Document, Index, Matches
from search_server.query import parse
from search_server.store import is_broken, name_of
from search_server.update import Gap, Update

_LOG = logging.getLogger("search_server")
# Looking takes a small part of the time, however many files there are.
_REST, _LONGEST_REST = 20, 60.0
_AFTER_FAILURE = 10.0
_FAILURES = frozenset({"index_full", "index_failed"})
_Answer = TypeVar("_Answer")


class Catalogue:
    """Folders, and an index of them. Each question looks at the folders, at most every so many seconds.

    A question waits for what is new so long as there is patience; then it is answered from what is there, and `gaps`
    says how much is still to be read.

    Args:
        folders: The folders, each with a label of its own.
        index: What was found in them.
        every: Seconds after which they are looked at again; it is longer where looking takes long.
        patience: Seconds that a question waits; `None` for as long as it takes.
        tell: Is called whenever some documents were read.
    """

    def __init__(
        self,
        folders: Sequence[Folder],
        index: Index,
        *,
        every: float = 1.0,
        patience: float | None = 10.0,
        tell: Callable[[int, int], None] = lambda _done, _total: None,
    ) -> None:
        self.folders, self.index = folders, index
        self._every, self._patience = every, patience
        self._update = Update(folders, index, tell)
        self._guard, self._due = threading.Lock(), 0.0
        self._worker: threading.Thread | None = None
        self._gaps: list[Gap] = []

    def begin(self) -> threading.Thread | None:
        """Look at the folders if it is time to, beside whatever else is done; the thread that does."""
        with self._guard:
            is_idle = self._worker is None or not self._worker.is_alive()
            if is_idle and monotonic() >= self._due:
                self._worker = threading.Thread(target=self._run, name="search_server", daemon=True)
                self._worker.start()
            return self._worker

    def look(self) -> None:
        """Look at the folders if it is time to; return when all is read, or when patience is at its end."""
        if worker := self.begin():
            worker.join(self._patience)

    def search(self, text: str, limit: int, folder: str | None = None) -> Matches:
        """The documents that a question asks for.

        Raises:
            UserError: It asks for nothing, for too much, or in a folder that is none.
        """
        query, labels = parse(text), [each.label for each in self.folders]
        if folder is not None and folder not in labels:
            hint = f"Ask for one of {', '.join(labels)}, or leave folder out."
            raise UserError("There is no such folder.", code="no_folder", hint=hint)
        return self._asked(lambda: self.index.search(query, limit, folder))

    def document(self, identity: str) -> Document:
        """A document with all of its text.

        Raises:
            UserError: It is gone.
        """
        found = self._asked(lambda: self.index.document(identity))
        if found is None:
            raise UserError("The document is gone.", code="gone", hint="Search again for what there is now.")
        return found

    def identities(self) -> list[str]:
        """All documents that can be asked for."""
        self.look()
        return list(self.index.known())

    def gaps(self) -> list[Gap]:
        """What is missing now, or older than its file."""
        left = dict(self._update.left)
        return [*self._gaps, *(Gap(folder, "not_yet_read", count) for folder, count in left.items() if count > 0)]

    def _asked(self, ask: Callable[[], _Answer]) -> _Answer:
        """An answer; where the index turns out to be broken, that of the one that is made in its place."""
        self.look()
        try:
            return ask()
        except sqlite3.Error as error:
            _LOG.warning("the index cannot be read (%s)", name_of(error))
            if not is_broken(error):
                raise _unanswered() from error
        self._due = 0.0
        self.look()
        try:
            return ask()
        except sqlite3.Error as error:
            raise _unanswered() from error

    def _run(self) -> None:
        rest = _AFTER_FAILURE
        try:
            self._gaps = self._update.run()
            if not any(gap.reason in _FAILURES for gap in self._gaps):
                rest = min(max(self._every, _REST * self._update.looking), _LONGEST_REST) if self._every else 0.0
        except Exception:  # What it fails for has to be told, in the answers and in the log.
            _LOG.exception("the folders cannot be looked at")
            self._gaps = [Gap(folder.label, "index_failed") for folder in self.folders]
        finally:
            self._due = monotonic() + rest


def _unanswered() -> UserError:
    return UserError(
        "The index cannot be read now.",
        code="index_failed",
        hint="Try again in a moment; if that fails, tell the user.",
    )
