"""Views as Markdown (GitHub Flavored Markdown 0.29); templates for it are rendered by Jinja2 in its sandbox."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from jinja2 import BaseLoader

from mcpshape._describe import Vocabulary
from mcpshape._layout import Layout
from mcpshape._project import View
from mcpshape.encoders._check import find_problems
from mcpshape.encoders._document import Document
from mcpshape.encoders._escaping import NONE, NOTHING, Written
from mcpshape.encoders._meter import LimitError, Meter
from mcpshape.encoders._sandbox import Sandbox
from mcpshape.errors import DefinitionError, EncodingError, Problem

# Blank lines beyond one say nothing, but for those inside of a block of code.
_BLANK_LINES = re.compile("\n\n\n+")
_BLANK_LINES_OUTSIDE_OF_CODE = re.compile(r"(^(`{3,})[^`\n]*\n(?:.*?\n)?\2[ \t]*$)|\n{3,}", re.MULTILINE | re.DOTALL)
_LISTED = re.compile(r"(?:[-*+]|\d{1,9}[.)]) ")


@dataclass(frozen=True, slots=True)
class Markdown:
    """Markdown text without `structuredContent`, which would hide the text in many hosts.

    Values stand in a list, arrays of alike entries in a table, prose in a quote of its own. `*none*` and an empty cell
    are `null`; `<br>` is a line break inside a value.

    In prose, images become links, since a host that draws one tells its server; raw HTML, definitions of links and
    links to anything but http, https and mailto become text; headings move below the ones around them.

    Args:
        raw_prose: Leave prose exactly as it was written.
        templates: The Jinja template of a DTO class, by name: what an object of it reads like, wherever it stands.
        loader: Where the templates are.
        max_seconds: How long the templates of one answer may run.
        max_characters: How much they may write, in characters of text and entries of arrays.

    Raises:
        DefinitionError: The templates are named for what is no class, or there is no loader.

    Examples:
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
    templates: Mapping[type, str] = field(default_factory=dict, kw_only=True, hash=False, repr=False)
    loader: BaseLoader | None = field(default=None, kw_only=True, repr=False)
    max_seconds: float = field(default=5.0, kw_only=True)
    max_characters: int = field(default=20_000_000, kw_only=True)
    name: str = field(default="Markdown", init=False, repr=False)
    structured: bool = field(default=False, init=False, repr=False)
    vocabulary: Vocabulary = field(
        default=Vocabulary(
            entry="row",
            entries="rows",
            field="column",
            fields="columns",
            listing="table",
            null="*none* or an empty cell",
        ),
        init=False,
        repr=False,
    )
    _environment: Sandbox = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if problems := list(_option_problems(self.templates, self.loader, self.max_seconds, self.max_characters)):
            raise DefinitionError("Markdown", problems)
        object.__setattr__(self, "templates", dict(self.templates))
        object.__setattr__(self, "_environment", Sandbox(self.loader, raw_prose=self.raw_prose))

    def encode(self, view: View) -> str:
        """The view as a Markdown document."""
        meter = Meter(self.max_seconds, self.max_characters)
        try:
            text = view.written(lambda data: self._text(data, view.layout, meter))
        except LimitError as error:
            raise EncodingError(self.name, f"the template was stopped, because {error}") from error
        except Exception as error:
            raise EncodingError(self.name, f"the template failed with {type(error).__name__}") from error
        return _without_blank_lines(text).strip() or NOTHING

    def find_problems(self, layouts: Iterable[tuple[str, Layout]]) -> list[Problem]:
        """What is wrong with the templates, for these layouts of one type."""
        return find_problems(self._environment, self.templates, list(layouts)) if self.templates else []

    def _text(self, data: Mapping[str, Any], layout: Layout, meter: Meter) -> str:
        """The data as the template of its own class writes it, or as the built-in rendering does."""

        def write_own(value: Any, layout: Layout) -> Written | None:
            return self._write(value, layout, meter) if self._has_own(value, layout) else None

        own = write_own(data, layout)
        return Document(write_own, self.raw_prose).record(data, layout) if own is None else own

    def _has_own(self, value: Any, layout: Layout) -> bool:
        """Whether templates write this value: an object, or an array of them, of a class that has a template."""
        if not self.templates:
            return False
        if isinstance(value, list):
            entries = layout.at("*")
            return any(value) and all(each is None or self._has_own(each, entries) for each in value)
        return layout.dto in self.templates and isinstance(value, Mapping) and bool(value)

    def _write(self, value: Any, layout: Layout, meter: Meter) -> Written:
        if isinstance(value, list):
            texts = [self._write(each, layout.at("*"), meter) for each in value]
            is_list = all(_LISTED.match(text) and "\n\n" not in text for text in texts)
            return Written(("\n" if is_list else "\n\n").join(filter(None, texts)))
        if value is None:
            return Written(NONE)
        template = self._environment.get_template(self.templates[layout.dto or type(None)])
        with meter.running():
            return Written(template.render(value).strip())


def _without_blank_lines(text: str) -> str:
    if "```" not in text:
        return _BLANK_LINES.sub("\n\n", text)
    return _BLANK_LINES_OUTSIDE_OF_CODE.sub(lambda found: found[1] or "\n\n", text)


def _option_problems(
    templates: Mapping[type, str], loader: BaseLoader | None, max_seconds: float, max_characters: int
) -> Iterator[Problem]:
    for cls, name in templates.items():
        if not isinstance(cls, type) or not isinstance(name, str):
            yield Problem("templates", f"{cls!r} has {name!r}.", "Give the name of a template for each DTO class.")
    if max_seconds <= 0 or max_characters < 1:
        yield Problem("limits", "nothing is left to write in.", "Give templates some time and some characters.")
    if templates and loader is None:
        yield Problem("loader", "there is none.", 'Pass one, such as jinja2.PackageLoader("your_package").')
