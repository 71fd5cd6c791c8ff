"""The pulled side: apps with their versions, and the texts that App Store Connect has for them."""

import re
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from mcpshape import UserError
from releases_server.fields import Field, Owner
from releases_server.index import opened
from releases_server.states import UNKNOWN, Phase, is_editable, is_ended, is_removed, make_phase, told_state
from releases_server.store import Generation, damaged

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Texts:
    """What App Store Connect has: values by locale, `None` for what is not localized, and name of field.

    `read` names the localized kinds that were pulled, where a value that is not there is known not to be there.
    """

    values: Mapping[tuple[str | None, str], str | None]
    read: frozenset[Owner]

    @property
    def locales(self) -> list[str]:
        """The locales that have a page."""
        return sorted({locale for locale, _ in self.values if locale})

    def knows(self, locale: str | None, field: Field) -> bool:
        """Whether it was pulled what a field holds."""
        return (locale, field.name) in self.values or (field.is_localized and field.owner in self.read)

    def of(self, locale: str | None, field: Field) -> str | None:
        """The value of a field; unset and empty are one."""
        return self.values.get((locale, field.name)) or None


@dataclass(frozen=True, slots=True)
class Version:
    """A version of an app on one platform."""

    id: str
    platform: str | None
    number: str | None
    state: str | None
    created: str | None
    scheduled: str | None
    phase: Phase | None
    is_removed: bool

    @property
    def is_editable(self) -> bool:
        """Whether texts can be uploaded to it."""
        return is_editable(self.state)

    @property
    def is_ended(self) -> bool:
        """Whether another version has taken its place."""
        return is_ended(self.state)


@dataclass(frozen=True, slots=True)
class Info:
    """The part of an app's store page that all its platforms and versions share; there are one or two."""

    id: str
    state: str | None


@dataclass(frozen=True, slots=True)
class App:
    """An app, its versions newest first."""

    id: str
    name: str | None
    bundle_id: str | None
    versions: tuple[Version, ...]
    infos: tuple[Info, ...]


@dataclass(frozen=True, slots=True)
class Account:
    """When and for whom it was pulled; null where nothing says so."""

    issuer_id: str | None = None
    pulled_at: str | None = None


class Holder(Protocol):
    """Something with a generation in force, such as a store."""

    def current(self) -> Generation | None:
        """The generation in force, if there is one."""
        ...


@dataclass(frozen=True, slots=True)
class Pinned:
    """A generation that stays in force, whatever is pulled meanwhile; or none."""

    generation: Generation | None = None

    def current(self) -> Generation | None:
        return self.generation


@dataclass(frozen=True, slots=True)
class Pulled:
    """What was pulled. Each method looks at what is in force when it is called."""

    holder: Holder
    is_index_kept: bool = True

    def pinned(self) -> "Pulled":
        """What is in force now, for several looks that have to fit together.

        Raises:
            UserError: The store is damaged.
        """
        return replace(self, holder=Pinned(self.holder.current()))

    def account(self) -> Account:
        """Whose apps they are.

        Raises:
            UserError: The store is damaged.
        """
        generation = self.holder.current()
        about = generation.about() if generation else {}
        said = (about.get("issuer_id"), about.get("pulled_at"))
        return Account(*(each if isinstance(each, str) else None for each in said))

    def apps(self) -> list[App]:
        """All apps, by name; none where nothing was pulled yet.

        Raises:
            UserError: The store is damaged.
        """
        return self._ask(_apps) or []

    def texts(self, version: Version | None, info: Info | None) -> Texts:
        """What App Store Connect has for a version and for the information of its app.

        Raises:
            UserError: The store is damaged.
        """
        owners: dict[Owner, str] = {}
        if version:
            owners["version_text"] = version.id
        if info:
            owners["info_text"] = info.id
        return self._ask(lambda connection: _texts(connection, owners)) or Texts({}, frozenset())

    def _ask(self, question: Callable[[sqlite3.Connection], Found]) -> Found | None:
        """An answer of the index, which is made in memory where the one on the disk fails."""
        generation = self.holder.current()
        if generation is None:
            return None
        try:
            return self._asked(generation, question, is_kept=self.is_index_kept)
        except sqlite3.Error:
            return self._asked_again(question)
        except UserError:
            if self.holder.current() == generation:
                raise
            return self._asked_again(question)  # A pull that ended meanwhile put another one in its place.

    def _asked_again(self, question: Callable[[sqlite3.Connection], Found]) -> Found:
        generation = self.holder.current()
        if generation is None:
            raise damaged()
        try:
            return self._asked(generation, question, is_kept=False)
        except sqlite3.Error as error:
            raise damaged() from error

    @staticmethod
    def _asked(generation: Generation, question: Callable[[sqlite3.Connection], Found], *, is_kept: bool) -> Found:
        with opened(generation, is_kept=is_kept) as connection:
            return question(connection)


def number_key(number: str | None) -> tuple[tuple[int, int, str], ...]:
    """What versions are sorted by: 2.10 comes after 2.9, and 2.4 is 2.4.0."""
    parts = re.findall(r"[0-9]+|[^0-9.]+", number or "")
    keys = [(1, int(each[:18]), "") if each.isdigit() else (0, 0, each) for each in parts]
    while keys and keys[-1] == (1, 0, ""):
        keys.pop()
    return tuple(keys)


def _apps(connection: sqlite3.Connection) -> list[App]:
    versions: dict[str, list[Version]] = {}
    infos: dict[str, list[Info]] = {}
    rows = connection.execute(
        "SELECT app, versions.id, platform, number, versions.state, store_state, created, scheduled, is_phase_known, "
        "phase, phases.state, day, paused_days, since FROM versions LEFT JOIN phases ON phases.id = phase"
    )
    for app, *row in rows:
        versions.setdefault(app, []).append(_version(row))
    for identity, app, state in connection.execute("SELECT id, app, state FROM infos ORDER BY rowid"):
        infos.setdefault(app, []).append(Info(identity, told_state(state)))
    found = connection.execute("SELECT id, name, bundle_id FROM apps ORDER BY name COLLATE NOCASE, id")
    return [
        App(identity, name, bundle_id, _sorted(versions.get(identity, [])), tuple(infos.get(identity, [])))
        for identity, name, bundle_id in found
    ]


def _version(row: list[Any]) -> Version:
    identity, platform, number, state, store_state, created, scheduled, is_known, phase, *phased = row
    return Version(
        id=identity,
        platform=platform,
        number=number,
        state=told_state(state or store_state),
        created=created,
        scheduled=scheduled,
        phase=_phase(phase, phased, is_known=bool(is_known)),
        is_removed=is_removed([state, store_state]),
    )


def _phase(identity: str | None, row: list[Any], *, is_known: bool) -> Phase | None:
    if identity is None:
        return None if is_known else UNKNOWN
    state, day, paused_days, since = row
    return make_phase(state, day=day, paused_days=paused_days, since=since)


def _sorted(versions: list[Version]) -> tuple[Version, ...]:
    newest = sorted(versions, key=lambda each: (number_key(each.number), each.created or ""), reverse=True)
    return tuple(sorted(newest, key=lambda each: each.platform or ""))


def _texts(connection: sqlite3.Connection, owners: Mapping[Owner, str]) -> Texts:
    found: dict[tuple[str | None, str], str | None] = {}
    read: set[Owner] = set()
    for kind, owner in owners.items():
        rows = connection.execute("SELECT locale, field, value FROM texts WHERE owner = ?", (owner,))
        found |= {(locale or None, field): value for locale, field, value in rows}
        if connection.execute("SELECT 1 FROM read WHERE owner = ?", (owner,)).fetchone():
            read.add(kind)
    return Texts(found, frozenset(read))
