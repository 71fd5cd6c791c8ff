"""The README and the docstrings do what they say."""

import doctest
import importlib
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from clients import ask, list_tools
from code_blocks import Follower, has_begun, read_blocks, read_commands
from test_layers import MODULES, name_of

ROOT = Path(__file__).parents[1]
README_PATH = ROOT / "README.md"
README = README_PATH.read_text(encoding="utf-8")


def name_page(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(language: str, page: str = README) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)


def run_readme() -> dict[str, Any]:
    """The namespace of the README's first example, with events to load."""
    rows = [
        {"id": "E1", "title": "Sprint planning", "status": "ongoing", "time": "10:00 - 11:00", "calendar": "Work",
         "location": None, "video": "Google Meet", "attendees": 3},
        {"id": "E2", "title": "1on1", "status": None, "time": "15:00 - 15:30", "calendar": "Work",
         "location": "Room A", "video": None, "attendees": 2},
    ]  # fmt: skip
    namespace: dict[str, Any] = {"__name__": "readme"}
    exec(compile(blocks("python")[0], "README.md", "exec"), namespace)
    namespace["load"] = lambda _: [namespace["Event"](**row) for row in rows]
    return namespace


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
@pytest.mark.parametrize("place", [1, 2])
async def test_the_readme_shows_what_the_code_gives(place: int) -> None:
    """The decorated tool on either server answers with the text that stands beside it."""
    namespace = run_readme()
    exec(blocks("python")[place], namespace)
    name = "list_events_on_mcpserver" if place == 1 else "list_events_on_fastmcp"
    assert (await ask(namespace["server"], name, day="2026-07-13")).text == blocks("text")[0].strip()
    description = (await list_tools(namespace["server"]))[name]["description"]
    assert description == "List the events of one day, one entry per event.\n\nNo entries means that the day is free."
    assert (await ask(namespace["server"], name, day="1999-01-01")).is_error
    strict = namespace["shape"].using(grant=namespace["policy"].grant("strict"))
    assert strict.tools["list_events"].served(day="2026-07-13").content[0].text == blocks("text")[1].strip()


def test_the_readme_names_the_two_commands_and_no_wrong_install() -> None:
    """The plain name on the public index is another project's."""
    texts = [path.read_text(encoding="utf-8") for path in ROOT.glob("*.md")] + [README]
    assert "make demo" in README
    assert "make test" in README
    assert not [text for text in texts if re.search(r"pip install ['\"]?mcpshape(?!-)", text)]


PAGES = [README_PATH, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
RUN_ELSEWHERE = {
    "README.md": "test_the_readme_shows_what_the_code_gives",
    "docs/how-to/lock.md": "test_lock_command runs its commands and its workflow",
    "docs/reference/lint.md": "test_lint finds what stands beside each example",
    "docs/tutorial.md": "test_tutorial follows it, and has its own list of what is not run",
}
NOT_RUN = {
    "docker ": "test_deploy runs the command of the container",
    "make ": "it is what runs this",
    "mcpshape-calendar --config docs/reference/calendar.toml": "it serves until it is stopped",
    "mcpshape-calendar --transport http": "it serves until it is stopped; test_deploy starts it",
    "mcpshape-calendar doctor": "its ids and times are others each time; test_server_readmes shows it",
    "mcpshape preview calendar_server:shape --settings": "it serves until it is stopped; test_preview_command runs it",
    "npx @modelcontextprotocol/inspector --cli": "test_tutorial asks with it",
    "openssl rand -hex 32": "test_deploy makes a secret of its own, in a folder of its own",
    "python -c \nimport mcp.server.mcpserver, time": "it measures a time, which is another one each time",
    "python -m pip install": "the wheels under test are installed by make",
    "systemctl ": "test_deploy starts the unit",
}
"""Commands of all pages by how they begin, each with the reason why following the page does not run it."""

SHOWN_ELSEWHERE = {
    "TOON could not be used for this answer; JSON follows.": "test_fallback",
    "list_notes at strict: notes.text is in": "test_the_page_on_testing_finds_the_leak_that_it_shows",
}
"""Texts that no block of their page prints, by their first line, each with the test that makes it."""


def commands_of(pages: Iterable[Path]) -> list[list[str]]:
    found = [block for page in pages for block in read_blocks(page) if block.language == "sh"]
    return [words for block in found for words in read_commands(block)]


def test_what_is_not_run_has_a_reason_and_is_there() -> None:
    """Commands of pages that are run elsewhere are named as well, and nothing is named that no page has."""
    assert [words for words in commands_of([README_PATH]) if not has_begun(words, NOT_RUN)] == []
    assert set(RUN_ELSEWHERE) <= set(map(name_page, PAGES))
    commands = commands_of(PAGES)
    assert [start for start in NOT_RUN if not any(has_begun(words, [start]) for words in commands)] == []
    texts = [block.text for page in PAGES for block in read_blocks(page) if block.language == "text"]
    assert [start for start in SHOWN_ELSEWHERE if not any(text.startswith(start) for text in texts)] == []


@pytest.mark.parametrize("page", [each for each in PAGES if name_page(each) not in RUN_ELSEWHERE], ids=name_page)
def test_a_page_shows_what_its_blocks_print(page: Path, tmp_path: Path) -> None:
    """Every block runs, each after the ones before it, and the text beside it is what it prints."""
    Follower(tmp_path, tuple(NOT_RUN), tuple(SHOWN_ELSEWHERE)).follow(page)


def test_the_page_on_testing_finds_the_leak_that_it_shows() -> None:
    """docs/reference/testing.md: the first of its tests fails with the shown lines, the others pass."""
    page = (ROOT / "docs" / "reference" / "testing.md").read_text(encoding="utf-8")
    namespace: dict[str, Any] = {}
    exec(compile(blocks("python", page)[0], "testing.md", "exec"), namespace)
    with pytest.raises(AssertionError) as caught:
        namespace["test_no_leak"]()
    assert blocks("text", page)[0].strip() in str(caught.value)
    namespace["test_what_a_level_hides_makes_no_difference"]()
    namespace["test_the_data"]()


LINKED = [*ROOT.glob("*.md"), *(path for name in ("docs", "examples") for path in (ROOT / name).rglob("*.md"))]
BUILT = {"llms.txt", "llms-full.txt"}
"""What is only there in the built site."""


def read_links(page: Path) -> Iterator[str]:
    """Where links and images of a page lead, but for other hosts."""
    for token in MarkdownIt().enable("table").parse(page.read_text(encoding="utf-8")):
        for inner in token.children or ():
            target = str(inner.attrs.get("href") or inner.attrs.get("src") or "")
            if target and not re.match(r"[a-z]+:", target):
                yield target


def read_anchors(page: Path) -> set[str]:
    """What a link can lead to on a page: its headings, as GitHub spells them."""
    tokens = MarkdownIt().parse(page.read_text(encoding="utf-8"))
    headings = [after for token, after in pairwise(tokens) if token.type == "heading_open"]
    texts = ["".join(inner.content for inner in heading.children or ()) for heading in headings]
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in texts}


@pytest.mark.parametrize("page", LINKED, ids=name_page)
def test_links_inside_of_the_project_lead_somewhere(page: Path) -> None:
    """No dead internal link, anchors included."""
    for link in read_links(page):
        target, _, anchor = link.partition("#")
        found = page.parent / target if target else page
        assert found.exists() or target in BUILT, link
        is_scheme = found.suffix == ".png" and anchor in {"only-light", "only-dark"}
        assert not anchor or is_scheme or anchor in read_anchors(found), link


@pytest.mark.parametrize("name", [name_of(path) for path in MODULES])
def test_the_examples_in_docstrings_run(name: str) -> None:
    """Every shown output is the real one."""
    module = importlib.import_module(f"mcpshape.{name}".rstrip("."))
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL).failed == 0
