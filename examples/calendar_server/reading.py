"""Reads .ics files (RFC 5545) into events. What cannot be read is skipped and named, never shown."""

import logging
import re
from collections.abc import Iterable, Iterator
from datetime import date, datetime, time, timedelta, tzinfo
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import recurring_ical_events
from icalendar import Calendar
from icalendar import Event as VEvent

from calendar_server.dtos import Attendance, Attendee, Event, Moment

_LOG = logging.getLogger("calendar_server")
_DAY = timedelta(days=1)
_LINK = re.compile(r"https://[^\s<>\"')\]]*[^\s<>\"')\].,;]")
_ATTENDANCE: dict[str, Attendance] = {"ACCEPTED": "accepted", "DECLINED": "declined", "TENTATIVE": "tentative"}
_LINKED = ("CONFERENCE", "X-GOOGLE-CONFERENCE", "URL", "LOCATION", "DESCRIPTION")
_SERVICES = {"zoom.us": "Zoom", "meet.google.com": "Google Meet", "teams.microsoft.com": "Microsoft Teams"}


class UnreadableCalendarError(Exception):
    """A file holds no whole calendar; its text is the name of the file."""


class Source:
    """The events of some files, as the person with the address `me` sees them in one time zone."""

    def __init__(self, paths: Iterable[Path], zone: tzinfo, me: str = "") -> None:
        self.zone, self._me = zone, me.lower()
        self._calendars = [named for path in paths for named in _read(path)]
        # A changed occurrence of a private series often has no class of its own.
        events = (event for _, calendar in self._calendars for event in calendar.events)
        self._private = {_text(event.get("UID")) for event in events if _is_private(event)}

    def between(self, first: date, last: date, now: datetime) -> list[Event]:
        """The events that touch the days from `first` to `last`, in order."""
        start, end = self.midnight(first), self.midnight(last + _DAY)
        # Times without a zone lie up to a day away from where a query in one zone looks for them.
        found = [
            self._event(name, component, now)
            for name, calendar in self._calendars
            for component in recurring_ical_events.of(calendar, skip_bad_series=True).between(start - _DAY, end + _DAY)
            if isinstance(component, VEvent)
        ]
        touching = [event for event in found if self.touches(event, first, last)]
        return sorted(touching, key=lambda event: (self.span(event), event.id))

    def touches(self, event: Event, first: date, last: date) -> bool:
        """Whether an event lies in part or whole on the days from `first` to `last`."""
        (start, end), begins = self.span(event), self.midnight(first)
        return start < self.midnight(last + _DAY) and (end > begins or start >= begins)

    def span(self, event: Event) -> tuple[datetime, datetime]:
        """When an event begins and ends; an all-day event ends at the midnight after its last day."""
        last = event.end + _DAY if event.is_all_day else event.end
        return self._moment(event.start), self._moment(last)

    def midnight(self, day: date) -> datetime:
        """The moment at which a day begins."""
        return datetime.combine(day, time(), self.zone)

    def _moment(self, when: Moment) -> datetime:
        if not isinstance(when, datetime):
            return self.midnight(when)
        return when.astimezone(self.zone) if when.tzinfo else when.replace(tzinfo=self.zone)

    def _event(self, calendar: str, component: VEvent, now: datetime) -> Event:
        starts, ends, is_all_day = component.start, component.end, not isinstance(component.start, datetime)
        people = _list(component.get("ATTENDEE"))
        mine = next((person for person in people if _address(person) == self._me), None)
        attendance = _ATTENDANCE.get(_text(mine.params.get("PARTSTAT")), "needs_action") if mine else None
        is_off = component.get("STATUS") == "CANCELLED" or attendance == "declined"
        link, place = _video_link(component), _text(component.get("LOCATION"))
        event = Event(
            id=_identity(component),
            title=_text(component.get("SUMMARY")) or "(no title)",
            start=starts if is_all_day else self._moment(starts),
            end=max(starts, ends - _DAY) if is_all_day else self._moment(ends),
            is_all_day=is_all_day,
            is_busy=component.get("TRANSP") != "TRANSPARENT" and not is_off,
            my_attendance_status=attendance,
            status=None,
            location=None if "://" in place else place,
            calendar=calendar,
            attendee_count=len(people),
            has_video=link is not None,
            attendees=[Attendee(name=_text(person.params.get("CN")), email=_address(person)) for person in people],
            organizer=_text(getattr(component.get("ORGANIZER"), "params", {}).get("CN")),
            video_url=link,
            url=_text(component.get("URL")),
            notes=_text(component.get("DESCRIPTION")),
            held_at="strict" if _is_private(component) or _text(component.get("UID")) in self._private else None,
        )
        is_cancelled = component.get("STATUS") == "CANCELLED"
        return event.model_copy(update={"status": "cancelled" if is_cancelled else self._status(event, now)})

    def _status(self, event: Event, now: datetime) -> str | None:
        start, end = self.span(event)
        if not event.is_busy:
            return "declined" if event.my_attendance_status == "declined" else "free"
        if now >= end:
            return "completed"
        if start - now <= timedelta(minutes=15):
            return "ongoing" if start <= now else "starting_soon"
        return event.my_attendance_status if event.my_attendance_status in {"tentative", "needs_action"} else None


def service(link: str | None) -> str | None:
    """The video service behind a link, told by its host."""
    host = urlsplit(link or "").hostname or ""
    return next((name for domain, name in _SERVICES.items() if f".{host}".endswith(f".{domain}")), None)


def _read(path: Path) -> Iterator[tuple[str, Calendar]]:
    try:
        calendars = Calendar.from_ical(path.read_bytes(), multiple=True)
    except ValueError:
        calendars = []
    if not calendars:
        raise UnreadableCalendarError(path.name)
    for calendar in calendars:
        for event in calendar.walk("VEVENT"):
            broken = sorted({name or "line" for name, _ in event.errors})
            for name in broken:
                event.pop(name, None)
            if "DTSTART" not in event:
                calendar.subcomponents.remove(event)
                _LOG.warning("%s: skipped an event without a readable DTSTART", path.name)
            elif broken:
                _LOG.warning("%s: skipped unreadable %s of an event", path.name, ", ".join(broken))
        yield _text(calendar.get("X-WR-CALNAME")) or path.stem, calendar


def _identity(component: VEvent) -> str:
    """What one occurrence is known by."""
    origin: Any = component.get("RECURRENCE-ID") or component["DTSTART"]
    return f"{component.get('UID') or component.get('SUMMARY')}|{origin.dt}"


def _is_private(component: VEvent) -> bool:
    """Whether an event is not public (RFC 5545, 3.8.1.3); a class that is not known counts as private."""
    return _text(component.get("CLASS", "PUBLIC")).upper() != "PUBLIC"


def _video_link(component: VEvent) -> str | None:
    texts = [_text(value) for name in _LINKED for value in _list(component.get(name))]
    return next((link for text in texts for link in _LINK.findall(text) if service(link)), None)


def _address(person: str) -> str:
    return person.lower().removeprefix("mailto:")


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _text(value: object) -> str:
    return str(value or "").strip()
