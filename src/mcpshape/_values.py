"""JSON values, and the small conversions that keep them exact, finite and readable."""

import math
import re
from collections.abc import Callable
from typing import Any

from mcpshape.errors import ProjectionError

SAFE_INTEGER = 2**53 - 1
"""The widest integer that a JavaScript reader keeps exact (RFC 8259, section 6)."""

REPLACEMENT = "\ufffd"
ELLIPSIS = "…"
CONCEALED = "**********"

_SURROGATES = re.compile("[\ud800-\udfff]")
_DIGITS_TO_ZERO = bytes.maketrans(b"123456789", b"000000000")
_LONG_INTEGERS = tuple(start + b"0" * 16 for start in (b":", b",", b"[", b"-"))
_SIGNS = (b"NaN", b"Infinity", b':""', b',""', b'[""', REPLACEMENT.encode())
_NOT_FINITE = frozenset({"NaN", "-NaN", "sNaN", "-sNaN", "Infinity", "-Infinity"})


def needs_care(document: bytes) -> bool:
    """Whether a JSON document may hold a value that must not leave as it is.

    A cheap scan that errs to the safe side: NaN and infinity, integers beyond 2^53, empty texts, and U+FFFD, which is
    what native code makes of a lone surrogate in a key.
    """
    if any(sign in document for sign in _SIGNS):
        return True
    zeros = document.translate(_DIGITS_TO_ZERO)
    return any(start in zeros for start in _LONG_INTEGERS)


def clean_text(text: str) -> str:
    """Text without lone surrogates, which no UTF-8 encoder accepts: each becomes U+FFFD."""
    return _SURROGATES.sub(REPLACEMENT, text)


def exact_integer(value: int) -> int | str:
    """An integer that any JSON reader keeps exact, or its decimal digits as text."""
    return value if abs(value) <= SAFE_INTEGER else str(value)


def tidier(where: str, *, is_nullable: bool, is_decimal: bool = False) -> Callable[[Any], Any]:
    """The function that makes one JSON scalar fit to leave; `where` names its field in errors.

    Where null is allowed, an empty text and a number that JSON cannot hold become null. Elsewhere such a number is an
    error.
    """

    def tidy(value: Any) -> Any:
        if isinstance(value, str):
            text = clean_text(value)
            return refuse() if is_decimal and text in _NOT_FINITE else text or (None if is_nullable else text)
        if isinstance(value, float):
            return value if math.isfinite(value) else refuse()
        return exact_integer(value) if type(value) is int else value

    def refuse() -> None:
        if not is_nullable:
            raise ProjectionError(f"{where} is NaN or infinite. Declare it nullable, or fill in a number.")

    return tidy


def clipper(length: int) -> Callable[[Any], Any]:
    """The function that cuts a text to `length` grapheme clusters, the last of them `…`; other values pass."""
    import regex

    whole = regex.compile(rf"\X{{0,{length}}}")
    kept = regex.compile(rf"(\X{{0,{length - 1}}}).*", regex.DOTALL)

    def clip(value: Any) -> Any:
        if not isinstance(value, str) or len(value) <= length or whole.fullmatch(value):
            return value
        return str(kept.sub(r"\1", value, count=1)).rstrip() + ELLIPSIS

    return clip
