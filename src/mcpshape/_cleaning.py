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


def well_formed(text: str) -> str:
    """Text that can be sent as UTF-8: a lone surrogate becomes U+FFFD."""
    return text if text.isascii() else _SURROGATES.sub(REPLACEMENT, text)


def clean(value: Any) -> Any:
    """A written JSON scalar, cleaned where it is a text."""
    return clean_text(value) if isinstance(value, str) else value


def clean_or_none(value: Any) -> Any:
    """The same where unset and empty are the same answer: a text of which nothing is left is `None`."""
    return clean(value) or None


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

    # What stands beside a joiner or a selector counts only where it is kept itself.
    picture = r"\p{Extended_Pictographic}\ufe0f?[\U0001f3fb-\U0001f3ff]?"
    joining = (
        r"[\p{Arabic}\p{Syriac}\p{Nko}\p{Mongolian}\p{Devanagari}\p{Bengali}\p{Gurmukhi}\p{Gujarati}\p{Oriya}"
        r"\p{Tamil}\p{Telugu}\p{Kannada}\p{Malayalam}\p{Sinhala}\p{Khmer}\p{Myanmar}]"
    )
    removable = r"\u200c\u200d\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0000-\U000e0fff"
    selected = rf"(?<=[^\s{removable}])[\ufe00-\ufe0f](?![\ufe00-\ufe0f])"
    ideograph = r"(?<=\p{Han})[\U000e0100-\U000e01ef](?![\U000e0100-\U000e01ef])"
    joiner = rf"(?<={joining})(?<![{removable}])[\u200c\u200d](?![{removable}])(?={joining})"
    joined = rf"(?<={picture})\u200d(?=\p{{Extended_Pictographic}})|{joiner}"
    # Only at what can be removed, or where a flag begins, is it worth to look around.
    candidate = rf"(?=[{removable}\U0001f3f4])"
    return regex.compile(f"{candidate}(?:(?P<kept>{_FLAGS}|{joined}|{selected}|{ideograph})|[{removable}])")


def _keep_meaning(found: Any) -> str:
    return found["kept"] or ""
