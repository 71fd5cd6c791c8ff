"""A6, A13: every tool of every example server answers in both formats from one DTO."""

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from markdown_it import MarkdownIt

from mcpshape import Shape
from mcpshape.encoders import Json, Markdown, Toon
from mcpshape.testing import decode

pytestmark = pytest.mark.no_cover

SERVERS = ("calendar_server", "releases_server", "search_server", "tasks_server")
_WORD = re.compile(r"\w+")


def shape_of(package: str) -> Shape:
    shape = import_module(package).shape
    assert isinstance(shape, Shape)
    return shape


def widest(shape: Shape) -> Any:
    return shape.policy.grant(shape.policy.levels[-1]) if shape.policy else None


TOOLS = [(package, tool) for package in SERVERS for tool in shape_of(package).tools]


@pytest.mark.parametrize(("package", "tool"), TOOLS)
def test_both_formats_tell_the_same(package: str, tool: str) -> None:
    """TOON and JSON are the same data, and Markdown has each key and each value of it."""
    shape = shape_of(package)
    entry = shape.tools[tool]
    assert entry.options.example
    value = entry.options.example()
    texts = [
        shape.using(encoder=encoder).render(value, grant=widest(shape)).text for encoder in (Toon(), Json(), Markdown())
    ]
    data = decode(texts[0])
    assert data == decode(texts[1])
    words = set(_WORD.findall(shown(texts[2])))
    missing = [leaf for leaf in leaves(data) if not set(_WORD.findall(leaf)) <= words]
    assert not missing


def leaves(data: Any) -> Iterator[str]:
    """Each key and each value that is there, as text."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield key
            yield from leaves(value)
    elif isinstance(data, list):
        for value in data:
            yield from leaves(value)
    elif isinstance(data, bool):
        yield str(data).lower()
    elif data is not None:
        yield str(data)


def shown(markdown: str) -> str:
    """What is read of a page: the text of its tokens, without the signs that mark it up."""
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    inline = [child for token in tokens for child in (token.children or [token])]
    return "\n".join(f"{each.content} {each.info} {each.attrs}" for each in inline)
