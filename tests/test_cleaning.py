"""Rule 10: nothing invisible leaves."""

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel

from clients import decode
from mcpshape import Shape, UserError
from mcpshape._cleaning import clean_text
from mcpshape._scan import Care, needed_care
from mcpshape.encoders import Json, Markdown, Toon

ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
SUBSTITUTED = {
    "Lunch\U0001f3f4\U000e0069\U000e0067\U000e006e\U000e007f": "Lunch\U0001f3f4",
    "a\u202ecod.exe": "acod.exe",
    "pa\u200bypal": "paypal",
    "\x1b[31mred\x1b[0m \x1b]8;;http://evil\x07link\x1b]8;;\x07\x1b": "red link",
    "\x9b1mbold\x9d0;title\x9c": "bold",
    "a\rb\r\nc\x85d\u2028e": "a\nb\nc\nd\ne",
    "bell\x07 null\x00 delete\x7f": "bell null delete",
    "\ufeffstart so\u00adft \u3164": "start soft ",
    "x\u2066y\u2069": "xy",
    "abc\u200fdef": "abcdef",
    "abc\u061cdef": "abcdef",
    "a\u200db": "ab",
    "❤\ufe0f\ufe0f\ufe0f": "❤",
    "a\U000e0100\U000e0101": "a",
    "a\ud800b": "a\ufffdb",
}
KEPT = [
    "plain\ttext\nwith lines",
    "Größe – “quotes” … dash",
    "日本語　全角、한국어 Tiếng Việt",
    "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "\u05e9\u05dc\u05d5\u05dd\u200fabc",
    "क्‍ष",
    "👨‍👩‍👧 👩🏽‍💻 🏳️‍🌈 ❤️",
    ENGLAND,
    "葛\U000e0100",
]
UNWANTED = {"Cc", "Cs"}


class Note(BaseModel):
    text: str
    by_name: dict[str, str] = {}


def is_unwanted(character: str) -> bool:
    code = ord(character)
    return (
        (unicodedata.category(character) in UNWANTED and character not in "\t\n")
        or 0x202A <= code <= 0x202E
        or 0x2060 <= code <= 0x206F
        or code in {0x200B, 0xFEFF, 0x00AD}
    )


@pytest.mark.parametrize("text", SUBSTITUTED, ids=ascii)
def test_what_nobody_sees_is_removed(text: str) -> None:
    """D10: escape sequences, controls, tags, bidi overrides and zero-width characters."""
    assert clean_text(text) == SUBSTITUTED[text]
    assert needed_care(text) is Care.CLEAN


@pytest.mark.parametrize("text", KEPT, ids=ascii)
def test_what_carries_meaning_is_kept(text: str) -> None:
    """D10: Persian and Indic joiners, emoji, real flags, direction marks in right-to-left text."""
    assert clean_text(text) == text


@pytest.mark.parametrize("encoder", [Toon(), Toon(codec="python-toon"), Json(), Markdown()])
@pytest.mark.parametrize("structured", [True, False])
@pytest.mark.parametrize("text", SUBSTITUTED, ids=ascii)
def test_every_channel_is_cleaned(text: str, structured: bool, encoder: Any) -> None:
    """D10: text and structured part, values and keys, in every format."""
    shaped = Shape(encoder=encoder, structured=structured).render(Note(text=text, by_name={text: text}))
    cleaned = {"text": SUBSTITUTED[text], "by_name": {SUBSTITUTED[text]: SUBSTITUTED[text]}}
    assert shaped.structured in (None, cleaned)
    assert not [character for character in shaped.text if is_unwanted(character)]
    if not isinstance(encoder, Markdown):
        assert (json.loads(shaped.text) if isinstance(encoder, Json) else decode(shaped.text)) == cleaned


@pytest.mark.parametrize("text", SUBSTITUTED, ids=ascii)
def test_error_texts_are_cleaned(text: str) -> None:
    """D10: what a tool says of a failure is text like any other."""
    told = Shape(encoder=Json()).fail(UserError(f"x{text}x", hint=text)).text
    assert not [character for character in told if is_unwanted(character)]


@given(st.text(st.characters() | st.sampled_from("\u200d\ufe0f\u200c\u202e\x1b[m\U000e0067\U0001f3f4❤👩ن")))
@example("\u200d\ufe0f")
@example("ن\u200c\u180b")
@example("\U000e0041\ufe0f")
def test_cleaning_is_complete_and_stable(text: str) -> None:
    """Rule 10: cleaned text holds nothing unwanted, and cleaning it again changes nothing."""
    cleaned = clean_text(text)
    assert not [character for character in cleaned if is_unwanted(character)]
    assert clean_text(cleaned) == cleaned


@given(st.text())
def test_text_that_would_change_is_always_noticed(text: str) -> None:
    """The scan errs to the safe side only: what it passes, cleaning leaves alone, in every encoder's spelling."""
    for encoder in (Json(), Toon(), Markdown()):
        shaped = Shape(encoder=encoder).render(Note(text=text))
        assert not shaped.is_error
        assert not [character for character in shaped.text if is_unwanted(character)]
    if needed_care(text) < Care.CLEAN:
        assert clean_text(text) == text
