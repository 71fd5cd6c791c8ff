"""Narrows a list of events by what a caller asks for, and never by what that caller may not be told."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from calendar_server.courses import Found
from calendar_server.dtos import Asked, Calendar, Calendars, Event
from mcpshape import Shape, UserError

Entry = tuple[Found, Event]

_NOT_TOLD = "It is not told at this level, so nothing can be searched by it."


class Search:
    """The arguments `calendar` and `text`. They see the view of each event: what is withheld in it matches nothing."""

    def __init__(self, shape: Shape, labels: Callable[[], Sequence[str]]) -> None:
        self._shape, self._labels = shape, labels

    def among(self, entries: Sequence[Entry], calendar: str | None, text: str | None) -> list[Entry]:
        """The events of a calendar, those with a text, or all.

        Raises:
            UserError: The level does not tell what is asked by, or there is no such calendar.
        """
        asked = {name: value for name, value in (("calendar", calendar), ("text", text)) if value is not None}
        if not asked:
            return list(entries)
        self._require_told(asked)
        if calendar is not None:
            self._require_known(calendar)
        return [entry for entry in entries if self._matches(entry[1], calendar, (text or "").casefold())]

    def _matches(self, event: Event, calendar: str | None, text: str) -> bool:
        told = self._shape.view(event).data
        if calendar is not None and told.get("calendar") != calendar:
            return False
        return not text or any(text in each.casefold() for each in _texts(told))

    def _require_told(self, asked: dict[str, str]) -> None:
        told = self._shape.view(Asked(calendar="", text="")).data
        untold = " and ".join(name for name in asked if name not in told)
        if untold:
            raise UserError(f"{untold}: {_NOT_TOLD}", hint=f"Call again without {untold}.")

    def _require_known(self, calendar: str) -> None:
        labels = Calendars(calendars=[Calendar(label=label) for label in self._labels()])
        known = [each["label"] for each in self._shape.view(labels).data["calendars"]]
        if calendar not in known:
            raise UserError("There is no calendar with this label.", hint=f"Choose one of: {', '.join(known)}.")


_SEARCHED = ("title", "location", "organizer", "notes", "url")


def _texts(told: Any) -> Iterator[str]:
    yield from (told[name] for name in _SEARCHED if told.get(name))
    for attendee in told.get("attendees") or ():
        yield from filter(None, attendee.values())
