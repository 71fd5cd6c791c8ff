"""Checks every list, and shows what a host would see of them."""

from collections.abc import Sequence

from calendar_data.health import feed_lines
from serving.arguments import resolved
from serving.doctor import Doctor, Line, Question
from tasks_server.config import Config
from tasks_server.server import build, make_board


def examine(config: Config, arguments: Sequence[str]) -> int:
    """Print all that is to be known before the server is used; 1 where a list cannot be read, else 0."""
    doctor = Doctor(
        name="tasks",
        command="mcpshape-tasks",
        module="tasks_server.cli",
        build=lambda: build(config),
        questions=[Question("list_task_lists", {}), Question("list_tasks", {})],
        heading="Lists",
        read=lambda: _read(config),
    )
    return doctor.examine(resolved(arguments, ("--ics", "--config")))


def _read(config: Config) -> list[Line]:
    board = make_board(config)
    board.all()
    return [line for feed in board.feeds for line in feed_lines(feed, "task")]
