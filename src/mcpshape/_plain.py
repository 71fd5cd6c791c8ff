"""JSON data that every encoder can write, made of data that no shape has projected."""

import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from mcpshape._cleaning import REPLACEMENT, well_formed
from mcpshape._values import exact_number


def make_plain(value: Any) -> Any:
    """The same data with what an encoder cannot write replaced.

    A lone surrogate becomes U+FFFD, NaN and infinity null. An integer of more digits than Python writes becomes these
    digits as text, a tuple a list. A key that is no text becomes its JSON; one that then stands there already gets one
    more U+FFFD.

    Raises:
        TypeError: JSON has no word for a value.
    """
    match value:
        case str():
            return well_formed(str.__str__(value))
        case None | bool():
            return value
        case int():
            return _plain_integer(int(value))
        case float():
            return exact_number(float(value)) if math.isfinite(value) else None
        case list() | tuple():
            return [make_plain(each) for each in value]
        case Mapping():
            return _plain_object(value.items())
        case _:
            raise TypeError


def _plain_integer(value: int) -> int | str:
    try:
        str(value)
    except ValueError:
        return str(Decimal(value))
    return value


def _plain_object(entries: Iterable[tuple[Any, Any]]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for key, value in entries:
        name = _plain_key(key)
        while name in data:
            name += REPLACEMENT
        data[name] = make_plain(value)
    return data


def _plain_key(key: Any) -> str:
    plain = make_plain(key)
    if isinstance(plain, str):
        return plain
    if isinstance(plain, list | dict):
        raise TypeError
    return "null" if plain is None else str(plain).lower()
