"""Which tasks the components of one UID are: single ones, and the occurrences of those that repeat."""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from itertools import pairwise

from icalendar import Event as VEvent
from icalendar import vDDDTypes

from calendar_data.components import Moment, moment
from calendar_data.documents import Block, fingerprint
from calendar_data.recurrence import Happening, happenings, midnight, require_bearable, settle_overrides, to_utc
from tasks_server.facts import Facts, due_of, read_facts

_LOG = logging.getLogger("tasks_server")
_AHEAD = tuple(map(timedelta, (0, 32, 366, 3660, 7320)))
# The last of many occurrences is looked for in steps that hold few of them.
_BACK = tuple(map(timedelta, (0, 32, 128, *range(494, 7320, 366))))
_SLACK = timedelta(days=2)
_REPEATING = ("RRULE", "RDATE")
_OVER = frozenset({"completed", "cancelled"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task, or one occurrence of a task that repeats.

    Args:
        facts: What it says.
        block: Where it is written, or what it is an occurrence of.
        todo: The same, as icalendar reads it.
        start: When it can be begun.
        due: Until when it has to be done.
        key: Tells it from all others with its UID.
        occurrence: What an occurrence that is not written down yet is known by (RECURRENCE-ID).
        missed: When the occurrence before it was due, if that was not done.
        repeats: Whether it is of a series.
        is_past: Whether it is an occurrence of a series that goes on without it, so that no list has it.
    """

    facts: Facts
    block: Block = field(repr=False)
    todo: VEvent = field(repr=False)
    start: Moment | None
    due: Moment | None
    key: str = field(repr=False)
    occurrence: Moment | None = None
    missed: Moment | None = None
    repeats: bool = False
    is_past: bool = False

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do."""
        return self.facts.status in _OVER

    def is_overdue(self, now: datetime, zone: tzinfo) -> bool:
        """Whether it should have been done before a moment; a date is over when its day is."""
        return self.due is not None and not self.is_over and _end(self.due, zone) <= now


def read_tasks(pairs: Sequence[tuple[Block, VEvent]], label: str, now: datetime, zone: tzinfo) -> list[Task]:
    """The tasks that the components of one UID are on the day of a moment.

    Of a series this is the next occurrence, the one before it if that was missed, and all that somebody changed, as
    whoever does one of them does.
    """
    heads = [pair for pair in pairs if "RECURRENCE-ID" not in pair[1]]
    overrides = [pair for pair in pairs if "RECURRENCE-ID" in pair[1]]
    series = next((pair for pair in heads if _repeats(pair[1], label)), None)
    first = [series] if series else heads[:1]
    settle_overrides([todo for _, todo in (*first, *overrides)], anchor_of)
    singles = [_single(*pair, key=fingerprint(pair[0].text) if len(heads) > 1 else "") for pair in heads]
    changes = [_single(*pair, key=_key(pair[1]), repeats=series is not None) for pair in overrides]
    found = list(_distinct([*singles, *changes]))
    written = found[len(heads) :]
    head = next((task for task in found if series and task.block is series[0]), None)
    if head is None or head.is_over:
        return found
    current = _current(head, written, label, now, zone)
    if not current and not written:
        current = [replace(head, repeats=True)]
    told = {id(task.block) for task in current if task.occurrence is None}
    others = [replace(task, is_past=not task.is_over) for task in written if id(task.block) not in told]
    return [*(task for task in found[: len(heads)] if task is not head), *current, *others]


def _distinct(tasks: Iterable[Task]) -> Iterator[Task]:
    """The tasks, each with a key of its own: that of a second one says what is written in it."""
    times: Counter[str] = Counter()
    for task in tasks:
        times[task.key] += 1
        again = times[task.key] > 1
        yield replace(task, key=f"{task.key} {times[task.key]} {fingerprint(task.block.text)}") if again else task


def _current(head: Task, written: Sequence[Task], label: str, now: datetime, zone: tzinfo) -> list[Task]:
    try:
        return _make_series(head, written, midnight(now.astimezone(zone).date(), zone), zone).current()
    except Exception:
        _LOG.warning("%s: a task has repetitions that cannot be worked out; told once", label)
        return []


@dataclass(frozen=True, slots=True)
class _Series:
    """A task that repeats, with its changed occurrences, as it is on the day that begins `today`.

    Args:
        tasks: What is written: the series itself first.
        events: The same as events without length, by their places.
        lengths: The least and the most time from the start of an occurrence until it is due.
        today: When the day begins.
        zone: That of the reader.
    """

    tasks: Sequence[Task]
    events: Mapping[int, VEvent]
    lengths: tuple[timedelta, timedelta]
    today: datetime
    zone: tzinfo

    def current(self) -> list[Task]:
        """What is next, with what was missed before it, and that itself; nothing where all is done."""
        upcoming, past = self._next(), self._last()
        missed = None if past is None or past.is_over or self._is_done_after(past) else past
        if upcoming is None:
            return [missed] if missed else []
        upcoming = replace(upcoming, missed=missed.due if missed else None)
        return [upcoming, replace(missed, is_past=True)] if missed else [upcoming]

    def _next(self) -> Task | None:
        """The first occurrence that is open and due today or later."""
        begin = max(self.today, _order(self.tasks[0], self.zone))
        for near, far in ((self.today, begin), *((begin + near, begin + far) for near, far in pairwise(_AHEAD))):
            found = [task for task in self._between(near, far) if not task.is_over]
            if found:
                return min(found, key=self._order)
        return None

    def _last(self) -> Task | None:
        """The last occurrence that was due before today."""
        for near, far in pairwise(_BACK):
            if found := self._between(self.today - far, self.today - near):
                return max(found, key=self._order)
        return None

    def _is_done_after(self, past: Task) -> bool:
        """Whether a later occurrence is done, so that nobody misses the one before it any more."""
        return any(task.is_over and self._order(task) > self._order(past) for task in self.tasks[1:])

    def _order(self, task: Task) -> datetime:
        return _order(task, self.zone)

    def _between(self, start: datetime, end: datetime) -> list[Task]:
        """The occurrences that are due from one moment to another."""
        least, most = self.lengths
        found = happenings(self.events, start - most - _SLACK, end - least + _SLACK, self.zone)
        tasks = [*(self._task(each) for each in found if not each.is_override), *self.tasks[1:]]
        return [task for task in tasks if start <= self._order(task) < end]

    def _task(self, happening: Happening) -> Task:
        written, start = self.tasks[happening.number], self._local(happening)
        occurrence = happening.start if isinstance(start, datetime) and start.tzinfo else start
        return replace(
            written,
            key=_told(occurrence),
            repeats=True,
            start=None if written.start is None else start,
            due=_shifted(written, start, happening, self.zone),
            occurrence=occurrence,
        )

    def _local(self, happening: Happening) -> Moment:
        """The start of an occurrence as its task writes it: a date, in a zone, or without one."""
        local = happening.start.astimezone(self.zone)
        if happening.is_all_day:
            return local.date()
        return local.replace(tzinfo=None) if happening.is_floating else local


def _make_series(head: Task, written: Sequence[Task], today: datetime, zone: tzinfo) -> _Series:
    tasks = [head, *written]
    events = {number: _as_event(task.todo) for number, task in enumerate(tasks)}
    lengths = [_length(task, zone) for task in tasks if task is head or is_of_all(task.todo)]
    return _Series(tasks, events, (min(lengths), max(lengths)), today, zone)


def _single(block: Block, todo: VEvent, *, key: str, repeats: bool = False) -> Task:
    start, due = moment(todo, "DTSTART"), due_of(todo)
    return Task(facts=read_facts(todo), block=block, todo=todo, start=start, due=due, key=key, repeats=repeats)


def _repeats(todo: VEvent, label: str) -> bool:
    if not any(name in todo for name in _REPEATING) or anchor_of(todo) is None:
        return False
    try:
        require_bearable(todo)
    except Exception:
        _LOG.warning("%s: a task repeats in a way that cannot be worked out; told once", label)
        return False
    return True


def is_of_all(todo: VEvent) -> bool:
    """Whether it says how an occurrence is and all that follow it (3.2.13)."""
    params = getattr(todo.get("RECURRENCE-ID"), "params", {})
    return str(params.get("RANGE", "")).upper() == "THISANDFUTURE"


def anchor_of(todo: VEvent) -> Moment | None:
    """What the occurrences of a task are counted from: its start, or when it is due if it has none."""
    start = moment(todo, "DTSTART")
    return due_of(todo) if start is None else start


def _as_event(todo: VEvent) -> VEvent:
    """The same occurrences as an event without length, which is what can be worked out."""
    event, anchors = todo.copy(), (anchor_of(todo), moment(todo, "RECURRENCE-ID"))
    for name in ("DUE", "DURATION", "DTEND"):
        event.pop(name, None)
    event["DTSTART"] = vDDDTypes(next(each for each in anchors if each is not None))
    return event


def _order(task: Task, zone: tzinfo) -> datetime:
    """What tasks of a series are sorted by: when one is due, or else when it is."""
    known = (task.due, task.start, moment(task.todo, "RECURRENCE-ID"))
    return to_utc(next((each for each in known if each is not None), date.min), zone)


def _length(task: Task, zone: tzinfo) -> timedelta:
    if task.start is None or task.due is None:
        return timedelta()
    return to_utc(task.due, zone) - to_utc(task.start, zone)


def _shifted(written: Task, start: Moment, happening: Happening, zone: tzinfo) -> Moment | None:
    """When an occurrence is due: as long after its start as the one that is written (3.8.5.3)."""
    first, due = written.start, written.due
    if due is None or first is None:
        return start if due is not None else None
    if not isinstance(first, datetime) and not isinstance(due, datetime):
        return start + (due - first)
    moved = happening.start + (to_utc(due, zone) - to_utc(first, zone))
    if not isinstance(due, datetime):
        return moved.astimezone(zone).date()
    local = moved.astimezone(zone)
    return local.replace(tzinfo=None) if due.tzinfo is None else local


def _key(todo: VEvent) -> str:
    original = moment(todo, "RECURRENCE-ID")
    return "" if original is None else _told(original)


def _told(occurrence: Moment) -> str:
    """The same for a RECURRENCE-ID and for the occurrence that it belongs to."""
    if isinstance(occurrence, datetime) and occurrence.tzinfo:
        occurrence = occurrence.astimezone(UTC)
    return occurrence.isoformat()


def _end(due: Moment, zone: tzinfo) -> datetime:
    """The moment from which on it is too late; a date is over when its day is."""
    if isinstance(due, datetime):
        return to_utc(due, zone)
    return midnight(date.fromordinal(min(due.toordinal() + 1, date.max.toordinal())), zone)
