"""A calendar as an MCP server, with four privacy levels."""

from calendar_server.server import Config, build, shape

__all__ = ["Config", "build", "shape"]
