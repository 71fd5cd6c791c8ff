"""Keeps what a source gave: while it is down, the last good reading serves, and says since when."""

import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime
from time import monotonic
from typing import Any, NamedTuple

from calendar_data.components import EVENTS, Kind
from calendar_data.documents import Block, Document, read_document
from calendar_data.names import label_of
from calendar_data.sources import Piece, Reason, Source, SourceError, Tell
from serving.progress import Progress

_LOG = logging.getLogger("calendar_data")
_PATIENCE = 60.0
# Looking takes a small part of the time, however many files there are.
_REST, _LONGEST_REST = 20, 60.0
_CRASHED = "The program that reads it failed; look for a newer version."


class Labelled(NamedTuple):
    """An event as text, and the calendar that it belongs to."""

    label: str
    block: Block


@dataclass(frozen=True, slots=True)
class Outage:
    """A calendar that cannot be read: since when, and when it last could be (`None`: never)."""

    label: str
    reason: Reason
    remedy: str
    since: datetime
    last_read: datetime | None


@dataclass(frozen=True, slots=True)
class _Kept:
    piece: Piece
    document: Document | None
    outage: Outage | None
    read_at: datetime | None

    @property
    def label(self) -> str:
        return self.named(self.document.name if self.document else "")

    def named(self, own: str) -> str:
        """The label of a calendar that calls itself so."""
        return label_of(own, self.piece.label) if self.piece.is_guess else self.piece.label


@dataclass(slots=True, eq=False)
class Feed:
    """A source with its last good reading. It is looked at again after `every` seconds at the earliest."""

    source: Source
    clock: Callable[[], datetime]
    every: float
    kind: Kind = EVENTS
    kept: dict[str, _Kept] = field(default_factory=dict, repr=False)
    outage: Outage | None = None
    read_at: datetime | None = None
    due: float = 0.0

    def is_due(self) -> bool:
        """Whether it is time to look again."""
        return monotonic() >= self.due

    def refresh(self, tell: Tell) -> bool:
        """Look at the source; whether there is anything new. What cannot be read stays as it was."""
        before, began = {name: kept.document for name, kept in self.kept.items()}, monotonic()
        rest = self.every
        try:
            pieces = self.source.pieces(tell)
            rest = min(max(self.every, _REST * (monotonic() - began)), _LONGEST_REST) if self.every else 0
            self.kept = dict(self._keep(pieces, tell))
            self.outage, self.read_at = None, self.clock()
        except Exception as error:  # A source that crashes must not silence the others.
            told = error if isinstance(error, SourceError) else SourceError("unreadable", _CRASHED)
            self.outage = self._out(self.source.label, told, self.outage, self.read_at)
        finally:
            self.due = monotonic() + rest
        return before != {name: kept.document for name, kept in self.kept.items()}

    def labelled(self) -> Iterator[Labelled]:
        """All that the last good reading has, each with its calendar."""
        for _, labelled in self.pieces():
            yield from labelled

    def pieces(self) -> Iterator[tuple[Piece, list[Labelled]]]:
        """The pieces of the last good reading with what is in them."""
        for kept in self.kept.values():
            blocks = kept.document.blocks if kept.document else ()
            around = kept.document.name if kept.document else ""
            labels = {own: kept.named(own or around) for own in {block.header.name for block in blocks}}
            yield kept.piece, [Labelled(labels[block.header.name], block) for block in blocks]

    def outages(self) -> list[Outage]:
        """What cannot be read now: the source, or some of its pieces, one for each calendar."""
        if self.outage:
            return [self.outage]
        found = [kept.outage for kept in self.kept.values() if kept.outage]
        return list({each.label: each for each in reversed(found)}.values())

    def labels(self) -> list[str]:
        """The calendars in it; the label of the source where none is known."""
        found = dict.fromkeys(each.label for each in self.labelled())
        return list(found or dict.fromkeys(kept.label for kept in self.kept.values())) or [self.source.label]

    def _keep(self, pieces: Any, tell: Tell) -> Iterator[tuple[str, _Kept]]:
        until = monotonic() + _PATIENCE
        for place, piece in enumerate(pieces):
            known = self.kept.get(piece.name)
            if known and known.piece.state == piece.state and known.piece.label == piece.label:
                yield piece.name, known
                continue
            if monotonic() > until:
                raise SourceError("too_slow", "Split it into calendars with fewer events.")
            tell(place, len(pieces))
            yield piece.name, self._read(piece, known)

    def _read(self, piece: Piece, known: _Kept | None) -> _Kept:
        try:
            document = read_document(piece.load(), self.kind.component)
        except SourceError as error:
            kept = known or _Kept(piece, None, None, None)
            # The state is that of the broken piece: it is tried again when it changes.
            return replace(kept, piece=piece, outage=self._out(kept.label, error, kept.outage, kept.read_at))
        kept = _Kept(piece, document, None, self.clock())
        if document.left_out:
            _LOG.warning(
                "%s: skipped %s without an end or too large, %d times", kept.label, self.kind.one, document.left_out
            )
        return kept

    def _out(self, label: str, error: SourceError, known: Outage | None, read_at: datetime | None) -> Outage:
        if known is None or known.reason != error.reason:
            _LOG.warning("%s: cannot be read (%s). %s", label, error.reason, error.remedy)
        return Outage(label, error.reason, error.remedy, known.since if known else self.clock(), read_at)


@dataclass(frozen=True, slots=True)
class Feeds:
    """Several sources, which are looked at beside each other."""

    members: Sequence[Feed]
    progress: Progress = field(default_factory=Progress)

    def __iter__(self) -> Iterator[Feed]:
        return iter(self.members)

    def refresh(self) -> bool:
        """Look at all that are due; whether there is anything new."""
        due = [feed for feed in self if feed.is_due()]
        match due:
            case []:
                return False
            case [feed]:
                return feed.refresh(self.progress.tell)
        with ThreadPoolExecutor(len(due)) as pool:
            return any(list(pool.map(lambda feed: feed.refresh(self.progress.tell), due)))

    def outages(self) -> list[Outage]:
        """The calendars that cannot be read now."""
        return [outage for feed in self for outage in feed.outages()]

    def labels(self) -> list[str]:
        """The labels of all calendars."""
        return sorted({label for feed in self for label in feed.labels()})
