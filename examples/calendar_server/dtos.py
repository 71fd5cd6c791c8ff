"""What the calendar's tools answer, and from which level each field is told."""

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import BaseModel

from calendar_data.sources import Reason
from mcpshape import (
    Always,
    Clip,
    Count,
    Derived,
    Handle,
    Mask,
    Notice,
    Policy,
    Prose,
    RowCap,
    Since,
    Toggle,
    Until,
    When,
)

policy = Policy(
    levels=("strict", "minimal", "standard", "detailed"),
    toggles={
        "attendee_names": Toggle(on_since="standard", offered_since="standard", about="Who takes part."),
        "attendee_emails": Toggle(
            on_since="detailed",
            offered_since="standard",
            requires="attendee_names",
            about="The addresses of those who take part.",
        ),
        "video_url": Toggle(on_since="standard", offered_since="standard", about="The link that opens a video call."),
        "notes": Toggle(on_since="standard", offered_since="standard", about="What is written about an event."),
        "organizer": Toggle(on_since="standard", offered_since="standard", about="Who has invited."),
    },
    questions={
        "strict": "Is this time taken?",
        "minimal": "What is it and where?",
        "standard": "With whom, and what about?",
        "detailed": "How do I reach them?",
    },
)

Id = Annotated[str, Handle("event")]
Title = Annotated[str | None, Since("minimal", below=Mask("[Event]"))]
Text = Annotated[str | None, Since("minimal")]
Attendance = Literal["accepted", "declined", "tentative", "needs_action", "delegated"]
EventStatus = Literal[
    "cancelled", "declined", "free", "completed", "ongoing", "starting_soon", "tentative", "needs_action"
]
Status = Annotated[EventStatus | None, Always()]
Moment = datetime | date
Date = date  # Where a field has that name as well.


class Attendee(BaseModel):
    name: Annotated[str | None, When("attendee_names")]
    email: Annotated[str | None, When("attendee_emails")]


class Event(BaseModel):
    """One event. An all-day event starts and ends with dates, the last day included.

    A time without an offset is local time wherever its reader is.
    """

    id: Id
    title: Title
    start: Annotated[Moment, Always()]
    end: Annotated[Moment, Always()]
    is_all_day: Annotated[bool, Always()]
    is_busy: Annotated[bool, Always()]
    my_attendance_status: Annotated[Attendance | None, Always()]
    status: Status
    location: Text
    calendar: Text
    attendee_count: Annotated[int, Since("minimal")]
    has_video: Annotated[bool, Since("minimal")]
    attendees: list[Attendee]
    organizer: Annotated[str | None, When("organizer")]
    video_url: Annotated[str | None, When("video_url")]
    url: Annotated[str | None, Since("standard")]
    notes: Annotated[str | None, When("notes"), Prose()]
    held_at: Annotated[str | None, RowCap()]


class Meeting(BaseModel):
    """How to join the video meeting of an event, with a sentence that says so."""

    id: Id
    title: Title
    start: Annotated[Moment, Always()]
    end: Annotated[Moment, Always()]
    has_video: Annotated[bool, Since("minimal")]
    video_url: Annotated[str | None, When("video_url")]
    message: Annotated[str | None, Derived("video_url")] = None
    held_at: Annotated[str | None, RowCap()]


class EventRow(BaseModel):
    """One event in a list: `time` and `status` say in two cells what the strictest level tells in five."""

    id: Id
    title: Annotated[str | None, Since("minimal", below=Mask("[Event]")), Clip(300)]
    status: Status
    time: Annotated[str, Since("minimal")]
    start: Annotated[Moment, Until("minimal", then="time")]
    end: Annotated[Moment, Until("minimal", then="time")]
    is_all_day: Annotated[bool, Until("minimal", then="time")]
    is_busy: Annotated[bool, Until("minimal", then="status")]
    my_attendance_status: Annotated[Attendance | None, Until("minimal", then="status")]
    calendar: Text
    location: Annotated[str | None, Since("minimal"), Clip(300)]
    video: Text
    attendees: Annotated[int | None, Since("minimal")]
    held_at: Annotated[str | None, RowCap()]


class Unavailable(BaseModel):
    """A calendar that cannot be read now; what it had when it was last read is in the answer."""

    calendar: Text
    reason: Annotated[Reason, Always()]
    since: Annotated[datetime, Always()]
    last_read: Annotated[datetime | None, Always()]


class Answer(BaseModel):
    """What every answer about time can say of itself: that some calendars are missing in it, or older than now."""

    unavailable: Annotated[list[Unavailable], Notice()] = []


class Day(Answer):
    date: Annotated[date, Always()]
    total: Annotated[int, Count("events")] = 0
    events: list[EventRow]


class Days(Answer):
    total: Annotated[int, Count("days.events")] = 0
    days: list[Day]


class Slot(BaseModel):
    start: Annotated[datetime, Always()]
    end: Annotated[datetime, Always()]
    minutes: Annotated[int, Always()]


class FreeTime(Answer):
    date: Annotated[date, Always()]
    until: Annotated[Date, Always()]
    slots: list[Slot]
    minutes_until_next_event: Annotated[int | None, Always()]


class NextEvent(Answer):
    event: Event | None


class Calendar(BaseModel):
    label: Annotated[str, Since("minimal")]


class Calendars(Answer):
    calendars: list[Calendar]


class Asked(BaseModel):
    """What a caller may search by: no more than what it may be told."""

    calendar: Text
    text: Text
