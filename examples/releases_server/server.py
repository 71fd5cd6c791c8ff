"""The server that offers the tools about releases, for one configuration."""

from mcp.server.mcpserver import MCPServer

from releases_server.config import OWN_SETTINGS, Config
from releases_server.tools import ReleaseTools, shape
from serving.assembly import assemble

PREFIX = "MCPSHAPE_RELEASES_"
"""How the environment variables of the server begin."""


def build(config: Config) -> MCPServer:
    """A server with all tools, for one configuration.

    What the configuration says goes before environment variables, and these before the settings file.
    """
    return assemble(
        "releases",
        shape,
        ReleaseTools(config.pulled, config.known_folders),
        prefix=PREFIX,
        settings=config.settings,
        own=OWN_SETTINGS,
        options={"format": config.format, "structured": config.structured},
    )
