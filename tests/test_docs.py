"""The README and the docstrings do what they say."""

import doctest
import importlib
import re
from pathlib import Path
from typing import Any

import pytest

from clients import ask, list_tools
from test_layers import MODULES, name_of

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


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
    assert (await ask(namespace["server"], "list_events", day="2026-07-13")).text == blocks("text")[0].strip()
    description = (await list_tools(namespace["server"]))["list_events"]["description"]
    assert description == "List the events of one day, one entry per event.\n\nNo entries means that the day is free."
    assert (await ask(namespace["server"], "list_events", day="1999-01-01")).is_error
    strict = namespace["shape"].using(grant=namespace["policy"].grant("strict"))
    assert strict.tools["list_events"].served(day="2026-07-13").content[0].text == blocks("text")[1].strip()


def test_the_readme_names_the_two_commands_and_no_wrong_install() -> None:
    """The plain name on the public index is another project's."""
    texts = [path.read_text(encoding="utf-8") for path in ROOT.glob("*.md")] + [README]
    assert "make demo" in README
    assert "make test" in README
    assert not [text for text in texts if re.search(r"pip install ['\"]?mcpshape(?!-)", text)]


@pytest.mark.parametrize("name", [name_of(path) for path in MODULES])
def test_the_examples_in_docstrings_run(name: str) -> None:
    """Every shown output is the real one."""
    module = importlib.import_module(f"mcpshape.{name}".rstrip("."))
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL).failed == 0
