"""What a model may ask about tasks, and what it may do with them."""

from collections.abc import Callable
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import Field

from mcpshape import Chars, Handle, Shape
from mcpshape.encoders import Toon
from tasks_server.board import Board, Filed
from tasks_server.dtos import Changed, Task, TaskLists, Tasks
from tasks_server.rows import (
    Kin,
    has_text,
    in_order,
    is_due_by,
    make_changed,
    make_lists,
    make_row,
    make_task,
    make_unavailable,
)
from tasks_server.samples import BREAD, CHAIN, REPORT, sample_board, sample_id

_BUDGET = Chars(8000)

shape = Shape(encoder=Toon())

TaskId = Annotated[str, Handle("task", among=lambda tools: tools.task_ids())]
Label = Annotated[str | None, Field(description="Only what is in the list with this label.")]
Text = Annotated[str | None, Field(description="Only what has this text in title, notes, comments, tags or location.")]
Wanted = Literal["open", "completed", "all"]
By = Annotated[date | None, Field(description="Only what is due on this day or before it.")]


def sampled(tool: str, uid: str | None = None) -> Callable[[], Any]:
    """What a tool returns for the sample lists, or for one task in them."""

    def made() -> Any:
        with sample_board() as board:
            arguments = {"task_id": sample_id(board, uid)} if uid else {}
            return shape.tools[tool].function(TaskTools(board), **arguments)

    return made


class TaskTools:
    """The tools of one board of tasks."""

    def __init__(self, board: Board) -> None:
        self._board = board

    @shape.tool(
        ask={"format", "limit"},
        page="tasks",
        budget=_BUDGET,
        empty="No {entries} means that nothing matches. Ask with status all before you say that there is no such task.",
        example=sampled("list_tasks"),
    )
    def list_tasks(
        self,
        status: Wanted = "open",
        list_label: Label = None,
        due_by: By = None,
        text: Text = None,
        overdue_only: bool = False,
    ) -> Tasks:
        """List tasks, one {entry} per task: open ones by when they are due, then those that are done, the last first.

        Of a task that repeats the next occurrence is listed; missed says when the one before it was due, if it was not
        done. A date has no time of the day. Where has_notes is true, get_task has notes or comments.
        """
        listed = self._board.listed()
        kin = Kin(listed)
        found = (each for each in listed if status == "all" or each.task.is_over == (status == "completed"))
        if list_label is not None:
            found = (each for each in found if each.list == list_label)
        if due_by is not None:
            found = (each for each in found if is_due_by(each.task, due_by, self._board.zone))
        if text is not None:
            found = (each for each in found if has_text(each.task, text))
        if overdue_only:
            found = (each for each in found if self._is_overdue(each))
        return Tasks(
            tasks=[make_row(each, kin, self._board) for each in in_order(found, self._board.zone)],
            unavailable=make_unavailable(self._board.outages()),
        )

    @shape.tool(ask={"format"}, page="subtasks", limit=100, example=sampled("get_task", BREAD))
    def get_task(self, task_id: TaskId) -> Task:
        """Get one task with its notes and comments whole, as they were written, by an id from another answer.

        Very many subtasks come in pages.
        """
        return make_task(self._board.find(task_id), Kin(self._board.listed()), self._board)

    @shape.tool(ask={"format"}, example=sampled("complete_task", CHAIN))
    def complete_task(self, task_id: TaskId) -> Changed:
        """Complete a task, by an id from another answer. Its subtasks stay as they are.

        Of a task that repeats the occurrence with this id is completed; next_due says when the next one is due. With
        already true, it was completed before, at the time in completed.
        """
        return make_changed(self._board.change(task_id, "completed"), self._board)

    @shape.tool(ask={"format"}, example=sampled("reopen_task", REPORT))
    def reopen_task(self, task_id: TaskId) -> Changed:
        """Open a task again that was completed or cancelled, by an id from another answer.

        With already true, it was open before.
        """
        return make_changed(self._board.change(task_id, "open"), self._board)

    @shape.tool(
        ask={"format"},
        empty="No {entries} means that this server has been given no lists.",
        example=sampled("list_task_lists"),
    )
    def list_task_lists(self) -> TaskLists:
        """List the labels of all task lists, for the argument list_label, each with the number of its open tasks."""
        lists = make_lists(self._board.labels(), self._board.listed())
        return TaskLists(lists=lists, unavailable=make_unavailable(self._board.outages()))

    def task_ids(self) -> list[str]:
        """The ids that a model may ask for."""
        return [filed.identity for filed in self._board.all()]

    def _is_overdue(self, filed: Filed) -> bool:
        return filed.task.is_overdue(self._board.now(), self._board.zone)
