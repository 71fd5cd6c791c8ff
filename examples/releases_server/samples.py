"""The sample account: what is served without a store of one's own, and what previews show."""

from importlib.resources import files
from pathlib import Path

from releases_server.choice import Folder
from releases_server.pulled import Pulled
from releases_server.store import Store

_SAMPLE = Path(str(files("releases_server") / "sample"))
LUMEN = "com.example.lumen"


def sample_pulled() -> Pulled:
    """Two apps as App Store Connect tells them."""
    return Pulled(Store(_SAMPLE / "store"), is_index_kept=False)


def sample_folders() -> tuple[Folder, ...]:
    """The metadata folder of one of them."""
    return (Folder(LUMEN, _SAMPLE / "metadata"),)
