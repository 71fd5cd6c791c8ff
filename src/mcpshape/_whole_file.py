"""Files that are replaced as a whole: whoever reads meanwhile, or after a failure, finds the old one or the new one."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mcpshape.errors import DefinitionError, Problem


@contextmanager
def replacing(path: Path, content: bytes) -> Iterator[Path]:
    """Write a file beside another one, which takes its place when the block ends without an exception.

    Gives the path of the new file, so that it can be looked at before. It keeps the permissions of the old one; a file
    that was not there can be read by its owner alone.

    Raises:
        DefinitionError: It cannot be written; the old one is as it was.
    """
    target = path.resolve()
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
    number = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(number, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    if target.exists():
        beside.chmod(target.stat().st_mode & 0o777)
