"""What a model may ask about calendars."""

from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime, time, timedelta
from typing import Annotated, Any

from pydantic import Field

from calendar_data.recurrence import midnight
from calendar_server.agenda import Agenda, require_range
from calendar_server.availability import Interval, free, hours
from calendar_server.courses import Found
from calendar_server.dtos import (
    Calendar,
    Calendars,
    Day,
    Days,
    Event,
    FreeTime,
    Meeting,
    NextEvent,
    policy,
)
from calendar_server.events import make_event, make_meeting, make_row, make_slot, make_unavailable, shorten
from calendar_server.links import service_of
from calendar_server.samples import MONDAY, NOW, PLANNING, SUNDAY, sample_agenda
from calendar_server.search import Search
from calendar_server.timeline import touches
from mcpshape import Chars, Handle, Shape, UserError
from mcpshape.encoders import Toon

_BUDGET = Chars(8000)
_DAY, _MINUTE = timedelta(days=1), timedelta(minutes=1)
_LONGEST, _LONGEST_FREE = 92 * _DAY, 31 * _DAY
_WORKDAYS = range(5)

shape = Shape(policy, encoder=Toon())

Entry = tuple[Found, Event]

EventId = Annotated[str, Handle("event", among=lambda tools: tools.event_ids())]
Label = Annotated[str | None, Field(description="Only what is in the calendar with this label.")]
Text = Annotated[str | None, Field(description="Only what has this text in something that may be told.")]
Minutes = Annotated[int, Field(ge=1, le=24 * 60)]
Buffer = Annotated[int, Field(ge=0, le=24 * 60, description="Minutes to keep free before and after each event.")]


def sampled(tool: str, **arguments: Any) -> Callable[[], Any]:
    """What a tool returns for the sample week."""
    return lambda: shape.tools[tool].function(CalendarTools(sample_agenda(), lambda: NOW), **arguments)


def sample_meeting() -> Meeting:
    """The answer of `open_video_meeting` for a meeting of the sample week, as whoever may see all of it reads it."""
    event = sampled("get_event", event_id=PLANNING)()
    return make_meeting(event, f"Open {event.video_url} to join {event.title}.")


class CalendarTools:
    """The tools of one agenda. `open_link` opens a link for the person at this machine; without it nothing is."""

    def __init__(
        self, agenda: Agenda, clock: Callable[[], datetime], open_link: Callable[[str], object] | None = None
    ) -> None:
        self._agenda, self._clock, self._open_link = agenda, clock, open_link
        self._search = Search(shape, agenda.labels)

    @shape.tool(
        ask={"privacy"},
        empty="No {entries} means that nothing is planned on that day.",
        example=sampled("list_events", day=MONDAY),
    )
    def list_events(self, day: date, calendar: Label = None, text: Text = None) -> Day:
        """List the events of one day, one {entry} per event.

        With calendar or text, what is told in part only is left out.
        """
        require_range(day, day, _DAY)
        found = self._search.among(self._between(day, day), calendar, text)
        return self._day(day, found).model_copy(update={"unavailable": make_unavailable(self._agenda.outages())})

    @shape.tool(
        ask={"privacy", "format"},
        page="days",
        budget=_BUDGET,
        empty="No days means that nothing is planned between the two.",
        example=sampled("list_events_between", start=MONDAY, end=SUNDAY),
    )
    def list_events_between(self, start: date, end: date, calendar: Label = None, text: Text = None) -> Days:
        """List the events from one day to another, both included and at most 92 days apart, grouped by day.

        With calendar or text, what is told in part only is left out.
        """
        require_range(start, end, _LONGEST)
        found = self._search.among(self._between(start, end), calendar, text)
        days = (self._day(day, found) for day in _each_day(start, end))
        return Days(days=[day for day in days if day.events], unavailable=make_unavailable(self._agenda.outages()))

    @shape.tool(empty="No slots means that there is no gap that long.", example=sampled("find_free_time", day=MONDAY))
    def find_free_time(
        self,
        day: date,
        until: date | None = None,
        minutes: Minutes = 30,
        opens: time = time(9),
        closes: Annotated[time, Field(description="00:00 is the end of the day.")] = time(18),
        buffer: Buffer = 0,
        workdays_only: bool = False,
    ) -> FreeTime:
        """Find the gaps of at least so many minutes in all calendars together, between opens and closes of each day.

        From day to until, both included and at most 31 days apart.
        """
        last = until or day
        require_range(day, last, _LONGEST_FREE)
        if opens.tzinfo or closes.tzinfo:
            raise UserError("Hours are those of the calendar.", hint="Ask for opens and closes without an offset.")
        if closes <= opens and closes != time():
            raise UserError("The hours end before they begin.", hint="Ask for closes after opens.")
        weekdays = _WORKDAYS if workdays_only else range(7)
        asked = hours(day, last, opens, closes, self._agenda.zone, weekdays=weekdays)
        around = self._agenda.between(day - _DAY, last + _DAY)
        busy = [Interval(each.happening.start, each.happening.end) for each in around if each.facts.is_busy]
        following = self._agenda.following(self._clock())
        gaps = free(asked, busy, least=minutes * _MINUTE, buffer=buffer * _MINUTE)
        return FreeTime(
            date=day,
            until=last,
            slots=[make_slot(gap, self._agenda.zone) for gap in gaps],
            minutes_until_next_event=(following.happening.start - self._clock()) // _MINUTE if following else None,
            unavailable=make_unavailable(self._agenda.outages()),
        )

    @shape.tool(empty="No event means that none begins within a year.", example=sampled("next_event"))
    def next_event(self) -> NextEvent:
        """Get the next event that keeps the owner of the calendar busy. One under way is not the next.

        Of more than 20 attendees the first are listed; get_event has them all.
        """
        found = self._agenda.following(self._clock())
        event = shorten(self._event(found)) if found else None
        return NextEvent(event=event, unavailable=make_unavailable(self._agenda.outages()))

    @shape.tool(page="attendees", limit=100, example=sampled("get_event", event_id=PLANNING))
    def get_event(self, event_id: EventId) -> Event:
        """Get one event with all {fields} that may be told, by an id from another answer."""
        return self._event(self._agenda.find(event_id, self._clock()))

    @shape.tool(example=sample_meeting)
    def open_video_meeting(self, event_id: EventId) -> Meeting:
        """Get the link that opens the video meeting of an event, by an id from another answer.

        Without a key video_url the link may not be told; {null} means that there is none.
        """
        event = self._event(self._agenda.find(event_id, self._clock()))
        return make_meeting(event, self._open(event) if event.video_url else None)

    @shape.tool(
        empty="No calendars and no key for them means that their labels may not be told.",
        example=sampled("list_calendars"),
    )
    def list_calendars(self) -> Calendars:
        """List the labels of all calendars, for the argument calendar of other tools."""
        calendars = [Calendar(label=label) for label in self._agenda.labels()]
        return Calendars(calendars=calendars, unavailable=make_unavailable(self._agenda.outages()))

    def event_ids(self) -> list[str]:
        """The ids that a model may ask for: those of a year around now."""
        return [found.identity for found in self._agenda.around(self._clock())]

    def _between(self, first: date, last: date) -> list[Entry]:
        return [(found, self._event(found)) for found in self._agenda.between(first, last)]

    def _event(self, found: Found) -> Event:
        return make_event(found, self._clock(), self._agenda.zone)

    def _day(self, day: date, entries: Iterable[Entry]) -> Day:
        start, end = (midnight(each, self._agenda.zone) for each in (day, day + _DAY))
        touching = [entry for entry in entries if touches(entry[0].happening, start, end)]
        return Day(date=day, events=[make_row(*entry, day, self._agenda.zone) for entry in touching])

    def _open(self, event: Event) -> str:
        """The sentence about a link; one that is told and of a known service is opened, if the owner said so."""
        may_open = service_of(event.video_url) and "video_url" in shape.view(event).data
        if self._open_link and may_open:
            self._open_link(str(event.video_url))
            return shape.say(
                "Opened {event.video_url} on the machine of the server to join {event.title}.", event=event
            )
        return shape.say("Open {event.video_url} to join {event.title}.", event=event)


def _each_day(first: date, last: date) -> Iterator[date]:
    return (first + number * _DAY for number in range((last - first).days + 1))
