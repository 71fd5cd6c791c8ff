"""JSON values, and the small conversions that keep them exact, finite and short."""

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import is_dataclass
from decimal import Decimal
from enum import Enum
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticSerializationUnexpectedValue

from mcpshape.errors import ProjectionError

SAFE_INTEGER = 2**53 - 1
"""The widest integer that a JavaScript reader keeps exact (RFC 8259, section 6)."""

# What comparisons of floats are quickest with; NaN is on neither side of it.
_EXACT = float(SAFE_INTEGER)

# TOON specification, section 2.
_EXPONENT = 1e21

ELLIPSIS = "…"
# Before it each character is a grapheme cluster of its own, but for the newline after a carriage return (UAX #29).
_FIRST_JOINED = "\u0300"
CONCEALED = "**********"

Check = Callable[[Any], Any]

_COMPOSED = (BaseModel, Mapping, Sequence, AbstractSet, bytes, type(None), type)


def text_or_none(value: Any) -> str | None:
    """A text, or `None` where it is empty: unset and empty are the same answer."""
    if isinstance(value, str):
        return value or None
    raise PydanticSerializationUnexpectedValue("expected a text")


def exact_integer(value: Any) -> Any:
    """An integer that any JSON reader keeps exact, or its decimal digits as text; null stays."""
    if value is None or -SAFE_INTEGER <= value <= SAFE_INTEGER:
        return value
    # str() refuses more than 4,300 digits.
    return str(Decimal(value))


def exact_number(value: float) -> float:
    """A number that is written with all of its digits: some TOON codec rounds a float from 2^53 on.

    Beyond 1e21, where TOON has exponents, it stays as it is.
    """
    return int(value) if SAFE_INTEGER < abs(value) < _EXPONENT else value


def finite(where: str, *, is_nullable: bool, is_decimal: bool) -> Check:
    """The check of a number for NaN and infinity, which JSON cannot hold; a decimal is written as its exact text.

    They become null where null is allowed; elsewhere they are an error that names the field, `where`.
    """

    def check(value: Any) -> Any:
        if type(value) is float and not is_decimal and -_EXACT <= value <= _EXACT:
            return value
        if isinstance(value, bool) or not isinstance(value, Decimal | int if is_decimal else float | int):
            raise PydanticSerializationUnexpectedValue("expected a number")
        number = Decimal(value) if is_decimal else value
        if number.is_finite() if isinstance(number, Decimal) else math.isfinite(number):
            return str(number) if isinstance(number, Decimal) else exact_number(number)
        if is_nullable:
            return None
        raise ProjectionError(f"{where} is NaN or infinite. Declare it nullable, or fill in a number.")

    return check


def as_text(types: tuple[type, ...]) -> Check:
    """The text of a URL, a path or the like; of any plain object where its class is not known."""

    def check(value: Any) -> str:
        is_plain = not isinstance(value, _COMPOSED) and not is_dataclass(value)
        if isinstance(value, (str, *types)) if types else is_plain:
            return str(value)
        raise PydanticSerializationUnexpectedValue("expected another type")

    return check


def one_of(expected: Sequence[Any]) -> Check:
    """One of the declared literals; another value is refused, where native code would write it as it comes."""
    known = {(type(plain), plain): plain for plain in map(_unwrapped, expected)}

    def check(value: Any) -> Any:
        plain = _unwrapped(value)
        if plain.__hash__ is not None and (type(plain), plain) in known:
            return known[type(plain), plain]
        raise PydanticSerializationUnexpectedValue("expected a declared literal")

    return check


def concealed(value: Any) -> str:
    """The same text for every secret."""
    if callable(getattr(value, "get_secret_value", None)):
        return CONCEALED
    raise PydanticSerializationUnexpectedValue("expected a secret")


def as_list(value: Any) -> list[Any]:
    """A list of what a declared sequence holds; a text, a mapping or an iterator is none."""
    if isinstance(value, Sequence | deque) and not isinstance(value, str | bytes):
        return list(value)
    raise PydanticSerializationUnexpectedValue("expected a sequence")


def as_dict(value: Any) -> dict[Any, Any]:
    """A dict of what a declared mapping holds."""
    if isinstance(value, Mapping):
        return dict(value)
    raise PydanticSerializationUnexpectedValue("expected a mapping")


def _unwrapped(value: Any) -> Any:
    return value.value if isinstance(value, Enum) else value


def clipper(length: int, clean: Callable[[str], str]) -> Check:
    """The function that cuts a text to `length` grapheme clusters, the last of them `…`; other values pass.

    Where `clean` would take away something of the first that is cut off, the text is cleaned before it is cut, so that
    what nobody sees takes no room.
    """
    split = _splitter(length)

    def clip(value: Any) -> Any:
        parts = split(value) if isinstance(value, str) and len(value) > length else None
        if parts is None:
            return value
        kept = parts[0].rstrip()
        cut_off = "".join(parts)[len(kept) :]
        if clean(cut_off) != cut_off and (cleaned := clean(value)) != value:
            return clip(cleaned)
        return kept + ELLIPSIS

    return clip


def _splitter(length: int) -> Callable[[str], tuple[str, str] | None]:
    """The function that gives the first `length - 1` clusters of a text and two more; `None` where all of them fit."""
    import regex

    whole = regex.compile(rf"\X{{0,{length}}}")
    beginning = regex.compile(rf"(\X{{0,{length - 1}}})(\X{{0,2}})")

    def split(text: str) -> tuple[str, str] | None:
        head = text[: length + 1]
        if max(head) < _FIRST_JOINED and "\r" not in head:
            return head[: length - 1], head[length - 1 :]
        found = None if whole.fullmatch(text) else beginning.match(text)
        return (found[1], found[2]) if found else None

    return split
