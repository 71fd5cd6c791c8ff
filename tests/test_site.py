"""The documentation site: built strictly, whole, without a dead link, and asking nobody else for anything."""

import re
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag

import pytest

from sites import build, copy, run

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PUBLIC = ("", ".encoders", ".settings", ".disclosure", ".lint", ".lock", ".preview", ".testing")
ADAPTERS = (".mcpserver", ".lowlevel", ".fastmcp")

pytestmark = pytest.mark.no_cover


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("site"))


class Tags(HTMLParser):
    """The tags of a page, with their attributes, and its text outside of code."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.code = 0
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self.code += tag in {"code", "script", "style"}

    def handle_endtag(self, tag: str) -> None:
        self.code -= tag in {"code", "script", "style"}

    def handle_data(self, data: str) -> None:
        if not self.code:
            self.text.append(data)


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Tags]:
    return {page: Tags(page) for page in site.rglob("*.html")}


def nav(entries: list[Any]) -> Iterator[str]:
    """The pages of the navigation."""
    for entry in entries:
        for target in entry.values():
            yield from [target] if isinstance(target, str) else nav(target)


def test_every_page_is_in_the_navigation() -> None:
    """A page more is a line more in zensical.toml, once."""
    project = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]
    assert sorted(nav(project["nav"])) == sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))


def test_no_link_of_the_site_is_dead(site: Path, pages: dict[Path, Tags]) -> None:
    """Pages, files and anchors: the strict build looks at links between pages alone."""
    anchors = {page: {given.get("id") or given.get("name") for _, given in tags.found} for page, tags in pages.items()}
    dead = []
    for page, tags in pages.items():
        for name, given in tags.found:
            link, anchor = urldefrag(given.get("href") or given.get("src") or "")
            if re.match(r"[a-z]+:", link) or page.name == "404.html" or name == "base":
                continue
            target = page.parent / unquote(link) if link else page
            target = (target / "index.html" if target.is_dir() else target).resolve()
            is_there = target.exists() and (not anchor or target not in anchors or unquote(anchor) in anchors[target])
            dead += [] if is_there else [f"{page.relative_to(site)}: {link}#{anchor}"]
    assert dead == []


def test_a_page_asks_no_other_host(pages: dict[Path, Tags]) -> None:
    """Scripts, styles, fonts and images come with the site; only what a reader follows leads elsewhere."""
    loaded = [given for tags in pages.values() for name, given in tags.found if name != "a"]
    addresses = [given.get("src") or given.get("href") or "" for given in loaded]
    assert [address for address in addresses if re.match(r"(https?:)?//", address)] == []


def test_every_table_and_block_is_one(site: Path, pages: dict[Path, Tags]) -> None:
    """Lists begin after a blank line and hold what has four spaces, else only other renderers of Markdown see them."""
    raw = re.compile(r"\| ---|```|^\s*[-*] \S", re.MULTILINE)
    texts = {page.relative_to(site): "".join(tags.text) for page, tags in pages.items()}
    assert {page: found[0] for page, text in texts.items() if (found := raw.search(text))} == {}


def test_dead_links_end_the_build(tmp_path: Path) -> None:
    """A page, an anchor and a name that are not there are found in one run."""
    (copy(tmp_path) / "docs" / "index.md").write_text("# Home\n\n[a](no.md) [b](tutorial.md#no) [c][mcpshape.No]\n")
    with pytest.raises(AssertionError, match="3 issues found"):
        run(tmp_path, "zensical", "build", "--strict", "--clean")


def public_names() -> list[str]:
    """All that is in an `__all__`, and the two functions of each adapter."""
    listed = [f"mcpshape{module}.{name}" for module in PUBLIC for name in import_module(f"mcpshape{module}").__all__]
    return [*listed, *(f"mcpshape{module}.{name}" for module in ADAPTERS for name in ("attach", "add_tools"))]


def test_every_public_name_has_its_docstring_on_a_page(site: Path, pages: dict[Path, Tags]) -> None:
    """The API reference: each name is there once, under its own anchor, for people and for programs."""
    anchors = [
        given.get("id") for page in (site / "reference" / "api").rglob("*.html") for _, given in pages[page].found
    ]
    assert [name for name in public_names() if anchors.count(name) != 1] == []
    text = "".join(page.read_text(encoding="utf-8") for page in (site / "reference" / "api").glob("*.md"))
    assert [name for name in public_names() if f"### {name}\n\n```text\n" not in text] == []
    assert ":::" not in text


def test_llms_txt_lists_every_page_in_words(site: Path) -> None:
    """A title, what the project is, and for each page its place as Markdown and a sentence."""
    title, _, summary, *lines = (site / "llms.txt").read_text(encoding="utf-8").splitlines()
    assert title == "# mcpshape"
    assert summary.startswith("> Typed values to MCP results")
    entries = [
        re.fullmatch(r"- \[(.+)\]\((.+)\): (.+\.)", line) for line in lines if line and not line.startswith("## ")
    ]
    assert all(entries)
    assert sorted(found[2] for found in entries if found) == sorted(
        str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")
    )
    assert all((site / found[2]).exists() for found in entries if found)


def test_llms_full_txt_has_all_that_the_pages_say(site: Path) -> None:
    """Each page as it is, in the order of the navigation."""
    whole = (site / "llms-full.txt").read_text(encoding="utf-8")
    assert [page for page in site.rglob("*.md") if page.read_text(encoding="utf-8") not in whole] == []
    assert "index.md -->" in whole


def test_only_what_readers_need_is_published(site: Path) -> None:
    """The script that makes llms.txt is not, the files that pages show are."""
    assert list(site.rglob("*.py")) == []
    assert (site / "deploy" / "nginx.conf").exists()
    assert (site / "reference" / "calendar.toml").exists()
