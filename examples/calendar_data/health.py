"""What is to be said of a source at a terminal, and whether a server may start with it."""

from collections.abc import Iterator, Sequence

from calendar_data.accounts import Looked
from calendar_data.components import Kind
from calendar_data.documents import read_document
from calendar_data.feeds import Feed
from calendar_data.files import Files
from calendar_data.sources import SourceError
from serving.command import UnusableError
from serving.doctor import Line


def feed_lines(feed: Feed, noun: str) -> Iterator[Line]:
    """Each calendar of a source with the number of things in it, and what cannot be read."""
    out = {outage.label: outage for outage in feed.outages()}
    blocks: dict[str, int] = dict.fromkeys(feed.labels(), 0)
    for label, _ in feed.labelled():
        blocks[label] += 1
    for label, count in blocks.items():
        if label not in out:
            yield Line(label, "ok", f"{count} {noun}{'' if count == 1 else 's'}")
    for outage in out.values():
        yield Line(outage.label, outage.reason, outage.remedy)


def require_readable(looked: Sequence[Looked], kind: Kind) -> None:
    """Stop where nothing but files is served and none of them can be read: an empty answer would say: nothing there.

    Raises:
        UnusableError: Why the last of them cannot be.
    """
    failure: SourceError | None = None
    for source in (each.source for each in looked):
        if not isinstance(source, Files) or source.path.is_dir():
            return
        try:
            for piece in source.pieces(lambda _done, _total: None):
                read_document(piece.load(), kind.component)
        except SourceError as error:
            failure = error
        else:
            return
    if failure:
        raise UnusableError(f"none of the files can be read ({failure.reason}). {failure.remedy}")
