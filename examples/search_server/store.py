"""The database file of an index: made, recognised, and replaced where it is broken.

An index is a copy of what is in the documents, so nothing is lost with one. It is one process's own: a second server
that is given the same file keeps an index of its own, in a temporary file that ends with it. A file that is no index is
never touched.
"""

import logging
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from search_server.words import RULES

_LOG = logging.getLogger("search_server")
_APPLICATION = 0x6D637073
_HEADER, _MAGIC = 100, b"SQLite format 3\0"
_SCHEMA = """
CREATE TABLE about(rules TEXT NOT NULL);
CREATE TABLE documents(
    id INTEGER PRIMARY KEY, identity BLOB NOT NULL UNIQUE, folder TEXT NOT NULL, path TEXT NOT NULL,
    state TEXT NOT NULL, title TEXT NOT NULL, format TEXT NOT NULL, changed INTEGER NOT NULL,
    length INTEGER NOT NULL, undecodable INTEGER NOT NULL
);
CREATE TABLE passages(id INTEGER PRIMARY KEY, heading TEXT, text TEXT NOT NULL, is_front INTEGER NOT NULL);
CREATE VIRTUAL TABLE words USING fts5(title, path, body, content='', tokenize='ascii');
CREATE VIRTUAL TABLE spots USING fts5(body, content='', detail=none, tokenize='ascii');
"""
_BROKEN = frozenset({"SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_FORMAT", "SQLITE_SCHEMA", "SQLITE_ERROR"})


class ForeignFileError(Exception):
    """The file is something else than an index."""


def open_database(path: Path | None, *, most_pages: int | None = None) -> sqlite3.Connection:
    """The database in a file, or a temporary one without a file and where that cannot be used.

    Raises:
        ForeignFileError: The file is something else.
    """
    if path is None:
        return _made(_connect("", most_pages))
    if not is_usable(path):
        raise ForeignFileError
    for _ in range(2):
        try:
            return _opened(path, most_pages)
        except sqlite3.Error as error:
            if not is_broken(error):
                _LOG.warning("the index file cannot be used (%s); a temporary one is", name_of(error))
                break
            discard(path)
    return _made(_connect("", most_pages))


def has_fts5() -> bool:
    """Whether the SQLite of this Python can search texts; nearly all can."""
    with closing(_connect("", None)) as connection:
        try:
            connection.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
        except sqlite3.OperationalError:
            return False
        return True


def is_usable(path: Path) -> bool:
    """Whether an index may be kept at a path: nothing is there, or one of our own."""
    if not path.is_file():  # A pipe would never be read to its end.
        return not path.exists()
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER)
    except OSError:
        return False
    is_ours = header.startswith(_MAGIC) and int.from_bytes(header[68:72]) == _APPLICATION
    return is_ours or not header


def discard(path: Path) -> None:
    """Delete an index."""
    for name in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm", "-journal"))):
        with suppress(OSError):
            name.unlink()


def is_broken(error: sqlite3.Error) -> bool:
    """Whether the database has to be made anew."""
    return name_of(error) in _BROKEN or name_of(error).startswith("SQLITE_CORRUPT")


def name_of(error: sqlite3.Error) -> str:
    """The name that SQLite has for an error."""
    return str(getattr(error, "sqlite_errorname", "SQLITE_ERROR"))


def _opened(path: Path, most_pages: int | None) -> sqlite3.Connection:
    connection = _connect(str(path), most_pages)
    try:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN IMMEDIATE")
        is_new = not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
        connection.execute("COMMIT")
        if is_new:
            _made(connection)
        else:
            _require_sound(connection)
        # After it is known to be ours, which its first page says: that is no longer written at once from here on.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException as error:
        connection.close()
        if isinstance(error, UnicodeError):  # What SQLite says of damage may quote it.
            raise sqlite3.DatabaseError("it is damaged") from error
        raise
    return connection


def _require_sound(connection: sqlite3.Connection) -> None:
    if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
        raise sqlite3.DatabaseError("it is damaged")
    if connection.execute("SELECT rules FROM about").fetchone() != (RULES,):
        raise sqlite3.DatabaseError("made by other rules")


def _connect(name: str, most_pages: int | None) -> sqlite3.Connection:
    connection = sqlite3.connect(name, timeout=0, isolation_level=None, check_same_thread=False)
    if most_pages:
        connection.execute(f"PRAGMA max_page_count = {most_pages:d}")
    return connection


def _made(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
    connection.executescript(f"BEGIN; {_SCHEMA} COMMIT;")
    connection.execute("INSERT INTO about VALUES (?)", (RULES,))
    return connection
