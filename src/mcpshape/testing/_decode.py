"""Back from the text of an answer to its data."""

import json
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import toon

from mcpshape.encoders.fallback import INTRODUCTION

_WRITTEN = re.compile(r"\\([!-/:-@\[-`{-~])|(<br>)|&lt;")
_HEADING = re.compile(r"(#+) (.*)")
_BULLET = re.compile(r"( *)-(?: (.*))?")
_CELL = re.compile(r"(?<!\\)(?:\\\\)*\|")
_PART = re.compile(r" (\d+) of \d+$")
_KEY_END = re.compile(r"(?<!\\)(?:\\\\)*:(?: |$)")


def decode(result: Any) -> Any:
    """The data of a `Shaped`, a `CallToolResult` or a text: the structured part where there is one, else the text.

    JSON and TOON come back as they were. The built-in Markdown has no types: numbers, booleans and null come back from
    what they look like, so a text such as `3` comes back as a number.

    Raises:
        ValueError: The text is in none of the formats.
    """
    structured = getattr(result, "structured", None) or getattr(result, "structured_content", None)
    return structured if structured is not None else decode_text(_text(result))


def decode_text(text: str) -> Any:
    """The data of one text, which may stand below the line of a `Fallback`."""
    introduction = INTRODUCTION.match(text)
    text = text[introduction.end() :] if introduction else text
    if text.startswith("{"):
        return json.loads(text)
    if text == "*nothing shown*" or _HEADING.match(text) or _BULLET.match(text):
        return _record(text.split("\n"), 2)
    return toon.decode(text)


def _text(result: Any) -> str:
    if isinstance(text := getattr(result, "text", result), str):
        return text
    return "\n".join(block.text for block in result.content)


def _record(lines: Sequence[str], depth: int) -> dict[str, Any]:
    first = next((place for place, line in enumerate(lines) if _HEADING.match(line)), len(lines))
    data: dict[str, Any] = _bullets([line for line in lines[:first] if line.strip()], 0, is_record=True)
    for title, body in _sections(lines[first:], min(depth, 6)):
        data[_plain(title)] = _section(body, depth)
    return data


def _sections(lines: Sequence[str], depth: int) -> list[tuple[str, list[str]]]:
    found: list[tuple[str, list[str]]] = []
    for line in lines:
        heading = _HEADING.match(line)
        if heading and len(heading[1]) == depth:
            found.append((heading[2], []))
        elif found:
            found[-1][1].append(line)
    return found


def _section(lines: Sequence[str], depth: int) -> Any:
    body = [line for line in lines if line.strip()]
    if body and body[0].startswith(">"):
        return "\n".join(line.removeprefix(">").removeprefix(" ") for line in body)
    if body and body[0].startswith("|"):
        return _table(body)
    inner = _sections(lines, min(depth + 1, 6))
    if inner and _PART.search(inner[0][0]):
        return [_entry(entry, depth) for _, entry in inner]
    return _record(lines, depth + 1)


def _entry(lines: Sequence[str], depth: int) -> Any:
    body = [line for line in lines if line.strip()]
    is_record = any(_HEADING.match(line) or _BULLET.match(line) for line in body)
    return _record(lines, depth + 2) if is_record else _value("\n".join(body))


def _table(lines: Sequence[str]) -> list[dict[str, Any]]:
    keys, _, *rows = [[cell.strip() for cell in _split(line)] for line in lines]
    return [{_plain(key): _value(cell) if cell else None for key, cell in zip(keys, row, strict=True)} for row in rows]


def _split(line: str) -> list[str]:
    ends = [found.end() for found in _CELL.finditer(line)]
    return [line[start : end - 1] for start, end in pairwise(ends)]


def _bullets(lines: Sequence[str], indent: int, *, is_record: bool) -> Any:
    """A list of bullets at one indent: `- key: value` for a record, `- value` for an array."""
    entries: list[tuple[str, list[str]]] = []
    for line in lines:
        bullet = _BULLET.fullmatch(line)
        if bullet and len(bullet[1]) == indent:
            entries.append((bullet[2] or "", []))
        else:
            entries[-1][1].append(line)
    if is_record:
        return dict(_field(text, inner, indent) for text, inner in entries)
    return [_bullets(inner, indent + 2, is_record=False) if inner else _value(text) for text, inner in entries]


def _field(text: str, inner: Sequence[str], indent: int) -> tuple[str, Any]:
    end = _KEY_END.search(text)
    if end is None:
        raise ValueError(f"no key in {text!r}")
    key = _plain(text[: end.start()] + text[end.start() : end.end()].rstrip().removesuffix(":"))
    return key, _bullets(inner, indent + 2, is_record=False) if inner else _value(text[end.end() :])


def _value(text: str) -> Any:
    known: dict[str, Any] = {"*none*": None, "*empty list*": [], "*nothing shown*": {}, '""': ""}
    if text in known:
        return known[text]
    try:
        return json.loads(text) if text in {"true", "false"} or text.lstrip("-")[:1].isdigit() else _plain(text)
    except ValueError:
        return _plain(text)


def _plain(text: str) -> str:
    return _WRITTEN.sub(lambda mark: mark[1] or ("\n" if mark[2] else "<"), text)
