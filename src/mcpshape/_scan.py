"""The look at a text that is about to leave: how much care it takes to write what is in it as it has to be."""

import re
from enum import IntEnum

from mcpshape._values import SAFE_INTEGER


class Care(IntEnum):
    """How closely a projection looks at the values: the closer, the more of them cost a Python call each."""

    NATIVE = 0
    """Texts and integers are written as they are."""
    EXACT = 1
    """A text that may be null is null where it is empty; an integer that not every reader keeps exact is its digits."""
    CLEAN = 2
    """Besides, texts hold nothing that nobody sees."""


# How much of a text is looked at at once, and how much of the next part with it, so that what is found is whole in one.
_PART, _OVERLAP = 1 << 18, 32

# Tables turn each control into one byte and each digit into another, which are then easy to find.
_FOUND, _DIGIT = b"\0", b"0"
_DIGITS = bytes(range(0x30, 0x3A))
_CONTROLS = bytes({*range(32), 0x7F} - {0x09, 0x0A})
# Where a text is Latin-1, each other unwanted character is one byte as well.
_LATIN = _CONTROLS + bytes([*range(0x80, 0xA0), 0xAD])
_MARK_UTF8, _MARK_LATIN = (
    bytes.maketrans(each + _DIGITS, _FOUND * len(each) + _DIGIT * len(_DIGITS)) for each in (_CONTROLS, _LATIN)
)

# The byte that each kind of unwanted sequence starts with, and what follows it.
_Signs = tuple[tuple[bytes, re.Pattern[bytes]], ...]
_ESCAPES: _Signs = ((b"\\", re.compile(rb"\\[ubfr]")),)
_SIGNS: _Signs = (
    *_ESCAPES,
    (b"\xc2", re.compile(rb"\xc2[\x80-\x9f\xad]")),
    (b"\xcd", re.compile(rb"\xcd\x8f")),
    (b"\xd8", re.compile(rb"\xd8\x9c")),
    (b"\xe1", re.compile(rb"\xe1(?:\x85[\x9f\xa0]|\x9e[\xb4\xb5]|\xa0[\x8b-\x8f])")),
    (b"\xe2", re.compile(rb"\xe2(?:\x80[\x8b-\x8f\xa8-\xae]|\x81[\xa0-\xaf])")),
    (b"\xe3", re.compile(rb"\xe3\x85\xa4")),
    (b"\xed", re.compile(rb"\xed[\xa0-\xbf]")),
    (b"\xef", re.compile(rb"\xef(?:\xbb\xbf|\xb8[\x80-\x8f]|\xbe\xa0|\xbf[\xb0-\xbf])")),
    (b"\xf0", re.compile(rb"\xf0(?:\x9b\xb2|\x9d\x85)")),
    (b"\xf3", re.compile(rb"\xf3\xa0")),
)

_WIDEST = str(SAFE_INTEGER).encode()
_DIGITS_OF_WIDEST = _DIGIT * len(_WIDEST)
# A number as it stands in JSON and in TOON, where a text that looks like one is quoted.
_NUMBER = re.compile(rb'(?<![\w"./+-])-?(\d{%d,}+)(?![\w".])' % len(_WIDEST))
# An empty text as it stands in both, and no text that ends with a quote; a pattern that begins with a plain character
# finds it sooner than `in` does.
_EMPTY = re.compile(rb'""(?<!\\"")')


def needed_care(text: str) -> Care:
    """The care that it takes until a text may leave: a scan that errs to the safe side.

    It looks for empty texts and wide integers as JSON and TOON write them, for what nobody sees, and for the escapes
    that some encoders write in place of that.
    """
    if len(text) <= _PART:
        return _look(text)
    return max(_look(text[start : start + _PART + _OVERLAP]) for start in range(0, len(text), _PART))


def _look(part: str) -> Care:
    try:
        encoded, marking, signs = part.encode("latin-1"), _MARK_LATIN, _ESCAPES
    except UnicodeEncodeError:
        encoded, marking, signs = part.encode("utf-8", "surrogatepass"), _MARK_UTF8, _SIGNS
    marked = encoded.translate(marking)
    if _FOUND in marked:
        return Care.CLEAN
    for first, sign in signs:
        if first in encoded and sign.search(encoded):
            return Care.CLEAN
    if _EMPTY.search(encoded) or (_DIGITS_OF_WIDEST in marked and _holds_wide_integer(encoded)):
        return Care.EXACT
    return Care.NATIVE


def _holds_wide_integer(encoded: bytes) -> bool:
    numbers = (found[1] for found in _NUMBER.finditer(encoded))
    return any(len(number) > len(_WIDEST) or number > _WIDEST for number in numbers)
