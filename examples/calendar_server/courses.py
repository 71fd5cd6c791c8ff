"""All that some calendars say of one UID: which events it makes, and what may be told of them at most."""

import logging
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, tzinfo
from typing import Any, NamedTuple

from icalendar import Event as VEvent

from calendar_data.components import moment, read_components, start_of
from calendar_data.feeds import Labelled
from calendar_data.recurrence import (
    MOST_A_YEAR,
    Happening,
    TooOftenError,
    happenings,
    require_bearable,
    settle_overrides,
)
from calendar_server.meaning import UNREADABLE, Facts, read_facts

_LOG = logging.getLogger("calendar_server")
_THIS_AND_FUTURE = re.compile(r"^RECURRENCE-ID[^:\n]*THISANDFUTURE", re.MULTILINE | re.IGNORECASE).search


class Found(NamedTuple):
    """An event at one time, with what tells it from all others."""

    happening: Happening
    identity: str
    label: str
    facts: Facts
    is_private: bool


@dataclass(slots=True, eq=False)
class Course:
    """All that some calendars say of one UID. It is read when somebody asks."""

    source: str
    uid: str = field(repr=False)
    labelled: Sequence[Labelled] = field(repr=False)
    read: list[tuple[Labelled, VEvent]] | None = field(default=None, repr=False)
    facts: dict[int, Facts] = field(default_factory=dict, repr=False)
    privacy: tuple[bool, bool] | None = field(default=None, repr=False)
    once: "list[Found] | None" = field(default=None, repr=False)

    @property
    def label(self) -> str:
        """The calendar that it is in."""
        return self.labelled[0].label

    @property
    def days(self) -> tuple[date, date] | None:
        """The first and last day on which it can be; `None` where it repeats or cannot be told so easily."""
        return self.labelled[0].block.days if len(self.labelled) == 1 else None

    def components(self) -> list[tuple[Labelled, VEvent]]:
        """The events that it is made of, without those that cannot be read."""
        if self.read is None:
            by_block = {id(each.block): each for each in self.labelled}
            pairs = read_components([each.block for each in self.labelled if each.block.text], self.label)
            self.read = [(by_block[id(block)], self._bearable(event)) for block, event in pairs]
            settle_overrides([event for _, event in self.read])
        return self.read

    def happenings(self, start: datetime, end: datetime, zone: tzinfo) -> Iterator[Happening]:
        """Where it puts events between two moments, in no order."""
        for numbers in _apart([event for _, event in self.components()]):
            yield from happenings({number: self.components()[number][1] for number in numbers}, start, end, zone)

    def is_private(self, number: int) -> bool:
        """Whether an event is held back: the strictest of the series and of its changed occurrences counts.

        Of events that cannot be read, what they say of privacy counts as well.
        """
        if self.privacy is None:
            blocks = [each.block for each in self.labelled]
            series = any(block.is_private for block in blocks if not block.is_override or _THIS_AND_FUTURE(block.text))
            self.privacy = series, any(block.is_private for block in blocks)
        is_series, is_any = self.privacy
        return is_any if "RECURRENCE-ID" in self.components()[number][1] else is_series

    def tell(self, happening: Happening, owners: Collection[str]) -> Found:
        """An event at one time with all that is said of it."""
        labelled, event = self.components()[happening.number]
        if happening.number not in self.facts:
            self.facts[happening.number] = self._read_facts(event, owners)
        identity = f"{self.source}|{self.uid}|{_key(happening, event)}"
        is_private = self.is_private(happening.number)
        return Found(happening, identity, labelled.label, self.facts[happening.number], is_private)

    def _bearable(self, event: VEvent) -> VEvent:
        """An event without its repetitions, where these cannot be worked out."""
        try:
            require_bearable(event)
        except TooOftenError:
            _LOG.warning("%s: an event repeats more than %d times a year; told once", self.label, MOST_A_YEAR)
        except Exception:
            _LOG.warning("%s: an event has a rule that cannot be used; told once", self.label)
        else:
            return event
        event.pop("RRULE", None)
        return event

    def simplify(self, reason: str) -> None:
        """Tell each event once, since their repetitions cannot be worked out."""
        _LOG.warning("%s: an event has repetitions that %s; told once", self.label, reason)
        for _, event in self.components():
            for name in ("RRULE", "RDATE", "EXDATE"):
                event.pop(name, None)

    def _read_facts(self, event: VEvent, owners: Collection[str]) -> Facts:
        try:
            return read_facts(event, owners)
        except Exception:
            _LOG.warning("%s: an event takes its time, but nothing else of it can be read", self.label)
            return UNREADABLE


def _apart(components: Sequence[VEvent]) -> list[list[int]]:
    """The numbers of components that make up one series each.

    Some programs give events that have nothing to do with each other the same UID. Of versions of one event only the
    last counts (SEQUENCE, 3.8.7.4); what is of one version and begins at another time is another event.
    """
    heads = [number for number, event in enumerate(components) if "RECURRENCE-ID" not in event]
    newest = max((_version(components[number]) for number in heads), default=0)
    starts: dict[str, int] = {}
    for number in heads:
        if _version(components[number]) == newest:
            starts[str(start_of(components[number]))] = number
    kept = sorted(starts.values(), key=lambda number: "RRULE" not in components[number])
    overrides = [number for number in range(len(components)) if number not in heads]
    first = [[*kept[:1], *overrides]] if kept or overrides else []
    return [*first, *([number] for number in kept[1:])]


def _version(event: VEvent) -> int:
    value: Any = event.get("SEQUENCE", 0)
    return int(value)


def _key(happening: Happening, event: VEvent) -> str:
    """Which of the occurrences of a series it is; a moved one is known by where it was (RECURRENCE-ID)."""
    if not happening.is_override:
        return happening.start.isoformat()
    original = moment(event, "RECURRENCE-ID")
    if isinstance(original, datetime) and original.tzinfo:
        original = original.astimezone(UTC)
    return f"moved {original}"
