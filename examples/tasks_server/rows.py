"""Makes what the tools answer of tasks."""

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import date, datetime, tzinfo

from calendar_data.components import Moment
from calendar_data.feeds import Outage
from calendar_data.recurrence import to_utc
from tasks_server.board import Board, Filed, Outcome
from tasks_server.dtos import Changed, Related, TaskList, TaskRow, Unavailable
from tasks_server.dtos import Task as WholeTask
from tasks_server.series import Task

_Uid = tuple[int, str]
_RANKS = {"high": 0, "medium": 1, None: 2, "low": 3}


class Kin:
    """Which task belongs to which, by the UIDs that they name within one source."""

    def __init__(self, listed: Iterable[Filed]) -> None:
        self._by_uid: dict[_Uid, Filed] = {}
        self._children: dict[_Uid, dict[_Uid, None]] = {}
        self._parents: dict[_Uid, dict[_Uid, None]] = {}
        # Of a series, what is open stands for it.
        for filed in sorted(listed, key=lambda each: not each.task.is_over):
            facts, uid = filed.task.facts, _uid(filed)
            self._by_uid[uid] = filed
            pairs = [((filed.number, each), uid) for each in facts.parents]
            pairs += [(uid, (filed.number, each)) for each in facts.children]
            for parent, child in pairs:
                if parent != child:
                    self._children.setdefault(parent, {})[child] = None
                    self._parents.setdefault(child, {})[parent] = None

    def children(self, filed: Filed) -> list[Filed]:
        """The tasks that name a task as their parent, or that it names as its own."""
        return self._known(self._children.get(_uid(filed), ()))

    def parent(self, filed: Filed) -> Filed | None:
        """The task that a task belongs to, if it is there."""
        return next(iter(self._known(self._parents.get(_uid(filed), ()))), None)

    def _known(self, uids: Iterable[_Uid]) -> list[Filed]:
        return [self._by_uid[uid] for uid in uids if uid in self._by_uid]


def make_row(filed: Filed, kin: Kin, board: Board) -> TaskRow:
    task, facts = filed.task, filed.task.facts
    return TaskRow(
        id=filed.identity,
        title=facts.title,
        due=_shown(task.due, board.zone),
        overdue=task.is_overdue(board.now(), board.zone) or None,
        missed=_shown(task.missed, board.zone),
        status=facts.status,
        priority=facts.priority,
        list=filed.list,
        has_notes=bool(facts.notes or facts.comments) or None,
        subtasks=len(kin.children(filed)) or None,
        repeats=task.repeats or None,
        created=_shown(facts.created, board.zone),
        completed=_shown(facts.completed, board.zone),
    )


def make_task(filed: Filed, kin: Kin, board: Board) -> WholeTask:
    """A task whole."""
    task, facts = filed.task, filed.task.facts
    parent = kin.parent(filed)
    return WholeTask(
        id=filed.identity,
        title=facts.title,
        status=facts.status,
        start=_shown(task.start, board.zone),
        due=_shown(task.due, board.zone),
        overdue=task.is_overdue(board.now(), board.zone) or None,
        missed=_shown(task.missed, board.zone),
        repeats=task.repeats or None,
        priority=facts.priority,
        percent=facts.percent,
        list=filed.list,
        tags=list(facts.tags),
        location=facts.location,
        url=facts.url,
        created=_shown(facts.created, board.zone),
        completed=_shown(facts.completed, board.zone),
        parent=_related(parent, board.zone) if parent else None,
        subtasks=[_related(each, board.zone) for each in kin.children(filed)],
        notes=facts.notes,
        comments=list(facts.comments),
    )


def make_changed(outcome: Outcome, board: Board) -> Changed:
    """A task after a change."""
    facts = outcome.filed.task.facts
    return Changed(
        id=outcome.filed.identity,
        title=facts.title,
        list=outcome.filed.list,
        status=facts.status,
        completed=_shown(facts.completed, board.zone),
        next_due=_shown(outcome.next_due, board.zone),
        already=outcome.already or None,
        changed_elsewhere=outcome.changed_elsewhere or None,
    )


def make_lists(labels: Iterable[str], listed: Iterable[Filed]) -> list[TaskList]:
    """The lists with the numbers of what is open in them."""
    counts = Counter(each.list for each in listed if not each.task.is_over)
    return [TaskList(label=label, open=counts[label]) for label in labels]


def make_unavailable(outages: Sequence[Outage]) -> list[Unavailable]:
    return [
        Unavailable(list=each.label, reason=each.reason, since=each.since, last_read=each.last_read) for each in outages
    ]


def in_order(listed: Iterable[Filed], zone: tzinfo) -> list[Filed]:
    """What is open by when it is due, the most important first, then what is done, the last first."""

    def key(filed: Filed) -> tuple[object, ...]:
        task = filed.task
        done = task.facts.completed
        if task.is_over:
            return (1, -to_utc(done, zone).timestamp() if done else 0.0, 0, task.facts.title or "")
        due = to_utc(date.max if task.due is None else task.due, zone).timestamp()
        return (0, due, _RANKS[task.facts.priority], task.facts.title or "")

    return sorted(listed, key=key)


def is_due_by(task: Task, day: date, zone: tzinfo) -> bool:
    """Whether a task is due on a day or before it."""
    due = task.due
    if isinstance(due, datetime):
        due = to_utc(due, zone).astimezone(zone).date()
    return due is not None and due <= day


def has_text(task: Task, text: str) -> bool:
    """Whether a task has a text in its title, notes, comments, tags or place, in whichever case."""
    facts = task.facts
    said = (facts.title, facts.notes, facts.location, *facts.comments, *facts.tags)
    return any(text.casefold() in each.casefold() for each in said if each)


def _related(filed: Filed, zone: tzinfo) -> Related:
    task = filed.task
    due = _shown(task.due, zone)
    return Related(id=filed.identity, title=task.facts.title, status=task.facts.status, due=due)


def _shown(when: Moment | None, zone: tzinfo) -> Moment | None:
    """In the zone of the reader, unless that has no such time."""
    if isinstance(when, datetime) and when.tzinfo:
        with suppress(OverflowError):
            return when.astimezone(zone)
    return when


def _uid(filed: Filed) -> _Uid:
    return filed.number, filed.task.block.uid
