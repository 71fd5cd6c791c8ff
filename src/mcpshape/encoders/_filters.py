"""The filters and tests that a template may use: those of Jinja that make sense on data, and ours for positions."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial, wraps
from itertools import islice
from typing import Any, NamedTuple

from jinja2 import Environment, Undefined, pass_context, pass_environment
from jinja2.filters import FILTERS, make_attrgetter
from jinja2.runtime import Context
from jinja2.tests import TESTS as JINJA_TESTS

from mcpshape.encoders._escaping import (
    Written,
    cell_anywhere,
    code,
    fence,
    heading,
    line_anywhere,
    link,
    plain,
    prose,
    put,
    quote,
    table,
)
from mcpshape.encoders._meter import bounded, counted, entries_of, spend, timed, weighed

_PLAIN_TYPES = (str, bool, int, float)
_MOST_DIGITS = 15
# As Jinja has them, but for null and for what they cost.
_KEPT = ("float", "abs", "default", "d")
_TAKING = ("list", "unique", "map", "select", "reject", "selectattr", "rejectattr")
# What orders entries, and the place of the attribute among its arguments.
_ORDERING = {"sort": 2, "groupby": 0, "min": 1, "max": 1}
_TEXTUAL = ("upper", "lower", "title", "capitalize", "trim", "truncate", "wordcount")


def present(value: Any) -> Any:
    """The value, which has to be there and be data."""
    if value is None or isinstance(value, _PLAIN_TYPES):
        return value
    if isinstance(value, Undefined):
        str(value)
    if not isinstance(value, list | tuple | Mapping):
        raise TypeError(f"a {type(value).__name__} is no data")
    return weighed(value)


def _placed(write: Callable[..., Written]) -> Callable[..., Written]:
    """A filter of ours, fed with data only."""

    @wraps(write)
    def placed(value: Any, *args: Any, **kwargs: Any) -> Written:
        text = write(present(value), *args, **kwargs)
        spend(len(text))
        return text

    return placed


def _fed(name: str) -> Callable[..., Any]:
    """A filter of Jinja that takes entries, once there is time to go through each."""
    work = FILTERS[name]
    place = int(hasattr(work, "jinja_pass_arg"))

    @wraps(work)
    def fed(*args: Any, **kwargs: Any) -> Any:
        return work(*args[:place], map(timed, entries_of(args[place])), *args[place + 1 :], **kwargs)

    return fed


class Group(NamedTuple):
    """What `groupby` makes."""

    grouper: Any
    list: list[Any]


def _sortable(value: Any) -> list[Any]:
    """The entries, once there is time to order them."""
    entries = list(entries_of(value))
    timed(entries, len(entries).bit_length())
    return entries


def _ordering(name: str) -> Callable[..., Any]:
    """A filter of Jinja that compares entries, where null comes last and is neither the least nor the greatest."""
    place = _ORDERING[name]

    @pass_environment
    def ordered(environment: Environment, value: Any, *args: Any, **kwargs: Any) -> Any:
        attribute = args[place] if place < len(args) else kwargs.get("attribute")
        is_null = _null_under(environment, attribute, kwargs.get("default"))
        parted: dict[bool, list[Any]] = {False: [], True: []}
        for entry in _sortable(value):
            parted[is_null(entry)].append(entry)
        if name in {"min", "max"} and not parted[False]:
            return None
        made = FILTERS[name](environment, parted[False], *args, **kwargs)
        rest = [Group(None, parted[True])] if name == "groupby" and parted[True] else parted[True]
        return made if name in {"min", "max"} else [*made, *rest]

    return ordered


def _null_under(environment: Environment, attribute: Any, default: Any) -> Callable[[Any], bool]:
    paths = attribute.split(",") if isinstance(attribute, str) else [attribute]
    reads = [make_attrgetter(environment, path, default=default) for path in paths]
    return lambda entry: any(read(entry) is None for read in reads)


def _dictsort(value: Any, *args: Any, **kwargs: Any) -> Any:
    if value is not None:
        _sortable(value.items())
    return FILTERS["dictsort"](value or {}, *args, **kwargs)


def _items(value: Any) -> Iterable[Any]:
    return () if value is None else FILTERS["items"](value)


def _first(value: Any) -> Any:
    return next(iter(entries_of(value)), None)


def _last(value: Any) -> Any:
    return None if value is None else next(reversed(value), None)


def _length(value: Any) -> int:
    return 0 if value is None else len(value)


def _reverse(value: Any) -> Any:
    if isinstance(value, str):
        spend(len(value))
    return FILTERS["reverse"](() if value is None else value)


def _int(value: Any, *args: Any, **kwargs: Any) -> Any:
    number = FILTERS["int"](value, *args, **kwargs)
    bounded("//", number, 1)
    return number


def _tested(test: Callable[..., Any]) -> Callable[..., Any]:
    """A test of Jinja that goes through its arguments, once there is time to."""

    @wraps(test)
    def tested(*args: Any, **kwargs: Any) -> Any:
        for each in args:
            timed(each)
        return test(*args, **kwargs)

    return tested


def _is_in(value: Any, seq: Any) -> bool:
    return value in _sought(seq)


def _sought(value: Any) -> Any:
    return () if value is None else timed(value)


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
    texts = [plain(present(read(each))) for each in entries_of(value)]
    separator = plain(present(d))
    spend(sum(map(len, texts)) + len(separator) * len(texts))
    return separator.join(texts)


@pass_environment
def _sum(environment: Environment, value: Iterable[Any], attribute: str | int | None = None, start: float = 0) -> Any:
    read = make_attrgetter(environment, attribute) if attribute is not None else present
    numbers = [start, *map(read, entries_of(value))]
    return sum(number for number in numbers if number is not None)


def _round(value: float, precision: int = 0, method: str = "common") -> float:
    digits = max(-_MOST_DIGITS, min(precision, _MOST_DIGITS))
    if method == "common":
        return round(value, digits)
    scale = 10.0**digits
    return {"ceil": math.ceil, "floor": math.floor}[method](value * scale) / scale


@pass_context
def _batch(_: Context, value: Iterable[Any], linecount: int) -> Iterator[list[Any]]:
    entries = iter(() if value is None else value)
    while batch := list(counted(islice(entries, max(linecount, 1)))):
        yield batch


@pass_context
def _slice(_: Context, value: Iterable[Any], slices: int) -> Iterator[list[Any]]:
    entries = list(entries_of(value))
    size, longer = divmod(len(entries), slices)
    for place in counted(range(slices)):
        start = place * size + min(place, longer)
        yield entries[start : start + size + (place < longer)]


@pass_context
def _put(_: Context, value: Any, position: str) -> Written:
    return put(present(value), position)


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
    return iter(entries_of(value))


@pass_context
def _searched(_: Context, value: Any) -> Any:
    return _sought(value)


@pass_context
def _compared(_: Context, value: Any) -> Any:
    return timed(value)


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
    " searched": _searched,
    " compared": _compared,
}


def make_filters(*, raw_prose: bool) -> dict[str, Callable[..., Any]]:
    """All filters, by name."""
    ours: dict[str, Callable[..., Written]]
    ours = {"inline": line_anywhere, "cell": cell_anywhere, "link": link, "fence": fence, "code": code, "quote": quote}
    ours |= {"heading": heading, "prose": partial(prose, is_raw=raw_prose), "table": table}
    written = {name: _placed(write) for name, write in ours.items()}
    textual = {name: _textual(name) for name in _TEXTUAL}
    own = {"string": _string, "join": _join, "sum": _sum, "round": _round, "batch": _batch, "slice": _slice}
    own |= {"first": _first, "last": _last, "length": _length, "count": _length, "reverse": _reverse, "int": _int}
    own |= {"dictsort": _dictsort, "items": _items} | {name: _ordering(name) for name in _ORDERING}
    fed = {name: _fed(name) for name in _TAKING}
    return {name: FILTERS[name] for name in _KEPT} | fed | textual | own | written | dict(INTERNAL)


def make_tests() -> dict[str, Any]:
    """All tests, by name."""
    tests: dict[str, Any] = {**JINJA_TESTS, "in": _is_in}
    return {name: _tested(test) for name, test in tests.items() if name != "escaped"}
