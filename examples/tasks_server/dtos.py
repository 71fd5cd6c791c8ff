"""What the tools answer. There are no levels: a task has no question that needs less of it."""

from datetime import date, datetime
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel

from calendar_data.sources import Reason
from mcpshape import Clip, Count, Handle, Notice, Prose

Id = Annotated[str, Handle("task")]
Moment = datetime | date
Status = Literal["open", "in_progress", "completed", "cancelled"]
Priority = Literal["high", "medium", "low"]


class TaskRow(BaseModel):
    """One task in a list. Flags are true or null."""

    id: Id
    title: Annotated[str | None, Clip(300)]
    due: Moment | None
    overdue: bool | None
    missed: Moment | None
    status: Status
    priority: Priority | None
    list: str
    has_notes: bool | None
    subtasks: int | None
    repeats: bool | None
    created: Moment | None
    completed: Moment | None


class Unavailable(BaseModel):
    """A list that cannot be read now; what it had when it was last read is in the answer."""

    list: str
    reason: Reason
    since: datetime
    last_read: datetime | None


class Tasks(BaseModel):
    total: Annotated[int, Count("tasks")] = 0
    tasks: list[TaskRow]
    unavailable: Annotated[list[Unavailable], Notice()] = []


class Related(BaseModel):
    """A task that another one belongs to, or that belongs to it."""

    id: Id
    title: Annotated[str | None, Clip(300)]
    status: Status
    due: Moment | None


# The class below has a field with the name of the type.
Tags: TypeAlias = list[str]
Relations: TypeAlias = list[Related]
Comments: TypeAlias = Annotated[list[str], Prose()]


class Task(BaseModel):
    """One task with all that is known of it.

    A date is a date: it has no time of the day. A time without an offset is local time wherever its reader is.
    """

    id: Id
    title: str | None
    status: Status
    start: Moment | None
    due: Moment | None
    overdue: bool | None
    missed: Moment | None
    repeats: bool | None
    priority: Priority | None
    percent: int | None
    list: str
    tags: Tags
    location: str | None
    url: str | None
    created: Moment | None
    completed: Moment | None
    parent: Related | None
    subtasks: Relations
    notes: Annotated[str | None, Prose()]
    comments: Comments


class Changed(BaseModel):
    """A task after it was completed or reopened. `already` is true where there was nothing to do."""

    id: Id
    title: Annotated[str | None, Clip(300)]
    list: str
    status: Status
    completed: Moment | None
    next_due: Moment | None
    already: bool | None
    changed_elsewhere: bool | None


class TaskList(BaseModel):
    label: str
    open: int


class TaskLists(BaseModel):
    lists: list[TaskList]
    unavailable: Annotated[list[Unavailable], Notice()] = []
