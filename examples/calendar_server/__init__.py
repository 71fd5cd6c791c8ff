"""A calendar as an MCP server, with four privacy levels."""

from calendar_server.server import Config, build
from calendar_server.tools import shape

__all__ = ["Config", "build", "shape"]
