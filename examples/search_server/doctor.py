"""Reads every folder, and shows what a host would see of the documents."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from search_server.catalogue import Catalogue
from search_server.config import Config
from search_server.folders import LARGEST, MOST, ReadError, files
from search_server.server import build, make_catalogue
from search_server.update import Gap
from search_server.words import words_of
from serving.arguments import resolved
from serving.doctor import Doctor, Line, Question
from serving.progress import Progress

_REMEDIES = {
    "missing": "Check that the folder is there and may be read.",
    "unreadable": "Check that it may be read.",
    "too_large": f"Split it into documents under {LARGEST // 2**20} MB.",
    "too_many": f"Keep a folder under {MOST:,} documents.",
    "binary": "It is no text; save it as UTF-8.",
    "not_yet_read": "Ask again.",
    "index_full": "Make room on the disk of the index, or set a greater index_mb.",
    "index_failed": "Name another file for the index.",
}


def examine(config: Config, arguments: Sequence[str]) -> int:
    """Print all that is to be known before the server is used; 1 where a document cannot be read, else 0."""
    config = replace(config, warm=False, patience=None)
    catalogue = make_catalogue(replace(config, index=None), Progress())
    doctor = Doctor(
        name="search",
        command="mcpshape-search",
        module="search_server.cli",
        build=lambda: build(config),
        questions=[Question("search_content", {"query": _word(config), "limit": 3})],
        heading="Folders",
        read=lambda: list(_lines(catalogue)),
    )
    return doctor.examine(resolved(arguments, ("--docs", "--config", "--index")))


def _word(config: Config) -> str:
    """A word that some document has: one of the name of the first."""
    for folder in config.folders:
        with suppress(ReadError):
            for file in files(folder, lambda _identity, _reason: None):
                return max(words_of(file.place), key=len)
    return "document"


def _lines(catalogue: Catalogue) -> Iterator[Line]:
    catalogue.look()
    counts = Counter(name.partition("/")[0] for name in catalogue.identities())
    for folder in catalogue.folders:
        gaps = [gap for gap in catalogue.gaps() if gap.folder == folder.label]
        if not any(gap.reason == "missing" for gap in gaps):
            count = counts[folder.label]
            yield Line(folder.label, "ok", f"{count} document{'' if count == 1 else 's'}")
        yield from map(_line, gaps)


def _line(gap: Gap) -> Line:
    more = f" and {gap.documents - 1} more" if gap.documents and gap.documents > 1 else ""
    return Line(f"{gap.example or gap.folder}{more}", gap.reason, _REMEDIES[gap.reason])
