"""A folder of documents as an MCP server: searched in SQLite FTS5, read in pages."""

from search_server.config import Config
from search_server.server import build
from search_server.tools import shape

__all__ = ["Config", "build", "shape"]
