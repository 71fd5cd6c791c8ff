"""Calendars in .ics files: one file, or all that are in a folder and below it."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from stat import S_ISREG

from calendar_data.documents import LARGEST
from calendar_data.names import label_of
from calendar_data.sources import Edit, Piece, SourceError, Tell
from serving.whole_files import NotWrittenError, alone, write_whole

_MOST_FILES = 100_000
_TRIES = 3
_MISSING = "Check that the file or folder is there and may be read."


@dataclass(frozen=True, slots=True)
class Files:
    """A file or a folder. Without a `name`, calendars are labelled as they call themselves, else by file or folder."""

    path: Path = field(repr=False)
    name: str = ""

    @property
    def label(self) -> str:
        return self.name or label_of(self.path.stem)

    def pieces(self, tell: Tell) -> Sequence[Piece]:
        """The files as they are now; none of them is read.

        Raises:
            SourceError: There is no such file or folder, or it may not be read.
        """
        try:
            found = [self._piece(path) for path in self._paths()]
        except OSError as error:
            raise SourceError("missing", _MISSING) from error
        return [piece for piece in found if piece]

    def _paths(self) -> Iterator[Path]:
        if not self.path.is_dir():
            yield self.path
            return
        os.scandir(self.path).close()
        count = 0
        for folder, _, names in os.walk(self.path):
            for name in sorted(names):
                if name.lower().endswith(".ics") and not name.startswith("."):
                    count += 1
                    if count > _MOST_FILES:
                        raise SourceError("too_large", f"Keep it under {_MOST_FILES} files.")
                    yield Path(folder, name)

    def _piece(self, path: Path) -> Piece | None:
        """A file, unless it is none any more, leads nowhere, or is no regular one, which could be read for ever."""
        try:
            seen = path.stat()
            if not S_ISREG(seen.st_mode):
                raise IsADirectoryError
        except OSError:
            if path == self.path:
                raise
            return None
        state = (seen.st_mtime_ns, seen.st_size, seen.st_ino)
        load, change = partial(_read, path), partial(_change, path)
        name = str(path.relative_to(self.path.parent))
        return Piece(name, self.label, state, load, is_guess=not self.name, change=change)


def _read(path: Path) -> bytes:
    try:
        with open(path, "rb", opener=_open_at_once) as file:
            content = file.read(LARGEST + 1) if S_ISREG(os.fstat(file.fileno()).st_mode) else None
    except OSError as error:
        raise SourceError("missing", _MISSING) from error
    if content is None:
        raise SourceError("missing", _MISSING)
    if len(content) > LARGEST:
        raise SourceError("too_large", f"Keep it under {LARGEST // 2**20} MB; archive what is long past.")
    return content


def _open_at_once(path: str, flags: int) -> int:
    """Open what may have become a pipe since it was listed, without waiting for somebody to write into it."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _change(path: Path, edit: Edit) -> bool:
    """Programs that do not ask for the lock may write as well: what they write before the last look is not lost."""
    if not path.is_file():  # No lock is left beside what is not there.
        raise SourceError("missing", _MISSING)
    with alone(path) as real:
        content = _read(real)
        for tries in range(_TRIES):
            changed = edit(content)
            before, content = content, _read(real)
            if before == content:
                if changed is not None:
                    write_whole(real, changed)
                return tries > 0
    raise NotWrittenError("busy", "Another program is writing the file; try again.")
