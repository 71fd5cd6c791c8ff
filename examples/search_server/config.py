"""How a server is set up: what its command line and its settings file say."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field

from mcpshape import DefinitionError
from mcpshape.errors import Problem
from search_server.decoding import encoding_of
from search_server.folders import Folder
from search_server.store import is_usable
from serving import own_settings
from serving.own_settings import STRICT, keys

_KB_A_PAGE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """How some folders are served.

    Args:
        folders: The folders, each with a label of its own.
        index: Where the index is kept from one start to the next; without it, in a temporary file.
        index_mb: The most that it may take.
        settings: A settings file.
        format: How answers read.
        structured: Whether `structuredContent` is sent.
        warm: Whether to read the documents before the first question.
        every: Seconds after which folders are looked at again.
        patience: Seconds that a question waits for what is still to be read; `None` for as long as it takes.
    """

    folders: Sequence[Folder]
    index: Path | None = None
    index_mb: int | None = None
    settings: Path | None = None
    format: str | None = None
    structured: bool | None = None
    warm: bool = False
    every: float = 1.0
    patience: float | None = 10.0

    @property
    def most_pages(self) -> int | None:
        """The most pages that the index may have."""
        return self.index_mb * 1024 // _KB_A_PAGE if self.index_mb else None


def _usable_label(label: str) -> str:
    if "/" in label or not label.strip():
        raise ValueError("label")
    return label


def _known_encoding(name: str) -> str:
    if encoding := encoding_of(name):
        return encoding
    raise ValueError("encoding")


class Entry(BaseModel):
    """One of the `folders` in a settings file."""

    model_config = STRICT

    label: Annotated[str, AfterValidator(_usable_label)]
    path: Path
    encoding: Annotated[str, AfterValidator(_known_encoding)] | None = None


class OwnSettings(BaseModel):
    """What a settings file says of the documents themselves."""

    model_config = STRICT

    folders: tuple[Entry, ...] = ()
    index: Path | None = None
    index_mb: Annotated[int, Field(ge=1)] | None = None
    folder: Path = Field(default=Path(), exclude=True)

    def listed(self) -> list[Folder]:
        """The folders; paths in the file are beside it.

        Raises:
            DefinitionError: Two have the same label, or one is not there.
        """
        problems: list[Problem] = []
        found: list[Folder] = []
        for place, entry in enumerate(self.folders):
            where = f"folders.{place}"
            if entry.label in {each.label for each in found}:
                problems.append(Problem(where, "its label is taken.", "Give each folder a label of its own."))
            try:
                found.append(Folder(entry.label, self.folder / entry.path.expanduser(), entry.encoding))
            except RuntimeError:
                problems.append(Problem(where, "there is no such home folder.", "Write the path without ~."))
        if problems:
            raise DefinitionError("settings", problems)
        return found

    def kept_at(self) -> Path | None:
        """Where the index is kept."""
        return self.folder / self.index.expanduser() if self.index else None


OWN_SETTINGS = keys(OwnSettings)
"""The keys of the settings file that are this server's own."""


def labelled(paths: Sequence[Path], taken: Sequence[Folder] = ()) -> list[Folder]:
    """Folders that go by their own names; of two with the same name, the second one has a number."""
    found = list(taken)
    for path in paths:
        name = (path.resolve().name or "documents").encode("utf-8", "replace").decode()
        labels = {each.label for each in found}
        numbered = (f"{name}-{number}" for number in range(2, len(labels) + 3))
        found.append(
            Folder(name if name not in labels else next(each for each in numbered if each not in labels), path)
        )
    return found


def require_usable(index: Path | None) -> None:
    """See that an index may be kept where the settings say.

    Raises:
        DefinitionError: Something else is there.
    """
    if index and not is_usable(index):
        remedy = "Name another file, which does not have to be there."
        raise DefinitionError("settings", [Problem("index", "this file is no index of this server.", remedy)])


def _remedy(where: str) -> str:
    if where.startswith("index"):
        return "index is the path of a file, and index_mb a number of megabytes."
    return "Write [[folders]]. A folder has a label without a slash and a path; an encoding may go with them."


read_own = partial(own_settings.read_own, model=OwnSettings, remedy=_remedy)
"""What a settings file says of the documents; other keys are left to mcpshape."""
