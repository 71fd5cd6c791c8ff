"""Tasks that programs write oddly, or that somebody writes to do harm: told, and changed for sure or not at all."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from time import perf_counter
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from calendar_data.components import TASKS, read_components
from calendar_data.documents import read_document
from task_data import BERLIN, NOW, Asker, calendar, served, todo
from tasks_server.series import read_tasks

pytestmark = [pytest.mark.anyio, pytest.mark.no_cover]

DAILY = "DTSTART;TZID=Europe/Berlin:20260706T080000\nDUE;TZID=Europe/Berlin:20260706T090000\nRRULE:FREQ=DAILY"
REFUSED = (
    "Error: The task has not been changed. It repeats in a way in which others would be changed with it. "
    "Change it in the program that it comes from."
)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def write(folder: Path, *todos: str, name: str = "home.ics") -> Path:
    path = folder / name
    path.write_bytes(calendar(*todos))
    return path


async def titled(asker: Asker, title: str, **arguments: Any) -> list[Any]:
    """All tasks with a title, in the order of the list."""
    found = await asker.ask("list_tasks", **{"status": "all", **arguments})
    return [row for row in found["tasks"] if row["title"] == title]


def override(day: str, *lines: str, name: str = "RECURRENCE-ID;TZID=Europe/Berlin") -> str:
    return "\n".join(["UID:it", "SUMMARY:changed", f"{name}:{day}", *lines])


async def test_an_id_of_one_of_several_with_one_uid_never_leads_to_another(tmp_path: Path) -> None:
    """C6: another program replaces the first one; ids lead to what they led to, or nowhere."""
    same = [f"UID:x\nSUMMARY:{title}" for title in "abc"]
    path = write(tmp_path, *same)
    async with served(path) as asker:
        rows = await asker.rows()
        write(tmp_path, "UID:x\nSUMMARY:new", *same[1:])
        await asker.ask("complete_task", task_id=rows["b"]["id"])
        assert {title: row["status"] for title, row in (await asker.rows()).items()} == {
            "new": "open",
            "b": "completed",
            "c": "open",
        }
        assert (await asker.rows())["b"]["id"] == rows["b"]["id"]
        assert "another answer" in await asker.fail("complete_task", task_id=rows["a"]["id"])


async def test_completing_an_occurrence_leaves_the_ids_of_others_with_its_uid(tmp_path: Path) -> None:
    """The component that is added moves those behind it."""
    path = write(tmp_path, todo("it", DAILY), "UID:it\nSUMMARY:second", "UID:it\nSUMMARY:third")
    async with served(path) as asker:
        rows = await asker.rows()
        await asker.ask("complete_task", task_id=rows["it"]["id"])
        done = await asker.ask("complete_task", task_id=rows["second"]["id"])
    assert done["title"] == "second"


async def test_two_changes_of_one_occurrence_are_two_tasks(tmp_path: Path) -> None:
    """Other programs leave such pairs behind when they merge."""
    path = write(
        tmp_path,
        override("20260713T080000", "DESCRIPTION:one"),
        override("20260713T080000", "DESCRIPTION:two"),
    )
    async with served(path) as asker:
        first, second = await titled(asker, "changed")
        await asker.ask("complete_task", task_id=second["id"])
        assert (await asker.ask("get_task", task_id=second["id"]))["status"] == "completed"
        assert (await asker.ask("get_task", task_id=first["id"]))["status"] == "open"


async def test_names_with_the_signs_that_part_ids_are_kept_apart(tmp_path: Path) -> None:
    """One file and UID must not spell what another file and UID spell."""
    path = write(tmp_path, "UID:b.ics|u\nSUMMARY:first", name="a.ics")
    other = write(tmp_path, "UID:u\nSUMMARY:second", name="a.ics|b.ics")
    async with served(tmp_path) as asker:
        rows = await asker.rows()
        assert rows["first"]["id"] != rows["second"]["id"]
        await asker.ask("complete_task", task_id=rows["second"]["id"])
    assert b"COMPLETED" not in path.read_bytes()
    assert b"COMPLETED" in other.read_bytes()


@pytest.mark.parametrize(
    "lines",
    [
        "DUE;VALUE=DATE:20260801\nRRULE:FREQ=SECONDLY",
        "DUE;VALUE=DATE:20260801\nRRULE:FREQ=NEVER",
        "DUE;VALUE=DATE:20260801\nRRULE:FREQ=DAILY;UNTIL=soon",
        "RRULE:FREQ=DAILY",
        "DUE:20260801T100000Z\nRDATE:then",
        "DUE:20260706T080000Z\nRRULE:FREQ=DAILY;COUNT=1\nEXDATE:20260706T080000Z",
    ],
)
async def test_a_series_that_cannot_be_worked_out_is_told_and_not_completed_as_a_whole(
    tmp_path: Path, lines: str
) -> None:
    """The fault that most programs had once: what is done today must not end what repeats."""
    path = write(tmp_path, todo("it", lines))
    before = path.read_bytes()
    async with served(path) as asker:
        row = (await asker.rows())["it"]
        assert await asker.fail("complete_task", task_id=row["id"]) == REFUSED
    assert path.read_bytes() == before


async def test_a_series_that_begins_in_a_generation_is_completed_once(tmp_path: Path) -> None:
    """The first occurrence is known by its day, however far away."""
    path = write(tmp_path, todo("it", "DTSTART;VALUE=DATE:20500101\nDUE;VALUE=DATE:20500103\nRRULE:FREQ=YEARLY"))
    async with served(path) as asker:
        done = await asker.ask("complete_task", task_id=(await asker.rows())["it"]["id"])
        assert done["next_due"] == "2051-01-03"
    assert "RECURRENCE-ID;VALUE=DATE:20500101" in path.read_text()


async def test_a_change_of_all_that_follow_is_left_alone(tmp_path: Path) -> None:
    """RFC 5545, 3.2.13: whoever completes it completes all that follow, and what follows has no day of its own."""
    change = override(
        "20260713T080000",
        "DTSTART;TZID=Europe/Berlin:20260713T100000\nDUE;TZID=Europe/Berlin:20260713T120000",
        name="RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Berlin",
    )
    path = write(tmp_path, todo("it", DAILY), change)
    before = path.read_bytes()
    for day in (13, 15):
        async with served(path, now=NOW.replace(day=day)) as asker:
            (row,) = await titled(asker, "changed", status="open")
            assert row["due"] == f"2026-07-{day}T12:00:00+02:00"
            assert await asker.fail("complete_task", task_id=row["id"]) == REFUSED
    assert path.read_bytes() == before


async def test_a_series_that_another_program_completed_is_opened_again(tmp_path: Path) -> None:
    """Its next occurrence is what the answer is about."""
    path = write(tmp_path, todo("it", DAILY, "STATUS:COMPLETED", "COMPLETED:20260712T080000Z"))
    async with served(path) as asker:
        opened = await asker.ask("reopen_task", task_id=(await asker.rows())["it"]["id"])
        row = (await asker.rows())["it"]
    assert (opened["status"], opened["completed"], opened["id"]) == ("open", None, row["id"])
    assert (row["due"], row["repeats"]) == ("2026-07-13T09:00:00+02:00", True)


async def test_what_is_next_can_be_a_changed_occurrence(tmp_path: Path) -> None:
    """It is in the list without a date of its own, and next_due tells when it is due."""
    moved = "DTSTART;TZID=Europe/Berlin:20260714T100000\nDUE;TZID=Europe/Berlin:20260714T120000"
    path = write(tmp_path, todo("it", DAILY), override("20260714T080000", moved))
    async with served(path) as asker:
        done = await asker.ask("complete_task", task_id=(await asker.rows())["it"]["id"])
    assert done["next_due"] == "2026-07-14T12:00:00+02:00"
    path = write(tmp_path, todo("it", DAILY), override("20260713T080000"))
    async with served(path) as asker:
        (row,) = await titled(asker, "changed", status="open")
        assert (row["due"], row["repeats"]) == (None, True)


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("RECURRENCE-ID;VALUE=DATE", "20260713"),
        ("RECURRENCE-ID", "20260713T070000Z"),
        ("RECURRENCE-ID;TZID=America/New_York", "20260713T030000"),
        ("RECURRENCE-ID", "20260713T090000"),
    ],
)
async def test_a_series_that_only_says_when_it_is_due_knows_its_changes(tmp_path: Path, name: str, day: str) -> None:
    """RFC 5545, 3.8.4.4: by day, in UTC, in another zone and in none."""
    path = write(
        tmp_path,
        todo("it", "DUE;TZID=Europe/Berlin:20260706T090000\nRRULE:FREQ=DAILY"),
        override(day, "STATUS:COMPLETED", name=name),
    )
    async with served(path) as asker:
        assert (await asker.rows())["it"]["due"] == "2026-07-14T09:00:00+02:00"


ENDS = [
    todo("date", "DUE;VALUE=DATE:99991231"),
    todo("time", "DUE:99991231T235959Z", "CREATED:00010101T000000Z"),
    todo("first", "DUE:00010101T000000Z", "STATUS:COMPLETED", "COMPLETED:00010101T000000Z"),
    todo("long", "DTSTART:20260101T000000Z", "DURATION:P999999999D"),
    todo("last", "DUE;VALUE=DATE:99991231", "RRULE:FREQ=DAILY"),
]


@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Pacific/Kiritimati"])
async def test_dates_at_both_ends_of_the_calendar_silence_nothing(tmp_path: Path, zone: str) -> None:
    """Year 1 and year 9999 are what programs write for none at all; every tool answers."""
    path = write(tmp_path, todo("plain"), *ENDS)
    async with served(path, now=datetime(2026, 7, 13, 10, 20, tzinfo=ZoneInfo(zone)), zone=ZoneInfo(zone)) as asker:
        rows = await asker.rows()
        assert sorted(rows) == ["date", "first", "last", "long", "plain", "time"]
        assert (rows["date"]["due"], rows["long"]["due"]) == ("9999-12-31", None)
        for row in rows.values():
            await asker.ask("get_task", task_id=row["id"])
        assert "date" in await asker.rows(due_by="9999-12-31")
        await asker.ask("complete_task", task_id=rows["time"]["id"])
        await asker.ask("reopen_task", task_id=rows["first"]["id"])


async def test_what_is_completed_on_a_day_stays_on_it(tmp_path: Path) -> None:
    """C16: a date has no zone, so none moves it."""
    path = write(tmp_path, todo("it", "COMPLETED;VALUE=DATE:20260713", "CREATED;VALUE=DATE:20260701"))
    async with served(path, zone=ZoneInfo("America/New_York")) as asker:
        row = (await asker.rows())["it"]
    assert [row[key] for key in ("status", "completed", "created")] == ["completed", "2026-07-13", "2026-07-01"]


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        ("PERCENT-COMPLETE:100", "completed"),
        ("PERCENT-COMPLETE:100\nSTATUS:NEEDS-ACTION", "open"),
        ("COMPLETED:20260713T100000", "completed"),
        ("STATUS:COMPLETED", "completed"),
        ("status;VALUE=TEXT:Completed", "completed"),
        ("STATUS:LATER", "open"),
    ],
)
async def test_a_task_is_done_if_it_says_so_in_any_way(tmp_path: Path, lines: str, status: str) -> None:
    """RFC 5545, 3.8.1.8: 100 percent is done, unless the status says otherwise."""
    async with served(write(tmp_path, todo("it", lines))) as asker:
        assert (await asker.rows())["it"]["status"] == status


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\u0085"])
async def test_a_line_of_unicode_is_text_and_begins_no_property(tmp_path: Path, separator: str) -> None:
    """Apple writes U+2028 into notes; what follows is neither lost nor read as a property."""
    # `todo` takes lines apart, and so would these.
    content = calendar(todo("it", "DESCRIPTION:first SEPARATOR")).decode()
    path = tmp_path / "home.ics"
    path.write_text(content.replace(" SEPARATOR", f"{separator}STATUS:COMPLETED"))
    async with served(path) as asker:
        row = (await asker.rows())["it"]
        assert (row["status"], row["completed"]) == ("open", None)
        assert (await asker.ask("get_task", task_id=row["id"]))["notes"] == "first\nSTATUS:COMPLETED"
        await asker.ask("complete_task", task_id=row["id"])
    assert f"DESCRIPTION:first{separator}STATUS:COMPLETED\n" in path.read_text()


async def test_subtasks_are_known_from_both_sides_and_in_circles(tmp_path: Path) -> None:
    """RFC 5545, 3.2.15: a parent may name its children; nothing belongs to itself, and no circle is followed."""
    path = write(
        tmp_path,
        todo("a", "RELATED-TO:b", "RELATED-TO;RELTYPE=CHILD:c"),
        todo("b", "RELATED-TO:a"),
        todo("c", "RELATED-TO;RELTYPE=SIBLING:b"),
        todo("self", "RELATED-TO:self", "RELATED-TO;RELTYPE=CHILD:self", "RELATED-TO:nowhere"),
    )
    async with served(path) as asker:
        rows = await asker.rows()
        tasks = {title: await asker.ask("get_task", task_id=row["id"]) for title, row in rows.items()}
    assert {title: row["subtasks"] for title, row in rows.items()} == {"a": 2, "b": 1, "c": None, "self": None}
    assert sorted(each["title"] for each in tasks["a"]["subtasks"]) == ["b", "c"]
    parents = {title: task["parent"] and task["parent"]["title"] for title, task in tasks.items()}
    assert parents == {"a": "b", "b": "a", "c": "a", "self": None}


EXPORTED = {
    "reminders": [
        "CREATED:20260701T080000Z",
        "PRIORITY:0",
        "X-APPLE-SORT-ORDER:773568000",
        "DUE;TZID=Europe/Berlin:20260714T090000",
        "BEGIN:VALARM\nUID:A1\nX-WR-ALARMUID:A1\nACTION:DISPLAY\nTRIGGER;VALUE=DATE-TIME:20260714T070000Z\nEND:VALARM",
    ],
    "nextcloud": [
        "PERCENT-COMPLETE:40",
        "STATUS:IN-PROCESS",
        "X-OC-HIDESUBTASKS:1",
        "CATEGORIES:home,garden",
        "LAST-MODIFIED:20260701T080000Z",
        "RELATED-TO;RELTYPE=PARENT:none",
        "PRIORITY:9",
    ],
    "lightning": [
        "X-MOZ-GENERATION:3",
        'DESCRIPTION;ALTREP="data:text/html,%3Cbody%3Enote%3C%2Fbody%3E":note',
        "SEQUENCE:2",
        "CLASS:PRIVATE",
        "ATTACH;FMTTYPE=text/plain:file:///note.txt",
    ],
    "outlook": [
        "X-MICROSOFT-CDO-IMPORTANCE:1",
        'DTSTART;TZID="W. Europe Standard Time":20260713T080000',
        'DUE;TZID="W. Europe Standard Time":20260714T080000',
        "X-ALT-DESC;FMTTYPE=text/html:<p>BEGIN:VTODO</p>",
    ],
}


@pytest.mark.parametrize("program", EXPORTED)
async def test_what_programs_write_beside_a_task_stays(tmp_path: Path, program: str) -> None:
    """Alarms with their own UID, orders, attachments: done and opened again, only what is about that has changed."""
    path = write(tmp_path, todo("it", *EXPORTED[program]), todo("other"))
    before = path.read_bytes().split(b"\r\n")
    async with served(path) as asker:
        one = (await asker.rows())["it"]["id"]
        for tool in ("complete_task", "reopen_task"):
            await asker.ask(tool, task_id=one)
            after = path.read_bytes().split(b"\r\n")
            assert kept(after) == kept(before)
            assert after[after.index(b"UID:other") :] == before[before.index(b"UID:other") :]


def kept(lines: Sequence[bytes]) -> list[bytes]:
    """What is not about whether a task is done."""
    said = (b"STATUS:", b"COMPLETED:", b"PERCENT-COMPLETE:", b"LAST-MODIFIED:")
    return [line for line in lines if not line.startswith(said)]


async def test_a_task_with_very_many_subtasks_is_told_in_pages(tmp_path: Path) -> None:
    """A8: no answer grows with what somebody else wrote, and every subtask can be had."""
    many = [todo(f"{number:04}" + "!" * 1000, "RELATED-TO:it") for number in range(450)]
    async with served(write(tmp_path, todo("it", "DESCRIPTION:whole"), *many)) as asker:
        (row,) = (await asker.ask("list_tasks", text="whole"))["tasks"]
        found = set[str]()
        cursor: dict[str, str | None] = {}
        for _ in range(5):
            task = await asker.ask("get_task", task_id=row["id"], **cursor)
            found |= {each["title"][:4] for each in task["subtasks"]}
            assert (len(task["subtasks"]) <= 100, task["page"]["total"], task["notes"]) == (True, 450, "whole")
            cursor = {"cursor": task["page"]["next"]}
    assert (len(found), cursor) == (450, {"cursor": None})


RULES = [
    "DTSTART:20200101T080000Z\nDUE:20200101T090000Z\nRRULE:FREQ=HOURLY;UNTIL=20240101T000000Z",
    "DTSTART:19700101T080000Z\nDUE:20260101T090000Z\nRRULE:FREQ=HOURLY",
    "DTSTART:00020101T080000Z\nDUE:00020101T090000Z\nRRULE:FREQ=HOURLY;BYMINUTE=0",
    "DTSTART:19700101T080000Z\nDUE:99981231T090000Z\nRRULE:FREQ=HOURLY",
    "DUE:20260101T090000Z\nRRULE:FREQ=YEARLY\n" + "\n" * 100_000 + "PRIORITY:1",
]


@pytest.mark.parametrize("lines", RULES, ids=["ended", "long", "old", "longest", "lines"])
def test_a_series_is_worked_out_in_bounded_time(lines: str) -> None:
    """What took from four seconds to many minutes, for one task."""
    began = perf_counter()
    tasks = read(calendar(todo("it", lines), "UID:it\nSUMMARY:other") + b"\r\n" * 100_000)
    assert {task.facts.title for task in tasks} == {"it", "other"}
    assert perf_counter() - began < 3


def read(content: bytes) -> Sequence[Any]:
    blocks = read_document(content, TASKS.component).blocks
    return read_tasks(read_components(blocks, "Home", TASKS), "Home", NOW, BERLIN)
