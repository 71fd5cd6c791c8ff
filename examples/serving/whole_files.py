"""Files that are there whole, old or new, whatever stops the program that writes them."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_IMODE
from typing import Literal

from filelock import FileLock, Timeout

Obstacle = Literal["full", "busy", "forbidden", "failing"]
"""Why a file cannot be written: the disk is full, another program is writing it, it may not be, or the disk fails."""

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_REFUSED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ELOOP})
_NO_ATTRIBUTE = frozenset({errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.ENODATA, errno.EINVAL})
_PATIENCE = 10.0
_FORBIDDEN = "Allow the server to write the file and in its folder."


class NotWrittenError(Exception):
    """A file is as it was before. `remedy` holds nothing of its name or of what is in it."""

    def __init__(self, obstacle: Obstacle, remedy: str) -> None:
        super().__init__(obstacle)
        self.obstacle: Obstacle = obstacle
        self.remedy = remedy


@contextmanager
def alone(path: Path, *, seconds: float = _PATIENCE) -> Iterator[Path]:
    """Keep all other processes and threads that ask likewise away from a file, and give its path without links.

    The lock is a hidden file beside it; it goes with the process that holds it, however that ends.

    Raises:
        NotWrittenError: Another one did not let go in time, or there can be no lock.
    """
    real = Path(os.path.realpath(path))
    if not real.parent.is_dir():  # Which the lock would make.
        raise NotWrittenError("forbidden", _FORBIDDEN)
    try:
        with FileLock(_beside(real, "lock"), timeout=seconds):
            yield real
    except Timeout as error:
        raise NotWrittenError("busy", "Another program is writing it; try again.") from error
    except OSError as error:
        raise explained(error) from error


def write_whole(path: Path, content: bytes) -> None:
    """Put content in place of a file that one is `alone` with; its mode, owner and attributes stay.

    Where there is none, it is made for its owner alone.

    Raises:
        NotWrittenError: It cannot be written, and is as it was.
    """
    fresh = _beside(path, "new")
    if path.exists() and not os.access(path, os.W_OK):
        raise NotWrittenError("forbidden", _FORBIDDEN)
    try:
        _write(fresh, content, path)
        fresh.replace(path)
    except OSError as error:
        with suppress(OSError):
            fresh.unlink()
        raise explained(error) from error
    with suppress(OSError):  # Not every system opens folders, and the new name is there already.
        _flush_folder(path.parent)


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(f".{path.name}.{ending}")


def _write(fresh: Path, content: bytes, old: Path) -> None:
    # What a process that was killed left there is no more than a beginning.
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        if old.exists():
            _dress(file.fileno(), old)
        os.fsync(file.fileno())


def _dress(opened: int, old: Path) -> None:
    """Give an open file what else is known of an old one, but for its times.

    By its name it would be another one if somebody put a link there meanwhile.
    """
    said, now = old.stat(), os.fstat(opened)
    if hasattr(os, "fchown") and (said.st_uid, said.st_gid) != (now.st_uid, now.st_gid):
        os.fchown(opened, said.st_uid, said.st_gid)
    if hasattr(os, "fchmod"):
        os.fchmod(opened, S_IMODE(said.st_mode))
    if hasattr(os, "listxattr"):
        _copy_attributes(old, opened)


def _copy_attributes(old: Path, opened: int) -> None:
    with _where_there_are_any():
        for name in os.listxattr(old):
            with _where_there_are_any():
                os.setxattr(opened, name, os.getxattr(old, name))


@contextmanager
def _where_there_are_any() -> Iterator[None]:
    """Some systems have no attributes, and some attributes are the system's own."""
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_ATTRIBUTE:
            raise


def _flush_folder(folder: Path) -> None:
    """Let the disk know the new name, so that it outlives a loss of power."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def explained(error: OSError) -> NotWrittenError:
    """What keeps a file from being written, by what the system says."""
    if error.errno in _FULL:
        return NotWrittenError("full", "The disk is full. Free some space on it, then try again.")
    if error.errno == errno.ENAMETOOLONG:
        return NotWrittenError("forbidden", "Give the file a shorter name.")
    if error.errno in _REFUSED:
        return NotWrittenError("forbidden", _FORBIDDEN)
    return NotWrittenError("failing", "The disk or its network reports an error. Check it, then try again.")
