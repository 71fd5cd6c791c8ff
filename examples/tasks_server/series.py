"""Which tasks the components of one UID are: single ones, and the occurrences of those that repeat."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta, tzinfo

from icalendar import Event as VEvent
from icalendar import vDDDTypes

from calendar_data.components import Moment, moment
from calendar_data.documents import Block
from calendar_data.recurrence import Happening, happenings, midnight, require_bearable, settle_overrides, to_utc
from tasks_server.facts import Facts, due_of, read_facts

_LOG = logging.getLogger("tasks_server")
_LOOKS = (timedelta(days=32), timedelta(days=366), timedelta(days=3660))
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
    settle_overrides([todo for _, todo in pairs])
    heads = [number for number, (_, todo) in enumerate(pairs) if "RECURRENCE-ID" not in todo]
    found: list[Task] = []
    series = next((number for number in heads if _repeats(pairs[number][1], label)), None)
    overrides = {number: pair for number, pair in enumerate(pairs) if number not in heads}
    for number in heads:
        task = _single(*pairs[number], key=f"{number}" if number != heads[0] else "")
        if number != series or task.is_over:
            found.append(task)
    written = [_single(*pair, key=_key(pair[1]), repeats=series is not None) for pair in overrides.values()]
    if series is None or _single(*pairs[series], key="").is_over:
        return [*found, *written]
    current = _current({number: pairs[number] for number in (series, *overrides)}, label, now, zone)
    if not current and not written:
        current = [replace(_single(*pairs[series], key=""), repeats=True)]
    told = {task.key for task in current}
    others = [replace(task, is_past=not task.is_over) for task in written if task.key not in told]
    return [*found, *current, *others]


def _current(pairs: Mapping[int, tuple[Block, VEvent]], label: str, now: datetime, zone: tzinfo) -> list[Task]:
    try:
        return _Series(pairs, midnight(now.astimezone(zone).date(), zone), zone).current()
    except Exception:
        _LOG.warning("%s: a task has repetitions that cannot be worked out; told once", label)
        return []


@dataclass(frozen=True, slots=True)
class _Series:
    """A task that repeats, with its changed occurrences, as it is on the day that begins `today`."""

    pairs: Mapping[int, tuple[Block, VEvent]]
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
        for reach in _LOOKS:
            found = [task for task in self._between(self.today, self.today + reach) if not task.is_over]
            if found:
                return min(found, key=self._order)
        return None

    def _last(self) -> Task | None:
        """The last occurrence that was due before today."""
        for reach in _LOOKS:
            if found := self._between(self.today - reach, self.today):
                return max(found, key=self._order)
        return None

    def _is_done_after(self, past: Task) -> bool:
        """Whether a later occurrence is done, so that nobody misses the one before it any more."""
        written = (_single(*pair, key="") for pair in self.pairs.values() if "RECURRENCE-ID" in pair[1])
        return any(task.is_over and self._order(task) > self._order(past) for task in written)

    def _order(self, task: Task) -> datetime:
        return to_utc(next((each for each in (task.due, task.start) if each is not None), date.min), self.zone)

    def _between(self, start: datetime, end: datetime) -> list[Task]:
        """The occurrences that are due from one moment to another."""
        events = {number: _as_event(todo) for number, (_, todo) in self.pairs.items()}
        longest = max(_length(todo, self.zone) for _, todo in self.pairs.values())
        tasks = [self._task(each) for each in happenings(events, start - longest, end, self.zone)]
        return [task for task in tasks if start <= self._order(task) < end]

    def _task(self, happening: Happening) -> Task:
        block, todo = self.pairs[happening.number]
        if happening.is_override:
            return _single(block, todo, key=_key(todo), repeats=True)
        start = self._local(happening)
        occurrence = happening.start if isinstance(start, datetime) and start.tzinfo else start
        return replace(
            _single(block, todo, key=_told(occurrence), repeats=True),
            start=start if moment(todo, "DTSTART") is not None else None,
            due=_shifted(todo, start, happening, self.zone),
            occurrence=occurrence,
        )

    def _local(self, happening: Happening) -> Moment:
        """The start of an occurrence as its task writes it: a date, in a zone, or without one."""
        if happening.is_all_day:
            return happening.start.astimezone(self.zone).date()
        local = happening.start.astimezone(self.zone)
        return local.replace(tzinfo=None) if happening.is_floating else local


def _single(block: Block, todo: VEvent, *, key: str, repeats: bool = False) -> Task:
    return Task(
        facts=read_facts(todo),
        block=block,
        todo=todo,
        start=moment(todo, "DTSTART"),
        due=due_of(todo),
        key=key,
        repeats=repeats,
    )


def _repeats(todo: VEvent, label: str) -> bool:
    if not any(name in todo for name in _REPEATING) or anchor_of(todo) is None:
        return False
    try:
        require_bearable(todo)
    except Exception:
        _LOG.warning("%s: a task repeats in a way that cannot be worked out; told once", label)
        return False
    return True


def anchor_of(todo: VEvent) -> Moment | None:
    """What the occurrences of a task are counted from: its start, or when it is due if it has none."""
    start = moment(todo, "DTSTART")
    return due_of(todo) if start is None else start


def _as_event(todo: VEvent) -> VEvent:
    """The same occurrences as an event without length, which is what can be worked out."""
    event = todo.copy()
    anchors = (anchor_of(todo), moment(todo, "RECURRENCE-ID"))
    for name in ("DUE", "DURATION", "DTEND"):
        event.pop(name, None)
    event["DTSTART"] = vDDDTypes(next(each for each in anchors if each is not None))
    return event


def _length(todo: VEvent, zone: tzinfo) -> timedelta:
    start, due = moment(todo, "DTSTART"), due_of(todo)
    if start is None or due is None:
        return timedelta(days=1)
    return max(to_utc(due, zone) - to_utc(start, zone), timedelta()) + timedelta(days=1)


def _shifted(todo: VEvent, start: Moment, happening: Happening, zone: tzinfo) -> Moment | None:
    """When an occurrence is due: as long after its start as the first one was (3.8.5.3)."""
    first, due = anchor_of(todo), due_of(todo)
    if due is None or first is None or moment(todo, "DTSTART") is None:
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
    """The moment from which on it is too late."""
    return to_utc(due, zone) if isinstance(due, datetime) else midnight(due + timedelta(days=1), zone)
