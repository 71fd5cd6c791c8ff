"""Completes and reopens tasks in calendar data (RFC 5545, 3.8.1.11), and touches nothing else of it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from calendar_data.components import TASKS, Moment, moment, read_components
from calendar_data.documents import Block, read_document
from calendar_data.editing import UneditableError, Values, put, put_copy
from mcpshape import UserError
from serving.whole_files import NotWrittenError
from tasks_server.series import Task, anchor_of, is_of_all, read_tasks

_FORM = re.compile(r"^(DTSTART|DUE)((?:;(?:[^:;\n\"]|\"[^\"\n]*\")*)*):(\S*)", re.MULTILINE | re.IGNORECASE)
_REPEATS = re.compile(r"^(?:RRULE|RDATE)(?:;[^:\n]*)?:[ \t]*\S", re.MULTILINE | re.IGNORECASE)
_WHOLE = "It repeats in a way in which others would be changed with it. Change it in the program that it comes from."
_RULES = ("RRULE", "RDATE", "EXDATE", "EXRULE")


@dataclass(frozen=True, slots=True)
class Place:
    """Which task of some data is meant, and how the data is read."""

    uid: str
    key: str
    label: str
    zone: tzinfo

    def look(self, content: bytes, now: datetime) -> "Look":
        """What some content says of it."""
        blocks = read_document(content, TASKS.component).blocks
        pairs = read_components([each for each in blocks if each.uid == self.uid and each.text], self.label, TASKS)
        tasks = read_tasks(pairs, self.label, now, self.zone)
        return Look(next((task for task in tasks if task.key == self.key), None), tasks, blocks)


@dataclass(frozen=True, slots=True)
class Look:
    """A task in some content, if it is there, the tasks that share its UID, and all that is written."""

    task: Task | None
    tasks: Sequence[Task]
    blocks: Sequence[Block]

    @property
    def next_due(self) -> Moment | None:
        """When the next occurrence of its series is due."""
        return self.upcoming.due if self.upcoming else None

    @property
    def upcoming(self) -> Task | None:
        """The next occurrence of its series."""
        return next((each for each in self.tasks if each.repeats and not each.is_over and not each.is_past), None)


def complete(content: bytes, place: Place, now: datetime) -> bytes | None:
    """The content in which a task is completed; nothing where it is already.

    Of a task that repeats one occurrence is completed: it becomes a component of its own (3.8.4.4).

    Raises:
        UserError: It is not there any more.
        NotWrittenError: The content is not written in a way in which this can be done for sure.
    """
    stamp = _utc(now)
    values = {"STATUS": ":COMPLETED", "COMPLETED": f":{stamp}", "PERCENT-COMPLETE": ":100"}
    return _changed(content, place, now, {**values, "LAST-MODIFIED": f":{stamp}"}, is_done=True)


def reopen(content: bytes, place: Place, now: datetime) -> bytes | None:
    """The content in which a task is open again; nothing where it is already.

    Raises:
        UserError: It is not there any more.
        NotWrittenError: The content is not written in a way in which this can be done for sure.
    """
    values = {"STATUS": ":NEEDS-ACTION", "COMPLETED": None, "PERCENT-COMPLETE": None}
    return _changed(content, place, now, {**values, "LAST-MODIFIED": f":{_utc(now)}"}, is_done=False)


def _changed(content: bytes, place: Place, now: datetime, values: Values, *, is_done: bool) -> bytes | None:
    look = place.look(content, now)
    task = look.task
    if task is None:
        raise UserError("This task is not in the list any more.", hint="Take another id from list_tasks.")
    if _is_done(task) == is_done and (is_done or not task.is_over):
        return None
    if is_of_all(task.todo) or (is_done and task.occurrence is None and _REPEATS.search(task.block.text)):
        raise NotWrittenError("forbidden", _WHOLE)
    try:
        if task.occurrence is None:
            changed = put(content, task.block.lines, values)
        else:
            changed = put_copy(content, task.block.lines, {**values, **_occurrence(task, task.occurrence)})
    except UneditableError:
        changed = content
    if not _is_as_meant(changed, place, now, look, is_done=is_done):
        raise NotWrittenError("forbidden", "Its file is written in an unusual way. Change it with another program.")
    return changed


def _is_as_meant(changed: bytes, place: Place, now: datetime, before: Look, *, is_done: bool) -> bool:
    """Whether the one task has changed, and no other."""
    look = place.look(changed, now)
    old, new = (list(each.blocks) for each in (before, look))
    if before.task is None or len(new) != len(old) + (is_copy := before.task.occurrence is not None):
        return False
    at = old.index(before.task.block) + is_copy
    block = new.pop(at)
    if not is_copy:
        del old[at]
    found = [task for task in look.tasks if task.block is block]
    # A series that is open again is there as its occurrences.
    is_there = not is_copy if look.task is None else look.task.block is block
    is_so = bool(found) and all((task.is_over, _is_done(task)) == (is_done, is_done) for task in found)
    return is_there and is_so and [each.text for each in new] == [each.text for each in old]


def _is_done(task: Task) -> bool:
    return task.facts.status == "completed"


def _occurrence(task: Task, occurrence: Moment) -> Values:
    """What an occurrence says otherwise than its series: which one it is, and when; in the form of its series."""
    text = task.block.text
    # Of several lines the first one counts, which is the last one here.
    forms = {match[1].upper(): (match[2], match[3].upper()) for match in reversed([*_FORM.finditer(text)])}
    anchor = "DTSTART" if moment(task.todo, "DTSTART") is not None else "DUE"
    said: dict[str, str | None] = dict.fromkeys(_RULES)
    if anchor not in forms:
        raise UneditableError
    said["RECURRENCE-ID"] = _like(occurrence, forms[anchor], anchor_of(task.todo))
    for name, when in (("DTSTART", task.start), ("DUE", task.due)):
        if name in forms and when is not None:
            said[name] = _like(when, forms[name], moment(task.todo, name))
    return said


def _like(when: Moment, form: tuple[str, str], first: Moment | None) -> str:
    """A moment as another one is written: with its parameters, in its zone."""
    parameters, value = form
    if not isinstance(when, datetime):
        return f"{parameters}:{when:%Y%m%d}"
    if value.endswith("Z"):
        return f"{parameters}:{_utc(when)}"
    if when.tzinfo and isinstance(first, datetime):
        when = when.astimezone(first.tzinfo)
    return f"{parameters}:{when:%Y%m%dT%H%M%S}"


def _utc(when: datetime) -> str:
    return f"{when.astimezone(UTC):%Y%m%dT%H%M%SZ}"
