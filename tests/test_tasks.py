"""The tasks server, asked by a real client."""

from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpshape import UserError
from mcpshape.testing import decode
from serving.whole_files import NotWrittenError
from task_data import BERLIN, NOW, calendar, served, todo
from tasks_server.completion import Place, complete, reopen
from tasks_server.samples import SAMPLE, sample_file

pytestmark = [pytest.mark.anyio, pytest.mark.no_cover]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def write(folder: Path, *todos: str, **options: str) -> Path:
    path = folder / "home.ics"
    path.write_bytes(calendar(*todos, **options))
    return path


async def test_a_chore_of_years_is_due_next_and_what_has_no_date_is_listed(tmp_path: Path) -> None:
    """C16: a yearly task is due at its next occurrence, as a date; the one before is missed; no date is no date."""
    path = tmp_path / "tasks.ics"
    path.write_text(
        "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//case//EN\nBEGIN:VTODO\nUID:t1@example.test\nDTSTAMP:20260101T000000Z\n"
        "SUMMARY:Descale kettle\nDTSTART;VALUE=DATE:20230601\nDUE;VALUE=DATE:20230615\nRRULE:FREQ=YEARLY\n"
        "STATUS:NEEDS-ACTION\nEND:VTODO\nBEGIN:VTODO\nUID:t2@example.test\nDTSTAMP:20260101T000000Z\nSUMMARY:No dates\n"
        "END:VTODO\nEND:VCALENDAR\n"
    )
    async with served(path, now=datetime(2026, 5, 2, tzinfo=BERLIN)) as asker:
        rows = await asker.rows(status="open")
        kettle = await asker.ask("get_task", task_id=rows["Descale kettle"]["id"])
    assert (rows["Descale kettle"]["due"], rows["Descale kettle"]["missed"]) == ("2026-06-15", "2025-06-15")
    assert (kettle["start"], kettle["due"]) == ("2026-06-01", "2026-06-15")
    assert rows["Descale kettle"]["overdue"] is None
    assert rows["Descale kettle"]["repeats"] is True
    assert [rows["No dates"][key] for key in ("due", "missed", "overdue", "status")] == [None, None, None, "open"]


@pytest.mark.parametrize(
    ("lines", "now", "due", "is_overdue", "missed"),
    [
        pytest.param("DUE;VALUE=DATE:20260713", "2026-07-13T23:59", "2026-07-13", None, None, id="date-today"),
        pytest.param("DUE;VALUE=DATE:20260713", "2026-07-14T00:00", "2026-07-13", True, None, id="date-yesterday"),
        pytest.param("DUE:20260713T080000Z", "2026-07-13T10:00", "2026-07-13T10:00:00+02:00", True, None, id="time"),
        pytest.param("DUE:20260713T100000", "2026-07-13T09:00", "2026-07-13T10:00:00", None, None, id="floating"),
        pytest.param(
            "DTSTART:20260713T060000Z\nDURATION:PT2H",
            "2026-07-13T09:00",
            "2026-07-13T10:00:00+02:00",
            None,
            None,
            id="duration",
        ),
        pytest.param("DTSTART:20260713T060000Z", "2026-07-14T09:00", None, None, None, id="start-only"),
        pytest.param("DUE:nonsense", "2026-07-14T09:00", None, None, None, id="unreadable"),
        # Of a series, what is due today is told until the day is over, and then as missed.
        pytest.param(
            "DUE;TZID=Europe/Berlin:20260701T090000\nRRULE:FREQ=DAILY",
            "2026-07-13T10:20",
            "2026-07-13T09:00:00+02:00",
            True,
            "2026-07-12T09:00:00+02:00",
            id="daily",
        ),
        pytest.param(
            "DTSTART;VALUE=DATE:20260101\nDUE;VALUE=DATE:20260103\nRRULE:FREQ=MONTHLY;COUNT=3",
            "2026-07-13T10:20",
            "2026-03-03",
            True,
            None,
            id="series-that-ended",
        ),
        pytest.param(
            "DTSTART;VALUE=DATE:20500101\nDUE;VALUE=DATE:20500103\nRRULE:FREQ=YEARLY",
            "2026-07-13T10:20",
            "2050-01-03",
            None,
            None,
            id="series-far-away",
        ),
        pytest.param(
            "DUE;VALUE=DATE:20260801\nRRULE:FREQ=SECONDLY",
            "2026-07-13T10:20",
            "2026-08-01",
            None,
            None,
            id="every-second",
        ),
        pytest.param(
            "DUE;VALUE=DATE:20260801\nRRULE:FREQ=NEVER", "2026-07-13T10:20", "2026-08-01", None, None, id="no-rule"
        ),
        # Through the change of clocks, an hour of the day stays what it is.
        pytest.param(
            "DTSTART;TZID=Europe/Berlin:20261018T080000\nDUE;TZID=Europe/Berlin:20261018T090000\nRRULE:FREQ=WEEKLY",
            "2026-10-25T07:00",
            "2026-10-25T09:00:00+01:00",
            None,
            "2026-10-18T09:00:00+02:00",
            id="clocks",
        ),
    ],
)
async def test_when_a_task_is_due(
    tmp_path: Path, lines: str, now: str, due: str | None, is_overdue: bool | None, missed: str | None
) -> None:
    """C16: dates stay dates, times keep their zone, and a series is told by what can still be done."""
    path = write(tmp_path, todo("it", lines))
    async with served(path, now=datetime.fromisoformat(now).replace(tzinfo=BERLIN)) as asker:
        row = (await asker.rows())["it"]
    assert [row["due"], row["overdue"], row["missed"]] == [due, is_overdue, missed]


async def test_one_task_has_all_that_is_known_of_it() -> None:
    """A4, A7: flags are true or null; notes and comments come through whole."""
    with sample_file() as path:
        async with served(path) as asker:
            row = (await asker.rows())["Bake bread for the street party"]
            task = await asker.ask("get_task", task_id=row["id"])
            subtask = await asker.ask("get_task", task_id=task["subtasks"][0]["id"])
    assert [row[key] for key in ("overdue", "has_notes", "subtasks", "priority")] == [None, True, 2, "high"]
    assert task["notes"].startswith("# Dough\n\n- 1 kg flour, half of it rye\n")
    assert task["comments"] == ["Sam brings the *butter*.", "The oven needs half an hour to get hot."]
    assert {each["title"]: each["status"] for each in task["subtasks"]} == {
        "Buy rye flour": "completed",
        "Feed the starter": "open",
    }
    assert subtask["parent"]["id"] == row["id"]
    assert task["tags"] == ["kitchen", "party"]


async def test_lists_are_filtered_and_in_order() -> None:
    """A12: what is asked for and nothing else; nothing found is a list without tasks."""
    with sample_file() as path:
        async with served(path) as asker:
            titles = list(await asker.rows(status="open"))
            assert titles[:2] == ["Feed the starter", "Water the plants"]
            assert titles[-1] == "Oil the bicycle chain"
            assert list(await asker.rows(overdue_only=True)) == titles[:2]
            assert list(await asker.rows(list_label="Work", status="open")) == ["Prepare the slides for Thursday"]
            assert list(await asker.rows(due_by="2026-07-12", status="open")) == ["Feed the starter"]
            assert list(await asker.rows(text="BUTTER")) == ["Bake bread for the street party"]
            done = list(await asker.rows(status="completed"))
            assert done == ["Buy rye flour", "Send the quarterly report", "Water the plants"]
            nothing = await asker.ask("list_tasks", text="no such thing")
            assert (nothing["total"], nothing["tasks"]) == (0, [])
            lists = await asker.ask("list_task_lists")
    assert lists["lists"] == [{"label": "Home", "open": 5}, {"label": "Work", "open": 1}]


async def test_a_task_is_completed_and_reopened() -> None:
    """RFC 5545, 3.8.1.11, 3.8.2.1, 3.8.1.8: status, time in UTC and percentage; a second time is calm."""
    with sample_file() as path:
        async with served(path) as asker:
            chain = (await asker.rows())["Oil the bicycle chain"]["id"]
            done = await asker.ask("complete_task", task_id=chain)
            assert [done[key] for key in ("status", "completed", "already")] == ["completed", NOW.isoformat(), None]
            assert (
                b"SUMMARY:Oil the bicycle chain\r\nSTATUS:COMPLETED\r\nCOMPLETED:20260713T082000Z\r\n"
                in path.read_bytes()
            )
            again = await asker.ask("complete_task", task_id=chain)
            assert [again[key] for key in ("status", "completed", "already")] == ["completed", NOW.isoformat(), True]
            opened = await asker.ask("reopen_task", task_id=chain)
            assert [opened[key] for key in ("status", "completed", "already")] == ["open", None, None]
            assert (await asker.ask("reopen_task", task_id=chain))["already"] is True
            assert "Oil the bicycle chain" in await asker.rows(status="open")
    assert b"LAST-MODIFIED" not in SAMPLE.read_bytes()  # What is installed is as it was.


async def test_one_occurrence_is_completed_and_the_series_goes_on(tmp_path: Path) -> None:
    """RFC 5545, 3.8.4.4: the occurrence becomes a component of its own, in the form of its series."""
    head = todo(
        "plants",
        "DTSTART;TZID=Europe/Berlin:20260706T080000",
        "DUE;TZID=Europe/Berlin:20260706T090000",
        "RRULE:FREQ=WEEKLY",
        "EXDATE;TZID=Europe/Berlin:20260727T080000",
        "X-APPLE-SORT-ORDER:7",
        "BEGIN:VALARM\nACTION:DISPLAY\nTRIGGER:-PT5M\nEND:VALARM",
    )
    path = write(tmp_path, head)
    async with served(path) as asker:
        first = (await asker.rows())["plants"]
        done = await asker.ask("complete_task", task_id=first["id"])
        assert (done["status"], done["next_due"]) == ("completed", "2026-07-20T09:00:00+02:00")
        rows = await asker.ask("list_tasks", status="all")
        second = next(row for row in rows["tasks"] if row["status"] == "open")
        assert second["missed"] is None
        later = await asker.ask("complete_task", task_id=second["id"])
        assert later["next_due"] == "2026-08-03T09:00:00+02:00"
        assert (await asker.ask("complete_task", task_id=first["id"]))["already"] is True
        await asker.ask("reopen_task", task_id=first["id"])
        rows = await asker.ask("list_tasks", status="open")
        assert [row["due"] for row in rows["tasks"]] == ["2026-07-13T09:00:00+02:00"]
    text = path.read_text()
    assert text.startswith(calendar(head).decode().removesuffix("END:VCALENDAR\r\n").replace("\r\n", "\n"))
    assert "RECURRENCE-ID;TZID=Europe/Berlin:20260720T080000" in text
    assert text.count("X-APPLE-SORT-ORDER:7") == 3
    assert text.count("RRULE") == 1


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("DTSTART:20260701T060000Z\nDUE:20260701T070000Z", "RECURRENCE-ID:20260713T060000Z"),
        ("DTSTART;VALUE=DATE:20260701\nDUE;VALUE=DATE:20260701", "RECURRENCE-ID;VALUE=DATE:20260713"),
        ("DTSTART:20260701T080000\nDUE:20260701T090000", "RECURRENCE-ID:20260713T080000"),
        ("DUE;TZID=America/New_York:20260701T200000", "RECURRENCE-ID;TZID=America/New_York:20260712T200000"),
        (
            'DTSTART;X-A="a;b:c";TZID=Asia/Tokyo:20260701T080000',
            'RECURRENCE-ID;X-A="a;b:c";TZID=Asia/Tokyo:20260713T080000',
        ),
    ],
)
async def test_an_occurrence_is_known_in_the_form_of_its_series(tmp_path: Path, lines: str, expected: str) -> None:
    """RFC 5545, 3.8.4.4: RECURRENCE-ID is of the type and in the zone of DTSTART, and other programs find it so."""
    path = write(tmp_path, todo("it", lines, "RRULE:FREQ=DAILY"))
    async with served(path) as asker:
        task = (await asker.rows())["it"]
        assert (await asker.ask("complete_task", task_id=task["id"]))["already"] is None
        done = (await asker.ask("list_tasks", status="completed"))["tasks"]
    assert expected in path.read_text().splitlines()
    assert [row["id"] for row in done] == [task["id"]]


LINES = st.sampled_from(
    [
        "STATUS:IN-PROCESS",
        "STATUS;X-A=1:NEEDS-ACTION",
        "status:needs-action",
        "PERCENT-COMPLETE:40",
        "X-UNKNOWN;P=q:kept\n as\n\tit is",
        "DESCRIPTION:STATUS:COMPLETED is what I want\\nBEGIN:VTODO",
        "BEGIN:VALARM\nACTION:DISPLAY\nSTATUS:NEEDS-ACTION\nTRIGGER:-PT5M\nEND:VALARM",
        "BEGIN:X-WHAT\nCOMPLETED:nonsense\nEND:X-WHAT",
        "COMMENT:\u00fcber\n  die Grenze",
        "CATEGORIES:a,b",
        "COMPLETED:20260101T000000Z",
        "LAST-MODIFIED:20260101T000000Z",
        "not a property at all",
        "",
    ]
)
CHANGED = ("STATUS", "COMPLETED", "PERCENT-COMPLETE", "LAST-MODIFIED")


@given(
    st.lists(st.lists(LINES, max_size=5), min_size=1, max_size=4),
    st.sampled_from(["\r\n", "\n", "\r"]),
    st.booleans(),
    st.data(),
)
def test_nothing_but_the_task_is_touched(tasks: list[list[str]], end: str, has_mark: bool, data: st.DataObject) -> None:
    """Unknown properties, other tasks, folds, line ends and marks stay as they are, byte for byte."""
    # What a folded line ends with is the end of the file's lines, too.
    content = calendar(*(todo(f"t{number}", *lines) for number, lines in enumerate(tasks)), end=end)
    content = b"\xef\xbb\xbf" * has_mark + content
    chosen = data.draw(st.integers(0, len(tasks) - 1))
    place = Place(f"t{chosen}", "", "Home", BERLIN)
    before = place.look(content, NOW)
    assert before.task
    try:
        changed = complete(content, place, NOW)
    except NotWrittenError:
        # A status that a program hides in what is no component is not changed at all.
        assert "BEGIN:X-WHAT" in "".join(tasks[chosen])
        return
    if changed is None:
        assert before.task.facts.status == "completed"
        changed = content
    assert others(changed, chosen) == others(content, chosen)
    assert kept(changed, chosen) == kept(content, chosen)
    opened = reopen(changed, place, NOW)
    assert opened
    assert others(opened, chosen) == others(content, chosen)
    assert kept(opened, chosen) == kept(content, chosen)
    after = place.look(opened, NOW)
    assert after.task
    assert after.task.facts.status == "open"


def parts(content: bytes) -> list[bytes]:
    """What is around the tasks and in each of them."""
    return content.replace(b"END:VTODO", b"BEGIN:VTODO").split(b"UID:t")


def others(content: bytes, chosen: int) -> list[bytes]:
    found = parts(content)
    return found[: chosen + 1] + found[chosen + 2 :]


def kept(content: bytes, chosen: int) -> list[bytes]:
    """The lines of a task that are not about its state, from the outside of what is nested in it."""
    lines = parts(content)[chosen + 1].replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    return [line for line in lines if not line.upper().startswith(tuple(name.encode() for name in CHANGED))]


def test_a_file_that_cannot_be_changed_for_sure_is_left_alone() -> None:
    """A file of UTF-16, and a status behind a letter that only hides it."""
    place = Place("t0", "", "Home", BERLIN)
    plain = calendar(todo("t0")).decode()
    hidden = calendar(todo("t0", "ST\x00ATUS:NEEDS-ACTION", "a.STATUS:IN-PROCESS"))
    changed = complete(hidden, place, NOW)
    assert changed
    assert complete(changed, place, NOW) is None
    with pytest.raises(NotWrittenError) as caught:
        complete(plain.encode("utf-16"), place, NOW)
    assert "another program" in caught.value.remedy
    with pytest.raises(UserError, match="not in the list any more"):
        complete(plain.encode(), Place("t9", "", "Home", BERLIN), NOW)


async def test_bad_ids_and_bad_files_say_what_to_do(tmp_path: Path) -> None:
    """C6, A9: an id that nobody gave out, a task that went, a file that went."""
    path = write(tmp_path, todo("one"), todo("two"))
    async with served(path) as asker:
        one = (await asker.rows())["one"]["id"]
        assert "id" in await asker.fail("complete_task", task_id="abcdefghijk")
        path.write_bytes(calendar(todo("two")))
        assert "another answer" in await asker.fail("complete_task", task_id=one)
        path.write_bytes(b"BEGIN:VCALENDAR\r\nBEGIN:VTODO\r\nUID:tw")
        found = await asker.ask("list_tasks")
        assert [row["title"] for row in found["tasks"]] == ["two"]
        assert found["unavailable"][0]["reason"] == "unreadable"
        two = found["tasks"][0]["id"]
        assert "has not been changed" in await asker.fail("complete_task", task_id=two)
        path.unlink()
        assert "has not been changed" in await asker.fail("complete_task", task_id=two)
        assert (await asker.ask("list_tasks"))["unavailable"][0]["reason"] == "missing"


async def test_tasks_without_an_id_of_their_own_and_with_the_same_one_are_all_there(tmp_path: Path) -> None:
    """Nothing vanishes, and completing one leaves the others alone."""
    path = tmp_path / "home.ics"
    path.write_bytes(
        calendar(
            "SUMMARY:a",
            "SUMMARY:b",
            "UID:x\nSUMMARY:c",
            "UID:x\nSUMMARY:d",
            "UID:x\nSUMMARY:e\nRECURRENCE-ID:20260701T080000Z",
        )
    )
    async with served(path) as asker:
        rows = await asker.rows()
        assert sorted(rows) == list("abcde")
        for title in "ace":
            await asker.ask("complete_task", task_id=rows[title]["id"])
        assert sorted(await asker.rows(status="open")) == ["b", "d"]


async def test_the_format_is_a_setting_and_an_argument(tmp_path: Path) -> None:
    """A6, A15: by server, in its file, and by call."""
    settings = tmp_path / "tasks.toml"
    settings.write_text('format = "markdown"\n')
    with sample_file() as path:
        async with served(path, settings=settings) as asker:
            result = await asker.client.call_tool("list_tasks", {})
            assert "| id | title | due |" in getattr(result.content[0], "text", "")
            toon = await asker.client.call_tool("list_tasks", {"format": "toon"})
            assert decode(getattr(toon.content[0], "text", ""))["total"] == 6
            tools = {tool.name: tool for tool in (await asker.client.list_tools()).tools}
    assert tools["complete_task"].annotations
    assert tools["complete_task"].annotations.read_only_hint is False
    assert tools["list_tasks"].annotations
    assert tools["list_tasks"].annotations.read_only_hint is True
