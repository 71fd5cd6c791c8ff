"""What a command is about: a shape or another object that is named by its place, as `module:name`."""

import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from mcpshape._live import Live
from mcpshape.errors import DefinitionError, Problem
from mcpshape.shape import Shape


def load_shape(place: str) -> Shape:
    """The shape at a place; where there is none, the command ends with the reason."""
    found = load(place, "Shape")
    if not isinstance(found, Shape):
        remedy = "the Shape that it follows" if isinstance(found, Live) else "a Shape"
        refuse(f"{place} is no Shape but {type(found).__name__}; name {remedy}")
    return found


def load(place: str, what: str) -> Any:
    """What stands at a place, which should be `what`; where nothing does, the command ends with the reason."""
    name, _, attribute = place.partition(":")
    if not name or not attribute:
        refuse(f"{place} names no {what.lower()}; write module:name, such as calendar_server:shape")
    sys.path[:] = dict.fromkeys(["", *sys.path])
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        refuse(f"there is no module {error.name}; run this where it can be imported")
    except DefinitionError as error:
        refuse(f"{name} cannot be imported: {error.where}", error.problems)
    except (Exception, SystemExit) as error:
        refuse(f"{name} cannot be imported: {type(error).__name__}: {' '.join(str(error).split())}")
    if not hasattr(module, attribute):
        refuse(f"{name} has no {attribute}; name its {what}")
    return getattr(module, attribute)


def refuse(message: str, problems: Sequence[Problem] = ()) -> NoReturn:
    """End the command with exit code 2 and one line; of several problems, each has a line of its own after that."""
    if len(problems) == 1:
        message, problems = f"{message}: {problems[0]}", ()
    told = "\n".join([message, *(f"  {problem}" for problem in problems)])
    # An argument can hold bytes that are no text.
    print(f"mcpshape: {told.encode(errors='backslashreplace').decode()}", file=sys.stderr)  # noqa: T201
    raise SystemExit(2)


@contextmanager
def refusing() -> Iterator[None]:
    """End the command with one line where a definition cannot hold."""
    try:
        yield
    except DefinitionError as error:
        refuse(error.where, error.problems)
