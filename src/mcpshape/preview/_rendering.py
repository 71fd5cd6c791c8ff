"""The pages as HTML: every value escaped, Markdown rendered without anything that could act or be fetched."""

import json
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markupsafe import Markup

_BRIEF = 120
# Of more, rendering could take minutes.
_MOST_RENDERED = 50_000
_FIRST_LEVEL, _LAST_LEVEL = 3, 6


def render(page: str, **values: Any) -> str:
    """A page with its values."""
    text = _environment().get_template(page).render(values)
    # The name of a file can hold bytes that are no text.
    return text.encode(errors="replace").decode()


def render_markdown(text: str) -> Markup:
    """Markdown as a host would show it; HTML in it is text, images are links, and links name their target.

    Headings begin at the third level, as parts of the page. The end of a very long text is left out.
    """
    if len(text) > _MOST_RENDERED:
        text = text[: text.rfind("\n", 0, _MOST_RENDERED) + 1 or _MOST_RENDERED]
    # The source is text of others: markdown-it escapes it, and nothing here makes an element of it but what is listed.
    return Markup(_markdown().render(text))  # noqa: S704


def indent(data: Any) -> str:
    """Data as JSON for readers."""
    return json.dumps(data, indent=2, ensure_ascii=False)


def abridge(value: Any) -> str:
    """A value of an example in a few words."""
    text = "none" if value is None else value if isinstance(value, str) else indent(value)
    return text if len(text) <= _BRIEF else f"{text[:_BRIEF]}…"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("mcpshape.preview", "pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"markdown": render_markdown, "indented": indent, "brief": abridge}
    environment.globals["most_rendered"] = _MOST_RENDERED
    return environment


@cache
def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")
    markdown.core.ruler.push("inert_links", _disarm)
    markdown.core.ruler.push("lower_headings", _lower)
    return markdown


def _lower(state: StateCore) -> None:
    """Let headings stand below those of the page."""
    headings = [token for token in state.tokens if token.type in {"heading_open", "heading_close"}]
    levels = [int(token.tag[1:]) for token in headings]
    for token, level in zip(headings, levels, strict=True):
        token.tag = f"h{min(_LAST_LEVEL, level - min(levels) + _FIRST_LEVEL)}"


def _disarm(state: StateCore) -> None:
    """Make each link a piece of text that names its target when it is pointed at."""
    for token in (inner for block in state.tokens for inner in block.children or ()):
        if token.type in {"link_open", "link_close"}:
            token.tag = "span"
            token.attrs = {"class": "link", "title": token.attrs["href"]} if token.attrs else {}
