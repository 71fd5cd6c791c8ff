"""The server that offers the calendar's tools, for one configuration."""

import webbrowser
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from typing import Any

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import MCPServer
from mcp.server.session import ServerSession
from mcp.types import ToolAnnotations

from calendar_server.agenda import Agenda, Progress
from calendar_server.config import OWN_SETTINGS, Config
from calendar_server.feeds import Feed
from calendar_server.tools import CalendarTools, shape
from mcpshape.mcpserver import attach
from mcpshape.settings import follow

PREFIX = "MCPSHAPE_CALENDAR_"
"""How the environment variables of the server begin."""
_TELL_EVERY = 0.5


def build(config: Config) -> MCPServer:
    """A server with all tools, for one configuration.

    What the configuration says goes before environment variables, and these before the settings file.
    """
    said = {
        "level": config.privacy,
        "toggles": dict(config.toggles) or None,
        "format": config.format,
        "structured": config.structured,
    }
    options = {name: value for name, value in said.items() if value is not None}
    served = follow(shape, config.settings, prefix=PREFIX, options=options, others=OWN_SETTINGS)
    agenda = make_agenda(config)
    open_link = webbrowser.open if config.allow_open else None
    tools = CalendarTools(agenda, lambda: _now(config), open_link)
    installed = version("mcpshape-examples")
    server = MCPServer("calendar", version=installed, instructions=served.instructions(), log_level="WARNING")
    for name, tool in served.tools.items():
        reads_only = not (config.allow_open and name == "open_video_meeting")
        hints = ToolAnnotations(read_only_hint=reads_only, destructive_hint=False, open_world_hint=not reads_only)
        server.add_tool(tool.bind(tools), annotations=hints)
    attach(server, served)
    server.middleware.append(Telling(agenda.progress))
    return server


def make_agenda(config: Config) -> Agenda:
    """The calendars of a configuration."""
    feeds = [Feed(each.source, lambda: _now(config), each.every) for each in config.looked()]
    agenda = Agenda(feeds, config.zone, config.owners)
    if config.warm:
        agenda.warm(lambda: _now(config))
    return agenda


def _now(config: Config) -> datetime:
    return config.now or datetime.now(config.zone)


@dataclass(frozen=True, slots=True, eq=False)
class Telling:
    """A middleware that tells whoever waits for a call how far the reading of the calendars is."""

    progress: Progress

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Answer a request; a client that asked for progress hears of it twice a second."""
        if ctx.method != "tools/call":
            return await call_next(ctx)
        result, failure = None, None
        async with anyio.create_task_group() as group:
            group.start_soon(self._tell, ctx.session)
            try:
                result = await call_next(ctx)
            except Exception as error:  # Raised in here, it would reach the client as a group of exceptions.
                failure = error
            group.cancel_scope.cancel()
        if failure is not None:
            raise failure
        return result

    async def _tell(self, session: ServerSession) -> None:
        told = self.progress.steps
        while True:
            await anyio.sleep(_TELL_EVERY)
            # The protocol wants progress that grows.
            if self.progress.steps > told:
                told = self.progress.steps
                await session.report_progress(told, message="Reading the calendars")
