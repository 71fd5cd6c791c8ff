"""Values in Markdown text, escaped for the place where they stand."""

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote as percent

from pydantic_core import to_json

from mcpshape.encoders._prose import LINE_BREAK, split_lines, tame

NONE, EMPTY_LIST, EMPTY_TEXT, NOTHING = "*none*", "*empty list*", '""', "*nothing shown*"
_DEEPEST = 6
_SHORTEST_FENCE = 3
# What opens a heading, a quote, a list, a rule, a table or a check box at the start of a block. A number is a list by
# its mark.
_BLOCK_START = re.compile(r"^(?:[#>+=|-]|:(?=-)|\[(?=[ xX]\]))")
_ORDERED = re.compile(r"^(\d{1,9})(?=[.)](\s|$))")
# A backslash, or what opens or closes a construct: emphasis, code, links, images, strikethrough, entities. Each begins
# with the one character that it is looked for by, which is much quicker than to look at what is before it first.
_SPECIAL = re.compile(
    r"""\\(?=[!-/:-@\[-`{-~])|\*|`|_(?<![^\W_]_)|_(?![^\W_])|\](?=[(\[:])|\[(?<=!\[)|~(?=~)|&(?=\#?\w+;)""",
    re.VERBOSE,
)
# No backslash here: after an address that stands as it is, some renderers take it for a part of the address.
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
# Most values have nothing of this, which is quicker to see at once.
_ESCAPABLE = re.compile("|".join(each.pattern for each in (_SPECIAL, _TAG, LINE_BREAK)), re.VERBOSE)
# What would become a construct with whatever follows.
_LOOSE_END = re.compile(r"(?<!\\)((?:\\\\)*)([!\]\\~&])$")
_BARE_PIPE = re.compile(r"(?<!\\)((?:\\\\)*)\|")
_CLOSING_MARKS = re.compile(r"(^|[ \t])(?=#+$)")
_WEB = re.compile(r"(?:https?://|mailto:)[^\s/]", re.IGNORECASE)
# RFC 3986, without what Markdown reads: parentheses, quotes, asterisks and brackets are sent percent-encoded.
_URL_CHARACTERS = "%/?#:@!$&+,;=~-._"
_ENTITY = re.compile(r"&(?=#?\w+;)")
_BACKTICKS = re.compile("`+")
_NUMBERS = (bool, int, float)
# What a column holds if it can be written at once. An array or an object in it is written by itself.
_OF_NUMBERS = frozenset({bool, int, float, type(None)})
_OF_TEXTS = frozenset({str, type(None)})


class Written(str):
    """Text that is finished: nothing in it is escaped again."""

    __slots__ = ()


def plain(value: Any) -> str:
    """One value as text, spelled as in JSON."""
    return str(value) if isinstance(value, str) else "none" if value is None else to_json(value).decode()


def inline(value: Any) -> Written:
    """One value inside a line of text."""
    if isinstance(value, str):
        return _escaped(value) if not value or _ESCAPABLE.search(value) else Written(value)
    if isinstance(value, _NUMBERS):
        return Written(to_json(value).decode())
    if value is None or value in ([], {}):
        return Written(NONE if value is None else EMPTY_LIST if value == [] else NOTHING)
    return _escaped(plain(value))


def _escaped(text: str) -> Written:
    return Written(LINE_BREAK.sub("<br>", _TAG.sub("&lt;", _SPECIAL.sub(r"\\\g<0>", text))) or EMPTY_TEXT)


def leading(value: Any) -> Written:
    """One value at the start of a block, where a few more characters would open a construct."""
    if not isinstance(value, str):
        return inline(value)
    text = inline(value.lstrip())
    return text if text[0].isalpha() else Written(_ORDERED.sub(r"\1\\", _BLOCK_START.sub(r"\\\g<0>", text)))


def closed(text: Written) -> Written:
    """The same, whatever stands right behind it."""
    return Written(f"{text[:-1]}&lt;") if text.endswith("<") else Written(_LOOSE_END.sub(r"\1\\\2", text))


def anywhere(value: Any) -> Written:
    """One value on a line, wherever on the line it stands."""
    return value if isinstance(value, Written) else closed(leading(value))


def piped(text: str) -> Written:
    """Finished text of a line in a row of a table."""
    return Written(_BARE_PIPE.sub(r"\1\\|", text) if "|" in text else text)


def cell(value: Any) -> Written:
    """One value in a cell of a table, where none is told by nothing."""
    return Written("") if value is None else piped(inline(value))


def column(values: Sequence[Any]) -> Sequence[str]:
    """The cells of one or more values, as `cell` writes each, but at once where one look at all of them allows it."""
    if _OF_NUMBERS.issuperset(map(type, values)):
        return to_json(values).decode()[1:-1].replace("null", "").split(",")
    if _OF_TEXTS.issuperset(map(type, values)) and "" not in values:
        texts = [value or "" for value in values]
        joined = " ".join(texts)
        if "|" not in joined and not _ESCAPABLE.search(joined):
            return texts
    return list(map(cell, values))


def put(value: Any, position: str) -> Written:
    """One value where it stands: at a start `^`, before anything `$`, before a mark `.`, in a row `|`, in a cell `0`.

    Finished text is left as it is, but for `!`. An empty text is no value of the view, and says nothing, with `-`.
    """
    value = plain(value) if "!" in position and isinstance(value, Written) else value
    if isinstance(value, Written):
        # Two spans of code side by side would be one.
        value = Written(f"{value} ") if "$" in position and value.endswith("`") else value
        return piped(value) if "|" in position and not value.startswith("\n") else value
    if (value is None and "0" in position) or (value == "" and "-" in position):
        return Written("")
    text = leading(value) if "^" in position else inline(value)
    text = closed(text) if "$" in position or ("." in position and text.endswith("\\")) else text
    return piped(text) if "|" in position else text


def line_anywhere(value: Any) -> Written:
    """One value on a line, escaped even where it is finished."""
    return anywhere(plain(value) if isinstance(value, Written) else value)


def cell_anywhere(value: Any) -> Written:
    """One value in a cell, whatever stands right behind it."""
    return cell(value) if value is None else piped(line_anywhere(value))


def block(*lines: str) -> Written:
    """Finished lines that stand alone at the margin, whatever is around them."""
    return Written("\n".join(["\n", *lines, "\n"]))


def heading(text: Any, level: int = 2) -> Written:
    """A line that is a heading."""
    words: str = inline(text)
    if words.endswith("#"):
        words = _CLOSING_MARKS.sub(r"\1\\", words)
    return block(f"{'#' * min(max(level, 1), _DEEPEST)} {words}")


def link(text: Any, url: Any) -> Written:
    """A link to the web or to mail; where the address leads anywhere else, the text alone."""
    if not isinstance(url, str) or not _WEB.match(url):
        return anywhere(text)
    name = re.sub(r"(?<!\\)((?:\\\\)*)([\[\]])", r"\1\\\2", closed(inline(text)))
    return Written(f"[{name}]({_ENTITY.sub('&amp;', percent(url, safe=_URL_CHARACTERS))})")


def fence(text: Any) -> Written:
    """Text as it is, in a block of code."""
    content = plain(text)
    mark = "`" * max(_SHORTEST_FENCE, _longest_run(content) + 1)
    return block(NONE) if text is None else block(mark, *split_lines(content), mark)


def code(text: Any) -> Written:
    """Text as it is, in a line."""
    content = LINE_BREAK.sub(" ", plain(text))
    if text is None or not content.strip():
        return anywhere(text)
    mark = "`" * (_longest_run(content) + 1)
    return Written(f"{mark} {content} {mark}" if "`" in content else f"{mark}{content}{mark}")


def quote(text: Any) -> Written:
    """Plain text, set apart."""
    lines = [closed(leading(line)) if line.strip() else "" for line in split_lines(plain(text))]
    return block(NONE) if text is None else block(*_quoted([*(line and f"{line}  " for line in lines[:-1]), lines[-1]]))


def prose(text: Any, level: int = 2, *, is_raw: bool = False) -> Written:
    """What people wrote in Markdown, set apart, its headings below one of this level."""
    if text is None:
        return block(NONE)
    lines = split_lines(plain(text))
    return block(*_quoted(lines if is_raw else tame(lines, level)))


def table(rows: Sequence[Mapping[str, Any]] | None, *columns: str) -> Written:
    """Rows of alike keys and plain values; of named columns those that there are."""
    if not rows:
        return block(NONE if rows is None else EMPTY_LIST)
    keys = [key for key in columns if key in rows[0]] if columns else list(rows[0])
    if not keys:
        return block(NOTHING)
    written = [column([row[key] for row in rows]) for key in keys]
    lines = [column(keys), ["---"] * len(keys), *zip(*written, strict=True)]
    return block(*[f"| {' | '.join(cells)} |" for cells in lines])


def _quoted(lines: Sequence[str]) -> list[str]:
    return [f"> {line}" if line else ">" for line in lines]


def _longest_run(text: str) -> int:
    return max((len(run) for run in _BACKTICKS.findall(text)), default=0)
