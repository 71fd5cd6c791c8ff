"""Takes iCalendar data (RFC 5545) apart into its events, without reading more of them than when they may be."""

import codecs
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from hashlib import blake2b

from icalendar import vDuration

from calendar_server.sources import SourceError

# A line can be folded between the bytes of one character, so lines are joined before they are decoded.
_FOLD = re.compile(rb"\n+[ \t]")
_EDGE = re.compile(r"^(BEGIN|END):([\w-]+)[ \t]*\n", re.MULTILINE | re.IGNORECASE)
_TELLING = re.compile(
    r"^(UID|DTSTART|DTEND|DURATION|RRULE|RDATE|RECURRENCE-ID)(?:;[^:\n]*)?:(.*)$", re.MULTILINE | re.IGNORECASE
)
# Whoever cannot tell what a line about privacy says has to take it for the strictest (3.8.1.3: unknown is PRIVATE).
_GUARDED = re.compile(
    r"^(?:CLASS|X-CALENDARSERVER-ACCESS)\b(?!(?:;[^:\n]*)?:[ \t]*PUBLIC[ \t]*$)", re.MULTILINE | re.IGNORECASE
)
_PROPERTY = re.compile(r"^(X-WR-CALNAME|NAME|X-WR-TIMEZONE|CALSCALE)(?:;[^:\n]*)?:(.*)$", re.MULTILINE | re.IGNORECASE)
_ZONE = re.compile(r"^TZID(?:;[^:\n]*)?:(.*)$", re.MULTILINE | re.IGNORECASE)
# What changes whenever a calendar is exported says nothing of which event it is.
_VOLATILE = re.compile(r"^(?:DTSTAMP|CREATED|LAST-MODIFIED|SEQUENCE)[^\n]*\n", re.MULTILINE | re.IGNORECASE)
_duration: Callable[[str], timedelta] = vDuration.from_ical
_DATE = re.compile(r"\d{8}(?!\d)")
# Bytes that are no UTF-8 are what Windows writes (cp1252), where that knows them.
_FOREIGN = {0xDC00 + byte: bytes([byte]).decode("cp1252", "replace") for byte in range(0x80, 0x100)}

LARGEST = 64 * 2**20
"""The most bytes that one piece may have."""
LARGEST_EVENT = 8 * 2**20
"""The most characters that one event may have."""
_ZONES_DIFFER = timedelta(days=2)
_LONGEST = timedelta(days=100)
_BROKEN = "Export it again as .ics."


@dataclass(frozen=True, slots=True)
class Header:
    """What the events of one VCALENDAR share: its name, its zone where it has one, and the zones that it defines."""

    name: str = ""
    zone: str = ""
    zones: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    is_private: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """One VEVENT as text. `days` are the first and last day on which it can be; `None` where that takes reading it."""

    header: Header = field(repr=False)
    uid: str = field(repr=False)
    text: str = field(repr=False)
    days: tuple[date, date] | None
    is_private: bool


@dataclass(frozen=True, slots=True)
class Document:
    """The events of one piece, and how many of them are broken or too large to be among them."""

    blocks: tuple[Block, ...]
    name: str
    left_out: int


def read_document(content: bytes) -> Document:
    """The events in some data, of one VCALENDAR or of several.

    Raises:
        SourceError: It is too large, or holds no whole calendar.
    """
    if len(content) > LARGEST:
        raise SourceError("too_large", f"Keep it under {LARGEST // 2**20} MB; archive what is long past.")
    calendars = list(_calendars(_decode(content)))
    if not calendars:
        raise SourceError("unreadable", _BROKEN)
    read = [_blocks(header, events) for header, events in calendars]
    blocks = tuple(block for each, _ in read for block in each)
    named = next((header.name for header, _ in calendars if header.name), "")
    return Document(blocks, named, sum(left_out for _, left_out in read))


def _decode(content: bytes) -> str:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        content = content.decode("utf-16", "replace").encode()
    lines = content.removeprefix(codecs.BOM_UTF8).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    text = _FOLD.sub(b"", lines).decode("utf-8", "surrogateescape").translate(_FOREIGN)
    return text if text.endswith("\n") else text + "\n"


@dataclass(slots=True)
class _Open:
    """A VCALENDAR that is being read: `stack` holds the components that are open in it."""

    properties: list[str] = field(default_factory=list)
    zones: list[str] = field(default_factory=list)
    events: list[str | None] = field(default_factory=list)
    stack: list[str] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)

    def take(self, lines: str) -> None:
        """Lines between two edges; those of an alarm in an event are left out."""
        if not self.stack:
            self.properties.append(lines)
        elif self.stack == ["VEVENT"] or self.stack[0] == "VTIMEZONE":
            self.parts.append(lines)

    def begin(self, name: str) -> None:
        if name == "VEVENT":
            self.leave()
        if not self.stack:
            self.parts = []
        self.stack.append(name)
        self._mark("BEGIN", name)

    def end(self, name: str) -> None:
        if name not in self.stack:
            return
        self._mark("END", name)
        del self.stack[self.stack.index(name) :]
        if not self.stack and name == "VEVENT":
            self.events.append("".join(self.parts))
        elif not self.stack and name == "VTIMEZONE":
            self.zones.append("".join(self.parts))

    def leave(self) -> None:
        """What was open has no end."""
        self.events += [None] if "VEVENT" in self.stack else []
        self.stack = []

    def header(self) -> Header:
        """What all events of the calendar share.

        Raises:
            SourceError: It is not Gregorian.
        """
        properties = "".join(self.properties)
        found = {match[1].upper(): match[2].strip() for match in _PROPERTY.finditer(properties)}
        if found.get("CALSCALE", "GREGORIAN").upper() != "GREGORIAN":
            raise SourceError("unreadable", "Only Gregorian calendars can be read.")
        zones = tuple((match[1].strip(), zone) for zone in self.zones if (match := _ZONE.search(zone)))
        name = found.get("X-WR-CALNAME") or found.get("NAME") or ""
        return Header(_unescaped(name), found.get("X-WR-TIMEZONE", ""), zones, bool(_GUARDED.search(properties)))

    def _mark(self, edge: str, name: str) -> None:
        if self.stack[0] == "VTIMEZONE":
            self.parts.append(f"{edge}:{name}\n")


def _calendars(text: str) -> Iterator[tuple[Header, list[str | None]]]:
    """The header of each VCALENDAR and its events; `None` is one without an end.

    Raises:
        SourceError: A calendar has no end, as in a file that is still being written, or is not Gregorian.
    """
    calendar: _Open | None = None
    place = 0
    for edge in _EDGE.finditer(text):
        lines, place = text[place : edge.start()], edge.end()
        is_begin, name = edge[1].upper() == "BEGIN", edge[2].upper()
        if calendar is None:
            calendar = _Open() if is_begin and name == "VCALENDAR" else None
            continue
        calendar.take(lines)
        if name == "VCALENDAR":
            if is_begin:
                break
            calendar.leave()
            yield calendar.header(), calendar.events
            calendar = None
        elif is_begin:
            calendar.begin(name)
        else:
            calendar.end(name)
    if calendar is not None:
        raise SourceError("unreadable", _BROKEN)


def _blocks(header: Header, events: list[str | None]) -> tuple[list[Block], int]:
    whole = [event for event in events if event is not None and len(event) <= LARGEST_EVENT]
    return [_block(header, event) for event in whole], len(events) - len(whole)


def _block(header: Header, own: str) -> Block:
    found: dict[str, list[str]] = {}
    for match in _TELLING.finditer(own):
        found.setdefault(match[1].upper(), []).append(match[2].strip())
    uid = next(filter(None, found.get("UID", ())), "") or _made_up(own)
    is_private = header.is_private or bool(_GUARDED.search(own))
    return Block(header, uid, f"BEGIN:VEVENT\n{own}END:VEVENT\n", _days(found), is_private)


def _made_up(own: str) -> str:
    """What an event without a UID is known by: it stays while the event does, and holds nothing of it."""
    return blake2b(_VOLATILE.sub("", own).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _days(found: dict[str, list[str]]) -> tuple[date, date] | None:
    """The days on which an event that is there once can be, wherever its zone and the reader's are."""
    if found.keys() & {"RRULE", "RDATE", "RECURRENCE-ID"} or len(found.get("DTSTART", ())) != 1:
        return None
    try:
        start = _day(found["DTSTART"][0])
        end = _day(found["DTEND"][0]) if "DTEND" in found else start
        length: timedelta = _duration(found["DURATION"][0]) if "DURATION" in found else timedelta()
        first, last = sorted((start, end + length))
        return (first - _ZONES_DIFFER, last + _ZONES_DIFFER) if last - first < _LONGEST else None
    except (ValueError, OverflowError):
        return None


def _day(value: str) -> date:
    if not _DATE.match(value):
        raise ValueError(value)
    return date(int(value[:4]), int(value[4:6]), int(value[6:8]))


def _unescaped(text: str) -> str:
    """A value of the type TEXT (RFC 5545, 3.3.11) on one line."""
    return re.sub(r"\\(.)", lambda match: " " if match[1] in "nN" else match[1], text)
