"""Markdown as it is joined by hand: what a tool would do without a library."""

from collections.abc import Callable
from datetime import datetime

from data import Row, Rows
from mcpshape.encoders._escaping import cell

_ESCAPES = str.maketrans({"|": "\\|", "\n": "<br>", "*": "\\*", "_": "\\_", "`": "\\`", "<": "&lt;"})


def join_table(table: Rows, write: Callable[[object], str]) -> str:
    """The text that mcpshape's Markdown has for the same rows, joined from their fields."""
    keys = list(Row.model_fields)
    lines = [f"- total: {table.total}", "", "## rows", "", f"| {' | '.join(map(cell, keys))} |", "|" + " --- |" * 9]
    lines += [f"| {' | '.join([write(getattr(row, key)) for key in keys])} |" for row in table.rows]
    return "\n".join(lines)


def escaped_alike(value: object) -> str:
    """A cell with the same escaping as mcpshape's."""
    return cell(_time(value) if isinstance(value, datetime) else value)


def escaped_plainly(value: object) -> str:
    """A cell with what people usually escape, which is less."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return _time(value)
    return value.translate(_ESCAPES) if isinstance(value, str) else str(value).lower()


def _time(value: datetime) -> str:
    return value.isoformat().replace("+00:00", "Z")
