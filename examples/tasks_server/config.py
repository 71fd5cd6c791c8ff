"""How a server is set up: what its command line and its settings file say."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import partial
from pathlib import Path

from pydantic import BaseModel, Field

from calendar_data.accounts import Entry, Looked, ZoneName, entry_remedy, looked_entries, looked_files
from calendar_data.components import TASKS
from serving import own_settings
from serving.own_settings import STRICT, keys


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """How some task lists are served. `ics` are files and folders, `sources` all others."""

    zone: tzinfo
    ics: Sequence[Path] = ()
    sources: Sequence[Looked] = ()
    now: datetime | None = None
    settings: Path | None = None
    format: str | None = None
    structured: bool | None = None

    def looked(self) -> list[Looked]:
        """All sources, those of the files first."""
        return [*looked_files(self.ics), *self.sources]


class OwnSettings(BaseModel):
    """What a settings file says of the lists themselves."""

    model_config = STRICT

    lists: tuple[Entry, ...] = ()
    zone: ZoneName | None = None
    folder: Path = Field(default=Path(), exclude=True)

    def looked(self) -> list[Looked]:
        """The sources that the file names, and the one that the environment does.

        Raises:
            DefinitionError: Two have the same label, or a secret is not there.
        """
        return looked_entries(self.lists, "lists", self.folder, TASKS)


OWN_SETTINGS = keys(OwnSettings)
"""The keys of the settings file that are this server's own."""


def _remedy(where: str) -> str:
    key, *inner = where.split(".")
    if key == "zone":
        return "Write a zone such as Europe/Berlin."
    return entry_remedy(bool(inner), key, "A list")


read_own = partial(own_settings.read_own, model=OwnSettings, remedy=_remedy)
"""What a settings file says of the lists; other keys are left to mcpshape."""
