"""Text without what nobody sees: control characters, escape sequences, and the invisible parts of Unicode."""

import re
from functools import cache
from typing import Any

REPLACEMENT = "\ufffd"

_SURROGATES = re.compile("[\ud800-\udfff]")
# ECMA-48: a control sequence, an operating system command up to its end, any other escape of two characters.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|\x1b[ -~]?"
)
_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")
# Bidi embeddings, overrides and isolates; fillers and format characters that draw nothing; noncharacters.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a]"
)
_MARKS = re.compile("[\u061c\u200e\u200f]")
_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u061b\u061d-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
_FLAGS = (
    "\U0001f3f4\U000e0067\U000e0062(?:"
    "\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|\U000e0077\U000e006c\U000e0073)\U000e007f"
)

# How much of a text is looked at at once.
_PART = 1 << 16

# Where a text is Latin-1, each unwanted character is one byte; tables turn such bytes into one that is easy to find.
_FOUND = b"\0"
_CONTROL_BYTES = bytes({*range(32), 0x7F} - {0x09, 0x0A})
_LATIN_BYTES = _CONTROL_BYTES + bytes([*range(0x80, 0xA0), 0xAD])
_MARK_CONTROLS, _MARK_LATIN = (bytes.maketrans(each, _FOUND * len(each)) for each in (_CONTROL_BYTES, _LATIN_BYTES))
_ESCAPED = re.compile(rb"\\[ubfr]")
# Where it is UTF-8: the byte that each other kind of unwanted character starts with, and what follows it.
_SIGNS = (
    (b"\xc2", re.compile(rb"\xc2[\x80-\x9f\xad]")),
    (b"\xcd", re.compile(rb"\xcd\x8f")),
    (b"\xd8", re.compile(rb"\xd8\x9c")),
    (b"\xe1", re.compile(rb"\xe1(?:\x85[\x9f\xa0]|\x9e[\xb4\xb5]|\xa0[\x8b-\x8f])")),
    (b"\xe2", re.compile(rb"\xe2(?:\x80[\x8b-\x8f\xa8-\xae]|\x81[\xa0-\xaf])")),
    (b"\xe3", re.compile(rb"\xe3\x85\xa4")),
    (b"\xef", re.compile(rb"\xef(?:\xbb\xbf|\xb8[\x80-\x8f]|\xbe\xa0|\xbf[\xb0-\xbf])")),
    (b"\xf0", re.compile(rb"\xf0(?:\x9b\xb2|\x9d\x85)")),
    (b"\xf3", re.compile(rb"\xf3\xa0")),
    (b"\\", _ESCAPED),
)


def needs_care(text: str) -> bool:
    """Whether a text that is about to leave may hold what must not: a scan that errs to the safe side.

    Besides the characters themselves it looks for the escapes that some encoders write in place of them.
    """
    # Parts overlap, so that an escape is whole in one of them.
    starts = range(0, len(text), _PART)
    return any(map(_is_suspect, (text[start : start + _PART + 1] for start in starts) if starts[1:] else (text,)))


def _is_suspect(part: str) -> bool:
    try:
        latin = part.encode("latin-1")
    except UnicodeEncodeError:
        return _is_suspect_beyond_latin(part)
    return _FOUND in latin.translate(_MARK_LATIN) or (b"\\" in latin and _ESCAPED.search(latin) is not None)


def _is_suspect_beyond_latin(part: str) -> bool:
    try:
        encoded = part.encode()
    except UnicodeEncodeError:
        return True
    if _FOUND in encoded.translate(_MARK_CONTROLS):
        return True
    return any(first in encoded and sign.search(encoded) for first, sign in _SIGNS)


def well_formed(text: str) -> str:
    """Text that can be sent as UTF-8: a lone surrogate becomes U+FFFD."""
    return text if text.isascii() else _SURROGATES.sub(REPLACEMENT, text)


def clean(value: Any) -> Any:
    """A written JSON scalar, cleaned where it is a text."""
    return clean_text(value) if isinstance(value, str) else value


def clean_text(text: str) -> str:
    """Text as a reader sees it.

    Removed: escape sequences (ECMA-48), controls other than tab and newline, bidi controls, tag characters, characters
    that draw nothing. Replaced: other line ends by a newline, lone surrogates by U+FFFD. Kept: joiners between letters
    that join and in emoji, one variation selector after a character, direction marks in right-to-left text, the flags
    of England, Scotland and Wales.
    """
    if text.isascii() and text.isprintable():
        return text
    text = _SURROGATES.sub(REPLACEMENT, text)
    text = _CONTROLS.sub("", _LINE_ENDS.sub("\n", _ESCAPES.sub("", text)))
    text = _INVISIBLE.sub("", text)
    if not _RIGHT_TO_LEFT.search(text):
        text = _MARKS.sub("", text)
    return text if text.isascii() else str(_meaningless().sub(_keep_meaning, text))


@cache
def _meaningless() -> Any:
    """Joiners, selectors and tags; `kept` where they have a meaning (UTS #51, UAX #31)."""
    import regex

    picture = r"\p{Extended_Pictographic}\ufe0f?[\U0001f3fb-\U0001f3ff]?"
    joining = (
        r"[\p{Arabic}\p{Syriac}\p{Nko}\p{Mongolian}\p{Devanagari}\p{Bengali}\p{Gurmukhi}\p{Gujarati}\p{Oriya}"
        r"\p{Tamil}\p{Telugu}\p{Kannada}\p{Malayalam}\p{Sinhala}\p{Khmer}\p{Myanmar}]"
    )
    selected = r"(?<=[^\s\ufe00-\ufe0f])[\ufe00-\ufe0f](?![\ufe00-\ufe0f])"
    ideograph = r"(?<=\p{Han})[\U000e0100-\U000e01ef](?![\U000e0100-\U000e01ef])"
    joined = rf"(?<={picture})\u200d(?=\p{{Extended_Pictographic}})|(?<={joining})[\u200c\u200d](?={joining})"
    others = r"[\u200c\u200d\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0000-\U000e0fff]"
    return regex.compile(f"(?P<kept>{_FLAGS}|{joined}|{selected}|{ideograph})|{others}")


def _keep_meaning(found: Any) -> str:
    return found["kept"] or ""
