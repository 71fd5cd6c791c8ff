"""The command `mcpshape lock`: keeps what leaves in a file, and fails where more leaves than it has."""

import os
import shlex
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from mcpshape._whole_file import replacing
from mcpshape.cli._place import load_shape, refuse, refusing
from mcpshape.errors import DefinitionError
from mcpshape.lock import Lock, compare, lock_shape, read_lock
from mcpshape.lock._reading import require_format

_FILE = Path("mcpshape.lock")
_MODE = 0o644


def lock(
    shape: str,
    /,
    *,
    file: Annotated[Path, Parameter(help="The file that holds the lock.")] = _FILE,
    check: Annotated[bool, Parameter(negative="", help="Fail where more leaves than the file has.")] = False,
) -> None:
    """Write down what leaves at which level, or check that no more leaves than was written down.

    Parameters
    ----------
    shape
        Where the shape is, as module:name, such as calendar_server:shape.
    """
    found = load_shape(shape)
    if not found.tools and not found.resources:
        refuse(f"{shape} has no tools; name the module that registers them")
    with refusing():
        now = lock_shape(found)
    command = shlex.join(["mcpshape", "lock", shape, *(() if file == _FILE else ("--file", str(file)))])
    if check:
        _check(now, file, command)
    else:
        text = now.text()
        _write(file, text)
        sys.stdout.write(f"Wrote {file}, {len(text.splitlines())} lines.\n")


def _check(now: Lock, file: Path, command: str) -> None:
    locked = _read(file, command)
    if widenings := compare(locked, now):
        advice = f"Narrow the rule, or run {command} and have the change reviewed."
        sys.stdout.write("".join(f"{line}\n" for line in (*widenings, advice)))
        raise SystemExit(1)
    if now != locked:
        sys.stderr.write(f"mcpshape: no more leaves than {file} has, but it is out of date; run {command}\n")


def _read(file: Path, command: str) -> Lock:
    try:
        return read_lock(file.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        refuse(f"there is no {file}; make it with {command}")
    except OSError as error:
        refuse(f"{file} cannot be read: {error.strerror}")
    except UnicodeDecodeError:
        refuse(f"{file} is no UTF-8; restore it")
    except DefinitionError as error:
        refuse(f"{file}: {' '.join(map(str, error.problems))}")


def _write(file: Path, text: str) -> None:
    """Put a text in place of a lock; whatever goes wrong, the file is whole, old or new."""
    real = Path(os.path.realpath(file))
    is_there = _is_lock(file, real)
    with refusing(), replacing(real, text.encode()) as fresh:
        if not is_there:
            fresh.chmod(_MODE)


def _is_lock(file: Path, real: Path) -> bool:
    """Whether there is a lock; what is none, or was made by a newer mcpshape, is kept. A broken one is made anew."""
    try:
        if real.exists() and not real.is_file():
            refuse(f"{file} cannot be written: it is no file")
        if content := real.read_bytes():
            require_format(content.decode("utf-8-sig", errors="replace"))
    except FileNotFoundError:
        return False
    except OSError as error:
        refuse(f"{file} cannot be written: {error.strerror}")
    except DefinitionError as error:
        refuse(f"{file} is kept: {error.problems[0].message} Name another file, or remove it.")
    return True
