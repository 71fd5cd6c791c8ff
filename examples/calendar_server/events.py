"""An event at one time as the DTOs that tools return."""

from collections.abc import Iterable
from datetime import date, datetime, timedelta, tzinfo

from calendar_data.feeds import Outage
from calendar_server.availability import Interval
from calendar_server.courses import Found
from calendar_server.dtos import Event, EventRow, Meeting, Moment, Slot, Unavailable

_DAY = timedelta(days=1)
_MOST_PEOPLE = 20


def make_event(found: Found, now: datetime, zone: tzinfo) -> Event:
    """All that is known of an event, in the words of the DTO. A time that is the same in every zone has no offset."""
    happening, facts = found.happening, found.facts
    start, end = happening.start.astimezone(zone), happening.end.astimezone(zone)
    times: tuple[Moment, Moment] = start, end
    if happening.is_all_day:
        times = start.date(), max(start.date(), end.date() - _DAY)
    elif happening.is_floating:
        times = start.replace(tzinfo=None), end.replace(tzinfo=None)
    return Event(
        id=found.identity,
        title=facts.title,
        start=times[0],
        end=times[1],
        is_all_day=happening.is_all_day,
        is_busy=facts.is_busy,
        my_attendance_status=facts.attendance,
        status=facts.status(happening.start, happening.end, now),
        location=facts.location,
        calendar=found.label,
        attendee_count=len(facts.attendees),
        has_video=facts.link is not None,
        attendees=list(facts.attendees),
        organizer=facts.organizer,
        video_url=facts.link.url if facts.link else None,
        url=facts.url,
        notes=facts.notes,
        held_at="strict" if found.is_private else None,
    )


def shorten(event: Event) -> Event:
    """An event with its first attendees only; `attendee_count` still counts all of them."""
    return event.model_copy(update={"attendees": event.attendees[:_MOST_PEOPLE]})


def make_meeting(event: Event, message: str | None) -> Meeting:
    """How to join an event."""
    fields = {name: getattr(event, name) for name in Meeting.model_fields if name != "message"}
    return Meeting(**fields, message=message)


def make_row(found: Found, event: Event, day: date, zone: tzinfo) -> EventRow:
    """An event as one row of the list of a day."""
    extra = {
        "time": _time(found, day, zone),
        "video": found.facts.link.service if found.facts.link else None,
        "attendees": event.attendee_count or None,
    }
    return EventRow(**{**dict(event), **extra})


def make_slot(gap: Interval, zone: tzinfo) -> Slot:
    """A gap in the time of its reader."""
    minutes = (gap.end - gap.start) // timedelta(minutes=1)
    return Slot(start=gap.start.astimezone(zone), end=gap.end.astimezone(zone), minutes=minutes)


def make_unavailable(outages: Iterable[Outage]) -> list[Unavailable]:
    """What an answer says of calendars that are missing in it, or old."""
    return [
        Unavailable(calendar=each.label, reason=each.reason, since=each.since, last_read=each.last_read)
        for each in outages
    ]


def _time(found: Found, day: date, zone: tzinfo) -> str:
    """When an event is, as a day sees it: what is on another day has its date."""
    if found.happening.is_all_day:
        return "all day"
    moments = (each.astimezone(zone) for each in (found.happening.start, found.happening.end))
    start, end = (f"{each:%H:%M}" if each.date() == day else f"{each.date()} {each:%H:%M}" for each in moments)
    return f"{start} - {end}{' local time' if found.happening.is_floating else ''}"
