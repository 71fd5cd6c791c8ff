"""Which arrays of a view can be tables, why the others cannot, and what they would be as one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from mcpshape._layout import NO_HINTS, Layout

# The types of most entries and values, which are asked for first, since to look at each of them takes longer.
_OBJECTS = frozenset({dict})
_PLAIN = frozenset({str, bool, int, float, type(None)})


@dataclass(frozen=True, slots=True)
class Array:
    """An array of a view that holds objects or arrays, by its dotted path."""

    path: str
    entries: Sequence[Any]
    layout: Layout = NO_HINTS


def find_arrays(data: Any, layout: Layout = NO_HINTS, path: str = "") -> Iterator[Array]:
    """The arrays that could be tables, outer ones first; arrays of plain values need not be any."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            yield from find_arrays(value, layout.at(key), f"{path}.{key}".lstrip("."))
    elif isinstance(data, list):
        if any(isinstance(entry, list | Mapping) for entry in data):
            yield Array(path, data, layout)
        for entry in data:
            yield from find_arrays(entry, layout.at("*"), path)


def obstacle(array: Array, *, allows_groups: bool) -> str | None:
    """What keeps an array from being a table; `None` where it is one.

    TOON has groups of columns for objects with the same keys in every entry (specification 4.0, section 9.3); Markdown
    has none, and no room for prose in a cell.
    """
    entries = array.entries
    if not _OBJECTS.issuperset(map(type, entries)):
        for place, entry in enumerate(entries, 1):
            if not isinstance(entry, Mapping):
                return f"entry {place} is no object"
    if not allows_groups:
        hints = array.layout.at("*")
        for key in entries[0]:
            if hints.at(key).is_prose:
                return f"{key} is prose"
    return _obstacle(entries, "", allows_groups=allows_groups)


def _obstacle(entries: Sequence[Mapping[str, Any]], path: str, *, allows_groups: bool) -> str | None:
    keys = entries[0].keys()
    if not keys:
        return f"{path or 'entry 1'} has no keys"
    for place, entry in enumerate(entries, 1):
        if entry.keys() != keys:
            missing = min(keys - entry.keys(), default=None)
            without, key = (place, missing) if missing is not None else (1, min(entry.keys() - keys))
            return f"entry {without} has no {path}{key}"
    if _PLAIN.issuperset(map(type, chain.from_iterable(entry.values() for entry in entries))):
        return None
    for key in keys:
        values = [entry[key] for entry in entries]
        if any(isinstance(value, list) for value in values):
            return f"{path}{key} holds an array"
        objects = [value for value in values if isinstance(value, Mapping)]
        if not objects:
            continue
        if not allows_groups:
            return f"{path}{key} holds an object"
        if len(objects) < len(values):
            return f"{path}{key} is an object in some entries only"
        if found := _obstacle(objects, f"{path}{key}.", allows_groups=True):
            return found
    return None


def as_table(array: Array) -> list[dict[str, Any]] | None:
    """The same entries as one table, keys that are missing filled with null, or `None` where that is not possible.

    Objects become columns with dotted names; where each entry holds one array of objects, its rows are joined with the
    entry's own values, which are then repeated.
    """
    rows = [row for entry in array.entries for row in _rows(entry)]
    keys = list(dict.fromkeys(key for row in rows for key in row))
    if not rows or any(isinstance(value, list) for row in rows for value in row.values()):
        return None
    return [{key: row.get(key) for key in keys} for row in rows]


def _rows(entry: Any) -> list[dict[str, Any]]:
    if not isinstance(entry, Mapping):
        return [{"": entry}]
    flat = _flat(entry)
    inner = [
        key for key, value in flat.items() if isinstance(value, list) and any(isinstance(e, Mapping) for e in value)
    ]
    if len(inner) != 1:
        return [{key: None if value == [] else value for key, value in flat.items()}]
    (key,) = inner
    own = {name: value for name, value in flat.items() if name != key}
    return [
        {**own, **{f"{key}.{name}": value for name, value in row.items()}} for each in flat[key] for row in _rows(each)
    ]


def _flat(entry: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in entry.items():
        flat |= _flat(value, f"{path}{key}.") if isinstance(value, Mapping) else {f"{path}{key}": value}
    return flat
