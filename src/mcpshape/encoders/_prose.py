"""Prose that people wrote in Markdown, so that it still reads as Markdown but reaches nothing around it.

Outside of code, images become links, raw HTML, definitions of links and links to anything but the web and mail become
text, and headings move below the one that the prose stands under. Only code that every renderer sees as code is left
alone. A backslash would not do: some renderers take one for a part of a link, some drop it inside the text of a link.
"""

import re
from collections.abc import Iterator, Sequence

_OTHER_BREAKS = "\r\x0b\x0c\x85\u2028\u2029"
LINE_BREAK = re.compile(r"\r\n?|\n|\x0b|\x0c|\x85|\u2028|\u2029")
_DEEPEST = 6
_SHORTEST_RULE = 3
# Where some renderers see no code: in formulas and containers, after a fence of a list or quote, which ends with it,
# and in what they read on from an open bracket as a definition.
_NO_FENCES = re.compile(r"\$\$|:::|^[ \t>*+\-\d.)]+(?:```|~~~)|^[ \\!]*\[[^\[\]]*(?:```|~~~)", re.MULTILINE)
# In cells, formulas and definitions, and in links that stand as they are.
_NO_CODE = re.compile(r"[|$]|\]:|://|www\.", re.IGNORECASE)
_FENCE = re.compile(r"(`{3,})(?=[^`]*$)|(~{3,})")
_MARKERS = r"[ \t]*+(?:(?:>|[-*+]|\d{1,9}[.)])[ \t]++)*+"
_HEADING = re.compile(rf"^({_MARKERS})(#{{1,6}})(?=[ \t]|$)")
_UNDERLINE = re.compile(r"^((?: {0,3}>)*+[ \t]{0,4})(=+|-+)[ \t]*$")
# A line that is a paragraph if nothing but a blank line or the start is before it.
_SENTENCE = re.compile(r"^(?!\d+[.)])\w")
_TAMED = {"image": "[image: ", "tag": "&lt;", "bracket": "] "}
_TAG = "<(?=[A-Za-z/!?])"
_BRACKET = r"\](?=:|\((?![ \t]*(?i:https?:|mailto:)))"
_PARTS = re.compile(
    rf"""
    (?P<address><(?:https?://|mailto:)[\w.~:/?\#@&=+%,;-]+>)
    | (?P<image>(?<!!)(?:\\?!)++\[)
    | (?P<tag>\\?{_TAG})
    | (?P<bracket>\\?{_BRACKET})
    | (?P<code>`+)
    | (?P<escaped>\\.)
    """,
    re.VERBOSE | re.IGNORECASE,
)
# Without any of this no line changes: what is tamed, the end of the marks of a heading, and the end of an underline.
_CHANGEABLE = re.compile(rf"!\[|{_TAG}|{_BRACKET}|\#(?=[ \t]|$)|=(?=[ \t]*$)|-(?=[ \t]*$)", re.MULTILINE)


def split_lines(text: str) -> list[str]:
    """The lines of a text; most have no line breaks but newlines, which Python splits at much faster than a pattern."""
    return LINE_BREAK.split(text) if any(mark in text for mark in _OTHER_BREAKS) else text.split("\n")


def tame(lines: Sequence[str], depth: int) -> Sequence[str]:
    """The lines of the prose under a heading of this depth."""
    if is_tame(lines):
        return lines
    text = "\n".join(lines)
    has_fences = ("```" in text or "~~~" in text) and not _NO_FENCES.search(text)
    return list(_tame_lines(lines, depth, has_fences=has_fences))


def is_tame(lines: Sequence[str]) -> bool:
    """Whether lines stay as they are, which most do: one look at all of them, that errs to the safe side."""
    return not _CHANGEABLE.search("\n".join(lines))


def _tame_lines(lines: Sequence[str], depth: int, *, has_fences: bool) -> Iterator[str]:
    block: list[str] = []
    closing: re.Pattern[str] | None = None
    for line in lines:
        if closing:
            yield line
            closing = None if closing.match(line) else closing
        elif has_fences and (fence := _FENCE.match(line)):
            yield from _tamed(block, depth)
            block.clear()
            yield line
            closing = re.compile(rf" {{0,3}}{fence[0][0]}{{{len(fence[0])},}}[ \t]*$")
        elif line.strip():
            block.append(line)
        else:
            yield from _tamed(block, depth)
            block.clear()
            yield line
    yield from _tamed(block, depth)


def _tamed(block: Sequence[str], depth: int) -> Sequence[str]:
    return block if is_tame(block) else tame_block(block, depth)


def tame_block(lines: Sequence[str], depth: int) -> list[str]:
    """Lines without a blank one between them, which is as far as code inside of a text can reach."""
    has_marks = any("`" in line for line in lines)
    has_code = has_marks and all(not _NO_CODE.search(line) and _closes_code(line) for line in lines)
    tamed = [_tame_line(line, has_code=has_code) for line in lines]
    moved = [_HEADING.sub(lambda mark: _move(mark, depth), line) for line in tamed]
    underline = _UNDERLINE.match(lines[1]) if len(lines) > 1 and _SENTENCE.match(lines[0]) else None
    if underline:
        level = 1 if underline[2][0] == "=" else 2
        moved[:2] = [f"{'#' * _shifted(level, depth)} {tamed[0]}"]
    return [*moved[:1], *map(_without_underline, moved[1:])]


def _move(heading: re.Match[str], depth: int) -> str:
    return heading[1] + "#" * _shifted(len(heading[2]), depth)


def _shifted(level: int, depth: int) -> int:
    return min(depth + level, _DEEPEST)


def _without_underline(line: str) -> str:
    """A line that makes no heading of the one before it; a rule stays a rule."""
    if not (underline := _UNDERLINE.match(line)):
        return line
    marks = underline[2]
    is_rule = marks[0] == "-" and len(marks) >= _SHORTEST_RULE
    return underline[1] + ("***" if is_rule else "\\" + marks)


def _closes_code(line: str) -> bool:
    """Whether code that begins in a line ends in it."""
    position = 0
    while part := _PARTS.search(line, position):
        position = part.end()
        if part["code"]:
            end = _end_of_code(line, part)
            if end is None:
                return False
            position = end
    return True


def _tame_line(line: str, *, has_code: bool) -> str:
    written, position = [], 0
    while part := _PARTS.search(line, position):
        written.append(line[position : part.start()])
        end = _end_of_code(line, part) if has_code and part["code"] else None
        position = end or part.end()
        written.append(_TAMED.get(part.lastgroup or "", line[part.start() : position]))
    return "".join([*written, line[position:]])


def _end_of_code(line: str, opening: re.Match[str]) -> int | None:
    mark = opening["code"]
    end = re.compile(rf"(?<!`)`{{{len(mark)}}}(?!`)").search(line, opening.end())
    return end.end() if end else None
