"""The sample lists: what is served without a list of one's own, and what previews show."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from importlib.resources import files
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from zoneinfo import ZoneInfo

from calendar_data.components import TASKS
from calendar_data.feeds import Feed
from calendar_data.files import Files
from tasks_server.board import Board

SAMPLE = Path(str(files("tasks_server") / "sample.ics"))
ZONE = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 7, 13, 10, 20, tzinfo=ZONE)
BREAD, CHAIN, REPORT = (f"{name}@tasks.example.com" for name in ("bread-5c1", "chain-77e", "report-20f"))


@contextmanager
def sample_file() -> Iterator[Path]:
    """A copy of the sample lists that may be changed; it goes with the block."""
    with TemporaryDirectory() as folder:
        yield Path(shutil.copy(SAMPLE, folder))


@contextmanager
def sample_board() -> Iterator[Board]:
    """The tasks of a copy of the sample lists."""
    with sample_file() as path:
        yield Board([Feed(Files(path), lambda: NOW, inf, TASKS)], ZONE, lambda: NOW)


def sample_id(board: Board, uid: str) -> str:
    """What a tool is given for one of the tasks."""
    return next(filed.identity for filed in board.all() if filed.task.block.uid == uid)
