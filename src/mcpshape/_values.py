"""JSON values, and the small conversions that keep them exact, finite and short."""

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from pydantic_core import PydanticSerializationUnexpectedValue

from mcpshape.errors import ProjectionError

SAFE_INTEGER = 2**53 - 1
"""The widest integer that a JavaScript reader keeps exact (RFC 8259, section 6)."""

ELLIPSIS = "…"
CONCEALED = "**********"

Check = Callable[[Any], Any]


def text_or_none(value: Any) -> str | None:
    """A text, or `None` where it is empty: unset and empty are the same answer."""
    if isinstance(value, str):
        return value or None
    raise PydanticSerializationUnexpectedValue("expected a text")


def exact_integer(value: Any) -> int | str:
    """An integer that any JSON reader keeps exact, or its decimal digits as text."""
    if isinstance(value, int):
        return int(value) if -SAFE_INTEGER <= value <= SAFE_INTEGER else str(int(value))
    raise PydanticSerializationUnexpectedValue("expected an integer")


def finite(where: str, *, is_nullable: bool) -> Check:
    """The check of a number for NaN and infinity, which JSON cannot hold.

    They become null where null is allowed; elsewhere they are an error that names the field, `where`.
    """

    def check(value: Any) -> Any:
        if isinstance(value, Decimal):
            return str(value) if value.is_finite() else refuse()
        if isinstance(value, float | int):
            return value if math.isfinite(value) else refuse()
        raise PydanticSerializationUnexpectedValue("expected a number")

    def refuse() -> None:
        if not is_nullable:
            raise ProjectionError(f"{where} is NaN or infinite. Declare it nullable, or fill in a number.")

    return check


def tidy_scalar(where: str, *, is_nullable: bool) -> Check:
    """The check of a written JSON scalar whose kind is known only when it is there."""
    check_number = finite(where, is_nullable=is_nullable)

    def tidy(value: Any) -> Any:
        if isinstance(value, str):
            return value or (None if is_nullable else value)
        if isinstance(value, float):
            return check_number(value)
        return exact_integer(value) if type(value) is int else value

    return tidy


def clipper(length: int) -> Check:
    """The function that cuts a text to `length` grapheme clusters, the last of them `…`; other values pass."""
    import regex

    whole = regex.compile(rf"\X{{0,{length}}}")
    kept = regex.compile(rf"(\X{{0,{length - 1}}}).*", regex.DOTALL)

    def clip(value: Any) -> Any:
        if not isinstance(value, str) or len(value) <= length or whole.fullmatch(value):
            return value
        return str(kept.sub(r"\1", value, count=1)).rstrip() + ELLIPSIS

    return clip
