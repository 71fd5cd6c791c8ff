"""Reads events and tasks with icalendar, and drops what in them is broken."""

import logging
import re
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from threading import Lock
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

import x_wr_timezone
from icalendar import Calendar, vDDDTypes
from icalendar import Event as VEvent
from icalendar.error import GloballyUniqueTZIDGuessed
from icalendar.prop import vBroken
from icalendar.timezone import tzp
from icalendar.timezone.windows_to_olson import WINDOWS_TO_OLSON

from calendar_data.documents import Block, Header

Moment = datetime | date

_LOG = logging.getLogger("calendar_data")
_ZONES = Lock()
_SINGLE = (
    "DTSTART",
    "DTEND",
    "DUE",
    "DURATION",
    "RECURRENCE-ID",
    "UID",
    "CLASS",
    "STATUS",
    "TRANSP",
    "SEQUENCE",
    "SUMMARY",
    "LOCATION",
    "COMPLETED",
    "CREATED",
    "PERCENT-COMPLETE",
    "PRIORITY",
)
# The names that Windows shows of its zones, such as (UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna.
_OFFSET = re.compile(r"\(?(?:UTC|GMT)([+-])(\d{1,2})(?::?(\d{2}))?\b")
_IANA = {name.lower(): name for name in available_timezones()}


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of component: its name, how one is called, and which of its properties are times.

    One that `needs_start` has to say when it is. Servers change only what `may_change`.
    """

    component: str
    one: str
    times: tuple[str, ...]
    needs_start: bool = False
    may_change: bool = False


EVENTS = Kind("VEVENT", "an event", ("DTSTART", "DTEND", "RECURRENCE-ID"), needs_start=True)
TASKS = Kind("VTODO", "a task", ("DTSTART", "DUE", "RECURRENCE-ID", "COMPLETED", "CREATED"), may_change=True)


def read_components(blocks: Sequence[Block], label: str, kind: Kind = EVENTS) -> list[tuple[Block, VEvent]]:
    """The components of some blocks, each with its own, without the properties that cannot be read.

    What is left out is told to the log, by the label of its calendar and the name of the property.
    """
    found: list[tuple[Block, VEvent]] = []
    for header in {id(block.header): block.header for block in blocks}.values():
        under = [block for block in blocks if block.header is header]
        found += [pair for pair in _parse(header, under, label, kind) if _mend(pair[1], label, kind, header)]
    return found


def _parse(header: Header, blocks: Sequence[Block], label: str, kind: Kind) -> list[tuple[Block, VEvent]]:
    """The components of some blocks; one that is broken, or a zone that is, does not take the others with it."""
    inner = "".join(block.text for block in blocks)
    zones = "".join(zone for name, zone in header.zones if name in inner)
    for text in {zones + inner: None, inner: None}:
        with suppress(Exception):
            return list(zip(blocks, _events(header, text), strict=True))
    if len(blocks) > 1:
        return [pair for block in blocks for pair in _parse(header, [block], label, kind)]
    _LOG.warning("%s: skipped %s that cannot be read", label, kind.one)
    return []


def _events(header: Header, inner: str) -> list[VEvent]:
    known = _known_zone(header.zone)
    zone = f"X-WR-TIMEZONE:{known}\n" if known else ""
    # icalendar remembers zones by their names for the whole process, and two files may mean different ones.
    with _ZONES, warnings.catch_warnings():
        tzp.use_default()
        warnings.simplefilter("ignore", GloballyUniqueTZIDGuessed)
        calendar = Calendar.from_ical(f"BEGIN:VCALENDAR\n{zone}{inner}END:VCALENDAR\n")
        return (x_wr_timezone.to_standard(calendar) if zone else calendar).events


def _mend(event: VEvent, label: str, kind: Kind, header: Header) -> bool:
    """Drop what is broken from a component; whether enough is left to say when it is."""
    # A calendar that is moved to its own zone is a copy, whose components have lost their list of errors.
    names = [name for name in event if any(isinstance(value, vBroken) for value in values(event, name))]
    for name in names:
        _keep(event, name, [value for value in values(event, name) if not isinstance(value, vBroken)])
    broken = sorted({*names, *(name or "line" for name, _ in event.errors)})
    _keep(event, "RRULE", [rule for rule in values(event, "RRULE") if rule.get("FREQ")])
    for name in _SINGLE:
        _keep(event, name, values(event, name)[:1])
    if kind.needs_start and moment(event, "DTSTART") is None:
        _LOG.warning("%s: skipped %s without a readable DTSTART", label, kind.one)
        return False
    if broken:
        _LOG.warning("%s: skipped unreadable %s of %s", label, ", ".join(broken), kind.one)
    for name in kind.times:
        _place(event, name, header.zone)
    _end_rules(event)
    return True


def _end_rules(event: VEvent) -> None:
    """Give an UNTIL the form that it has to have (3.3.10), where it is in local time."""
    start = start_of(event)
    if not isinstance(start, datetime) or start.tzinfo is None:
        return
    for rule in values(event, "RRULE"):
        until = next(iter(rule.get("UNTIL", ())), None)
        if isinstance(until, datetime) and until.tzinfo is None:
            rule["UNTIL"] = [until.replace(tzinfo=start.tzinfo).astimezone(UTC)]


def _keep(event: VEvent, name: str, kept: list[Any]) -> None:
    if not kept:
        event.pop(name, None)
    elif len(kept) < len(values(event, name)):
        event[name] = kept[0] if len(kept) == 1 else kept


def _place(event: VEvent, name: str, around: str) -> None:
    """Give a time in a zone that nobody knows the offset that its name says, and one without a zone that around it."""
    when = moment(event, name)
    if isinstance(when, datetime) and when.tzinfo is None:
        own = str(event[name].params.get("TZID", ""))
        known = _known_zone(own or around)
        put_moment(event, name, when.replace(tzinfo=ZoneInfo(known) if known else _named_offset(own)))


def _known_zone(name: str) -> str:
    """The IANA name of a zone, whichever program wrote it; empty where nobody knows it."""
    if name.lower() == "tzone://microsoft/utc":
        return "UTC"
    return _IANA.get(name.lower(), WINDOWS_TO_OLSON.get(name, ""))


def _named_offset(name: str) -> tzinfo | None:
    match = _OFFSET.match(name)
    if match is None:
        return None
    offset = timedelta(hours=int(match[2]), minutes=int(match[3] or 0))
    return timezone(-offset if match[1] == "-" else offset) if offset < timedelta(days=1) else None


def moment(event: VEvent, name: str) -> Moment | None:
    """The date or the time that a property holds."""
    value = getattr(event.get(name), "dt", None)
    return value if isinstance(value, date) else None


def put_moment(event: VEvent, name: str, when: Moment) -> None:
    """Set a date or time; whether a change is one of all that follow stays as it is (3.2.13)."""
    is_of_all = str(getattr(event.get(name), "params", {}).get("RANGE", "")).upper() == "THISANDFUTURE"
    event[name] = vDDDTypes(when)
    if is_of_all:
        event[name].params["RANGE"] = "THISANDFUTURE"


def start_of(event: VEvent) -> Moment:
    """When an event begins, which all that are read say."""
    start = moment(event, "DTSTART")
    return start if start is not None else date.min


def values(event: VEvent, name: str) -> list[Any]:
    """The values of a property, however often it is there."""
    value = event.get(name)
    return value if isinstance(value, list) else [] if value is None else [value]


def text(value: object) -> str:
    """A value as text without blanks around it; nothing is an empty one."""
    return str(value or "").strip()
