"""A calendar as an MCP server, with four privacy levels."""

from calendar_server.config import Config
from calendar_server.server import build
from calendar_server.tools import shape

__all__ = ["Config", "build", "shape"]
