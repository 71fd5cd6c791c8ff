"""The README and the docstrings do what they say."""

import contextlib
import doctest
import importlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

from clients import ask, list_tools
from mcpshape.cli import main
from test_layers import MODULES, name_of

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


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


def printed(code: str, namespace: dict[str, Any]) -> str:
    """What a block prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "docs", "exec"), namespace)
    return out.getvalue().strip()


@pytest.mark.parametrize("name", ["rules", "templates"])
def test_a_page_shows_what_its_code_prints(name: str) -> None:
    """Every block of the pages on rules and templates runs, and the text beside it is what it prints."""
    page = (ROOT / "docs" / "reference" / f"{name}.md").read_text(encoding="utf-8")
    shown = [text for text in (printed(code, {}) for code in blocks("python", page)) if text]
    assert shown == [text.strip() for text in blocks("text", page)]


@pytest.mark.parametrize("name", ["formats", "pages", "servers", "settings"])
def test_a_page_shows_what_its_blocks_print(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every block runs, each after the ones before it, and the text beside it is what it prints; `mcpshape` as well."""
    page = (ROOT / "docs" / "reference" / f"{name}.md").read_text(encoding="utf-8")
    namespace: dict[str, Any] = {}
    shown = []
    for language, code in re.findall(r"```(python|sh)\n(.*?)```", page, re.DOTALL):
        if language == "python":
            shown.append(printed(code, namespace))
        elif code.startswith("mcpshape "):
            main(code.split()[1:])
            shown.append("\n".join(line.rstrip() for line in capsys.readouterr().out.splitlines()))
    assert [text for text in shown if text] == [text.strip() for text in blocks("text", page)]


def test_the_page_on_testing_finds_the_leak_that_it_shows() -> None:
    """docs/reference/testing.md: the first of its tests fails with the shown lines, the others pass."""
    page = (ROOT / "docs" / "reference" / "testing.md").read_text(encoding="utf-8")
    namespace: dict[str, Any] = {}
    printed(blocks("python", page)[0], namespace)
    with pytest.raises(AssertionError) as caught:
        namespace["test_no_leak"]()
    assert blocks("text", page)[0].strip() in str(caught.value)
    namespace["test_what_a_level_hides_makes_no_difference"]()
    namespace["test_the_data"]()


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        *(str(path.relative_to(ROOT)) for name in ("docs", "examples") for path in (ROOT / name).rglob("*.md")),
    ],
)
def test_links_inside_of_the_project_lead_somewhere(page: str) -> None:
    """No dead internal link."""
    path = ROOT / page
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))
    assert not [link for link in links if not (path.parent / link).exists()]


@pytest.mark.parametrize("name", [name_of(path) for path in MODULES])
def test_the_examples_in_docstrings_run(name: str) -> None:
    """Every shown output is the real one."""
    module = importlib.import_module(f"mcpshape.{name}".rstrip("."))
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL).failed == 0
