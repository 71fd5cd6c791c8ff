"""The server that offers the calendar's tools, for one configuration."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from pathlib import Path

from mcp.server.mcpserver import MCPServer

from calendar_server.dtos import policy
from calendar_server.reading import Source
from calendar_server.tools import CalendarTools, shape
from mcpshape import Keyring
from mcpshape.encoders import Encoder, Toon
from mcpshape.mcpserver import attach


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """How one calendar is served."""

    ics: Sequence[Path]
    zone: tzinfo
    me: str = ""
    now: datetime | None = None
    privacy: str | None = None
    toggles: Mapping[str, bool] = field(default_factory=dict)
    encoder: Encoder = field(default_factory=Toon)
    structured: bool | None = None
    secret: bytes | None = field(default=None, repr=False)


def build(config: Config) -> MCPServer:
    """A server with all tools, for one configuration."""
    grant = policy.grant(config.privacy, toggles=config.toggles)
    keyring = Keyring(config.secret) if config.secret else None
    served = shape.using(encoder=config.encoder, grant=grant, structured=config.structured, keyring=keyring)
    source = Source(config.ics, config.zone, config.me)
    tools = CalendarTools(source, lambda: config.now or datetime.now(config.zone))
    server = MCPServer("calendar", instructions=served.instructions(), log_level="WARNING")
    for tool in served.tools.values():
        server.add_tool(tool.bind(tools))
    attach(server, served)
    return server
