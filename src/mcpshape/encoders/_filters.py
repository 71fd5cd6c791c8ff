"""The filters and tests that a template may use: those of Jinja that make sense on data, and ours for positions."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial, wraps
from itertools import islice
from typing import Any

from jinja2 import Environment, Undefined, pass_context, pass_environment
from jinja2.filters import FILTERS, make_attrgetter
from jinja2.runtime import Context
from jinja2.tests import TESTS as JINJA_TESTS

from mcpshape.encoders._escaping import (
    Written,
    anywhere,
    cell,
    closed,
    code,
    fence,
    heading,
    inline,
    leading,
    link,
    piped,
    plain,
    prose,
    quote,
    table,
)
from mcpshape.encoders._meter import counted, spend, weighed

_PLAIN_TYPES = (str, bool, int, float)
_MOST_DIGITS = 15
# As Jinja has them: they look at entries, or keep, order and number them.
_KEPT = (
    "length", "count", "first", "last", "list", "sort", "reverse", "unique", "min", "max", "int", "float", "abs",
    "default", "d", "dictsort", "items", "map", "select", "reject", "selectattr", "rejectattr", "groupby",
)  # fmt: skip
_TEXTUAL = ("upper", "lower", "title", "capitalize", "trim", "truncate", "wordcount")
TESTS: dict[str, Any] = {name: test for name, test in JINJA_TESTS.items() if name != "escaped"}


def present(value: Any) -> Any:
    """The value, which has to be there and be data."""
    if isinstance(value, Undefined):
        str(value)
    if value is not None and not isinstance(value, (*_PLAIN_TYPES, list, tuple, Mapping)):
        raise TypeError(f"a {type(value).__name__} is no data")
    return value if isinstance(value, _PLAIN_TYPES) or value is None else weighed(value)


def _placed(write: Callable[..., Written]) -> Callable[..., Written]:
    """A filter of ours, fed with data only."""

    @wraps(write)
    def placed(value: Any, *args: Any, **kwargs: Any) -> Written:
        return write(present(value), *args, **kwargs)

    return placed


def _textual(name: str) -> Callable[..., Any]:
    """A filter of Jinja for text, fed with text only; none stays none."""
    change = FILTERS[name]

    @pass_environment
    def textual(environment: Environment, value: Any, *args: Any, **kwargs: Any) -> Any:
        if present(value) is None:
            return None
        first = (environment,) if name == "truncate" else ()
        spend(len(text := plain(value)))
        return change(*first, text, *args, **kwargs)

    return textual


def _string(value: Any) -> str | None:
    return None if present(value) is None else plain(value)


@pass_environment
def _join(environment: Environment, value: Iterable[Any], d: str = "", attribute: str | int | None = None) -> str:
    read = make_attrgetter(environment, attribute) if attribute is not None else present
    texts = [plain(present(read(each))) for each in value]
    separator = plain(present(d))
    spend(sum(map(len, texts)) + len(separator) * len(texts))
    return separator.join(texts)


@pass_environment
def _sum(environment: Environment, value: Iterable[Any], attribute: str | int | None = None, start: float = 0) -> Any:
    read = make_attrgetter(environment, attribute) if attribute is not None else present
    numbers = [start, *map(read, value)]
    return sum(number for number in numbers if number is not None)


def _round(value: float, precision: int = 0, method: str = "common") -> float:
    digits = max(-_MOST_DIGITS, min(precision, _MOST_DIGITS))
    if method == "common":
        return round(value, digits)
    scale = 10.0**digits
    return {"ceil": math.ceil, "floor": math.floor}[method](value * scale) / scale


@pass_context
def _batch(_: Context, value: Iterable[Any], linecount: int) -> Iterator[list[Any]]:
    entries = iter(value)
    while batch := list(counted(islice(entries, max(linecount, 1)))):
        yield batch


@pass_context
def _slice(_: Context, value: Iterable[Any], slices: int) -> Iterator[list[Any]]:
    entries = list(value)
    size, longer = divmod(len(entries), slices)
    for place in counted(range(slices)):
        start = place * size + min(place, longer)
        yield entries[start : start + size + (place < longer)]


@pass_context
def _put(_: Context, value: Any, position: str) -> Written:
    """One value where it stands: at a start `^`, before anything `$`, before a mark `.`, in a row `|`, in a cell `0`.

    Finished text is left as it is, but for `!`. An empty text is no value of the view, and says nothing, with `-`.
    """
    value = plain(value) if "!" in position and isinstance(value, Written) else present(value)
    if isinstance(value, Written):
        # Two spans of code side by side would be one.
        value = Written(f"{value} ") if "$" in position and value.endswith("`") else value
        return piped(value) if "|" in position and not value.startswith("\n") else value
    if (value is None and "0" in position) or (value == "" and "-" in position):
        return Written("")
    text = leading(value) if "^" in position else inline(value)
    text = closed(text) if "$" in position or ("." in position and text.endswith("\\")) else text
    return piped(text) if "|" in position else text


@pass_context
def _text(_: Context, value: str) -> Written:
    return Written(value)


@pass_context
def _joined(_: Context, values: list[Any]) -> str:
    texts = [plain(present(each)) for each in values]
    spend(sum(map(len, texts)))
    return "".join(texts)


@pass_context
def _counted(_: Context, value: Iterable[Any]) -> Iterator[Any]:
    return counted(value)


@pass_context
def _weighed(_: Context, value: Any) -> Any:
    return weighed(value)


# These stand at the margin, on lines of their own.
BLOCKS = frozenset({"fence", "quote", "prose", "heading", "table"})
# No template can write these names as filters, and as texts they do no harm.
INTERNAL: Mapping[str, Callable[..., Any]] = {
    " put": _put,
    " text": _text,
    " joined": _joined,
    " counted": _counted,
    " weighed": _weighed,
}


def cell_anywhere(value: Any) -> Written:
    """One value in a cell, whatever stands right behind it."""
    return cell(value) if value is None else piped(anywhere(plain(value) if isinstance(value, Written) else value))


def line_anywhere(value: Any) -> Written:
    """One value on a line, escaped even where it is finished."""
    return anywhere(plain(value) if isinstance(value, Written) else value)


def make_filters(*, raw_prose: bool) -> dict[str, Callable[..., Any]]:
    """All filters, by name."""
    ours: dict[str, Callable[..., Written]]
    ours = {"inline": line_anywhere, "cell": cell_anywhere, "link": link, "fence": fence, "code": code, "quote": quote}
    ours |= {"heading": heading, "prose": partial(prose, is_raw=raw_prose), "table": _table}
    written = {name: _placed(write) for name, write in ours.items()}
    textual = {name: _textual(name) for name in _TEXTUAL}
    own = {"string": _string, "join": _join, "sum": _sum, "round": _round, "batch": _batch, "slice": _slice}
    return {name: FILTERS[name] for name in _KEPT} | textual | own | written | dict(INTERNAL)


def _table(rows: list[Mapping[str, Any]], *columns: str) -> Written:
    return table(rows, columns)
