"""How a server is set up: what its command line, its settings file and the environment say."""

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, ValidationError, model_validator

from calendar_server.files import Files
from calendar_server.sources import Source
from mcpshape import DefinitionError
from mcpshape.errors import Problem

OWN_SETTINGS = frozenset({"calendars", "me", "zone"})
"""The keys of the settings file that are this server's own."""
_FILES_EVERY, _DAV_EVERY = 1.0, 60.0
_STRICT = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """How some calendars are served. `ics` are files and folders, `sources` all others, `me` the owner's addresses."""

    zone: tzinfo
    ics: Sequence[Path] = ()
    sources: Sequence["Looked"] = ()
    me: str | Sequence[str] = ""
    now: datetime | None = None
    settings: Path | None = None
    privacy: str | None = None
    toggles: Mapping[str, bool] = field(default_factory=dict)
    format: str | None = None
    structured: bool | None = None
    allow_open: bool = False
    warm: bool = False

    @property
    def owners(self) -> list[str]:
        """The addresses of the owner."""
        return [self.me] if isinstance(self.me, str) else list(self.me)

    def looked(self) -> list["Looked"]:
        """All sources, those of the files first."""
        return [*(Looked(Files(path), _FILES_EVERY) for path in self.ics), *self.sources]


@dataclass(frozen=True, slots=True)
class Looked:
    """A source, and after how many seconds it is looked at again."""

    source: Source
    every: float


class Kept(BaseModel):
    """A secret that stands elsewhere: in an environment variable or in a file."""

    model_config = _STRICT

    env: str | None = None
    file: Path | None = None

    @model_validator(mode="after")
    def _names_one(self) -> "Kept":
        if (self.env is None) == (self.file is None):
            raise ValueError("one of env and file")
        return self

    def read(self, folder: Path) -> SecretStr:
        """The secret, without line breaks at its end.

        Raises:
            LookupError: It is not there.
        """
        try:
            found = os.environ[self.env] if self.env else (folder / Path(str(self.file)).expanduser()).read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise LookupError("file") from error
        return SecretStr(found.rstrip("\r\n"))


class Entry(BaseModel):
    """One of the `calendars` in a settings file: a `path`, or the `url` of a CalDAV server."""

    model_config = _STRICT

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

    def looked(self, folder: Path) -> Looked:
        """The source that the entry describes; paths in it are beside the settings file.

        Raises:
            LookupError: A secret is not there.
            ValueError: What is given makes no account; the text says why.
        """
        if self.path is not None:
            return Looked(Files(folder / self.path.expanduser(), self.label), _FILES_EVERY)
        from calendar_server.dav import CalDav

        secrets = [each.read(folder) if isinstance(each, Kept) else each for each in (self.password, self.token)]
        source = CalDav(
            label=self.label,
            url=str(self.url),
            user=self.user,
            password=secrets[0],
            token=secrets[1],
            only=self.only,
            ca_file=folder / self.ca_file.expanduser() if self.ca_file else None,
            origins=self.origins,
            allow_http=self.allow_http,
        )
        return Looked(source, self.refresh_seconds)


def _known_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise ValueError("no zone") from error
    return name


class OwnSettings(BaseModel):
    """What a settings file says of the calendars themselves."""

    model_config = _STRICT

    calendars: tuple[Entry, ...] = ()
    me: tuple[str, ...] = ()
    zone: Annotated[str, AfterValidator(_known_zone)] | None = None
    folder: Path = Field(default=Path(), exclude=True)

    def looked(self) -> list[Looked]:
        """The sources that the file names, and the one that the environment does.

        Raises:
            DefinitionError: Two have the same label, or a secret is not there.
        """
        found, problems = [], []
        for place, entry in enumerate(self.calendars):
            where = f"calendars.{place}"
            if entry.label in {each.label for each in self.calendars[:place]}:
                problems.append(Problem(where, "its label is taken.", "Give each calendar a label of its own."))
            try:
                found.append(entry.looked(self.folder))
            except RuntimeError:
                problems.append(Problem(where, "there is no such home folder.", "Write the path without ~."))
            except LookupError:
                problems.append(Problem(where, "its secret is not there.", "Set the variable or write the file."))
            except ValueError as error:
                problems.append(Problem(where, str(error), ""))
        if problems:
            raise DefinitionError("settings", problems)
        return [*found, *_from_environment()]


def read_own(path: Path | None) -> OwnSettings:
    """What a settings file says of the calendars; other keys are left to mcpshape.

    Raises:
        DefinitionError: It is broken. All mistakes are named, none of them with what stands there.
    """
    if path is None:
        return OwnSettings()
    try:
        whole = tomllib.loads(path.read_text())
    except (OSError, ValueError) as error:
        problem = Problem(str(path), "it is no TOML file that can be read.", "Mend it.")
        raise DefinitionError("settings", [problem]) from error
    try:
        return OwnSettings(**{key: whole[key] for key in OWN_SETTINGS & whole.keys()}, folder=path.parent)
    except ValidationError as error:
        mistakes = {".".join(map(str, each["loc"][:3])): each for each in error.errors(include_input=False)}
        problems = [Problem(where, _worded(each["type"]), _remedy(where)) for where, each in mistakes.items()]
        raise DefinitionError("settings", problems) from error


def _remedy(where: str) -> str:
    key, *inner = where.split(".")
    if key == "zone":
        return "Write a zone such as Europe/Berlin."
    if key == "me":
        return "Write a list of e-mail addresses."
    known = ", ".join(name for name in Entry.model_fields if name not in {"label", "path", "url"})
    one = "A calendar has a label, and either a path or a url"
    return f"{one}; with a url also some of {known}." if inner else f"Write [[calendars]]. {one}."


def _worded(kind: str) -> str:
    return {"extra_forbidden": "there is no such setting.", "missing": "it is missing."}.get(kind, "it cannot be used.")


def _from_environment() -> list[Looked]:
    """The account that the usual variables of CalDAV clients name.

    Raises:
        DefinitionError: What they say makes no account.
    """
    said = {name: os.environ.get(f"CALDAV_{name.upper()}") for name in ("url", "username", "password", "token")}
    if not said["url"]:
        return []
    password, token = (SecretStr(value) if (value := said[name]) else None for name in ("password", "token"))
    try:
        entry = Entry(label="CalDAV", url=said["url"], user=said["username"] or "", password=password, token=token)
        return [entry.looked(Path())]
    except ValueError as error:
        raise DefinitionError("environment", [Problem("CALDAV_URL", str(error), "")]) from error
