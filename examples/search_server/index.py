"""The index of all documents: what is in it, and what it finds.

Words are made by `words.py` and reach SQLite with spaces between them, so its own tokenizer, case folding and query
syntax decide nothing. `words` has a row a document, which answers what is found and how well; `spots` has a row a
passage, and says where in a document to look. Both hold no text of their own.
"""

import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from mcpshape import UserError
from search_server.drafts import Draft
from search_server.excerpts import excerpt
from search_server.extracts import Format
from search_server.query import Query
from search_server.store import discard, is_broken, open_database
from search_server.words import words_of

_STEPS = 1000
# What damaged rows of a database that is sound otherwise are noticed by.
_DAMAGES = (TypeError, UnicodeError)
_SHIFT = 20
# A word in a title counts as much as eight in the text, one in a path as much as three.
_MATCHES = """
WITH found AS MATERIALIZED (SELECT rowid AS id, bm25(words, 8.0, 3.0, 1.0) AS rank FROM words WHERE words MATCH :match)
SELECT count(*) OVER () AS total, id, identity, path, title, rank FROM found JOIN documents USING (id)
WHERE folder = coalesce(:folder, folder) ORDER BY rank, identity LIMIT :limit
"""
_DOCUMENT = "SELECT path, title, format, changed, length, undecodable FROM documents WHERE id = ?"
_PASSAGES = "SELECT heading, text FROM passages WHERE id BETWEEN ? AND ?"
_ADD = """
INSERT INTO documents(identity, folder, path, state, title, format, changed, length, undecodable)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_SPOT = """
SELECT text FROM spots JOIN passages ON passages.id = spots.rowid
WHERE spots MATCH ? AND spots.rowid BETWEEN ? AND ? AND NOT is_front ORDER BY spots.rowid LIMIT 1
"""
_BEGINNING = "SELECT text FROM passages WHERE id BETWEEN ? AND ? ORDER BY is_front, id LIMIT 1"
_SLOW = "Searching for that takes too long."
_NARROW = "Ask for fewer words, or for longer ones; a prefix should have three letters or more."


class Known(NamedTuple):
    """A document in the index, and the state of its file when that was read."""

    id: int
    state: str


class Match(NamedTuple):
    """A document that was found, and how well it fits beside the best one, which has the score 1."""

    identity: str
    path: str
    title: str
    excerpt: str | None
    score: float


class Matches(NamedTuple):
    """The best of what was found, and how many documents were."""

    total: int
    best: list[Match]


@dataclass(frozen=True, slots=True)
class Document:
    """A document as it is in the index: its passages are pairs of heading and text."""

    identity: str
    passages: list[tuple[str | None, str]]
    path: str
    title: str
    format: Format
    changed: int
    length: int
    undecodable: int


class Index:
    """An index in a file, or in a temporary one. Any thread may use it; one at a time does.

    Args:
        path: Where it is kept from one start to the next.
        most_pages: How many pages of 4 KB it may have; what does not fit makes an update fail, as a full disk does.
        slow_after: Seconds after which a search is given up.

    Raises:
        ForeignFileError: The file is something else.
    """

    def __init__(self, path: Path | None = None, *, most_pages: int | None = None, slow_after: float = 5.0) -> None:
        self._path, self._most_pages, self._slow_after = path, most_pages, slow_after
        self._lock = threading.RLock()
        self._known: dict[str, Known] = {}
        self._open()

    def known(self) -> Mapping[str, Known]:
        """All documents in it."""
        return self._known

    def write(self, drafts: Sequence[Draft], gone: Sequence[str] = ()) -> None:
        """Put documents in place of what it had of them, and take others out: all of it or nothing.

        Raises:
            sqlite3.Error: It cannot be written.
        """
        with self._reading():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                for identity in [*gone, *(each.file.identity for each in drafts)]:
                    if known := self._known.get(identity):
                        self._delete(known.id)
                added = {each.file.identity: Known(self._insert(each), each.state) for each in drafts}
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # SQLite has rolled back by itself where the disk is full.
                    self._connection.execute("ROLLBACK")
                raise
            self._known = {name: each for name, each in self._known.items() if name not in set(gone)} | added

    def search(self, query: Query, limit: int, folder: str | None = None) -> Matches:
        """The documents that a question asks for, the best first.

        Raises:
            UserError: That would take too long.
            sqlite3.Error: It cannot be read.
        """
        with self._reading(), self._bounded():
            asked = {"match": query.match, "folder": folder, "limit": limit}
            rows = self._connection.execute(_MATCHES, asked).fetchall()
            best = [
                Match(os.fsdecode(identity), path, title, self._excerpt(number, query), _score(rank, rows[0][-1]))
                for _, number, identity, path, title, rank in rows
            ]
            return Matches(rows[0][0] if rows else 0, best)

    def document(self, identity: str) -> Document | None:
        """A document with all of its text, if it is there.

        Raises:
            sqlite3.Error: It cannot be read.
        """
        with self._reading():
            known = self._known.get(identity)
            if known is None:
                return None
            rows = self._connection.execute(_PASSAGES, _span(known.id)).fetchall()
            return Document(identity, rows, *self._connection.execute(_DOCUMENT, (known.id,)).fetchone())

    def restart(self) -> None:
        """Begin with an empty index, in place of one that is broken."""
        with self._lock:
            self._finalizer()
            if self._path:
                discard(self._path)
            self._open()

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._finalizer()

    def _open(self) -> None:
        """Open the database, or a new one in place of one whose rows cannot be read."""
        for is_last in (False, True):
            self._connection = open_database(self._path, most_pages=self._most_pages)
            self._finalizer = weakref.finalize(self, self._connection.close)
            try:
                rows = self._connection.execute("SELECT identity, id, state FROM documents")
                self._known = {os.fsdecode(identity): Known(number, state) for identity, number, state in rows}
            except (sqlite3.Error, *_DAMAGES):
                self._finalizer()
                if is_last or self._path is None:
                    raise
                discard(self._path)
            else:
                return

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """The index to oneself. One that turns out to be broken is begun anew, for the next look to fill."""
        with self._lock:
            try:
                yield
            except _DAMAGES as error:
                self.restart()
                raise sqlite3.DatabaseError("a row is damaged") from error
            except sqlite3.DatabaseError as error:
                if is_broken(error):
                    self.restart()
                raise

    @contextmanager
    def _bounded(self) -> Iterator[None]:
        until = monotonic() + self._slow_after
        self._connection.set_progress_handler(lambda: monotonic() > until, _STEPS)
        try:
            yield
        except sqlite3.OperationalError as error:
            if monotonic() > until:
                raise UserError(_SLOW, code="too_slow", hint=_NARROW) from error
            raise
        finally:
            self._connection.set_progress_handler(None, 0)

    def _excerpt(self, number: int, query: Query) -> str | None:
        for spots in query.spots:
            if row := self._connection.execute(_SPOT, (spots, *_span(number))).fetchone():
                return excerpt(row[0], query)
        row = self._connection.execute(_BEGINNING, _span(number)).fetchone()
        return excerpt(row[0]) if row else None

    def _insert(self, draft: Draft) -> int:
        file, run = draft.file, self._connection.execute
        row = (os.fsencode(file.identity), file.folder.label, file.path, draft.state, draft.title, file.format)
        numbers = (file.changed, draft.length, draft.undecodable)
        number = int(run(_ADD, (*row, *numbers)).lastrowid or 0)
        first, _ = _span(number)
        passages = [(place, *each) for place, each in enumerate(draft.passages, first)]
        many = self._connection.executemany
        rows = ((place, heading, text, is_front) for place, heading, text, _, is_front in passages)
        many("INSERT INTO passages VALUES (?, ?, ?, ?)", rows)
        many("INSERT INTO spots(rowid, body) VALUES (?, ?)", ((place, words) for place, _, _, words, _ in passages))
        body = " ".join(each.words for each in draft.passages)
        values = (number, _joined(draft.title), _joined(file.path), body)
        run("INSERT INTO words(rowid, title, path, body) VALUES (?, ?, ?, ?)", values)
        return number

    def _delete(self, number: int) -> None:
        """Take a document out; an index without text of its own has to be told what it was."""
        run, span = self._connection.execute, _span(number)
        title, path = run("SELECT title, path FROM documents WHERE id = ?", (number,)).fetchone()
        rows = run("SELECT id, text FROM passages WHERE id BETWEEN ? AND ?", span).fetchall()
        spots = [(place, _joined(text)) for place, text in rows]
        self._connection.executemany("INSERT INTO spots(spots, rowid, body) VALUES ('delete', ?, ?)", spots)
        values = (number, _joined(title), _joined(path), " ".join(words for _, words in spots))
        run("INSERT INTO words(words, rowid, title, path, body) VALUES ('delete', ?, ?, ?, ?)", values)
        run("DELETE FROM passages WHERE id BETWEEN ? AND ?", span)
        run("DELETE FROM documents WHERE id = ?", (number,))


def _span(number: int) -> tuple[int, int]:
    """The ids of the passages that a document may have."""
    return number << _SHIFT, ((number + 1) << _SHIFT) - 1


def _score(rank: float, best: float) -> float:
    """How well a document fits beside the best one, which has 1: bm25 by itself is no number that says anything."""
    return max(round(rank / best, 3), 0.001) if best else 1.0


def _joined(text: str) -> str:
    return " ".join(words_of(text))
