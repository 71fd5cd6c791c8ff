"""Makes what the tools answer of tasks."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime, tzinfo

from calendar_data.components import Moment
from calendar_data.feeds import Outage
from calendar_data.recurrence import midnight, to_utc
from tasks_server import dtos
from tasks_server.board import Board, Filed, Outcome
from tasks_server.series import Task

_RANKS = {"high": 0, "medium": 1, None: 2, "low": 3}


class Kin:
    """Which task belongs to which, by the UIDs that they name within one source."""

    def __init__(self, listed: Iterable[Filed]) -> None:
        self._by_uid: dict[tuple[int, str], Filed] = {}
        self._children: dict[tuple[int, str], dict[str, Filed]] = {}
        # Of a series, what is open stands for it.
        for filed in sorted(listed, key=lambda each: not each.task.is_over):
            self._by_uid[id(filed.feed), filed.task.block.uid] = filed
            for parent in filed.task.facts.parents:
                self._children.setdefault((id(filed.feed), parent), {})[filed.task.block.uid] = filed

    def children(self, filed: Filed) -> list[Filed]:
        """The tasks that name a task as their parent."""
        return list(self._children.get((id(filed.feed), filed.task.block.uid), {}).values())

    def parent(self, filed: Filed) -> Filed | None:
        """The task that a task names as its parent, if it is there."""
        found = (self._by_uid.get((id(filed.feed), uid)) for uid in filed.task.facts.parents)
        return next((each for each in found if each), None)


def make_row(filed: Filed, kin: Kin, board: Board) -> dtos.TaskRow:
    task, facts = filed.task, filed.task.facts
    return dtos.TaskRow(
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
        created=_time(facts.created, board.zone),
        completed=_time(facts.completed, board.zone),
    )


def make_task(filed: Filed, kin: Kin, board: Board) -> dtos.Task:
    """A task whole."""
    task, facts = filed.task, filed.task.facts
    parent = kin.parent(filed)
    return dtos.Task(
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
        created=_time(facts.created, board.zone),
        completed=_time(facts.completed, board.zone),
        parent=_related(parent, board.zone) if parent else None,
        subtasks=[_related(each, board.zone) for each in kin.children(filed)],
        notes=facts.notes,
        comments=list(facts.comments),
    )


def make_changed(outcome: Outcome, board: Board) -> dtos.Changed:
    """A task after a change."""
    facts = outcome.filed.task.facts
    return dtos.Changed(
        id=outcome.filed.identity,
        title=facts.title,
        list=outcome.filed.list,
        status=facts.status,
        completed=_time(facts.completed, board.zone),
        next_due=_shown(outcome.next_due, board.zone),
        already=outcome.already or None,
        changed_elsewhere=outcome.changed_elsewhere or None,
    )


def make_unavailable(outages: Sequence[Outage]) -> list[dtos.Unavailable]:
    return [
        dtos.Unavailable(list=each.label, reason=each.reason, since=each.since, last_read=each.last_read)
        for each in outages
    ]


def in_order(listed: Iterable[Filed], zone: tzinfo) -> list[Filed]:
    """What is open by when it is due, the most important first, then what is done, the last first."""

    def key(filed: Filed) -> tuple[object, ...]:
        task = filed.task
        done = task.facts.completed
        if task.is_over:
            return (1, -done.timestamp() if done else 0.0, 0, task.facts.title or "")
        due = to_utc(date.max if task.due is None else task.due, zone).timestamp()
        return (0, due, _RANKS[task.facts.priority], task.facts.title or "")

    return sorted(listed, key=key)


def is_due_by(task: Task, day: date, zone: tzinfo) -> bool:
    """Whether a task is due on a day or before it."""
    if task.due is None:
        return False
    return to_utc(task.due, zone) < midnight(date.fromordinal(day.toordinal() + 1), zone)


def has_text(task: Task, text: str) -> bool:
    """Whether a task has a text in its title, notes, comments, tags or place, in whichever case."""
    facts = task.facts
    said = (facts.title, facts.notes, facts.location, *facts.comments, *facts.tags)
    return any(text.casefold() in each.casefold() for each in said if each)


def _related(filed: Filed, zone: tzinfo) -> dtos.Related:
    task = filed.task
    due = _shown(task.due, zone)
    return dtos.Related(id=filed.identity, title=task.facts.title, status=task.facts.status, due=due)


def _shown(when: Moment | None, zone: tzinfo) -> Moment | None:
    return when.astimezone(zone) if isinstance(when, datetime) and when.tzinfo else when


def _time(when: datetime | None, zone: tzinfo) -> datetime | None:
    return when and when.astimezone(zone)


def make_list(label: str, listed: Iterable[Filed]) -> dtos.TaskList:
    return dtos.TaskList(label=label, open=sum(each.list == label and not each.task.is_over for each in listed))
