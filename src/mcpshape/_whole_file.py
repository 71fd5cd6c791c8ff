"""Files that are replaced as a whole: whoever reads meanwhile, or after a failure, finds the old one or the new one."""

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mcpshape.errors import DefinitionError, Problem


@contextmanager
def replacing(path: Path, content: bytes) -> Iterator[Path]:
    """Write a file beside another one, which takes its place when the block ends without an exception.

    Gives the path of the new file, so that it can be looked at before. It keeps owner, group and permissions of the old
    one, and one that nobody may write to stays as it is. A file that was not there can be read by its owner alone.

    Raises:
        DefinitionError: It cannot be written; the old one is as it was.
    """
    target = Path(os.path.realpath(path))
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        _write(beside, content, target)
        yield beside
        beside.replace(target)
    except OSError as error:
        message = f"it cannot be written ({error.strerror or type(error).__name__})."
        raise DefinitionError(str(path), [Problem("file", message, "Make room or choose another place.")]) from error
    finally:
        with suppress(OSError):  # Where it could not be made, it can hardly be looked for.
            beside.unlink()


def _write(beside: Path, content: bytes, target: Path) -> None:
    old = target.stat() if target.exists() else None
    if old and not old.st_mode & 0o222:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    number = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(number, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    if old:
        _hand_over(beside, old)
        beside.chmod(old.st_mode & 0o777)


def _hand_over(beside: Path, old: os.stat_result) -> None:
    """Let a new file belong to whom the old one belongs to: a server that is another user reads it."""
    new = beside.stat()
    owner, group = (-1 if was == now else was for was, now in ((old.st_uid, new.st_uid), (old.st_gid, new.st_gid)))
    with suppress(AttributeError):  # Windows has no such owners.
        os.chown(beside, owner, group)
