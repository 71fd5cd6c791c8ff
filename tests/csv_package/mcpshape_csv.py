"""Views as CSV (RFC 4180): one block a list of objects, with a header, and a first block for all other values."""

import csv
import io
from typing import Any

from pydantic_core import to_json

from mcpshape import View
from mcpshape.encoders import Vocabulary


class Csv:
    """CSV text alone."""

    name = "CSV"
    structured = False
    vocabulary = Vocabulary(entry="line", entries="lines", field="column", fields="columns", listing="block")

    def encode(self, view: View) -> str:
        """The view as blocks of lines."""
        tables = {key: value for key, value in view.data.items() if _is_table(value)}
        plain = [[key, value] for key, value in view.data.items() if key not in tables]
        blocks = [plain] if plain else []
        for key, rows in tables.items():
            columns = list(dict.fromkeys(name for row in rows for name in row))
            blocks.append([[key, *columns], *(["", *(row.get(name, "") for name in columns)] for row in rows)])
        return "\n".join(_write(block) for block in blocks) or "(nothing)"


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _write(lines: list[list[Any]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([[_cell(value) for value in line] for line in lines])
    return out.getvalue()


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else to_json(value).decode()
