"""What a VTODO says (RFC 5545, 3.6.2), apart from when it repeats."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from icalendar import Event as VEvent

from calendar_data.components import Moment, moment, text, values
from tasks_server.dtos import Priority, Status

_STATUS: dict[str, Status] = {"IN-PROCESS": "in_progress", "COMPLETED": "completed", "CANCELLED": "cancelled"}
_HIGH, _MEDIUM, _LOW = range(1, 5), 5, range(6, 10)
_HUNDRED = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is the same for all occurrences of a task. `parents` are UIDs."""

    title: str | None
    status: Status
    completed: datetime | None
    created: datetime | None
    percent: int | None
    priority: Priority | None
    tags: tuple[str, ...]
    location: str | None
    url: str | None
    notes: str | None = field(repr=False)
    comments: tuple[str, ...] = field(repr=False)
    parents: frozenset[str] = field(repr=False)


def read_facts(todo: VEvent) -> Facts:
    """What a task says of itself. One that has no status is open, unless it says when it was completed."""
    completed = _time(todo, "COMPLETED")
    status = text(next(iter(values(todo, "STATUS")), "")).upper()
    return Facts(
        title=_first(todo, "SUMMARY"),
        status=_STATUS.get(status, "completed" if completed and not status else "open"),
        completed=completed,
        created=_time(todo, "CREATED"),
        percent=_number(todo, "PERCENT-COMPLETE", range(1, _HUNDRED + 1)),
        priority=_priority(_number(todo, "PRIORITY", range(1, 10))),
        tags=tuple(_tags(todo)),
        location=_first(todo, "LOCATION"),
        url=_first(todo, "URL"),
        notes=_first(todo, "DESCRIPTION"),
        comments=tuple(found for value in values(todo, "COMMENT") if (found := text(value))),
        parents=frozenset(text(each) for each in values(todo, "RELATED-TO") if _is_parent(each)),
    )


def due_of(todo: VEvent) -> Moment | None:
    """When a task is due: DUE, or DTSTART and DURATION (3.8.2.5)."""
    due, start = moment(todo, "DUE"), moment(todo, "DTSTART")
    duration: Any = getattr(todo.get("DURATION"), "dt", None)
    return start + duration if due is None and start is not None and duration is not None else due


def _time(todo: VEvent, name: str) -> datetime | None:
    """A time in UTC, as both properties have to be (3.8.2.1, 3.8.7.1); some programs write a date only."""
    when = moment(todo, name)
    if when is None:
        return None
    if not isinstance(when, datetime):
        return datetime(when.year, when.month, when.day, tzinfo=UTC)
    return when if when.tzinfo else when.replace(tzinfo=UTC)


def _number(todo: VEvent, name: str, possible: range) -> int | None:
    found: Any = todo.get(name)
    return int(found) if isinstance(found, int) and found in possible else None


def _priority(number: int | None) -> Priority | None:
    """The three steps that 3.8.1.9 knows beside the numbers."""
    if number is None:
        return None
    return "high" if number in _HIGH else "low" if number in _LOW else "medium"


def _tags(todo: VEvent) -> list[str]:
    found = [each for value in values(todo, "CATEGORIES") for each in getattr(value, "cats", [value])]
    return list(dict.fromkeys(tag for each in found if (tag := text(each))))


def _is_parent(related: Any) -> bool:
    return str(getattr(related, "params", {}).get("RELTYPE", "PARENT")).upper() == "PARENT"


def _first(todo: VEvent, name: str) -> str | None:
    return next((found for value in values(todo, name) if (found := text(value))), None)
