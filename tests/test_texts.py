"""The how-tos, the explanations and the Japanese README do what they say."""

import contextlib
import io
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from mcpshape.cli import main

pytestmark = pytest.mark.no_cover

ROOT = Path(__file__).parents[1]
README, JAPANESE = (ROOT / name for name in ("README.md", "README.ja.md"))
ELSEWHERE = {"deploy.md", "lock.md", "preview.md"}
"""How-tos that have tests of their own."""
HOW_TOS = sorted(path for path in (ROOT / "docs" / "how-to").glob("*.md") if path.name not in ELSEWHERE)
EXPLANATIONS = sorted((ROOT / "docs" / "explanation").glob("*.md"))
PAGES = [*HOW_TOS, *EXPLANATIONS]
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s]+)\)")


def blocks(path: Path) -> list[tuple[str, str]]:
    """The fenced blocks of a page: language and text."""
    return _BLOCK.findall(path.read_text(encoding="utf-8"))


def printed(language: str, code: str, namespace: dict[str, Any]) -> str:
    """What a block prints, without spaces at the ends of lines; of commands, ours are run."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        if language == "python":
            exec(compile(code, "page", "exec"), namespace)
        elif code.startswith("mcpshape "):
            main(code.split()[1:])
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()).strip()


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_a_page_shows_what_its_blocks_print(page: Path) -> None:
    """Every block runs, each after the ones before it, and what it prints stands in the next block."""
    namespace: dict[str, Any] = {}
    awaited = ""
    for language, text in blocks(page):
        if language == "text":
            assert awaited == text.strip()
            awaited = ""
        elif language in {"python", "sh"}:
            assert not awaited
            awaited = printed(language, text, namespace)
        else:
            assert tomllib.loads(text)
    assert not awaited


def anchors(path: Path) -> set[str]:
    """What a link can lead to on a page: its headings, as GitHub spells them."""
    headings = re.findall(r"^#+ (.+)$", _BLOCK.sub("", path.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [*PAGES, JAPANESE], ids=lambda path: path.stem)
def test_links_lead_to_a_heading_that_is_there(page: Path) -> None:
    """No dead internal link, anchors included."""
    for link in _LINK.findall(_BLOCK.sub("", page.read_text(encoding="utf-8"))):
        if link.startswith("https://"):
            continue
        target, _, anchor = link.partition("#")
        found = (page.parent / target).resolve() if target else page
        assert found.exists(), link
        assert not anchor or anchor in anchors(found), link


def test_the_japanese_readme_has_the_same_code() -> None:
    """Its blocks are those of the English one, byte for byte."""
    assert blocks(JAPANESE) == blocks(README)


def test_the_japanese_readme_has_the_same_parts() -> None:
    """Headings, items and rows of tables come in the same order as in the English one, and links lead likewise."""

    def parts(path: Path) -> list[str]:
        text = _BLOCK.sub("", path.read_text(encoding="utf-8"))
        return [line.split(" ")[0] for line in text.splitlines() if line.startswith(("#", "- ", "|"))]

    def links(path: Path) -> list[str]:
        found = _LINK.findall(path.read_text(encoding="utf-8"))
        return sorted(link for link in found if not link.startswith("README"))

    assert parts(JAPANESE) == parts(README)
    assert links(JAPANESE) == links(README)
    assert "[English](README.md)" in JAPANESE.read_text(encoding="utf-8")
