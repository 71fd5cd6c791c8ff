"""Files of tasks while they are written: killed processes, several of them, full disks, links and modes."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters

from calendar_data.files import Files
from calendar_data.sources import SourceError
from mcpshape.testing import decode
from serving.whole_files import NotWrittenError, alone, write_whole
from task_data import calendar, served, todo

pytestmark = [pytest.mark.anyio, pytest.mark.no_cover]

TASKS = Path(sys.executable).with_name("mcpshape-tasks")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def test_a_killed_process_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    """`kill -9` at every point of `complete_task`; whoever comes next can go on."""
    path = tmp_path / "tasks.ics"
    path.write_bytes(calendar(todo("other", "X-KEPT:yes"), todo("chosen", "DESCRIPTION:as it was")))
    script = Path(__file__).with_name("killed_completion.py")
    ended = subprocess.run([sys.executable, script, path], capture_output=True, text=True, check=True)
    left = json.loads(ended.stdout)
    assert left["old"] + left["new"] == left["points"] > 200
    assert left["old"] > 100
    assert left["new"] > 5
    assert (left["broken"], left["stuck"]) == ([], [])
    # After the next completion there is the lock, and no half of a file.
    assert left["left_over"] == [".served.ics.lock"]


async def test_two_processes_that_complete_tasks_of_one_file_lose_none(tmp_path: Path) -> None:
    """Two servers, each asked for 15 different tasks at once: all 30 are completed, and nothing else has changed."""
    path = tmp_path / "tasks.ics"
    path.write_bytes(calendar(*(todo(f"t{number}", f"X-KEPT:{number}") for number in range(30))))
    parameters = StdioServerParameters(command=str(TASKS), args=["--ics", str(path), "--tz", "Europe/Berlin"])
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(Client(parameters)) for _ in range(2)]
        ids = [await by_title(client) for client in clients]
        async with anyio.create_task_group() as group:
            for number in range(30):
                client, known = clients[number % 2], ids[number % 2]
                group.start_soon(client.call_tool, "complete_task", {"task_id": known[f"t{number}"]})
    lines = path.read_bytes().splitlines()
    assert lines.count(b"STATUS:COMPLETED") == 30
    assert [line for line in lines if line.startswith(b"X-KEPT:")] == [b"X-KEPT:%d" % number for number in range(30)]
    async with served(path) as asker:
        assert len((await asker.ask("list_tasks", status="completed"))["tasks"]) == 30


async def by_title(client: Client) -> dict[str, str]:
    result = await client.call_tool("list_tasks", {"limit": 100})
    return {row["title"]: row["id"] for row in decode(getattr(result.content[0], "text", ""))["tasks"]}


async def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    """The system refuses more bytes than there are already; the model is told that nothing has been changed."""
    path = tmp_path / "tasks.ics"
    content = calendar(todo("one", "DESCRIPTION:" + "a" * 10_000))
    path.write_bytes(content)
    limited = (
        "import resource, signal; from tasks_server.cli import main\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({len(content)}, {len(content)})); main()"
    )
    parameters = StdioServerParameters(command=sys.executable, args=["-c", limited, "--ics", str(path)])
    async with Client(parameters) as client:
        one = (await by_title(client))["one"]
        result = await client.call_tool("complete_task", {"task_id": one})
    assert result.is_error
    text = getattr(result.content[0], "text", "")
    assert text == "Error: The task has not been changed. The disk is full. Free some space on it, then try again."
    assert path.read_bytes() == content
    assert not path.with_name(".tasks.ics.new").exists()


async def test_mode_and_links_stay_as_they_are(tmp_path: Path) -> None:
    """A link leads to the file that it led to, which has the mode and the attributes that it had."""
    path, link = tmp_path / "tasks.ics", tmp_path / "link.ics"
    path.write_bytes(calendar(todo("one")))
    path.chmod(0o640)
    os.utime(path, (1, 1))
    link.symlink_to(path)
    async with served(link) as asker:
        await asker.ask("complete_task", task_id=(await asker.rows())["one"]["id"])
    assert link.is_symlink()
    assert b"STATUS:COMPLETED" in path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o640
    assert path.stat().st_mtime > 1


async def test_a_file_that_another_program_changes_meanwhile_keeps_its_changes(tmp_path: Path) -> None:
    """A program that does not know of the lock writes between the answer and the change."""
    path = tmp_path / "tasks.ics"
    path.write_bytes(calendar(todo("one"), todo("two")))
    async with served(path) as asker:
        rows = await asker.rows()
        path.write_bytes(calendar(todo("new", "X-KEPT:yes"), todo("two"), todo("one", "X-KEPT:too")))
        await asker.ask("complete_task", task_id=rows["one"]["id"])
    done = "STATUS:COMPLETED\nCOMPLETED:20260713T082000Z\nPERCENT-COMPLETE:100\nLAST-MODIFIED:20260713T082000Z"
    assert path.read_bytes() == calendar(todo("new", "X-KEPT:yes"), todo("two"), todo("one", "X-KEPT:too", done))


def test_a_file_is_changed_by_one_at_a_time(tmp_path: Path) -> None:
    """Who waits too long is told so; the file is as it was, and the wait ends when the other lets go."""
    path = tmp_path / "tasks.ics"
    path.write_bytes(b"old")
    with alone(path), pytest.raises(NotWrittenError) as caught, alone(path, seconds=0.05):
        raise AssertionError
    assert (caught.value.obstacle, path.read_bytes()) == ("busy", b"old")
    entered = []

    def write() -> None:
        with alone(path) as real:
            entered.append(real)
            write_whole(real, b"new")

    with alone(path):
        waiting = threading.Thread(target=write)
        waiting.start()
        assert not entered
        assert path.read_bytes() == b"old"
    waiting.join()
    assert path.read_bytes() == b"new"


def make_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def make_loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path)


def remove_folder(path: Path) -> None:
    path.unlink()
    path.parent.rmdir()


@pytest.mark.parametrize("become", [make_pipe, make_loop, remove_folder, Path.unlink])
async def test_what_is_no_file_any_more_is_not_waited_for(tmp_path: Path, become: Callable[[Path], None]) -> None:
    """A pipe would be read for ever; no lock is made where nothing is, and the list says that it cannot be read."""
    path = tmp_path / "lists" / "tasks.ics"
    path.parent.mkdir()
    path.write_bytes(calendar(todo("one")))
    async with served(path) as asker:
        one = (await asker.rows())["one"]["id"]
        become(path)
        with anyio.fail_after(5):
            assert "has not been changed" in await asker.fail("complete_task", task_id=one)
            assert (await asker.ask("list_tasks"))["unavailable"][0]["reason"] == "missing"
    assert not path.with_name(".tasks.ics.lock").exists()
    assert path.parent.exists() == (become is not remove_folder)


def test_what_becomes_a_pipe_while_it_is_changed_is_not_waited_for(tmp_path: Path) -> None:
    """Between the look at the file and the lock, and while it is edited."""
    path = tmp_path / "tasks.ics"
    path.write_bytes(b"old")
    (piece,) = Files(path).pieces(lambda _done, _total: None)

    def edit(content: bytes) -> bytes:
        make_pipe(path)
        return content

    assert piece.change
    with pytest.raises(SourceError):
        piece.change(edit)
    with pytest.raises(SourceError):
        piece.load()


@pytest.mark.parametrize("name", [".tasks.ics.lock", ".tasks.ics.new"])
def test_a_link_of_somebody_else_beside_a_file_leads_nowhere(tmp_path: Path, name: str) -> None:
    """In a folder of several users: what it points at is neither written, nor emptied, nor made."""
    path, other = tmp_path / "tasks.ics", tmp_path / "other"
    path.write_bytes(b"old")
    other.write_bytes(b"precious")
    other.chmod(0o600)
    path.with_name(name).symlink_to(other)
    with suppress(NotWrittenError), alone(path) as real:
        write_whole(real, b"new")
    assert (other.read_bytes(), other.stat().st_mode & 0o777) == (b"precious", 0o600)


def test_what_cannot_be_written_says_so(tmp_path: Path) -> None:
    """No folder to write in, and a name that leaves no room for another one beside it."""
    (tmp_path / "none").write_bytes(b"")
    with pytest.raises(NotWrittenError) as caught, alone(tmp_path / "none" / "tasks.ics"):
        raise AssertionError
    assert caught.value.obstacle == "forbidden"
    path = tmp_path / ("a" * 255)
    with pytest.raises(NotWrittenError) as caught:
        write_whole(path, b"new")
    assert (caught.value.obstacle, caught.value.remedy) == ("forbidden", "Give the file a shorter name.")
    with pytest.raises(NotWrittenError) as caught:
        write_whole(tmp_path / "gone" / "tasks.ics", b"new")
    assert caught.value.obstacle == "failing"
    assert [each.name for each in tmp_path.iterdir()] == ["none"]
