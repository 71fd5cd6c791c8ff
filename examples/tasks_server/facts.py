"""What a VTODO says (RFC 5545, 3.6.2), apart from when it repeats."""

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from icalendar import Event as VEvent

from calendar_data.components import Moment, moment, text, values
from tasks_server.dtos import Priority, Status

_STATUS: dict[str, Status] = {"IN-PROCESS": "in_progress", "COMPLETED": "completed", "CANCELLED": "cancelled"}
_HIGH, _MEDIUM, _LOW = range(1, 5), 5, range(6, 10)
_HUNDRED = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is the same for all occurrences of a task. `parents` and `children` are UIDs."""

    title: str | None
    status: Status
    completed: Moment | None
    created: Moment | None
    percent: int | None
    priority: Priority | None
    tags: tuple[str, ...]
    location: str | None
    url: str | None
    notes: str | None = field(repr=False)
    comments: tuple[str, ...] = field(repr=False)
    parents: frozenset[str] = field(repr=False)
    children: frozenset[str] = field(repr=False)


def read_facts(todo: VEvent) -> Facts:
    """What a task says of itself. One that has no status is open, unless it says when or that it was completed."""
    completed, percent = _time(todo, "COMPLETED"), _number(todo, "PERCENT-COMPLETE", range(1, _HUNDRED + 1))
    status = text(next(iter(values(todo, "STATUS")), "")).upper()
    return Facts(
        title=_first(todo, "SUMMARY"),
        status=_STATUS.get(status, "completed" if (completed or percent == _HUNDRED) and not status else "open"),
        completed=completed,
        created=_time(todo, "CREATED"),
        percent=percent,
        priority=_priority(_number(todo, "PRIORITY", range(1, 10))),
        tags=tuple(_tags(todo)),
        location=_first(todo, "LOCATION"),
        url=_first(todo, "URL"),
        notes=_first(todo, "DESCRIPTION"),
        comments=tuple(found for value in values(todo, "COMMENT") if (found := text(value))),
        parents=_related(todo, "PARENT"),
        children=_related(todo, "CHILD"),
    )


def due_of(todo: VEvent) -> Moment | None:
    """When a task is due: DUE, or DTSTART and DURATION (3.8.2.5), unless that is beyond all calendars."""
    due, start = moment(todo, "DUE"), moment(todo, "DTSTART")
    duration: timedelta | None = getattr(todo.get("DURATION"), "dt", None)
    if due is not None or start is None or duration is None:
        return due
    with suppress(OverflowError):
        return start + duration
    return None


def _time(todo: VEvent, name: str) -> Moment | None:
    """A time in UTC, as both properties have to be (3.8.2.1, 3.8.7.1); some programs write a date only."""
    when = moment(todo, name)
    return when.replace(tzinfo=UTC) if isinstance(when, datetime) and when.tzinfo is None else when


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


def _related(todo: VEvent, kind: str) -> frozenset[str]:
    """The UIDs that a task names as of a kind, which is PARENT unless said (3.2.15)."""
    related = values(todo, "RELATED-TO")
    kinds = [str(getattr(each, "params", {}).get("RELTYPE", "PARENT")).upper() for each in related]
    return frozenset(text(each) for each, said in zip(related, kinds, strict=True) if said == kind)


def _first(todo: VEvent, name: str) -> str | None:
    return next((found for value in values(todo, name) if (found := text(value))), None)
