"""What counts as a word: one rule for documents and for questions, so that what a document has can be found by it."""

import re
from collections.abc import Iterator
from unicodedata import normalize, unidata_version

import regex

LONGEST = 64
"""A longer word is several words, in documents and questions alike."""
RULES = f"2/{unidata_version}/{regex.__version__}"
"""What the words of a text depend on; an index that was made by other rules cannot be searched."""
_ASCII = re.compile(rf"[a-z0-9]{{1,{LONGEST}}}")
# Latin, Greek and Cyrillic, which have a way of their own for speed: it finds the same words.
_EUROPEAN = re.compile(rf"[^\W_]{{1,{LONGEST}}}")
_BEYOND_EUROPEAN = re.compile(r"[\u0530-\U0010ffff]")
_EUROPEAN_MARKS = re.compile(r"[\u00ad\u0300-\u036f\u0483-\u0489]+")
# Scripts that are written without spaces: each of their signs is a word, and what is asked for is a phrase of them.
_ALONE = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_INSIDE = r"\p{L}\p{N}\p{M}"
_TOKEN = rf"[{_ALONE}]\p{{M}}*|[[{_INSIDE}]--[{_ALONE}]]{{1,{LONGEST}}}|\p{{Emoji_Presentation}}"
_WORD = regex.compile(_TOKEN, regex.V1)
_SHOWN = rf"[{_ALONE}]\p{{M}}*|[[{_INSIDE}\p{{Default_Ignorable_Code_Point}}]--[{_ALONE}]]+|\p{{Emoji_Presentation}}"
_RUN = regex.compile(_SHOWN, regex.V1)
_SEEN = regex.compile(r"[^\p{Default_Ignorable_Code_Point}\p{C}\p{Z}]")
# Accents, points and vowel signs that people leave out when they type, by block; and what nobody can see.
_MARKS = regex.compile(
    r"[[\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    r"\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]&&\p{M}]|\p{Default_Ignorable_Code_Point}",
    regex.V1,
)


def words_of(text: str) -> list[str]:
    """The words of a text as they are compared: without case, accents and compatibility forms (UAX #15)."""
    if text.isascii():
        return _ASCII.findall(text.lower())
    decomposed = normalize("NFKD", text.casefold())
    if _BEYOND_EUROPEAN.search(decomposed):
        bare = normalize("NFKC", _MARKS.sub("", decomposed)).casefold()
        return [str(word) for word in _WORD.findall(bare)]
    return _EUROPEAN.findall(normalize("NFKC", _EUROPEAN_MARKS.sub("", decomposed)).casefold())


def is_visible(text: str) -> bool:
    """Whether there is anything to see in a text."""
    return _SEEN.search(text) is not None


def runs(text: str) -> Iterator[tuple[int, int, list[str]]]:
    """Where each run of letters and digits begins and ends, and the words that it has."""
    for found in _RUN.finditer(text):
        yield found.start(), found.end(), words_of(found[0])
