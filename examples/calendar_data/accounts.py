"""The files and accounts with calendar data that a settings file or the environment names."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, Field, SecretStr, model_validator

from calendar_data.components import Kind
from calendar_data.files import Files
from calendar_data.sources import Source
from mcpshape import DefinitionError
from mcpshape.errors import Problem
from serving.own_settings import STRICT, Kept

_FILES_EVERY, _DAV_EVERY = 1.0, 60.0


@dataclass(frozen=True, slots=True)
class Looked:
    """A source, and after how many seconds it is looked at again."""

    source: Source
    every: float


def looked_files(paths: Sequence[Path]) -> list[Looked]:
    """Files and folders as sources."""
    return [Looked(Files(path), _FILES_EVERY) for path in paths]


class Entry(BaseModel):
    """One of several in a settings file: a `path`, or the `url` of a CalDAV server."""

    model_config = STRICT

    label: Annotated[str, Field(min_length=1)]
    path: Path | None = None
    url: str | None = None
    user: str = ""
    password: SecretStr | Kept | None = None
    token: SecretStr | Kept | None = None
    only: tuple[str, ...] = ()
    ca_file: Path | None = None
    origins: tuple[str, ...] = ()
    allow_http: bool = False
    refresh_seconds: Annotated[float, Field(ge=1)] = _DAV_EVERY

    @model_validator(mode="after")
    def _is_one_kind(self) -> "Entry":
        if (self.path is None) == (self.url is None):
            raise ValueError("one of path and url")
        if self.path is not None and self.model_fields_set - {"label", "path"}:
            raise ValueError("a path with what only a url has")
        return self

    def looked(self, folder: Path, kind: Kind) -> Looked:
        """The source of things of a kind that the entry describes; paths in it are beside the settings file.

        Raises:
            LookupError: A secret is not there.
            ValueError: What is given makes no account; the text says why.
        """
        if self.path is not None:
            return Looked(Files(folder / self.path.expanduser(), self.label), _FILES_EVERY)
        from calendar_data.dav import CalDav

        secrets = [each.read(folder) if isinstance(each, Kept) else each for each in (self.password, self.token)]
        source = CalDav(
            label=self.label,
            url=str(self.url),
            user=self.user,
            password=secrets[0],
            token=secrets[1],
            only=self.only,
            components=(kind.component,),
            ca_file=folder / self.ca_file.expanduser() if self.ca_file else None,
            origins=self.origins,
            allow_http=self.allow_http,
            may_write=kind.may_change,
        )
        return Looked(source, self.refresh_seconds)


def entry_remedy(inner: bool, key: str, one: str) -> str:
    """What to do about a mistake in entries under a key; `one` is what an entry is, such as `A calendar`."""
    known = ", ".join(name for name in Entry.model_fields if name not in {"label", "path", "url"})
    has = f"{one} has a label, and either a path or a url"
    return f"{has}; with a url also some of {known}." if inner else f"Write [[{key}]]. {has}."


def _known_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise ValueError("no zone") from error
    return name


ZoneName = Annotated[str, AfterValidator(_known_zone)]
"""The IANA name of a zone, in settings."""


def looked_entries(entries: Sequence[Entry], key: str, folder: Path, kind: Kind) -> list[Looked]:
    """The sources that a settings file names under a key, and the account that the environment names.

    Args:
        entries: What the file says.
        key: Where it says so.
        folder: Where the file is.
        kind: What is looked for in an account.

    Raises:
        DefinitionError: Two have the same label, or a secret is not there.
    """
    found: list[Looked] = []
    problems: list[Problem] = []
    for place, entry in enumerate(entries):
        where = f"{key}.{place}"
        if entry.label in {each.label for each in entries[:place]}:
            problems.append(Problem(where, "its label is taken.", "Give each one a label of its own."))
        try:
            found.append(entry.looked(folder, kind))
        except RuntimeError:
            problems.append(Problem(where, "there is no such home folder.", "Write the path without ~."))
        except LookupError:
            problems.append(Problem(where, "its secret is not there.", "Set the variable or write the file."))
        except ValueError as error:
            problems.append(Problem(where, str(error), ""))
    if problems:
        raise DefinitionError("settings", problems)
    return [*found, *_from_environment(kind)]


def _from_environment(kind: Kind) -> Iterator[Looked]:
    """The account that the usual variables of CalDAV clients name.

    Raises:
        DefinitionError: What they say makes no account.
    """
    said = {name: os.environ.get(f"CALDAV_{name.upper()}") for name in ("url", "username", "password", "token")}
    if not said["url"]:
        return
    password, token = (SecretStr(value) if (value := said[name]) else None for name in ("password", "token"))
    try:
        entry = Entry(label="CalDAV", url=said["url"], user=said["username"] or "", password=password, token=token)
        yield entry.looked(Path(), kind)
    except ValueError as error:
        raise DefinitionError("environment", [Problem("CALDAV_URL", str(error), "")]) from error
