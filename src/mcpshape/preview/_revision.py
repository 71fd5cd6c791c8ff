"""Settings put into the text of a TOML file, in which all else stays as it is: comments, order, line ends."""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class Edit:
    """One setting to write: the keys that lead to it, and its value; `None` takes it away."""

    place: tuple[str, ...]
    value: str | bool | None

    def __str__(self) -> str:
        """The setting as one writes it by hand."""
        return f"{'.'.join(self.place)} = {tomlkit.item(self.value).as_string()}" if self.value is not None else ""


def replace_format(written: Mapping[str, Any], place: tuple[str, ...], name: str) -> list[Edit]:
    """The edits that set a format; a table of a name and options keeps its place, and loses the options."""
    standing: Any = written
    for key in place:
        standing = standing.get(key) if isinstance(standing, Mapping) else None
    if not isinstance(standing, Mapping):
        return [Edit(place, name)]
    return [Edit((*place, "name"), name), *(Edit((*place, key), None) for key in standing if key != "name")]


def revise(content: bytes, edits: Sequence[Edit]) -> bytes:
    """The content of a TOML file with some settings changed, and nothing else.

    Raises:
        ValueError: It is no TOML, or is written in a way in which this cannot be done.
    """
    text = content.decode()
    bare = text.removeprefix(_BOM)
    plain = tomllib.loads(bare, parse_float=str)
    for edit in edits:
        _put(plain, edit.place, edit.value, lambda _: {})
    revised = _edited(bare, edits)
    require_same(revised, plain)
    if "\r\n" in bare and bare.count("\n") == bare.count("\r\n"):
        revised = revised.replace("\r\n", "\n").replace("\n", "\r\n")
    return f"{_BOM if text.startswith(_BOM) else ''}{revised}".encode()


def require_same(text: str, plain: Mapping[str, Any]) -> None:
    """See that a text holds what it should: a library that edits TOML may lose its way in an unusual file.

    Raises:
        ValueError: It does not.
    """
    if tomllib.loads(text, parse_float=str) != plain:
        raise ValueError("something else would change as well")


def _edited(text: str, edits: Sequence[Edit]) -> str:
    def make_table(key: str) -> Any:
        return tomlkit.inline_table() if key == "toggles" else tomlkit.table()

    try:
        document = tomlkit.parse(text)
        for edit in edits:
            _put(document, edit.place, edit.value, make_table)
        return tomlkit.dumps(document)
    except (LookupError, TypeError, TOMLKitError) as error:
        raise ValueError("it cannot be edited") from error


def _put(holder: Any, place: Sequence[str], value: str | bool | None, make_table: Callable[[str], Any]) -> None:
    key, *rest = place
    if rest:
        if key not in holder:
            holder[key] = make_table(key)
        _put(holder[key], rest, value, make_table)
    elif value is None:
        del holder[key]
    else:
        holder[key] = value
