"""The part of a settings file that is the server's own, beside what mcpshape reads of it."""

import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, SecretStr, ValidationError, model_validator

from mcpshape import DefinitionError
from mcpshape.errors import Problem

STRICT = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)
"""How models of settings are: what they do not know is a mistake, and no mistake shows what was written."""

Own = TypeVar("Own", bound=BaseModel)


class Kept(BaseModel):
    """A secret that stands elsewhere: in an environment variable or in a file."""

    model_config = STRICT

    env: str | None = None
    file: Path | None = None

    @model_validator(mode="after")
    def _names_one(self) -> "Kept":
        if (self.env is None) == (self.file is None):
            raise ValueError("one of env and file")
        return self

    def read(self, folder: Path) -> SecretStr:
        """The secret, without line breaks at its end.

        Raises:
            LookupError: It is not there.
        """
        try:
            found = os.environ[self.env] if self.env else (folder / Path(str(self.file)).expanduser()).read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise LookupError("file") from error
        return SecretStr(found.rstrip("\r\n"))


def keys(model: type[BaseModel]) -> frozenset[str]:
    """The keys of a settings file that a model reads; fields that are left out of dumps are none."""
    return frozenset(name for name, info in model.model_fields.items() if not info.exclude)


def read_own(path: Path | None, model: type[Own], remedy: Callable[[str], str]) -> Own:
    """What a settings file says to a server itself; other keys are left to mcpshape.

    Args:
        path: The file; without one, the model has its defaults.
        model: What can be said. Its field `folder` becomes the folder of the file.
        remedy: What to do about a mistake, by its place, such as `calendars.0.url`.

    Raises:
        DefinitionError: It is broken. All mistakes are named, none of them with what stands there.
    """
    if path is None:
        return model()
    try:
        whole = tomllib.loads(path.read_text())
    except (OSError, ValueError) as error:
        problem = Problem(str(path), "it is no TOML file that can be read.", "Mend it.")
        raise DefinitionError("settings", [problem]) from error
    try:
        return model(**{key: whole[key] for key in keys(model) & whole.keys()}, folder=path.parent)
    except ValidationError as error:
        mistakes = {".".join(map(str, each["loc"][:3])): each for each in error.errors(include_input=False)}
        problems = [Problem(where, _worded(each["type"]), remedy(where)) for where, each in mistakes.items()]
        raise DefinitionError("settings", problems) from error


def _worded(kind: str) -> str:
    return {"extra_forbidden": "there is no such setting.", "missing": "it is missing."}.get(kind, "it cannot be used.")
