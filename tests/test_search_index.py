"""The index of the search: kept in a file, and replaced or done without where that is broken, taken or full."""

import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp import Client

from mcpshape import UserError
from search_server import Config, build
from search_server.catalogue import Catalogue
from search_server.folders import Folder, files
from search_server.index import Index
from search_server.store import ForeignFileError, discard
from test_search import answer

pytestmark = [pytest.mark.anyio, pytest.mark.no_cover]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(5):
        (folder / f"{number}.txt").write_text(f"keel number{number}")
    return folder


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "search.db"


def catalogue(docs: Path, index: Index, **options: Any) -> Catalogue:
    return Catalogue([Folder("docs", docs)], index, **{"every": 0.0, "patience": None, **options})


def total(served: Catalogue, query: str = "keel") -> int:
    return served.search(query, 10).total


def read_by(served: Catalogue) -> list[int]:
    """How many documents were read in each step of the next look."""
    steps: list[int] = []
    other = Catalogue(served.folders, served.index, every=0.0, patience=None, tell=lambda done, _: steps.append(done))
    other.look()
    return steps


def test_what_is_kept_is_not_read_again(docs: Path, kept: Path) -> None:
    """A second start reads only what is new."""
    first = Index(kept)
    assert total(catalogue(docs, first)) == 5
    first.close()
    (docs / "new.txt").write_text("keel")
    second = Index(kept)
    served = catalogue(docs, second)
    served.look()
    assert total(served) == 6
    assert read_by(served) == []
    assert total(served, "number3") == 1
    second.close()


def test_an_index_can_be_changed_after_it_was_kept(docs: Path, kept: Path) -> None:
    """Words that a document had before are not found any more."""
    first = Index(kept)
    assert total(catalogue(docs, first), "number3") == 1
    first.close()
    (docs / "3.txt").write_text("keel other")
    (docs / "4.txt").unlink()
    second = Index(kept)
    served = catalogue(docs, second)
    assert [total(served, word) for word in ("number3", "number4", "other", "keel")] == [0, 0, 1, 4]
    with second._lock:
        for table in ("words", "spots"):
            second._connection.execute(f"INSERT INTO {table}({table}) VALUES ('integrity-check')")
    second.close()


@pytest.mark.parametrize("at", [0, 60, 5000, 20_000])
def test_a_broken_index_is_made_anew(docs: Path, kept: Path, at: int) -> None:
    """Bad input: bytes of the file are lost; the documents are still there."""
    first = Index(kept)
    assert total(catalogue(docs, first)) == 5
    first.close()
    data = bytearray(kept.read_bytes())
    data[at + 100 : at + 3000] = bytes(2900)
    kept.write_bytes(data)
    (docs / "1.txt").write_text("keel other")  # So that it is written to.
    second = Index(kept)
    served = catalogue(docs, second)
    assert total(served) == 5
    assert total(served, "number3") == 1
    second.close()


@given(at=st.floats(0, 1), damage=st.binary(min_size=1, max_size=5000))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_damage_stops_the_search(docs: Path, kept: Path, at: float, damage: bytes) -> None:
    """Bad input: whatever stands in the file behind its header, there is an answer and every document can be read."""
    discard(kept)
    first = Index(kept)
    catalogue(docs, first).look()
    first.close()
    data = bytearray(kept.read_bytes())
    place = 100 + int(at * (len(data) - 100))
    data[place : place + len(damage)] = damage[: len(data) - place]
    kept.write_bytes(data)
    second = Index(kept)
    served = catalogue(docs, second)
    assert served.search("keel", 10).total <= 5  # SQLite cannot notice every letter that is another one.
    assert all(served.document(identity).identity == identity for identity in served.identities())
    second.close()


def test_an_index_of_other_rules_is_made_anew(docs: Path, kept: Path) -> None:
    """Words that were made by another version do not fit the questions of this one."""
    first = Index(kept)
    total(catalogue(docs, first))
    first._connection.execute("UPDATE about SET rules = 'other'")
    first.close()
    second = Index(kept)
    assert second.known() == {}
    assert total(catalogue(docs, second)) == 5
    second.close()


def test_a_file_that_is_no_index_is_refused(tmp_path: Path) -> None:
    """Nothing is lost: neither a text nor the database of another program is touched."""
    other = tmp_path / "other.db"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE precious(value)")
    connection.close()
    before = other.read_bytes()
    with pytest.raises(ForeignFileError):
        Index(other)
    assert other.read_bytes() == before


def test_a_second_server_has_an_index_of_its_own(docs: Path, kept: Path) -> None:
    """Bad input: a locked database. Both answer, and the file belongs to the first."""
    first, second = Index(kept), Index(kept)
    assert total(catalogue(docs, first)) == 5
    assert total(catalogue(docs, second)) == 5
    second.close()
    first.close()
    third = Index(kept)
    assert len(third.known()) == 5
    third.close()


def test_a_database_that_another_process_has_locked_is_done_without(docs: Path, kept: Path) -> None:
    """Bad input: the same, with a process that holds the file."""
    Index(kept).close()
    hold = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); c.execute('BEGIN EXCLUSIVE')"
    line = [sys.executable, "-c", f"{hold}; print('held', flush=True); sys.stdin.read()", str(kept)]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout
        holder.stdout.readline()
        index = Index(kept)
        assert total(catalogue(docs, index)) == 5
        index.close()
        holder.communicate()


def test_a_place_that_cannot_be_written_is_done_without(docs: Path, tmp_path: Path) -> None:
    """Bad input: there is no folder for the file."""
    index = Index(tmp_path / "nowhere" / "search.db")
    assert total(catalogue(docs, index)) == 5
    index.close()


async def test_a_full_disk_is_told_and_what_is_there_is_found(docs: Path) -> None:
    """Bad input: what does not fit is missing, the answer says so, and it comes in when there is room."""
    config = Config(folders=[Folder("docs", docs)], index_mb=1, every=0.0, patience=None)
    async with Client(build(config)) as client:
        assert (await answer(client, "search_content", query="keel"))["total"] == 5
        big = docs / "big.txt"
        big.write_text(" ".join(f"keel{number}" for number in range(200_000)))
        data = await answer(client, "search_content", query="keel")
        assert data["total"] == 5
        assert [(each["folder"], each["reason"]) for each in data["incomplete"]] == [("docs", "index_full")]


def test_after_a_full_disk_it_goes_on(docs: Path) -> None:
    """Nothing is lost: the next look after there is room has all of it."""
    index = Index(most_pages=300)
    served = catalogue(docs, index)
    assert total(served) == 5
    (docs / "big.txt").write_text(" ".join(f"word{number}" for number in range(200_000)))
    served._due = 0.0
    assert total(served, "word199999") == 0
    assert served.gaps()
    index._connection.execute("PRAGMA max_page_count = 1000000")
    served._due = 0.0
    assert total(served, "word199999") == 1
    assert served.gaps() == []
    index.close()


def test_an_index_that_breaks_while_it_is_used_is_made_anew(docs: Path, kept: Path) -> None:
    """Bad input: the question that comes upon it is answered."""
    index = Index(kept)
    served = catalogue(docs, index)
    assert total(served) == 5
    index._connection.execute("DROP TABLE words")
    assert total(served) == 5
    index.close()


def test_a_search_that_takes_too_long_is_an_error(docs: Path) -> None:
    """C6: work is bounded, and the error says how to ask for less."""
    for number in range(300):
        (docs / f"many{number}.txt").write_text(" ".join(f"k{each}" for each in range(50)))
    index = Index(slow_after=-1.0)
    with pytest.raises(UserError) as raised:
        total(catalogue(docs, index), "k*")
    assert "fewer words" in str(raised.value.hint)
    index.close()


def test_a_folder_of_too_many_documents_is_told(docs: Path) -> None:
    """Bad input: those that are read are read, and that there are more is said."""
    told: list[tuple[str, str]] = []
    found = list(files(Folder("docs", docs), lambda *each: told.append(each), most=3))
    assert len(found) == 3
    assert told == [("docs", "too_many")]


def test_many_can_ask_while_documents_change(docs: Path) -> None:
    """One index, many threads: every answer is whole, and the last one is true."""
    index = Index()
    served = catalogue(docs, index)
    failures: list[BaseException] = []

    def ask() -> None:
        try:
            for _ in range(15):
                assert total(served) >= 5
        except BaseException as error:
            failures.append(error)

    askers = [threading.Thread(target=ask) for _ in range(6)]
    for asker in askers:
        asker.start()
    for number in range(40):
        (docs / f"more{number}.txt").write_text("keel")
    for asker in askers:
        asker.join()
    assert failures == []
    served.look()
    assert total(served) == 45
    index.close()
