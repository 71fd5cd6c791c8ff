"""An index of what was pulled, in SQLite: made from the answers, and made anew whenever it does not fit them."""

import secrets
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from releases_server import answers
from releases_server.answers import Resource
from releases_server.fields import FIELDS, Owner
from releases_server.store import Document, Generation

_NAME = "index.sqlite"
_VERSION = "2"
_SCHEMA = """
CREATE TABLE about (fits TEXT);
CREATE TABLE apps (id TEXT PRIMARY KEY, name TEXT, bundle_id TEXT);
CREATE TABLE versions (
    id TEXT PRIMARY KEY, app TEXT, platform TEXT, number TEXT, state TEXT, store_state TEXT, created TEXT,
    scheduled TEXT, phase TEXT, is_phase_known INTEGER
);
CREATE INDEX versions_of ON versions (app);
CREATE TABLE phases (id TEXT PRIMARY KEY, state TEXT, day INTEGER, paused_days INTEGER, since TEXT);
CREATE TABLE infos (id TEXT PRIMARY KEY, app TEXT, state TEXT);
CREATE INDEX infos_of ON infos (app);
CREATE TABLE texts (owner TEXT, locale TEXT, field TEXT, value TEXT, PRIMARY KEY (owner, locale, field));
CREATE TABLE read (owner TEXT PRIMARY KEY);
"""


@contextmanager
def opened(generation: Generation, *, is_kept: bool) -> Iterator[sqlite3.Connection]:
    """The index of a generation, kept beside it or made for the moment. Where it cannot be kept, it is not.

    Raises:
        UserError: What it is made from is damaged.
    """
    state = f"{_VERSION} {generation.state()}"
    connection = _kept(generation, state) if is_kept else None
    with closing(connection or _made(":memory:", generation, state)) as found:
        yield found


def _kept(generation: Generation, state: str) -> sqlite3.Connection | None:
    path = generation.folder / _NAME
    if found := _fitting(path, state):
        return found
    fresh = path.with_name(f"{_NAME}.{secrets.token_hex(8)}")
    try:
        _made(fresh, generation, state).close()
        fresh.replace(path)
    except (OSError, sqlite3.Error):
        return None
    finally:
        with suppress(OSError):
            fresh.unlink()
    return _fitting(path, state)


def _fitting(path: Path, state: str) -> sqlite3.Connection | None:
    """The index in a file, if it is whole and was made from what is there now."""
    connection = None
    try:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
        fits = connection.execute("SELECT fits FROM about").fetchone()
    except (sqlite3.Error, OSError):
        fits = None
    if fits == (state,):
        return connection
    if connection:
        connection.close()
    return None


def _made(path: Path | str, generation: Generation, state: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    try:
        with connection:
            connection.executescript(_SCHEMA)
            connection.execute("INSERT INTO about VALUES (?)", (state,))
            # Apps and their versions go first; the phased release of a version has its row to go to.
            for document in sorted(generation.documents(), key=lambda each: each.path[:2] != ("v1", "apps")):
                _take(connection, document)
    except BaseException:
        connection.close()
        raise
    return connection


def _take(connection: sqlite3.Connection, document: Document) -> None:
    match document.path:
        case ("v1", "apps"):
            rows = [
                (each["id"], answers.text(each, "name"), answers.text(each, "bundleId"))
                for each in answers.resources(document.read(), "apps")
            ]
            connection.executemany("INSERT OR REPLACE INTO apps VALUES (?, ?, ?)", rows)
        case ("v1", "apps", app, "appStoreVersions"):
            _take_versions(connection, app, document)
        case ("v1", "apps", app, "appInfos"):
            for each in answers.resources(document.read(), "appInfos"):
                state = answers.text(each, "state") or answers.text(each, "appStoreState")
                connection.execute("INSERT OR REPLACE INTO infos VALUES (?, ?, ?)", (each["id"], app, state))
                _take_categories(connection, each)
        case ("v1", "appStoreVersions", version, "appStoreVersionPhasedRelease"):
            found = [*answers.resources(document.read(), "appStoreVersionPhasedReleases")]
            _take_phases(connection, found)
            told = (found[0]["id"] if found else None, version)
            connection.execute("UPDATE versions SET is_phase_known = 1, phase = ? WHERE id = ?", told)
        case ("v1", "appStoreVersions", owner, "appStoreVersionLocalizations"):
            _take_texts(connection, owner, "version_text", "appStoreVersionLocalizations", document)
        case ("v1", "appInfos", owner, "appInfoLocalizations"):
            _take_texts(connection, owner, "info_text", "appInfoLocalizations", document)
        case _:
            pass


def _take_versions(connection: sqlite3.Connection, app: str, document: Document) -> None:
    answer = document.read()
    _take_phases(connection, answers.resources(answer, "appStoreVersionPhasedReleases", among="included"))
    for each in answers.resources(answer, "appStoreVersions"):
        is_known, phase = answers.related(each, "appStoreVersionPhasedRelease")
        names = ("platform", "versionString", "appVersionState", "appStoreState", "createdDate", "earliestReleaseDate")
        row = (each["id"], app, *(answers.text(each, name) for name in names), phase, is_known)
        connection.execute("INSERT OR REPLACE INTO versions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        _take_fields(connection, each, each["id"], "", "version")


def _take_phases(connection: sqlite3.Connection, found: Iterable[Resource]) -> None:
    for each in found:
        row = (
            each["id"],
            answers.text(each, "phasedReleaseState"),
            answers.number(each, "currentDayNumber"),
            answers.number(each, "totalPauseDuration"),
            answers.text(each, "startDate"),
        )
        connection.execute("INSERT OR REPLACE INTO phases VALUES (?, ?, ?, ?, ?)", row)


def _take_categories(connection: sqlite3.Connection, info: Resource) -> None:
    for field in (each for each in FIELDS if each.owner == "info"):
        is_known, category = answers.related(info, field.attribute)
        if is_known:
            row = (info["id"], "", field.name, category)
            connection.execute("INSERT OR REPLACE INTO texts VALUES (?, ?, ?, ?)", row)


def _take_texts(connection: sqlite3.Connection, owner: str, kind: Owner, resource: str, document: Document) -> None:
    connection.execute("INSERT OR REPLACE INTO read VALUES (?)", (owner,))
    for each in answers.resources(document.read(), resource):
        if locale := answers.text(each, "locale"):
            _take_fields(connection, each, owner, locale, kind)


def _take_fields(connection: sqlite3.Connection, resource: Resource, owner: str, locale: str, kind: Owner) -> None:
    rows = [(owner, locale, each.name, answers.text(resource, each.attribute)) for each in FIELDS if each.owner == kind]
    connection.executemany("INSERT OR REPLACE INTO texts VALUES (?, ?, ?, ?)", rows)
