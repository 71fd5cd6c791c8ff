"""All tasks of several sources, as they are now; and where one of them is changed."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, tzinfo
from threading import Lock
from typing import Literal

from calendar_data.components import TASKS, Moment, read_components
from calendar_data.documents import Block, Header
from calendar_data.feeds import Feed, Feeds, Outage
from calendar_data.sources import Piece, SourceError, UnsureError
from mcpshape import UserError
from serving.whole_files import NotWrittenError
from tasks_server.completion import Place, complete, reopen
from tasks_server.series import Task, read_tasks

Wish = Literal["completed", "open"]
_EDITS = {"completed": complete, "open": reopen}


@dataclass(frozen=True, slots=True)
class Filed:
    """A task in its list; `number` is that of the source."""

    task: Task
    list: str
    number: int = field(repr=False)
    piece: Piece = field(repr=False)
    feed: Feed = field(repr=False)

    @property
    def identity(self) -> str:
        """Tells it from all others."""
        return repr((self.number, self.piece.name, self.task.block.uid, self.task.key))


@dataclass(frozen=True, slots=True)
class Outcome:
    """A task after somebody wished it to be otherwise, and when the next one of its series is due.

    It was `already` so, or somebody else changed what it is written in meanwhile.
    """

    filed: Filed
    next_due: Moment | None
    already: bool
    changed_elsewhere: bool


@dataclass(frozen=True, slots=True)
class _Read:
    """The tasks of one UID in one piece, on a day, and the text that they were read from, wherever it stood."""

    text: Sequence[tuple[Header, str]]
    day: date
    tasks: Sequence[Task]


class Board:
    """The tasks of several sources, in one time zone."""

    def __init__(self, feeds: Sequence[Feed], zone: tzinfo, clock: Callable[[], datetime]) -> None:
        self.zone, self.feeds, self._clock = zone, Feeds(feeds), clock
        self._lock = Lock()
        self._read: dict[tuple[int, str, str], _Read] = {}
        self._day: date | None = None
        self._filed: list[Filed] = []

    def now(self) -> datetime:
        """The time, in the zone."""
        return self._clock().astimezone(self.zone)

    def all(self) -> list[Filed]:
        """All tasks as the sources have them now, also occurrences that no list has."""
        with self._lock:
            today = self.now().date()
            if self.feeds.refresh() or today != self._day:
                self._filed, self._day = list(self._arranged(today)), today
            return self._filed

    def listed(self) -> list[Filed]:
        """All tasks that lists have."""
        return [filed for filed in self.all() if not filed.task.is_past]

    def find(self, identity: str) -> Filed:
        """One of the tasks.

        Raises:
            UserError: It is not there any more.
        """
        found = next((filed for filed in self.all() if filed.identity == identity), None)
        if found is None:
            raise UserError("This task is not in the list any more.", hint="Take another id from list_tasks.")
        return found

    def outages(self) -> list[Outage]:
        """The lists that cannot be read now."""
        self.all()
        return self.feeds.outages()

    def labels(self) -> list[str]:
        """The labels of all lists."""
        self.all()
        return self.feeds.labels()

    def change(self, identity: str, wish: Wish) -> Outcome:
        """Complete or reopen a task where it is written.

        Raises:
            UserError: It cannot be done; what is written is as it was, or as somebody else has made it.
        """
        filed, now = self.find(identity), self.now()
        place = Place(filed.task.block.uid, filed.task.key, filed.list, self.zone)
        before, after = b"", None

        def edit(content: bytes) -> bytes | None:
            nonlocal before, after
            before, after = content, _EDITS[wish](content, place, now)
            return after

        changed_elsewhere = self._stored(filed, edit)
        filed.feed.due = 0
        look = place.look(before if after is None else after, now)
        # A series that was opened again is there as its next occurrence.
        filed = replace(filed, task=look.task or look.upcoming or filed.task)
        return Outcome(filed, look.next_due, after is None, changed_elsewhere)

    def _stored(self, filed: Filed, edit: Callable[[bytes], bytes | None]) -> bool:
        if filed.piece.change is None:
            raise UserError("This list can only be read.", hint="Change the task in the program that it comes from.")
        try:
            return filed.piece.change(edit)
        except (NotWrittenError, SourceError) as error:
            raise UserError("The task has not been changed.", hint=error.remedy) from error
        except UnsureError as error:
            text, hint = "Whether the task has been changed is not known.", "Look at it before you try again."
            raise UserError(text, hint=hint) from error

    def _arranged(self, today: date) -> Iterable[Filed]:
        known, self._read = self._read, {}
        for number, feed in enumerate(self.feeds):
            for piece, labelled in feed.pieces():
                groups: dict[str, list[Block]] = {}
                labels = {each.block.uid: each.label for each in labelled}
                for each in labelled:
                    groups.setdefault(each.block.uid, []).append(each.block)
                for uid, blocks in groups.items():
                    key = (number, piece.name, uid)
                    self._read[key] = read = self._tasks(known.get(key), blocks, labels[uid], today)
                    yield from (Filed(task, labels[uid], number, piece, feed) for task in read.tasks)

    def _tasks(self, known: _Read | None, blocks: Sequence[Block], label: str, today: date) -> _Read:
        text = [(block.header, block.text) for block in blocks]
        if known and known.day == today and known.text == text:
            return known
        pairs = read_components([block for block in blocks if block.text], label, TASKS)
        return _Read(text, today, read_tasks(pairs, label, self.now(), self.zone))
