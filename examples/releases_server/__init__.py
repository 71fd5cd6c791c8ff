"""App Store releases as an MCP server: what App Store Connect has, and what fastlane drafts would change."""

from releases_server.config import Config
from releases_server.server import build
from releases_server.tools import shape

__all__ = ["Config", "build", "shape"]
