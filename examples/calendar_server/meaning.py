"""What an event says: to whom it belongs, whether it takes time, who comes, and how to join."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, get_args

from icalendar import Event as VEvent

from calendar_data.components import text, values
from calendar_data.names import name_of
from calendar_server.dtos import Attendance, Attendee, EventStatus
from calendar_server.links import Link, find_link, may_join

_ATTENDANCE: dict[str, Attendance] = {each.upper().replace("_", "-"): each for each in get_args(Attendance)}
_SOON = timedelta(minutes=15)
_WORD = re.compile(r"[\s()<>\[\]]+")
_WEB = re.compile(r"https?://[^\s@<>\"']+", re.IGNORECASE)
_DOMAIN = re.compile(r"[\w.-]{1,253}\.[a-z]{2,}(?::\d+)?", re.IGNORECASE)
_MEETINGS = ("X-GOOGLE-CONFERENCE", "X-MICROSOFT-SKYPETEAMSMEETINGURL", "X-MICROSOFT-ONLINEMEETINGCONFLINK", "URL")
_TEXTS = ("LOCATION", "DESCRIPTION", "X-ALT-DESC", "COMMENT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is the same whenever an event takes place, as one person sees it."""

    title: str | None
    location: str | None
    attendees: tuple[Attendee, ...]
    organizer: str | None
    attendance: Attendance | None
    link: Link | None
    url: str | None
    notes: str | None
    is_busy: bool
    is_cancelled: bool
    is_tentative: bool

    def status(self, start: datetime, end: datetime, now: datetime) -> EventStatus | None:
        """What is worth saying of an event at a moment; an answer to an invitation only before it begins."""
        if self.is_cancelled:
            return "cancelled"
        if not self.is_busy:
            return "declined" if self.attendance == "declined" else "free"
        if now >= end:
            return "completed"
        if start - now <= _SOON:
            return "ongoing" if start <= now else "starting_soon"
        if self.attendance == "needs_action":
            return "needs_action"
        return "tentative" if self.is_tentative or self.attendance == "tentative" else None


UNREADABLE = Facts(
    title=None,
    location=None,
    attendees=(),
    organizer=None,
    attendance=None,
    link=None,
    url=None,
    notes=None,
    is_busy=True,
    is_cancelled=False,
    is_tentative=False,
)
"""What is said of an event whose properties cannot be read: it takes its time."""


def read_facts(event: VEvent, owners: Collection[str]) -> Facts:
    """What an event says to the person with one of the addresses `owners`, which are in lower case."""
    people = values(event, "ATTENDEE")
    mine = next((person for person in people if _addresses(person) & set(owners)), None)
    attendance = _ATTENDANCE.get(_parameter(mine, "PARTSTAT").upper(), "needs_action") if mine is not None else None
    organizer = next(iter(values(event, "ORGANIZER")), None)
    status = _first(event, "STATUS").upper()
    link = find_link(_all(event, _MEETINGS), _all(event, _TEXTS), conferences=_conferences(event))
    return Facts(
        title=_first(event, "SUMMARY") or None,
        location=_place(_first(event, "LOCATION")),
        attendees=tuple(Attendee(name=_name(person), email=_email(person)) for person in people),
        organizer=None if organizer is None else _name(organizer),
        attendance=attendance,
        link=link,
        url=_page(_first(event, "URL")),
        notes=_first(event, "DESCRIPTION") or None,
        is_busy=status != "CANCELLED" and attendance not in {"declined", "delegated"} and not _is_free(event),
        is_cancelled=status == "CANCELLED",
        is_tentative=status == "TENTATIVE" or _first(event, "X-MICROSOFT-CDO-BUSYSTATUS").upper() == "TENTATIVE",
    )


def _is_free(event: VEvent) -> bool:
    is_transparent = _first(event, "TRANSP").upper() == "TRANSPARENT"
    return is_transparent or _first(event, "X-MICROSOFT-CDO-BUSYSTATUS").upper() == "FREE"


def _place(location: str) -> str | None:
    """A place in words: what leads somewhere, as a link or a host with a path does, is none."""
    words = _WORD.split(location)
    kept = [word for word in words if not _leads(word)]
    # The brackets and full stops that were around a link say nothing without it.
    told = kept if len(kept) == len(words) else [word for word in kept if any(map(str.isalnum, word))]
    return " ".join(told).strip(" ,;:-–|") or None


def _leads(word: str) -> bool:
    host, has_path, _ = word.partition("/")
    if "://" in word or ":/" in word or "%2f" in word.lower() or word.lower().startswith(("www.", "tel:")):
        return True
    return bool(has_path and _DOMAIN.fullmatch(host)) or may_join(word)


def _page(url: str) -> str | None:
    """The page of an event on the web, unless it may lead into a meeting, which has a switch of its own."""
    return url if _WEB.fullmatch(url) and not may_join(url) else None


def _name(person: Any) -> str | None:
    return name_of(_parameter(person, "CN"))


def _email(person: Any) -> str | None:
    return next(iter(sorted(_addresses(person))), None)


def _addresses(person: Any) -> set[str]:
    """The addresses of a person; EMAIL (RFC 7986, 6.2) is there where the value leads somewhere else."""
    scheme, _, address = text(person).lower().partition(":")
    if not address:
        scheme, address = "mailto", scheme
    found = {address if scheme == "mailto" else "", _parameter(person, "EMAIL").lower()}
    return {each.strip() for each in found if "@" in each}


def _parameter(person: Any, name: str) -> str:
    value = getattr(person, "params", {}).get(name, "")
    return text(", ".join(map(str.strip, value)) if isinstance(value, list) else value)


def _first(event: VEvent, name: str) -> str:
    return next((found for value in values(event, name) if (found := text(value))), "")


def _conferences(event: VEvent) -> list[str]:
    """The conferences (RFC 7986, 5.11) but those that say what they have, and have no video."""
    found = [(value, _parameter(value, "FEATURE").upper()) for value in values(event, "CONFERENCE")]
    return [text(value) for value, features in found if not features or "VIDEO" in features]


def _all(event: VEvent, names: tuple[str, ...]) -> list[str]:
    return [text(value) for name in names for value in values(event, name)]
