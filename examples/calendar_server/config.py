"""How a server is set up: what its command line and its settings file say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from functools import partial
from pathlib import Path

from pydantic import BaseModel, Field

from calendar_data.accounts import Entry, Looked, ZoneName, entry_remedy, looked_entries, looked_files
from calendar_data.components import EVENTS
from serving import own_settings
from serving.own_settings import STRICT, keys


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """How some calendars are served. `ics` are files and folders, `sources` all others, `me` the owner's addresses."""

    zone: tzinfo
    ics: Sequence[Path] = ()
    sources: Sequence[Looked] = ()
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

    def looked(self) -> list[Looked]:
        """All sources, those of the files first."""
        return [*looked_files(self.ics), *self.sources]


class OwnSettings(BaseModel):
    """What a settings file says of the calendars themselves."""

    model_config = STRICT

    calendars: tuple[Entry, ...] = ()
    me: tuple[str, ...] = ()
    zone: ZoneName | None = None
    folder: Path = Field(default=Path(), exclude=True)

    def looked(self) -> list[Looked]:
        """The sources that the file names, and the one that the environment does.

        Raises:
            DefinitionError: Two have the same label, or a secret is not there.
        """
        return looked_entries(self.calendars, "calendars", self.folder, EVENTS)


OWN_SETTINGS = keys(OwnSettings)
"""The keys of the settings file that are this server's own."""


def _remedy(where: str) -> str:
    key, *inner = where.split(".")
    if key == "zone":
        return "Write a zone such as Europe/Berlin."
    if key == "me":
        return "Write a list of e-mail addresses."
    return entry_remedy(bool(inner), key, "A calendar")


read_own = partial(own_settings.read_own, model=OwnSettings, remedy=_remedy)
"""What a settings file says of the calendars; other keys are left to mcpshape."""
