"""What was pulled: a folder of the answers of App Store Connect, replaced as a whole and never half."""

import json
import logging
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcpshape import UserError
from serving.whole_files import NotWrittenError, Obstacle, alone, explained, write_whole

_LOG = logging.getLogger(__name__)
_CURRENT, _ABOUT, _ROOT = "current", "pull.json", "v1"
_GENERATION = re.compile(r"pull-[0-9a-f]{16}")
_LARGEST = 32 * 2**20
_PULL_AGAIN = "Ask the user to run `mcpshape-releases pull` again. The drafts are as they were."


def damaged() -> UserError:
    """What is raised where something in the store cannot be read."""
    return UserError("What was pulled is damaged.", hint=_PULL_AGAIN, code="damaged")


@dataclass(frozen=True, slots=True)
class Document:
    """One answer of the API. `path` is that of its request, such as `("v1", "apps", "1", "appInfos")`."""

    path: tuple[str, ...]
    file: Path = field(repr=False)

    def read(self) -> Mapping[str, Any]:
        """What is in it.

        Raises:
            UserError: It is damaged, gone or an error of the API, which has no data; the log says which one.
        """
        try:
            found = _read(self.file)
            if "data" not in found:
                raise damaged()
        except UserError:
            _LOG.warning("a pulled answer cannot be read: %s", "/".join((*self.path, self.file.name)))
            raise
        return found


@dataclass(frozen=True, slots=True)
class Generation:
    """All that one pull brought. It never changes; what somebody does to its files by hand is seen all the same."""

    folder: Path = field(repr=False)

    def documents(self) -> list[Document]:
        """All answers.

        Raises:
            UserError: The folder cannot be read.
        """
        try:
            walk = os.walk(self.folder / _ROOT, onerror=_fail)
            # A folder in place of an answer is damage, and is found to be when it is read.
            listed = [(folder, name) for folder, folders, names in walk for name in (*folders, *names)]
        except OSError as error:
            raise damaged() from error
        above = len(self.folder.parts)
        found = sorted((folder, name) for folder, name in listed if name.endswith(".json"))
        return [Document(Path(folder).parts[above:], Path(folder, name)) for folder, name in found]

    def about(self) -> Mapping[str, Any]:
        """When it was pulled and for whom, as far as that is known.

        Raises:
            UserError: It is damaged.
        """
        file = self.folder / _ABOUT
        return _read(file) if file.exists() else {}

    def state(self) -> str:
        """A text that changes with every change of its files.

        Raises:
            UserError: A file is gone.
        """
        try:
            seen = [(*each.path, each.file.name, _stamp(each.file)) for each in self.documents()]
        except OSError as error:
            raise damaged() from error
        return json.dumps(seen)


@dataclass(frozen=True, slots=True)
class Store:
    """A folder with one generation in force. Without any, it may hold the answers themselves, put there by hand."""

    folder: Path = field(repr=False)

    def current(self) -> Generation | None:
        """What is in force; `None` where nothing was pulled yet.

        Raises:
            UserError: The store is damaged.
        """
        try:
            name = (self.folder / _CURRENT).read_text("ascii").strip()
        except FileNotFoundError:
            return Generation(self.folder) if (self.folder / _ROOT).is_dir() else None
        except (OSError, UnicodeDecodeError) as error:
            raise damaged() from error
        if not _GENERATION.fullmatch(name) or not (self.folder / name).is_dir():
            raise damaged()
        return Generation(self.folder / name)

    @contextmanager
    def replacing(self) -> Iterator["Writing"]:
        """Write a new generation, which comes in force when the block ends well; else all stays as it was.

        Raises:
            UserError: Somebody else is pulling, or it cannot be written.
        """
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with alone(self.folder / _CURRENT, seconds=0) as current:
                fresh = self.folder / f"pull-{secrets.token_hex(8)}"
                fresh.mkdir(mode=0o700)
                try:
                    yield Writing(fresh)
                    before = current.read_text("ascii").strip() if current.exists() else ""
                    write_whole(current, fresh.name.encode())
                except BaseException:
                    shutil.rmtree(fresh, ignore_errors=True)
                    raise
                self._forget_all_but(fresh.name, before)
        except NotWrittenError as error:
            raise _not_written(error.obstacle) from error
        except OSError as error:
            raise _not_written(explained(error).obstacle) from error

    def _forget_all_but(self, *names: str) -> None:
        """Leave the generation before the one in force, since somebody may be reading it."""
        for each in self.folder.iterdir():
            if _GENERATION.fullmatch(each.name) and each.name not in names:
                shutil.rmtree(each, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class Writing:
    """A generation that is being written."""

    folder: Path = field(repr=False)

    def add(self, path: tuple[str, ...], page: int, content: bytes) -> None:
        """Keep an answer of the API.

        Raises:
            NotWrittenError: It cannot be written.
        """
        folder = self.folder.joinpath(*path)
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700, parents=True)
        write_whole(folder / f"page-{page}.json", content)

    def finish(self, about: Mapping[str, Any]) -> None:
        """Keep what is to be known of the whole.

        Raises:
            NotWrittenError: It cannot be written.
        """
        write_whole(self.folder / _ABOUT, json.dumps(about).encode())


def _fail(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error


def _read(file: Path) -> Mapping[str, Any]:
    try:
        if file.stat().st_size > _LARGEST:
            raise damaged()
        found = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise damaged() from error
    if not isinstance(found, dict):
        raise damaged()
    return found


def _stamp(file: Path) -> tuple[int, int, int]:
    seen: os.stat_result = file.stat()
    return seen.st_mtime_ns, seen.st_size, seen.st_ino


def _not_written(obstacle: Obstacle) -> UserError:
    said, remedy = {
        "busy": ("Another pull is under way.", "Wait for it to end."),
        "full": ("The disk is full.", "Free some space on it, then pull again."),
    }.get(obstacle, ("The store cannot be written.", "Allow this user to write the folder of the store."))
    return UserError(said, hint=f"{remedy} What was pulled before is still there.", code=f"store_{obstacle}")
