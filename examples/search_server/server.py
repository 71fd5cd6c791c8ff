"""The server that offers the search, for one configuration."""

from mcp.server.mcpserver import MCPServer

from search_server.catalogue import Catalogue
from search_server.config import OWN_SETTINGS, Config
from search_server.index import Index
from search_server.tools import SearchTools, shape
from serving.assembly import assemble
from serving.progress import Progress, Telling

PREFIX = "MCPSHAPE_SEARCH_"
"""How the environment variables of the server begin."""


def build(config: Config) -> MCPServer:
    """A server with all tools, for one configuration.

    What the configuration says goes before environment variables, and these before the settings file.

    Raises:
        DefinitionError: The settings are broken.
        ForeignFileError: The file for the index is something else.
    """
    progress = Progress()
    server = assemble(
        "search",
        shape,
        SearchTools(make_catalogue(config, progress)),
        prefix=PREFIX,
        settings=config.settings,
        own=OWN_SETTINGS,
        options={"format": config.format, "structured": config.structured},
    )
    server.middleware.append(Telling(progress, "Reading the documents"))
    return server


def make_catalogue(config: Config, progress: Progress) -> Catalogue:
    """The documents of a configuration."""
    index = Index(config.index, most_pages=config.most_pages)
    catalogue = Catalogue(config.folders, index, every=config.every, patience=config.patience, tell=progress.tell)
    if config.warm:
        catalogue.begin()
    return catalogue
