"""Task lists as an MCP server: prose in two formats, and changes that lose nothing."""

from tasks_server.config import Config
from tasks_server.server import build
from tasks_server.tools import shape

__all__ = ["Config", "build", "shape"]
