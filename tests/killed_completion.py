"""Completes a task again and again, and dies each time at another point, as a process does that gets `kill -9`.

A point is a line of the code that changes and writes, or anything that Python asks of the system (an audit event).
Prints what is left, as JSON: how often the old file, how often the new one, and after which points something else.
"""

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from calendar_data.components import TASKS
from calendar_data.feeds import Feed
from calendar_data.files import Files
from task_data import BERLIN, NOW
from tasks_server.board import Board
from tasks_server.tools import TaskTools, shape

_WRITING = frozenset(
    {
        "calendar_data.editing",
        "calendar_data.files",
        "serving.whole_files",
        "tasks_server.board",
        "tasks_server.completion",
        "tasks_server.tools",
    }
)
_EVERY = 20


class Points:
    """Counts the points that are passed, and calls something at one of them."""

    def __init__(self, at: int | None, reached: Callable[[], None]) -> None:
        self.passed, self._at, self._reached = 0, at, reached
        self._is_on = False

    def run(self, work: Callable[[], object]) -> None:
        sys.addaudithook(self._audit)
        self._is_on = True
        sys.settrace(self._trace)
        try:
            work()
        finally:
            sys.settrace(None)
            self._is_on = False

    def _pass(self) -> None:
        self.passed += 1
        if self.passed == self._at:
            self._reached()

    def _audit(self, event: str, _args: Any) -> None:
        if self._is_on and event.partition(".")[0] in {"open", "os", "fcntl", "shutil"}:
            self._pass()

    def _trace(self, frame: Any, event: str, _arg: Any) -> Any:
        if event == "call":
            return self._trace if frame.f_globals.get("__name__") in _WRITING else None
        if event == "line":
            self._pass()
        return self._trace


def complete(path: Path) -> None:
    tools = TaskTools(Board([Feed(Files(path), lambda: NOW, 0.0, TASKS)], BERLIN, lambda: NOW))
    (task,) = (each for each in tools.task_ids() if "'chosen'" in each)
    shape.tools["complete_task"].function(tools, task)


def in_child(work: Callable[[], object]) -> int:
    """How a process ends that does something: with 0, or with the signal that killed it."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 1
    try:
        work()
        code = 0
    finally:
        os._exit(code)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def main(original: Path) -> None:
    path = original.with_name("served.ics")
    old = original.read_bytes()
    shutil.copy(original, path)
    complete(path)  # What is loaded once is not there to be counted.
    shutil.copy(original, path)
    counted = Points(None, die)
    counted.run(partial(complete, path))
    new = path.read_bytes()
    left: dict[str, Any] = {"points": counted.passed, "old": 0, "new": 0, "broken": [], "stuck": [], "left_over": set()}
    for point in range(1, counted.passed + 1):
        path.write_bytes(old)
        ended = in_child(partial(Points(point, die).run, partial(complete, path)))
        content = path.read_bytes()
        if ended != -signal.SIGKILL or content not in {old, new}:
            left["broken"].append(point)
            continue
        left["new" if content == new else "old"] += 1
        # Whoever comes next is not kept away by what was left.
        if point % _EVERY == 0 or Path(path.parent, ".served.ics.new").exists():
            if in_child(partial(complete, path)) or path.read_bytes() != new:
                left["stuck"].append(point)
            left["left_over"] |= {each.name for each in path.parent.iterdir()}
    print(json.dumps({**left, "left_over": sorted(left["left_over"] - {original.name, path.name})}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
