"""What a model may ask about a calendar."""

from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, timedelta
from typing import Annotated, Any

from pydantic import Field

from calendar_server.dtos import Day, Days, Event, EventRow, FreeTime, Meeting, NextEvent, Slot, policy
from calendar_server.reading import Source, service
from calendar_server.samples import MONDAY, NOW, PLANNING, SUNDAY, sample_source
from mcpshape import Chars, Handle, Shape, UserError
from mcpshape.encoders import Toon

_LONGEST = timedelta(days=92)
_BUDGET = Chars(8000)
_YEAR = timedelta(days=366)

shape = Shape(policy, encoder=Toon())

EventId = Annotated[str, Handle("event", among=lambda tools: tools.event_ids())]


def sampled(tool: str, **arguments: Any) -> Callable[[], Any]:
    """What a tool returns for the sample week."""
    return lambda: shape.tools[tool].function(CalendarTools(sample_source(), lambda: NOW), **arguments)


def sample_meeting() -> Meeting:
    """The answer of `open_video_meeting` for a meeting of the sample week, as whoever may see all of it reads it."""
    event = sampled("get_event", event_id=PLANNING)()
    return Meeting(**dict(event), message=f"Open {event.video_url} to join {event.title}.")


class CalendarTools:
    """The tools of one calendar."""

    def __init__(self, source: Source, clock: Callable[[], datetime]) -> None:
        self._source, self._clock = source, clock

    @shape.tool(
        ask={"privacy"},
        empty="No {entries} means that nothing is planned on that day.",
        example=sampled("list_events", day=MONDAY),
    )
    def list_events(self, day: date) -> Day:
        """List the events of one day, one {entry} per event."""
        return self._day(day, self._between(day, day))

    @shape.tool(
        ask={"privacy", "format"},
        page="days",
        budget=_BUDGET,
        empty="No days means that nothing is planned between the two.",
        example=sampled("list_events_between", start=MONDAY, end=SUNDAY),
    )
    def list_events_between(self, start: date, end: date) -> Days:
        """List the events from one day to another, both included and at most 92 days apart, grouped by day."""
        if not timedelta() <= end - start <= _LONGEST:
            raise UserError("The end has to be 0 to 92 days after the start.", hint="Ask for another end.")
        events = self._between(start, end)
        days = [self._day(start + timedelta(days=each), events) for each in range((end - start).days + 1)]
        return Days(days=[day for day in days if day.events])

    @shape.tool(
        empty="No slots means that the day has no gap that long.", example=sampled("find_free_time", day=MONDAY)
    )
    def find_free_time(self, day: date, minutes: Annotated[int, Field(ge=1)] = 30) -> FreeTime:
        """Find the gaps of at least so many minutes between 09:00 and 18:00, and the minutes until the next event."""
        opens, closes = (self._source.midnight(day) + timedelta(hours=hour) for hour in (9, 18))
        busy = [self._source.span(event) for event in self._between(day, day) if event.is_busy]
        following = self._next()
        until = (self._source.span(following)[0] - self._clock()) // timedelta(minutes=1) if following else None
        slots = list(_gaps(busy, opens, closes, timedelta(minutes=minutes)))
        return FreeTime(date=day, slots=slots, minutes_until_next_event=until, next_event=following)

    @shape.tool(empty="No event means that none begins within a year.", example=sampled("next_event"))
    def next_event(self) -> NextEvent:
        """Get the next event that begins from now on and keeps its owner busy."""
        return NextEvent(event=self._next())

    @shape.tool(example=sampled("get_event", event_id=PLANNING))
    def get_event(self, event_id: EventId) -> Event:
        """Get one event with all {fields} that may be told, by an id from another answer."""
        return self._find(event_id)

    @shape.tool(example=sample_meeting)
    def open_video_meeting(self, event_id: EventId) -> Meeting:
        """Get the link that opens the video meeting of an event, by an id from another answer.

        Without a key video_url the link may not be told; {null} means that there is none.
        """
        event = self._find(event_id)
        message = shape.say("Open {event.video_url} to join {event.title}.", event=event) if event.video_url else None
        return Meeting(**dict(event), message=message)

    def _between(self, first: date, last: date) -> list[Event]:
        return self._source.between(first, last, self._clock())

    def _day(self, day: date, events: Sequence[Event]) -> Day:
        rows = [self._row(event, day) for event in events if self._source.touches(event, day, day)]
        return Day(date=day, events=rows)

    def _row(self, event: Event, day: date) -> EventRow:
        start, end = self._source.span(event)
        begins, ends = (f"{each:%H:%M}" if each.date() == day else f"{each:%Y-%m-%d %H:%M}" for each in (start, end))
        extra = {
            "time": "all day" if event.is_all_day else f"{begins} - {ends}",
            "video": service(event.video_url),
            "attendees": event.attendee_count or None,
        }
        return EventRow(**{**dict(event), **extra})

    def _next(self) -> Event | None:
        now = self._clock()
        coming = self._between(now.date(), (now + _YEAR).date())
        return next((event for event in coming if event.is_busy and self._source.span(event)[0] >= now), None)

    def event_ids(self) -> list[str]:
        """The ids that a model may ask for: those of a year around now."""
        return list(self._known())

    def _find(self, event_id: str) -> Event:
        return self._known()[event_id]

    def _known(self) -> dict[str, Event]:
        now = self._clock()
        return {event.id: event for event in self._between((now - _YEAR).date(), (now + _YEAR).date())}


def _gaps(
    busy: Sequence[tuple[datetime, datetime]], opens: datetime, closes: datetime, least: timedelta
) -> Iterator[Slot]:
    """The gaps between busy times in order, which may overlap, touch or reach beyond the hours."""
    free_from = opens
    for start, end in [*busy, (closes, closes)]:
        if min(start, closes) - free_from >= least:
            yield Slot(start=free_from, end=min(start, closes))
        free_from = max(free_from, end)
