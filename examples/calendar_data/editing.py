"""Changes properties of one component in calendar data; every other byte stays as it is."""

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Mapping, Sequence

from calendar_data.documents import NESTED, logical_lines, read_text

_EDGE = re.compile(r"(BEGIN|END):([\w-]+)[ \t]*\n", re.IGNORECASE)
_NAME = re.compile(r"[ \t]*([\w-]+)(?=[;:])")
_END_OF_LINE = re.compile(rb"[\r\n]*\Z")

Values = Mapping[str, str | None]
"""What stands behind the names of properties, parameters included (`;VALUE=DATE:20260713`); `None` drops one."""


class UneditableError(Exception):
    """The data is not written in a way in which one component can be changed for sure."""


def put(content: bytes, place: range, values: Values) -> bytes:
    """Set properties of the component in some logical lines.

    Raises:
        UneditableError: The data is UTF-16, whose lines are no bytes.
    """
    lines = _lines(content)
    return b"".join([*lines[: place.start], *_put(lines[place.start : place.stop], values), *lines[place.stop :]])


def put_copy(content: bytes, place: range, values: Values) -> bytes:
    """Add a copy of the component in some logical lines behind it, with other values.

    Raises:
        UneditableError: The data is UTF-16, whose lines are no bytes.
    """
    lines = _lines(content)
    copy = _put(lines[place.start : place.stop], values)
    return b"".join([*lines[: place.stop], *copy, *lines[place.stop :]])


def _lines(content: bytes) -> list[bytes]:
    if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        raise UneditableError
    return logical_lines(content)


def _put(component: Sequence[bytes], values: Values) -> Iterator[bytes]:
    """The lines of a component with other values: each where it was first, new ones before what is nested in it."""
    (ending,) = _END_OF_LINE.findall(component[0])[:1]
    left = dict(values)
    depth = 0
    for line in component:
        text = read_text(line)
        edge, name = _EDGE.match(text), _NAME.match(text)
        if edge and (depth == 0 or edge[2].upper() in NESTED or edge[1].upper() == "END"):
            is_begin = edge[1].upper() == "BEGIN"
            if depth == 1:
                yield from (_line(*each, ending) for each in left.items())
                left.clear()
            depth += 1 if is_begin else -1
        elif depth == 1 and name and name[1].upper() in values:
            if name[1].upper() in left:
                yield _line(name[1].upper(), left.pop(name[1].upper()), ending)
            continue
        yield line


def _line(name: str, value: str | None, ending: bytes) -> bytes:
    return b"" if value is None else f"{name}{value}".encode() + ending
