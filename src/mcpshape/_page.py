"""Pages: how many rows of a long list one answer holds, and where the next answer goes on."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import sqrt
from operator import itemgetter
from typing import Any

from pydantic_core import to_json

from mcpshape._budget import Budget
from mcpshape._guards import Place
from mcpshape._project import View
from mcpshape._scope import PAGE, Window
from mcpshape._tokens import Keyring
from mcpshape.errors import UserError

_FOREIGN = "This cursor does not fit here: it is expired, was changed, or belongs to another call."
_START_OVER = "Use the cursor of an answer with the same arguments, or call without one to start over."

# A first look at so many rows tells how long a row is; a limit of few more is tried at once.
_SAMPLE, _FEW = 6, 24
# A page that fills less is tried again with more rows. A guess leaves room for numbers that grow longer.
_WELL_FILLED, _GUESSED = 0.6, 0.94
_TRIES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Which rows one call is to answer with, and how long its texts may be."""

    start: int = 0
    most: int | None = None
    budget: Budget | None = None
    cursor: Callable[[int], str] = str
    can_choose: bool = False


WHOLE_ANSWER = Turn()


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the author of a tool decided about the length of its answers."""

    place: Place | None = None
    limit: int | None = None
    budget: Budget | None = None
    can_choose: bool = False

    def turn(self, keyring: Keyring, bound: Sequence[str], *, cursor: str | None, limit: int | None) -> Turn:
        """The turn of one call; `bound` is what a cursor holds good for.

        Raises:
            UserError: The cursor was not made for this call, or too long ago.
        """
        start = 0 if cursor is None else keyring.unseal(cursor, *bound)
        if start is None:
            raise UserError(_FOREIGN, code="invalid_cursor", hint=_START_OVER)
        wanted = [each for each in (self.limit, limit) if each is not None]
        return Turn(
            start=start,
            most=min(wanted, default=None),
            budget=self.budget,
            cursor=lambda place: keyring.seal(place, *bound),
            can_choose=self.can_choose,
        )


@dataclass(frozen=True, slots=True)
class Page:
    """One try of an answer: what leaves, and the rows that it holds."""

    view: View
    texts: Sequence[str]
    window: Window

    def size(self, budget: Budget) -> int:
        """The length of its longest text."""
        return max(budget.measure(text) for text in self.texts)

    def fits(self, budget: Budget) -> bool:
        """Whether all its texts are within a budget."""
        return self.size(budget) <= budget.most


Attempt = Callable[[int | None], Page]
"""Makes an answer with at most so many rows."""


def tell(view: View, place: Place, window: Window, turn: Turn) -> View:
    """The view with what it says of its rows, in front of them; a list that is null has none."""
    if window.total is None:
        return view
    following = turn.cursor(window.end) if window.has_more else None
    told = {"shown": window.shown, "total": window.total, "next": following}
    data: dict[str, Any] = {}
    for key, value in view.data.items():
        data |= {PAGE: told, key: value} if key == place.key else {key: value}
    return replace(view, data=data)


def fill(attempt: Attempt, place: Place | None, turn: Turn) -> Page:
    """The answer with as many whole rows as its limit and its budget have room for, or a few less.

    Raises:
        UserError: Not even one row has room.
    """
    if turn.budget is None:
        return attempt(turn.most)
    if place is None:
        whole = attempt(None)
        if not whole.fits(turn.budget):
            raise _too_long(whole, None, turn, turn.budget)
        return whole
    found = _search(attempt, place, turn.most, turn.budget)
    if found is None:
        raise _too_long(attempt(1), place, turn, turn.budget)
    return found


def _search(attempt: Attempt, place: Place, most: int | None, budget: Budget) -> Page | None:
    """The fullest page that was tried and fits: each guess goes by what the rows of the last try took."""
    fitting: Page | None = None
    too_many: int | None = None
    guess = most if most is not None and most <= _FEW else _SAMPLE
    tries = 0
    while True:
        page = attempt(guess)
        tries += 1
        size, rows = page.size(budget), page.window.shown
        if not page.view.data.get(place.key):
            return page if size <= budget.most else None
        if size <= budget.most:
            fitting = page
            if not page.window.has_more or guess == most or size >= _WELL_FILLED * budget.most:
                return fitting
        else:
            too_many = rows
        least = fitting.window.shown + 1 if fitting else 1
        most_left = most if too_many is None else too_many - 1
        if (most_left is not None and least > most_left) or (fitting and tries >= _TRIES):
            return fitting
        guess = _guess(page, place, size, budget.most) if tries < _TRIES else rows // 2
        guess = max(guess if most_left is None else min(guess, most_left), least)


def _guess(page: Page, place: Place, size: int, most: int) -> int:
    """How many rows have room, judged by their length as JSON, of which the text is taken to be a fixed share.

    Of a page that was too long, as many of its own rows as fit; else a number that leaves room for rows that are longer
    than those of the page, the more the less alike these are.
    """
    lengths = [len(to_json(row)) for row in page.view.data[place.key]]
    total, whole = sum(lengths), len(to_json(page.view.data))
    bare = size * (whole - total) // whole
    room = (most - bare) * _GUESSED * total / max(size - bare, 1)
    if size > most:
        return bisect_right(list(accumulate(lengths)), room)
    mean = total / len(lengths)
    spread = sqrt(sum((length - mean) ** 2 for length in lengths) * 2) / len(lengths)
    return int(room / (mean + spread))


def _too_long(page: Page, place: Place | None, turn: Turn, budget: Budget) -> UserError:
    """Which field it is that has no room, and what can be done without it."""
    path, length = max(_lengths(page.view.data, place), key=itemgetter(1), default=("none", 0))
    hints = []
    if turn.can_choose:
        hints.append("Leave it out with the argument fields, which names the ones that you need.")
    if place and page.window.has_more:
        hints.append(f"Go on after it with cursor {turn.cursor(page.window.end)}.")
    return UserError(
        f"The answer is too long: {page.size(budget)} {budget.unit}, where {budget.most} are the most. "
        f"Its longest field is {path} with {length} characters.",
        code="too_long",
        hint=" ".join(hints) or "Ask for less, or tell the user that it is too long to be shown.",
    )


def _lengths(data: Mapping[str, Any], place: Place | None) -> Iterator[tuple[str, int]]:
    """The length of each field, as text or as JSON; of the list that is paged, that of each field of its one row."""
    for key, value in ((key, value) for key, value in data.items() if not (place and key == PAGE)):
        rows = value if place and key == place.key and isinstance(value, list) else ()
        for row in rows:
            inner = row if isinstance(row, dict) else {}
            yield from ((f"{key}.{name}", _length(each)) for name, each in inner.items())
        if not rows or not isinstance(rows[0], dict):
            yield key, _length(value)


def _length(value: Any) -> int:
    return len(value) if isinstance(value, str) else len(to_json(value))
