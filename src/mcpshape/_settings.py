"""Settings as they are written: the model, where they come from, and what is wrong with them, all of it at once."""

import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError
from pydantic_core import to_json
from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsError

from mcpshape.errors import DefinitionError, Problem

_STRICT = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)
_DELIMITER = "__"
# Tables that stand for one value: what goes before the other replaces it whole.
_WHOLE = frozenset({"budget", "format"})

Place = tuple[str | int, ...]
"""Where a setting stands: the keys that lead to it."""


class Budget(BaseModel):
    """The most that one text may hold, in characters or in tokens."""

    model_config = _STRICT

    chars: int | None = Field(None, ge=1)
    tokens: int | None = Field(None, ge=1)


class Format(BaseModel):
    """An encoder by its name, and the options that it is made with, such as `delimiter`."""

    model_config = ConfigDict(extra="allow", frozen=True, hide_input_in_errors=True)

    name: str


class ToolEntry(BaseModel):
    """What is set for one tool."""

    model_config = _STRICT

    level: str | None = None
    format: str | Format | None = None
    structured: bool | None = None
    budget: Budget | None = None
    limit: int | None = Field(None, ge=1)


class CallerEntry(BaseModel):
    """What is set for callers that are known by something."""

    model_config = _STRICT

    level: str | None = None
    toggles: dict[str, bool] = {}


class Settings(BaseModel):
    """What an operator can set for a server."""

    model_config = _STRICT

    level: str | None = None
    toggles: dict[str, bool] = {}
    format: str | Format | None = None
    structured: bool | None = None
    budget: Budget | None = None
    limit: int | None = Field(None, ge=1)
    secret: SecretStr | None = None
    secret_file: str | None = None
    tools: dict[str, ToolEntry] = {}
    principals: dict[str, CallerEntry] = {}
    scopes: dict[str, CallerEntry] = {}
    clients: dict[str, CallerEntry] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Settings before they are checked, by where they come from; `options` go before `environment` before `file`.

    `others` are keys of the file that are no settings, and are not in `file`.
    """

    file: Mapping[str, Any] = field(default_factory=dict, repr=False)
    environment: Mapping[str, Any] = field(default_factory=dict, repr=False)
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    prefix: str = ""
    others: frozenset[str] = frozenset()

    def name(self, place: Place) -> str:
        """A setting by the name under which whoever wrote it knows it."""
        keys = [str(key) for key in place]
        if _reach(self.options, place):
            return f"option {'.'.join(keys)}"
        if _reach(self.environment, place):
            return self.prefix.upper() + _DELIMITER.join(keys).upper()
        return ".".join(keys)

    def read(self) -> tuple[Settings, list[Problem]]:
        """The settings in force but for what cannot be read, and everything that is wrong with that."""
        merged, problems = merge(merge(self.file, self.environment), self.options), []
        # In a file a text is no number; as JSON, since a table is no model.
        for is_strict in (True, False):
            for place, kind in _mistakes(self.file if is_strict else merged, is_strict=is_strict):
                problems.append(
                    Problem(self.name(place), *_wording(kind, place, self.others, is_in_file=_reach(self.file, place)))
                )
                merged = _without(merged, _unit(place))
        return Settings.model_validate(merged), list(dict.fromkeys(problems))


def require_apart(others: Collection[str]) -> frozenset[str]:
    """Keys of a file that are no settings.

    Raises:
        DefinitionError: One is a setting, or all of them are one text.
    """
    if isinstance(others, str):
        problems = [Problem("others", "it is one text.", 'Write a set of keys, as in {"calendars"}.')]
    else:
        taken = sorted(Settings.model_fields.keys() & others)
        problems = [
            Problem(name, "it is a setting already.", "Give the key of the server another name.") for name in taken
        ]
    if problems:
        raise DefinitionError("settings", problems)
    return frozenset(others)


def read_environment(prefix: str, others: frozenset[str]) -> tuple[dict[str, Any], list[Problem]]:
    """The settings among the environment variables, and what is wrong with those that are none."""
    lowered = frozenset(each.lower() for each in others)
    keys = {
        name: name[len(prefix) :].lower().split(_DELIMITER)[0]
        for name in os.environ
        if name.lower().startswith(prefix.lower())
    }
    problems = [
        Problem(name, *_unknown(key, Settings, lowered, is_in_file=False))
        for name, key in keys.items()
        if key not in Settings.model_fields
    ]
    try:
        # Only its fields are read. As BaseSettings it would read variables without a prefix whenever it is validated.
        model = cast(type[BaseSettings], Settings)
        return EnvSettingsSource(model, env_prefix=prefix, env_nested_delimiter=_DELIMITER)(), problems
    except SettingsError as error:
        found = re.search(r'field "(\w+)"', str(error))
        name = prefix.upper() + (found[1].upper() if found else "")
        return {}, [*problems, Problem(name, "it cannot be read.", "Write a table as JSON.")]


def merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Two sources as one; where both have a setting, the one above counts."""
    merged = dict(below)
    for key, value in above.items():
        if key not in _WHOLE and isinstance(value, Mapping) and isinstance(merged.get(key), Mapping):
            merged[key] = merge(merged[key], value)
        else:
            merged[key] = value
    return merged


def flatten(settings: Settings) -> dict[str, Any]:
    """The settings that are set, by their dotted paths."""

    def walk(value: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        if isinstance(value, Mapping) and value:
            for key, each in value.items():
                yield from walk(each, (*path, str(key)))
        elif value is not None and value != {}:
            yield ".".join(path), value

    return dict(walk(settings.model_dump(exclude_defaults=True), ()))


_MODELS: Mapping[str, type[BaseModel]] = {
    "budget": Budget,
    "format": Format,
    "tools": ToolEntry,
    **dict.fromkeys(("principals", "scopes", "clients"), CallerEntry),
}
_WORDINGS: Mapping[str, tuple[str, str]] = {
    "string_type": ("it is no text.", "Put it in quotes."),
    "bool_type": ("it is neither true nor false.", "Write true or false, without quotes."),
    "bool_parsing": ("it is neither true nor false.", "Write true or false."),
    "int_type": ("it is no whole number.", "Write one of at least 1, without quotes."),
    "int_parsing": ("it is no whole number.", "Write one of at least 1."),
    "greater_than_equal": ("it is less than 1.", "Write a number of at least 1."),
    "missing": ("it is missing.", "Add it."),
    "format_type": ("it is neither a name nor a table.", 'Write one such as "toon" or { name = "toon" }.'),
}


def _mistakes(written: Mapping[str, Any], *, is_strict: bool) -> list[tuple[Place, str]]:
    """Where something is not what it should be, and what pydantic calls that."""
    try:
        if is_strict:
            Settings.model_validate_json(to_json(written, fallback=lambda _: None), strict=True)
        else:
            Settings.model_validate(written)
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=False, include_input=False)
        return [_in_place(detail["loc"], detail["type"]) for detail in details if not _is_arm(detail["loc"], "str")]
    return []


def _is_arm(loc: Place, name: str) -> bool:
    """Whether a mistake is about one of the two types that a format can be of."""
    return loc[-2:] == ("format", name)


def _in_place(loc: Place, kind: str) -> tuple[Place, str]:
    kind = "format_type" if _is_arm(loc, "Format") else kind
    steps = zip(("", *loc), loc, strict=False)
    return tuple(key for before, key in steps if (before, key) != ("format", "Format")), kind


def _unit(place: Place) -> Place:
    """A place, or that of the whole value that it is in."""
    return next((place[: end + 1] for end, key in enumerate(place) if key in _WHOLE), place)


def _without(written: Mapping[str, Any], place: Place) -> dict[str, Any]:
    """The same but for what stands at a place."""
    key, *rest = place
    if rest and isinstance(inner := written.get(str(key)), Mapping):
        return {**written, str(key): _without(inner, tuple(rest))}
    return {name: each for name, each in written.items() if name != key}


def _wording(kind: str, place: Place, others: frozenset[str], *, is_in_file: bool) -> tuple[str, str]:
    """What pydantic has found, as message and remedy without the value."""
    if kind == "extra_forbidden":
        model = _model_around(place)
        return _unknown(str(place[-1]), model, others if len(place) == 1 else frozenset(), is_in_file=is_in_file)
    return _WORDINGS.get(kind, ("it is no table.", "Write it as docs/reference/settings.md shows."))


def _model_around(place: Place) -> type[BaseModel]:
    holders = [_MODELS[str(key)] for key in place[:-1] if key in _MODELS]
    return holders[-1] if holders else Settings


def _unknown(key: str, model: type[BaseModel], others: frozenset[str], *, is_in_file: bool) -> tuple[str, str]:
    if key in others:
        return "the server reads it from the settings file alone.", "Write it there."
    known = [*model.model_fields, *(sorted(others) if is_in_file else ())]
    return "there is no such setting.", f"Choose from: {', '.join(known)}."


def _reach(written: Any, place: Place) -> bool:
    for key in place:
        if not isinstance(written, Mapping) or key not in written:
            return False
        written = written[key]
    return True
