"""How a server is set up: what its command line and its settings file say."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from mcpshape import DefinitionError
from mcpshape.errors import Problem
from releases_server.choice import Folder
from releases_server.connect import API
from releases_server.keys import Key
from releases_server.pulled import Pinned, Pulled
from releases_server.samples import sample_folders, sample_pulled
from releases_server.store import Store
from serving import own_settings
from serving.own_settings import STRICT, keys

Word = Annotated[str, Field(min_length=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """How releases are served. Without a store, drafts stand alone; without either, there is a sample account.

    A pull brings the apps with the bundle ids in `only`, or all.
    """

    store: Path | None = None
    folders: Sequence[Folder] = ()
    key: Key | None = None
    api: str = API
    only: Sequence[str] = ()
    settings: Path | None = None
    format: str | None = None
    structured: bool | None = None

    @property
    def is_sample(self) -> bool:
        """Whether nothing was set up."""
        return self.store is None and not self.folders

    @property
    def pulled(self) -> Pulled:
        """What was pulled."""
        return sample_pulled() if self.is_sample else Pulled(Store(self.store) if self.store else Pinned())

    @property
    def known_folders(self) -> Sequence[Folder]:
        """The metadata folders of the apps."""
        return sample_folders() if self.is_sample else self.folders


class Entry(BaseModel):
    """One of the metadata folders in a settings file."""

    model_config = STRICT

    app: Word
    path: Path
    platform: Word | None = None


class OwnSettings(BaseModel):
    """What a settings file says of the account and its drafts; paths in it are beside the file."""

    model_config = STRICT

    store: Path | None = None
    key_file: Path | None = None
    key_id: Word | None = None
    issuer_id: Word | None = None
    api: str = API
    only: tuple[Word, ...] = ()
    metadata: tuple[Entry, ...] = ()
    folder: Path = Field(default=Path(), exclude=True)

    def path(self, given: Path | None) -> Path | None:
        """A path of the file as one of the machine.

        Raises:
            DefinitionError: It begins with a home folder that is none.
        """
        try:
            return self.folder / given.expanduser() if given else None
        except RuntimeError as error:
            problem = Problem("path", "there is no such home folder.", "Write the path without ~.")
            raise DefinitionError("settings", [problem]) from error

    def key(self) -> Key | None:
        """The key of the account, if one is named.

        Raises:
            DefinitionError: It is named in part only.
        """
        file = self.path(self.key_file)
        if not file and not self.key_id and not self.issuer_id:
            return None
        if not file or not self.key_id:
            missing = "key_id" if file else "key_file"
            raise DefinitionError("settings", [Problem(missing, "it is missing.", "Name key_file and key_id.")])
        return Key(file, self.key_id, self.issuer_id)

    def folders(self) -> list[Folder]:
        """The metadata folders."""
        found = [(each, self.path(each.path)) for each in self.metadata]
        return [Folder(each.app, path, each.platform) for each, path in found if path]


OWN_SETTINGS = keys(OwnSettings)
"""The keys of the settings file that are this server's own."""


def _remedy(where: str) -> str:
    key = where.partition(".")[0]
    if key == "metadata":
        return "Write [[metadata]] with app and path, and platform if the folder is of one alone."
    return "Write a list of bundle ids." if key == "only" else "Write a text."


read_own = partial(own_settings.read_own, model=OwnSettings, remedy=_remedy)
"""What a settings file says of the account and its drafts; other keys are left to mcpshape."""
