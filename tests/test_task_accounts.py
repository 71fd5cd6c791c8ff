"""Tasks of CalDAV accounts: a real Radicale, a second client that writes at the wrong time, and servers that refuse."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from calendar_data.dav import CalDav
from dav_servers import Asked, Given, in_front_of, serving
from radicale_server import Account, radicale
from task_data import NOW, calendar, served, todo

pytestmark = [pytest.mark.anyio, pytest.mark.no_cover]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    with radicale(tmp_path_factory.mktemp("radicale")) as account:
        account.calendar("home", shown="Home", component="VTODO")
        account.calendar("events", shown="Events", component="VEVENT")
        yield account


@pytest.fixture
def account(running: Account) -> Account:
    """A list with two tasks as they were at first."""
    for each in ("one", "weekly"):
        running.send("DELETE", f"home/{each}.ics", "", accept=(200, 204, 404))
    put(running, todo("one", "X-KEPT:yes", "DESCRIPTION:as it was"))
    put(running, todo("weekly", "DTSTART;VALUE=DATE:20260706", "DUE;VALUE=DATE:20260707", "RRULE:FREQ=WEEKLY"))
    return running


def put(account: Account, task: str) -> None:
    account.send("PUT", f"home/{task.splitlines()[0].removeprefix('UID:')}.ics", calendar(task).decode())


def get(account: Account, name: str) -> str:
    return account.get(f"home/{name}.ics")


def dav(account: Account, url: str = "") -> CalDav:
    return CalDav(
        label="Account",
        url=url or account.url,
        user=account.user,
        password=SecretStr(account.password),
        components=("VTODO",),
        may_write=True,
    )


async def test_tasks_of_an_account_are_listed_completed_and_reopened(account: Account) -> None:
    """What else is in an object stays, whoever wrote it; lists without tasks are not there."""
    async with served(sources=[dav(account)]) as asker:
        rows = await asker.rows()
        assert {title: row["list"] for title, row in rows.items()} == {"one": "Home", "weekly": "Home"}
        assert (await asker.ask("complete_task", task_id=rows["one"]["id"]))["completed"] == NOW.isoformat()
        assert list(await asker.rows(status="completed")) == ["one"]
        text = get(account, "one")
        assert "STATUS:COMPLETED" in text
        assert "COMPLETED:20260713T082000Z" in text
        assert "X-KEPT:yes" in text
        assert (await asker.ask("reopen_task", task_id=rows["one"]["id"]))["status"] == "open"
        assert "COMPLETED" not in get(account, "one")
        done = await asker.ask("complete_task", task_id=rows["weekly"]["id"])
        assert (rows["weekly"]["due"], done["next_due"]) == ("2026-07-14", "2026-07-21")
        assert "RECURRENCE-ID;VALUE=DATE:20260713" in get(account, "weekly")


async def test_a_second_client_that_writes_in_between_loses_nothing(account: Account) -> None:
    """RFC 4791, 5.3.4: what was written meanwhile is read again, and both changes are there; the answer says so."""
    raced: list[str] = []

    def answer(asked: Asked) -> Given | Iterable[bytes]:
        if asked.method == "PUT" and not raced:
            raced.append(asked.path)
            put(account, todo("one", "X-KEPT:yes", "DESCRIPTION:from elsewhere", "PRIORITY:1"))
        return in_front_of(account)(asked)

    with serving(answer) as server:
        async with served(sources=[dav(account, server.url)]) as asker:
            one = (await asker.rows())["one"]["id"]
            done = await asker.ask("complete_task", task_id=one)
            assert (done["status"], done["changed_elsewhere"]) == ("completed", True)
            task = await asker.ask("get_task", task_id=one)
    assert (task["notes"], task["priority"], task["status"]) == ("from elsewhere", "high", "completed")
    text = get(account, "one")
    assert "DESCRIPTION:from elsewhere" in text
    assert "STATUS:COMPLETED" in text


async def test_a_second_client_that_completes_first_is_told_of(account: Account) -> None:
    """The time of the other one stays."""

    def answer(asked: Asked) -> Given | Iterable[bytes]:
        if asked.method == "PUT":
            put(account, todo("one", "STATUS:COMPLETED", "COMPLETED:20260712T080000Z"))
        return in_front_of(account)(asked)

    with serving(answer) as server:
        async with served(sources=[dav(account, server.url)]) as asker:
            done = await asker.ask("complete_task", task_id=(await asker.rows())["one"]["id"])
    assert [done[key] for key in ("already", "changed_elsewhere")] == [True, True]
    assert done["completed"] == "2026-07-12T10:00:00+02:00"


NOTHING = "The task has not been changed. "


@pytest.mark.parametrize(
    ("method", "change", "text"),
    [
        ("PUT", lambda _: Given(403), NOTHING + "The server does not let this user change it."),
        ("PUT", lambda _: Given(507), NOTHING + "The server has no room for it. Free some space there."),
        ("PUT", lambda _: Given(412), NOTHING + "Others keep changing it; try again."),
        ("GET", lambda _: Given(404), NOTHING + "It is not in the calendar any more; look for it again."),
        ("GET", lambda _: Given(500), NOTHING + "The server has no answer for now; try again later."),
        (
            "GET",
            lambda given: Given(given.status, given.body),
            NOTHING + "The server has no entity tags, so others could lose what they wrote.",
        ),
    ],
    ids=["forbidden", "full", "busy", "gone", "down", "no-etag"],
)
async def test_a_server_that_refuses_changes_nothing(
    account: Account, method: str, change: Callable[[Given], Given], text: str
) -> None:
    """The model hears why and what to do, and the object is as it was."""
    before = get(account, "one")

    def answer(asked: Asked) -> Given | Iterable[bytes]:
        if asked.method == "PUT" == method:
            return change(Given(0))
        given = in_front_of(account)(asked)
        return change(given) if asked.method == method and isinstance(given, Given) else given

    with serving(answer) as server:
        async with served(sources=[dav(account, server.url)]) as asker:
            assert await asker.fail("complete_task", task_id=(await asker.rows())["one"]["id"]) == f"Error: {text}"
            assert (await asker.rows())["one"]["status"] == "open"
    assert get(account, "one") == before


async def test_a_change_whose_answer_is_lost_is_not_called_undone(account: Account) -> None:
    """The server stores it and says nothing: the model is told to look, and finds it done."""

    def answer(asked: Asked) -> Given | Iterable[bytes]:
        given = in_front_of(account)(asked)
        return [b""] if asked.method == "PUT" else given

    with serving(answer) as server:
        async with served(sources=[dav(account, server.url)]) as asker:
            one = (await asker.rows())["one"]["id"]
            text = await asker.fail("complete_task", task_id=one)
            assert text == "Error: Whether the task has been changed is not known. Look at it before you try again."
            assert (await asker.ask("complete_task", task_id=one))["already"] is True


async def test_a_server_that_accepts_without_having_stored_is_not_believed(account: Account) -> None:
    """RFC 9110, 15.3.3: 202 says that it may be done later, or never."""

    def answer(asked: Asked) -> Given | Iterable[bytes]:
        return Given(202) if asked.method == "PUT" else in_front_of(account)(asked)

    with serving(answer) as server:
        async with served(sources=[dav(account, server.url)]) as asker:
            text = await asker.fail("complete_task", task_id=(await asker.rows())["one"]["id"])
    assert text.startswith("Error: Whether the task has been changed is not known.")


async def test_a_tag_that_something_in_between_weakens_is_known_to_the_server(account: Account) -> None:
    """RFC 9110, 13.1.1: If-Match is for strong tags; what is compressed on the way has a weak or another one."""

    def answer(asked: Asked) -> Given | Iterable[bytes]:
        given = in_front_of(account)(asked)
        if asked.method != "GET" or not isinstance(given, Given):
            return given
        tag = next(value for name, value in given.headers.items() if name.lower() == "etag")
        is_compressed = "gzip" in asked.headers.get("Accept-Encoding", "")
        weak = f'"{tag.strip(chr(34))}-gzip"' if is_compressed else f"W/{tag}"
        return Given(given.status, given.body, {**given.headers, "ETag": weak})

    with serving(answer) as server:
        async with served(sources=[dav(account, server.url)]) as asker:
            done = await asker.ask("complete_task", task_id=(await asker.rows())["one"]["id"])
    assert (done["status"], done["changed_elsewhere"]) == ("completed", None)
    assert "STATUS:COMPLETED" in get(account, "one")


@pytest.mark.parametrize("is_own", [True, False], ids=["own", "foreign"])
async def test_what_is_written_goes_where_the_credentials_go(account: Account, is_own: bool) -> None:
    """A server that sends a PUT on to another origin gets neither the task nor the password there."""
    before = get(account, "one")

    def answer(asked: Asked) -> Given | Iterable[bytes]:
        if asked.method == "PUT" and "moved" not in asked.path:
            onward = f"{'' if is_own else other.url.rstrip('/')}{asked.path}?moved"
            return Given(307, b"", {"Location": onward})
        return in_front_of(account)(asked)

    with serving(lambda _: Given(204)) as other, serving(answer) as server:
        async with served(sources=[dav(account, server.url)]) as asker:
            one = (await asker.rows())["one"]["id"]
            if is_own:
                assert (await asker.ask("complete_task", task_id=one))["status"] == "completed"
            else:
                text = await asker.fail("complete_task", task_id=one)
                assert text == f"Error: {NOTHING}The server does not let this user change it."
    assert other.asked == []
    assert (get(account, "one") == before) != is_own


async def test_an_account_that_may_not_be_written_says_so(account: Account) -> None:
    """A source that is only read sends nothing that writes."""
    source = CalDav(
        label="Account", url=account.url, user=account.user, password=SecretStr(account.password), components=("VTODO",)
    )
    async with served(sources=[source]) as asker:
        text = await asker.fail("complete_task", task_id=(await asker.rows())["one"]["id"])
    assert text == "Error: This list can only be read. Change the task in the program that it comes from."


async def test_while_an_account_is_down_its_tasks_are_told_and_cannot_be_changed(tmp_path: Path) -> None:
    """The last reading serves, and says that it is one."""
    with radicale(tmp_path) as account:
        account.calendar("home", shown="Home", component="VTODO")
        put(account, todo("one"))
        async with served(sources=[dav(account)]) as asker:
            one = (await asker.rows())["one"]["id"]
            account.stop()
            found = await asker.ask("list_tasks")
            assert [row["title"] for row in found["tasks"]] == ["one"]
            assert found["unavailable"][0]["reason"] == "unreachable"
            assert "has not been changed" in await asker.fail("complete_task", task_id=one)
            account.start()
            assert (await asker.ask("complete_task", task_id=one))["status"] == "completed"
