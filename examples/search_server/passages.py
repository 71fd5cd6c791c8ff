"""Cuts a text into passages that fit into answers; put together again they are the text."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence

import regex

LEAST, MOST = 500, 2000
"""Characters of a passage; the last one may be shorter."""
_SPACE = regex.compile(r"\s(?=\S)")
_EDGE = regex.compile(r"(?<=[\p{L}\p{N}\p{M}])(?![\p{L}\p{N}\p{M}])|(?<![\p{L}\p{N}\p{M}])(?=[\p{L}\p{N}])")
_CLUSTER = regex.compile(r"\X")
_NEAR = 100


def cut(text: str, starts: Sequence[int] = (), begin: int = 0) -> Iterator[tuple[int, int]]:
    """Where passages begin and end, from a place on.

    A passage ends before a heading (`starts`, in order), between paragraphs, lines, words or characters as a person
    counts them, whichever of these there is first.
    """
    while begin < len(text):
        end = _end(text, begin, starts)
        yield begin, end
        begin = end


def _end(text: str, begin: int, starts: Sequence[int]) -> int:
    least, most = begin + LEAST, begin + MOST
    place = bisect_left(starts, least)
    if place < len(starts) and starts[place] <= most:
        return starts[place]
    if len(text) <= most:
        return len(text)
    for mark in ("\n\n", "\n"):
        if (found := text.rfind(mark, least, most)) >= 0:
            return found + len(mark)
    return _between_words(text, least, most) or _between_characters(text, most)


def _between_words(text: str, least: int, most: int) -> int | None:
    for pattern in (_SPACE, _EDGE):
        # The last one is wanted: near the end first.
        for start in (max(least, most - _NEAR), least):
            if found := list(pattern.finditer(text, start, most)):
                return found[-1].end()
    return None


def _between_characters(text: str, most: int) -> int:
    """The last boundary (UAX #29) before the end; what has none for long is cut wherever that is."""
    ends = [found.end() for found in _CLUSTER.finditer(text, most - _NEAR, most + _NEAR)]
    return max((end for end in ends if end <= most), default=most)
