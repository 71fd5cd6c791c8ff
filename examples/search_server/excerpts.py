"""The part of a passage that shows why it was found."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import regex

from search_server.query import Query
from search_server.words import is_visible, runs

LENGTH = 200
"""The most characters of an excerpt."""
_BEFORE = 60
_SPACE = regex.compile(r"\s+")
_WHOLE = regex.compile(rf"\X{{0,{LENGTH}}}")


class _Hit(NamedTuple):
    start: int
    words: frozenset[str]


def excerpt(text: str, query: Query | None = None) -> str | None:
    """A stretch of a passage around the place with most of the words that were asked for; its beginning without any.

    It is `None` where there is nothing to see. It begins and ends between words; white space in it is one space.
    """
    starts, ends, hits = [0], [], []
    for start, end, words in runs(text):
        starts.append(start)
        ends.append(end)
        if query and (held := frozenset(filter(query.holds, words))):
            hits.append(_Hit(start, held))
    best = _best(hits)
    start = starts[bisect_left(starts, max(0, best - _BEFORE))] if best else 0
    stop = bisect_right(ends, start + LENGTH)
    is_rest = len(text) <= start + LENGTH or not stop or ends[stop - 1] <= start
    whole = _WHOLE.match(_SPACE.sub(" ", text[start : None if is_rest else ends[stop - 1]]).strip())
    return whole[0] if whole and is_visible(whole[0]) else None


def _best(hits: Sequence[_Hit]) -> int:
    """Where the first of those stretches begins that hold most different words."""

    def held(place: int) -> int:
        within = [hit.words for hit in hits[place : place + LENGTH] if hit.start < hits[place].start + LENGTH - _BEFORE]
        return len(frozenset().union(*within))

    return hits[max(range(len(hits)), key=held)].start if hits else 0
