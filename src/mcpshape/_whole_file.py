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
    one, and a file that may not be written to stays as it is. One that was not there can be read by its owner alone.

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
    if old and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    number = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(number, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    if old:
        new = beside.stat()
        if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
            os.chown(beside, old.st_uid, old.st_gid)
        beside.chmod(old.st_mode & 0o777)
