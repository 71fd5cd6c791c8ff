"""The sample documents: what is served without a folder of one's own, and what previews show."""

from importlib.resources import files
from math import inf
from pathlib import Path

from search_server.catalogue import Catalogue
from search_server.folders import Folder
from search_server.index import Index

SAMPLE = Folder("harbour", Path(str(files("search_server") / "harbour")))
HANDBOOK = "harbour/handbook.md"


def sample_catalogue() -> Catalogue:
    """The documents of a small harbour."""
    return Catalogue([SAMPLE], Index(), every=inf)
