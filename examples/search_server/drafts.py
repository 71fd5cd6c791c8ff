"""A document as it is written into an index: read, decoded, and cut into passages with their words."""

from bisect import bisect_right
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import NamedTuple

from search_server.decoding import BinaryError, decode
from search_server.extracts import Extract
from search_server.folders import File, ReadError, read
from search_server.markdown import read_markdown
from search_server.markup import read_html
from search_server.passages import cut
from search_server.words import is_visible, words_of

_LONGEST_TITLE, _LONGEST_HEADING = 500, 300


class Passage(NamedTuple):
    """A piece of a document, the heading that it stands under, and its words with spaces between."""

    heading: str | None
    text: str
    words: str
    is_front: bool


@dataclass(frozen=True, slots=True)
class Draft:
    """A document that was read."""

    file: File
    state: str
    title: str
    passages: list[Passage]
    undecodable: int

    @property
    def length(self) -> int:
        """Its characters."""
        return sum(len(passage.text) for passage in self.passages)


def draft(file: File) -> Draft:
    """Read a document.

    Raises:
        ReadError: It cannot be read.
    """
    data, state = read(file)
    try:
        decoded = decode(data, is_html=file.format == "html", fallback=file.folder.encoding)
    except BinaryError as error:
        raise ReadError("binary") from error
    found = _extract(file, decoded.text)
    return Draft(file, state, _title(file, found), _passages(found), decoded.undecodable)


def _extract(file: File, text: str) -> Extract:
    match file.format:
        case "markdown":
            return read_markdown(text)
        case "html":
            return read_html(text)
        case "text":
            return Extract(None, text, [])


def _title(file: File, found: Extract) -> str:
    title = (found.title or "")[:_LONGEST_TITLE]
    path = PurePosixPath(file.path)
    return next(filter(is_visible, (title, path.stem)), path.name)


def _passages(found: Extract) -> list[Passage]:
    starts = [heading.at for heading in found.headings]
    passages = []
    for begin, end in [*cut(found.text[: found.body]), *cut(found.text, starts, found.body)]:
        above = bisect_right(starts, begin)
        heading = found.headings[above - 1].text[:_LONGEST_HEADING] if above else ""
        text = found.text[begin:end]
        words = " ".join(words_of(text))
        passages.append(Passage(heading if is_visible(heading) else None, text, words, end <= found.body))
    return passages
