"""What the search server costs with 10,000 documents, and with one of 50 MB.

Each of them is asked in a process of its own, through a client in memory. Times count from the call to the answer.
"""

import platform
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import anyio
from mcp import Client

from figures import Sheet
from search_server import Config, build
from search_server.folders import Folder

_SHEET = Sheet(width=36)
DOCUMENTS, WORDS, LONG_MB = 10_000, 20_000, 50
FIRST_ANSWER, LATER_ANSWER, PAGE = 30.0, 100.0, 1000.0
"""The most seconds, and milliseconds for a search and for a page of the long document, that are aimed at."""
ASKED, ASKED_OTHERS = 300, 20
# A folder is looked at the less often the longer that takes.
_LOOKED_AT_AGAIN = 10  # Seconds.
_SYLLABLES = ("ha", "ven", "kel", "ti", "de", "mor", "gat", "lu", "ner", "sa", "bo", "ri", "stern", "flo", "ka", "pe")


def main() -> None:
    """Print what each folder costs."""
    print(f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, lxml {version('lxml')}")
    kinds: dict[str, Callable[[Path], None]] = {"many": write_many, "long": write_long}
    for kind, write in kinds.items():
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "docs").mkdir()
            write(Path(folder) / "docs")
            count = len(list(Path(folder, "docs").iterdir()))
            size = _size(Path(folder), "docs/*")
            print(f"\n{count:,} document{'s' if count > 1 else ''}, {size:.0f} MB", flush=True)
            for step in (kind, "again"):
                subprocess.run([sys.executable, __file__, step, folder], check=True)  # noqa: S603 # It is this file.


def vocabulary(chosen: random.Random) -> list[str]:
    """Words, the frequent ones first."""
    return list(dict.fromkeys("".join(chosen.choices(_SYLLABLES, k=chosen.randint(1, 5))) for _ in range(WORDS * 2)))


def prose(words: Sequence[str], count: int, chosen: random.Random) -> str:
    """So many words; few of them are frequent, as in any language."""
    picked = (words[min(int(chosen.paretovariate(0.6)), len(words)) - 1] for _ in range(count))
    return " ".join(word.capitalize() + "." if place % 12 == 0 else word for place, word in enumerate(picked))


def write_many(folder: Path) -> None:
    """Markdown, HTML and text of 200 to 1,400 words."""
    chosen = random.Random(1)
    words = vocabulary(chosen)
    for number in range(DOCUMENTS):
        paragraphs = [prose(words, chosen.randint(50, 200), chosen) for _ in range(chosen.randint(4, 7))]
        title = prose(words, 4, chosen)
        if number % 3 == 0:
            body = "".join(f"<h2>{each[:20]}</h2><p>{each}</p>" for each in paragraphs)
            (folder / f"{number}.html").write_text(f"<title>{title}</title><body>{body}</body>")
        elif number % 3 == 1:
            (folder / f"{number}.md").write_text(f"# {title}\n\n" + "\n\n## Part\n\n".join(paragraphs))
        else:
            (folder / f"{number}.txt").write_text("\n\n".join(paragraphs))


def write_long(folder: Path) -> None:
    """One line of text."""
    chosen = random.Random(1)
    words = vocabulary(chosen)
    piece = prose(words, 100_000, chosen)
    (folder / "long.txt").write_text((f"{piece} " * (LONG_MB * 2**20 // len(piece) + 1))[: LONG_MB * 2**20])


async def measure(folder: Path, kind: str) -> None:
    """Print what a server of the files in a folder costs, or what it does when it is started again."""
    chosen = random.Random(2)
    words = vocabulary(random.Random(1))
    began = perf_counter()
    config = Config(folders=[Folder("docs", folder / "docs")], index=folder / "search.db", patience=None, warm=True)
    async with Client(build(config)) as client:
        _, first = await _ask(client, "search_content", query=words[20])
        taken = perf_counter() - began
        total = (first.structured_content or {})["total"]
        name = "the first answer" if kind != "again" else "the same with the index that is kept"
        _SHEET.tell(name, f"{taken:.1f} s, {total:,} found", taken <= FIRST_ANSWER, f"{FIRST_ANSWER:g} s")
        if kind == "again":
            return
        await _measure_searches(client, words, chosen)
        await _measure_pages(client, (first.structured_content or {})["results"][0]["id"], is_long=kind == "long")
        if kind == "many":
            await _measure_change(client, folder / "docs", words)
    _SHEET.tell("the index", f"{_size(folder, 'search.db*'):.0f} MB")
    # Linux counts in kB, macOS in bytes.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    _SHEET.tell("the most memory", f"{peak:.0f} MB")


async def _measure_searches(client: Client, words: Sequence[str], chosen: random.Random) -> None:
    rare = [{"query": " ".join(chosen.choices(words[50:2000], k=2))} for _ in range(ASKED)]
    _SHEET.tell_times("two words", await _times(client, "search_content", rare), LATER_ANSWER)
    frequent = [{"query": " OR ".join(chosen.choices(words[:50], k=5)), "limit": 50} for _ in range(ASKED_OTHERS)]
    _SHEET.tell_times("five frequent words, 50 results", await _times(client, "search_content", frequent))
    phrases = [{"query": f'"{words[0]} {words[chosen.randint(0, 20)]}"'} for _ in range(ASKED_OTHERS)]
    _SHEET.tell_times("a phrase of frequent words", await _times(client, "search_content", phrases))
    prefixes = [{"query": f"{word[:2]}*"} for word in chosen.choices(words, k=ASKED_OTHERS)]
    _SHEET.tell_times("a prefix of two letters", await _times(client, "search_content", prefixes))


async def _measure_pages(client: Client, document_id: str, *, is_long: bool) -> None:
    taken, page = await _ask(client, "get_document", document_id=document_id)
    _SHEET.tell("get_document, the first time", f"{taken:.0f} ms")
    times = []
    for _ in range(ASKED_OTHERS):
        following = (page.structured_content or {})["page"]["next"]
        again = {"cursor": following} if following else {}
        taken, page = await _ask(client, "get_document", document_id=document_id, **again)
        times.append(taken)
    _SHEET.tell_times("get_document, a further page" if is_long else "get_document", times, PAGE)


async def _measure_change(client: Client, folder: Path, words: Sequence[str]) -> None:
    (folder / "new.txt").write_text("a word that is new: zwieback")
    await anyio.sleep(_LOOKED_AT_AGAIN)
    taken, found = await _ask(client, "search_content", query="zwieback")
    assert found.structured_content["total"] == 1
    _SHEET.tell("a new document is found", f"{taken:.0f} ms")
    taken, _ = await _ask(client, "search_content", query=words[20])
    _SHEET.tell("a search after that", f"{taken:.0f} ms")


def _size(folder: Path, pattern: str) -> float:
    """The size of some files in MB."""
    return sum(path.stat().st_size for path in folder.glob(pattern)) / 2**20


async def _ask(client: Client, tool: str, **arguments: Any) -> tuple[float, Any]:
    """The milliseconds that an answer takes, and the answer."""
    began = perf_counter()
    result = await client.call_tool(tool, arguments)
    taken = (perf_counter() - began) * 1000
    assert not result.is_error, result
    return taken, result


async def _times(client: Client, tool: str, asked: Iterable[dict[str, Any]]) -> list[float]:
    return [(await _ask(client, tool, **arguments))[0] for arguments in asked]


if __name__ == "__main__":
    if sys.argv[1:]:
        anyio.run(measure, Path(sys.argv[2]), sys.argv[1])
    else:
        main()
