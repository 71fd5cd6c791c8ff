"""The server that offers the calendar's tools, for one configuration."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from pathlib import Path

from mcp.server.mcpserver import MCPServer

from calendar_server.reading import Source
from calendar_server.tools import CalendarTools, shape
from mcpshape.mcpserver import attach
from mcpshape.settings import follow

PREFIX = "MCPSHAPE_CALENDAR_"
"""How the environment variables of the server begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """How one calendar is served."""

    ics: Sequence[Path]
    zone: tzinfo
    me: str = ""
    now: datetime | None = None
    settings: Path | None = None
    privacy: str | None = None
    toggles: Mapping[str, bool] = field(default_factory=dict)
    format: str | None = None
    structured: bool | None = None


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
    served = follow(shape, config.settings, prefix=PREFIX, options=options)
    source = Source(config.ics, config.zone, config.me)
    tools = CalendarTools(source, lambda: config.now or datetime.now(config.zone))
    server = MCPServer("calendar", instructions=served.instructions(), log_level="WARNING")
    for tool in served.tools.values():
        server.add_tool(tool.bind(tools))
    attach(server, served)
    return server
