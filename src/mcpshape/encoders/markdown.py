"""Views as Markdown (GitHub Flavored Markdown 0.29), rendered by Jinja2 in its sandbox."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import StrictUndefined, Template
from jinja2.sandbox import SandboxedEnvironment
from pydantic_core import to_json

from mcpshape._describe import Vocabulary
from mcpshape._layout import Layout
from mcpshape._project import View
from mcpshape.encoders._prose import LINE_BREAK, tame
from mcpshape.errors import EncodingError

_NONE, _EMPTY_LIST, _EMPTY_TEXT, _NOTHING = "*none*", "*empty list*", '""', "*nothing shown*"
# What opens a heading, a quote, a list, a rule or a check box at the start of a block. A number is a list by its mark.
_BLOCK_START = re.compile(r"^[#>+=-]|^\[(?=[ xX]\])")
_ORDERED = re.compile(r"^(\d{1,9})(?=[.)](\s|$))")
_BLANK_LINES = re.compile(r"\n{3,}")
# A backslash, or what opens or closes a construct: emphasis, code, links, images, strikethrough, entities.
_SPECIAL = re.compile(
    r"""\\(?=[!-/:-@\[-`{-~])|[*`]|(?<![^\W_])_|_(?![^\W_])|\](?=[(\[:])|(?<=!)\[|~(?=~)|&(?=\#?\w+;)""",
    re.VERBOSE,
)
# No backslash here: after an address that stands as it is, some renderers take it for a part of the address.
_TAG = re.compile(r"<(?=[A-Za-z/!?])")


@dataclass(frozen=True, slots=True)
class Markdown:
    """Markdown text without `structuredContent`, which would hide the text in many hosts.

    Values stand in a list, arrays of alike entries in a table, prose in a quote of its own. `*none*` and an empty cell
    are `null`; `<br>` is a line break inside a value.

    In prose, images become links, since a host that draws one tells its server; raw HTML, definitions of links and
    links to anything but http, https and mailto become text; headings move below the ones around them.

    Args:
        raw_prose: Leave prose exactly as it was written.

    Example:
        >>> from mcpshape import View
        >>> print(Markdown().encode(View({"total": 1, "events": [{"id": "E1", "location": None}]})))
        - total: 1
        <BLANKLINE>
        ## events
        <BLANKLINE>
        | id | location |
        | --- | --- |
        | E1 |  |
    """

    raw_prose: bool = field(default=False, kw_only=True)
    name: str = field(default="Markdown", init=False, repr=False)
    structured: bool = field(default=False, init=False, repr=False)
    vocabulary: Vocabulary = field(
        default=Vocabulary(entry="row", entries="rows", field="column", fields="columns", listing="table"),
        init=False,
        repr=False,
    )
    _template: Template = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_template", _built_in())

    def encode(self, view: View) -> str:
        """The view as a Markdown document."""
        try:
            text = view.written(
                lambda data: self._template.render(data=data, layout=view.layout, raw_prose=self.raw_prose)
            )
        except Exception as error:
            raise EncodingError(self.name, f"the template failed with {type(error).__name__}") from error
        return _BLANK_LINES.sub("\n\n", text).strip() or _NOTHING


@cache
def _built_in() -> Template:
    source = files("mcpshape.encoders").joinpath("markdown.md.j2").read_text(encoding="utf-8")
    return _environment().from_string(source)


def _environment() -> SandboxedEnvironment:
    environment = SandboxedEnvironment(
        undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=False
    )
    environment.filters |= {
        "inline": inline,
        "leading": _leading,
        "heading": _heading,
        "quote": _quote,
        "prose": _prose,
        "table": _table,
    }
    environment.tests |= {"section": _is_section, "table": _is_table, "array": _is_array}
    return environment


def inline(value: Any) -> str:
    """One value inside a line of text."""
    if isinstance(value, str):
        return LINE_BREAK.sub("<br>", _TAG.sub("&lt;", _SPECIAL.sub(r"\\\g<0>", value))) or _EMPTY_TEXT
    if value is None:
        return _NONE
    return _EMPTY_LIST if value == [] else _NOTHING if value == {} else to_json(value).decode()


def _leading(value: Any) -> str:
    """One value at the start of a block, where a few more characters would open a construct."""
    text = inline(value)
    return _ORDERED.sub(r"\1\\", _BLOCK_START.sub(r"\\\g<0>", text)) if isinstance(value, str) else text


def _cell(value: Any) -> str:
    return "" if value is None else inline(value).replace("|", "\\|")


def _heading(text: str, depth: int) -> str:
    return f"{'#' * min(depth, 6)} {inline(text)}"


def _prose(text: str, depth: int) -> str:
    return _quote(tame(text, depth))


def _quote(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in LINE_BREAK.split(text))


def _table(rows: list[Mapping[str, Any]]) -> str:
    keys = list(rows[0])
    lines = [[_cell(key) for key in keys], ["---"] * len(keys), *([_cell(row[key]) for key in keys] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _is_array(value: Any) -> bool:
    return isinstance(value, list)


def _is_plain(value: Any) -> bool:
    return not isinstance(value, list | Mapping)


def _is_section(value: Any, layout: Layout) -> bool:
    """Whether a value needs a heading of its own: prose, an object, or an array that holds objects."""
    if isinstance(value, str):
        return layout.is_prose
    if isinstance(value, Mapping):
        return bool(value)
    return isinstance(value, list) and not all(_is_listed(entry) for entry in value)


def _is_listed(value: Any) -> bool:
    return _is_plain(value) or (isinstance(value, list) and all(_is_listed(entry) for entry in value))


def _is_table(rows: Any, layout: Layout) -> bool:
    """Whether every entry is an object with the same keys and plain values, none of them prose."""
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) and row for row in rows):
        return False
    keys, hints = rows[0].keys(), layout.at("*")
    if any(hints.at(key).is_prose for key in keys):
        return False
    return all(row.keys() == keys and all(_is_plain(value) for value in row.values()) for row in rows)
