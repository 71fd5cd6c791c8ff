"""The drafts of an app: what stands in a metadata folder of fastlane deliver, and what of it deliver does not read."""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from mcpshape import UserError
from releases_server.fields import FIELDS, suggest_file
from releases_server.files import SECRETS, Metadata, Trouble, UnreadableError
from releases_server.locales import locale_of, suggest_locale

State = Literal["text", "empty", "default", "absent", "unreadable"]
"""What a file says: a text; nothing, so that deliver skips it; the text of the folder `default`, having none itself."""

Reason = Literal["no_locale", "same_locale", "google_play", "no_such_field", "and_more"] | Trouble
"""Why deliver, or this server, does not read something that is in the folder."""

_DEFAULT = "default"
# deliver knows these folders and looks for no texts in them; nothing is to be said of them.
_OTHER = frozenset({"appletv", "imessage", "fonts"}) | SECRETS
_MOST_IGNORED = 50

Key = tuple[str | None, str]
"""A locale, or none for what is not localized, and the name of a field."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What a metadata folder has for a field; `text` is there in the states `text` and `default`."""

    state: State
    text: str | None = None


ABSENT = Draft("absent")


@dataclass(frozen=True, slots=True)
class Ignored:
    """A file or folder that is not read. `instead` is the name that it should probably have."""

    name: str | None
    reason: Reason
    instead: str | None = None


@dataclass(frozen=True, slots=True)
class Drafts:
    """All that a metadata folder says."""

    texts: Mapping[Key, Draft] = field(default_factory=dict)
    locales: tuple[str, ...] = ()
    ignored: tuple[Ignored, ...] = ()

    def of(self, locale: str | None, name: str) -> Draft:
        """The draft of a field."""
        return self.texts.get((locale, name), ABSENT)


def read_drafts(folder: Path, known: Collection[str] = ()) -> Drafts:
    """Read a metadata folder; `known` are locales that the app has, besides those that are known anyway.

    Raises:
        UserError: There is no such folder, or it may not be read.
    """
    try:
        return _Reading(Metadata(folder), known).drafts()
    except OSError as error:
        raise UserError(
            "The metadata folder of this app cannot be read.",
            hint="Ask the user to check its path in the settings of this server; nothing was changed.",
            code="no_metadata",
        ) from error


class _Reading:
    """One look at a folder."""

    def __init__(self, metadata: Metadata, known: Collection[str]) -> None:
        self._metadata, self._known = metadata, known
        self._texts: dict[Key, Draft] = {}
        self._ignored: list[Ignored] = []

    def drafts(self) -> Drafts:
        folders, files = _listed(self._metadata.folder)
        chosen = self._choose(folders)
        for name in (each.name for each in FIELDS if each.has_file and not each.is_localized):
            self._take(None, name, f"{name}.txt")
        for locale, folder in chosen.items():
            self._take_folder(locale, folder)
        self._fill_in(chosen, [each for each in folders if each.casefold() == _DEFAULT])
        self._report_files("", files, {f"{each.name}.txt" for each in FIELDS if not each.is_localized})
        return Drafts(self._texts, tuple(sorted(chosen)), _shortened(self._ignored))

    def _choose(self, folders: Collection[str]) -> dict[str, str]:
        """The folder of each locale. Of two for one, the one in canonical spelling is read."""
        chosen: dict[str, str] = {}
        meant = [(locale_of(name, self._known), name) for name in folders]
        for locale, name in sorted(meant, key=lambda each: (each[0] != each[1], each[1])):
            if locale and locale in chosen:
                self._ignored.append(Ignored(_shown(name), "same_locale", chosen[locale]))
            elif locale:
                chosen[locale] = name
            elif name.casefold() == "android":
                self._ignored.append(Ignored(name, "google_play"))
            elif name.casefold() not in {_DEFAULT, *_OTHER}:
                self._ignored.append(Ignored(_shown(name), "no_locale", suggest_locale(name)))
        return chosen

    def _take_folder(self, locale: str, folder: str) -> None:
        names = [each.name for each in FIELDS if each.has_file and each.is_localized]
        try:
            _, files = _listed(self._metadata.folder / folder)
        except OSError:
            self._ignored.append(Ignored(_shown(folder), "forbidden"))
            return
        for name in names:
            self._take(locale, name, folder, f"{name}.txt")
        self._report_files(folder, files, {f"{name}.txt" for name in names})

    def _take(self, locale: str | None, name: str, *parts: str) -> None:
        try:
            text = self._metadata.read(*parts)
        except UnreadableError as error:
            self._texts[locale, name] = Draft("unreadable")
            self._ignored.append(Ignored(_shown("/".join(parts)), error.trouble))
            return
        if text is not None:
            self._texts[locale, name] = Draft("text", text) if text else Draft("empty")

    def _fill_in(self, locales: Collection[str], defaults: Collection[str]) -> None:
        """Do as deliver does with the folder `default`: its texts stand where a locale has no file."""
        for folder in defaults:
            self._take_folder(_DEFAULT, folder)
        for (locale, name), draft in [*self._texts.items()]:
            if locale == _DEFAULT:
                del self._texts[locale, name]
                for each in locales if draft.text else ():
                    self._texts.setdefault((each, name), Draft("default", draft.text))

    def _report_files(self, folder: str, files: Collection[str], known: Collection[str]) -> None:
        for name in files:
            if name.casefold().endswith(".txt") and not self._is_read(folder, name, known):
                shown = _shown(f"{folder}/{name}" if folder else name)
                self._ignored.append(Ignored(shown, "no_such_field", suggest_file(name) if folder else None))

    def _is_read(self, folder: str, name: str, known: Collection[str]) -> bool:
        lower = name.casefold()
        return name in known or (lower in known and self._metadata.is_same(folder, name, lower))


def _listed(folder: Path) -> tuple[list[str], list[str]]:
    """The names of the folders and of the files in a folder, but for hidden ones."""
    folders: list[str] = []
    files: list[str] = []
    with os.scandir(folder) as found:
        for each in found:
            if not each.name.startswith("."):
                (folders if each.is_dir() else files).append(each.name)
    return sorted(folders), sorted(files)


def _shown(name: str) -> str:
    return name.encode("utf-8", "replace").decode()


def _shortened(ignored: list[Ignored]) -> tuple[Ignored, ...]:
    more = [Ignored(None, "and_more")] if len(ignored) > _MOST_IGNORED else []
    return (*ignored[:_MOST_IGNORED], *more)
