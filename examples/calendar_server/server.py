"""The server that offers the calendar's tools, for one configuration."""

import webbrowser
from datetime import datetime

from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations

from calendar_data.feeds import Feed
from calendar_server.agenda import Agenda
from calendar_server.config import OWN_SETTINGS, Config
from calendar_server.tools import CalendarTools, shape
from serving.assembly import READS_ONLY, assemble
from serving.progress import Telling

PREFIX = "MCPSHAPE_CALENDAR_"
"""How the environment variables of the server begin."""
_OPENS = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=True)


def build(config: Config) -> MCPServer:
    """A server with all tools, for one configuration.

    What the configuration says goes before environment variables, and these before the settings file.
    """
    agenda = make_agenda(config)
    open_link = webbrowser.open if config.allow_open else None
    server = assemble(
        "calendar",
        shape,
        CalendarTools(agenda, lambda: _now(config), open_link),
        prefix=PREFIX,
        settings=config.settings,
        own=OWN_SETTINGS,
        options={
            "level": config.privacy,
            "toggles": dict(config.toggles) or None,
            "format": config.format,
            "structured": config.structured,
        },
        hints=lambda name: _OPENS if config.allow_open and name == "open_video_meeting" else READS_ONLY,
    )
    server.middleware.append(Telling(agenda.feeds.progress, "Reading the calendars"))
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
