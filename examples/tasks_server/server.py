"""The server that offers the tools for tasks, for one configuration."""

from datetime import datetime

from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations

from calendar_data.components import TASKS
from calendar_data.feeds import Feed
from serving.assembly import READS_ONLY, assemble
from serving.progress import Telling
from tasks_server.board import Board
from tasks_server.config import OWN_SETTINGS, Config
from tasks_server.tools import TaskTools, shape

PREFIX = "MCPSHAPE_TASKS_"
"""How the environment variables of the server begin."""
_CHANGES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
_CHANGING = frozenset({"complete_task", "reopen_task"})


def build(config: Config) -> MCPServer:
    """A server with all tools, for one configuration.

    What the configuration says goes before environment variables, and these before the settings file.
    """
    board = make_board(config)
    server = assemble(
        "tasks",
        shape,
        TaskTools(board),
        prefix=PREFIX,
        settings=config.settings,
        own=OWN_SETTINGS,
        options={"format": config.format, "structured": config.structured},
        hints=lambda name: _CHANGES if name in _CHANGING else READS_ONLY,
    )
    server.middleware.append(Telling(board.feeds.progress, "Reading the lists"))
    return server


def make_board(config: Config) -> Board:
    """The lists of a configuration."""

    def now() -> datetime:
        return config.now or datetime.now(config.zone)

    return Board([Feed(each.source, now, each.every, TASKS) for each in config.looked()], config.zone, now)
