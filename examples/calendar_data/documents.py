"""Takes iCalendar data (RFC 5545) apart into its events or tasks, without reading more than when they may be."""

import codecs
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from hashlib import blake2b
from itertools import pairwise
from zoneinfo import available_timezones

from icalendar import vDuration

from calendar_data.sources import SourceError

# A line can be folded between the bytes of one character, so lines are joined before they are decoded.
# Each run of line ends is looked at once, however long it is.
_FOLD = re.compile(rb"(?<!\n)\n+[ \t]")
_END = re.compile(rb"\r\n|\r|\n")
_ENDS = re.compile(rb"((?:\r\n|\r|\n)+)([ \t]?)")
_EDGE = re.compile(r"^(BEGIN|END):([\w-]+)[ \t]*\n", re.MULTILINE | re.IGNORECASE)
_TELLING = re.compile(
    r"^(UID|DTSTART|DTEND|DURATION|RRULE|RDATE|RECURRENCE-ID)(?:;[^:\n]*)?:(.*)$", re.MULTILINE | re.IGNORECASE
)
# Whoever cannot tell what a line about privacy says has to take it for the strictest (3.8.1.3: unknown is PRIVATE).
_GUARDED = re.compile(
    r"^[^\S\n]*(?:[\w-]+\.)?(?:CLASS|X-CALENDARSERVER-ACCESS)\b(?!(?:;[^:\n]*)?:[ \t]*PUBLIC[ \t]*$)",
    re.MULTILINE | re.IGNORECASE,
)
_PROPERTY = re.compile(r"^(X-WR-CALNAME|NAME|X-WR-TIMEZONE|CALSCALE)(?:;[^:\n]*)?:(.*)$", re.MULTILINE | re.IGNORECASE)
_ZONE = re.compile(r"^TZID(?:;[^:\n]*)?:(.*)$", re.MULTILINE | re.IGNORECASE)
# What changes whenever a calendar is exported, or a task is done, says nothing of which one it is.
_VOLATILE = re.compile(
    r"^(?:DTSTAMP|CREATED|LAST-MODIFIED|SEQUENCE|STATUS|COMPLETED|PERCENT-COMPLETE)[^\n]*\n",
    re.MULTILINE | re.IGNORECASE,
)
_duration: Callable[[str], timedelta] = vDuration.from_ical
_IANA = available_timezones()
_DATE = re.compile(r"\d{8}(?!\d)")
# Bytes that are no UTF-8 are what Windows writes (cp1252), where that knows them. Controls could hide what a line is.
_FOREIGN = {0xDC00 + byte: bytes([byte]).decode("cp1252", "replace") for byte in range(0x80, 0x100)}
_READABLE = _FOREIGN | dict.fromkeys({*range(0x20), 0x7F, 0xFEFF} - {0x09, 0x0A}, "")
_RULE = re.compile(r"^RRULE[^\n]*", re.MULTILINE | re.IGNORECASE)

NESTED = frozenset({"VALARM", "VLOCATION", "VRESOURCE", "PARTICIPANT"})
"""What can be inside of an event or a task; a line that begins anything else there is somebody's text."""
LARGEST = 64 * 2**20
"""The most bytes that one piece may have."""
LARGEST_EVENT = 8 * 2**20
"""The most characters that one event may have."""
_ZONES_DIFFER = timedelta(days=2)
_LONGEST = timedelta(days=100)
_BROKEN = "Export it again as .ics."


@dataclass(frozen=True, slots=True)
class Header:
    """What all in one VCALENDAR share: its name, its zone where it has one, and the zones that it defines."""

    name: str = ""
    zone: str = ""
    zones: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    is_private: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """One VEVENT or VTODO as the text of a VEVENT, of which icalendar forgives most; empty where it is broken.

    `days` are the first and last day on which it can be; `None` where that takes reading it. `lines` are the places
    of its first to its last line in what it was read from, as `logical_lines` gives them.
    """

    header: Header = field(repr=False)
    uid: str = field(repr=False)
    text: str = field(repr=False)
    days: tuple[date, date] | None
    is_private: bool
    is_override: bool
    lines: range = field(repr=False)


@dataclass(frozen=True, slots=True)
class Document:
    """The events or tasks of one piece, and how many of them are broken or too large to be read."""

    blocks: tuple[Block, ...]
    name: str
    left_out: int


def read_document(content: bytes, name: str = "VEVENT") -> Document:
    """The components with a name in some data, of one VCALENDAR or of several.

    Raises:
        SourceError: It is too large, or holds no whole calendar.
    """
    if len(content) > LARGEST:
        raise SourceError("too_large", f"Keep it under {LARGEST // 2**20} MB; archive what is long past.")
    calendars = list(_calendars(read_text(content), name))
    if not calendars:
        raise SourceError("unreadable", _BROKEN)
    blocks = tuple(_block(header, part) for header, parts in calendars for part in parts)
    named = next((header.name for header, _ in calendars if header.name), "")
    return Document(blocks, named, sum(not block.text for block in blocks))


def logical_lines(content: bytes) -> list[bytes]:
    """The content line by line, folded lines whole, with their ends; together they are the content."""
    ends = [0]
    for match in _ENDS.finditer(content):
        if not match[2]:
            ends += [match.start() + each.end() for each in _END.finditer(match[1])]
    return [content[start:end] for start, end in pairwise([*ends, len(content)]) if start < end]


def read_text(content: bytes) -> str:
    """The content as text, with unfolded lines that end with a line feed, and without what could hide in them."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        content = content.decode("utf-16", "replace").encode()
    lines = content.removeprefix(codecs.BOM_UTF8).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    text = _FOLD.sub(b"", lines).decode("utf-8", "surrogateescape").translate(_READABLE)
    return text if text.endswith("\n") else text + "\n"


def fingerprint(text: str) -> str:
    """What an event or a task without an id of its own is known by; nothing of it can be read from that.

    Neither another export nor that it is done changes it.
    """
    return blake2b(_VOLATILE.sub("", text).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class _Part:
    """The lines of a component without what is nested in it, and what all of its lines say of its privacy."""

    own: str
    is_private: bool
    is_whole: bool
    lines: range


@dataclass(slots=True)
class _Open:
    """A VCALENDAR that is being read for components of a kind: `stack` holds those that are open in it."""

    kind: str
    properties: list[str] = field(default_factory=list)
    zones: list[str] = field(default_factory=list)
    found: list[_Part] = field(default_factory=list)
    stack: list[str] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    is_private: bool = False
    began: int = 0

    def take(self, lines: str) -> None:
        """Lines between two edges; those of an alarm only count where they are about privacy."""
        if not self.stack:
            self.properties.append(lines)
        elif self.stack == [self.kind] or self.stack[0] == "VTIMEZONE":
            self.parts.append(lines)
        self.is_private = self.is_private or (self.kind in self.stack and bool(_GUARDED.search(lines)))

    def begin(self, name: str, line: int) -> None:
        """A component begins; in one of the kind only what can be there, all else is a line of somebody's text."""
        if name == self.kind:
            self.leave(line)
        if self.kind in self.stack and name not in NESTED:
            return
        if not self.stack:
            self.parts, self.is_private, self.began = [], False, line
        self.stack.append(name)
        self._mark("BEGIN", name)

    def end(self, name: str, line: int) -> None:
        if name not in self.stack:
            return
        self._mark("END", name)
        del self.stack[self.stack.index(name) :]
        if not self.stack and name == self.kind:
            self._add(line, is_whole=True)
        elif not self.stack and name == "VTIMEZONE":
            self.zones.append("".join(self.parts))

    def leave(self, line: int) -> None:
        """What was open has no end."""
        if self.kind in self.stack:
            self._add(line, is_whole=False)
        self.stack = []

    def _add(self, line: int, *, is_whole: bool) -> None:
        own, lines = "".join(self.parts), range(self.began, line + 1)
        self.found.append(_Part(own, self.is_private or not is_whole, is_whole and len(own) <= LARGEST_EVENT, lines))

    def header(self) -> Header:
        """What all components of the calendar share.

        Raises:
            SourceError: It is not Gregorian.
        """
        properties = "".join(self.properties)
        found = {match[1].upper(): match[2].strip() for match in _PROPERTY.finditer(properties)}
        if found.get("CALSCALE", "GREGORIAN").upper() != "GREGORIAN":
            raise SourceError("unreadable", "Only Gregorian calendars can be read.")
        named = [(_unescaped(match[1].strip()), zone) for zone in self.zones if (match := _ZONE.search(zone))]
        # What every program means by a name is not read again with each event.
        zones = tuple((name, zone) for name, zone in named if name not in _IANA)
        name = found.get("X-WR-CALNAME") or found.get("NAME") or ""
        return Header(_unescaped(name), found.get("X-WR-TIMEZONE", ""), zones, bool(_GUARDED.search(properties)))

    def _mark(self, edge: str, name: str) -> None:
        if self.stack[0] == "VTIMEZONE":
            self.parts.append(f"{edge}:{name}\n")


def _calendars(text: str, kind: str) -> Iterator[tuple[Header, list[_Part]]]:
    """The header of each VCALENDAR and its components of a kind.

    Raises:
        SourceError: A calendar has no end, as in a file that is still being written, or is not Gregorian.
    """
    calendar: _Open | None = None
    place, line = 0, 0
    for edge in _EDGE.finditer(text):
        lines, place = text[place : edge.start()], edge.end()
        line += lines.count("\n")
        is_begin, name = edge[1].upper() == "BEGIN", edge[2].upper()
        if calendar is None:
            calendar = _Open(kind) if is_begin and name == "VCALENDAR" else None
        else:
            calendar.take(lines)
            if name == "VCALENDAR":
                if is_begin:
                    break
                calendar.leave(line)
                yield calendar.header(), calendar.found
                calendar = None
            elif is_begin:
                calendar.begin(name, line)
            else:
                calendar.end(name, line)
        line += 1
    if calendar is not None:
        raise SourceError("unreadable", _BROKEN)


def _block(header: Header, part: _Part) -> Block:
    found: dict[str, list[str]] = {}
    for match in _TELLING.finditer(part.own):
        found.setdefault(match[1].upper(), []).append(match[2].strip())
    uid = _unescaped(next(filter(None, found.get("UID", ())), "")) or fingerprint(part.own)
    own = _RULE.sub(lambda rule: rule[0].replace(" ", ""), part.own) if "RRULE" in found else part.own
    text = f"BEGIN:VEVENT\n{own}END:VEVENT\n" if part.is_whole else ""
    is_override = "RECURRENCE-ID" in found
    return Block(header, uid, text, _days(found), header.is_private or part.is_private, is_override, part.lines)


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
