"""The Japanese README says what the English one says; that its links lead somewhere is seen with all others."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
README, JAPANESE = (ROOT / name for name in ("README.md", "README.ja.md"))
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s]+)\)")


def blocks(path: Path) -> list[tuple[str, str]]:
    """The fenced blocks of a page: language and text."""
    return _BLOCK.findall(path.read_text(encoding="utf-8"))


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
