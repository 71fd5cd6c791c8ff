"""What the states of versions, of app information and of phased releases say."""

from collections.abc import Sequence
from dataclasses import dataclass

LIVE = "live"
# The first is of appStoreState, which is going away, the second of appVersionState and of app information.
_LIVE = frozenset({"READY_FOR_SALE", "READY_FOR_DISTRIBUTION"})
_REMOVED = frozenset({"REMOVED_FROM_SALE", "DEVELOPER_REMOVED_FROM_SALE"})
_ENDED = frozenset({"REPLACED_WITH_NEW_VERSION", "REPLACED_WITH_NEW_INFO"})
# Those that deliver uploads to, and READY_FOR_REVIEW, which is one step before being submitted.
_EDITABLE = frozenset(
    {
        "PREPARE_FOR_SUBMISSION",
        "READY_FOR_REVIEW",
        "WAITING_FOR_REVIEW",
        "DEVELOPER_REJECTED",
        "REJECTED",
        "METADATA_REJECTED",
        "INVALID_BINARY",
    }
)
_PHASES = {"INACTIVE": "planned", "ACTIVE": "active", "PAUSED": "paused", "COMPLETE": "complete"}
_UNDER_WAY = frozenset({"active", "paused"})
_PERCENT = (1, 2, 5, 10, 20, 50, 100)


def told_state(state: str | None) -> str | None:
    """The state of a version or of app information: `live`, or as the API spells it, known to us or not.

    Having been removed from sale is no state of a version; the app has it.
    """
    return LIVE if state in _LIVE | _REMOVED else state


def is_removed(states: Sequence[str | None]) -> bool:
    """Whether one of the states of a version says that the app was removed from sale."""
    return any(state in _REMOVED for state in states)


def is_ended(state: str | None) -> bool:
    """Whether something has been replaced."""
    return state in _ENDED


def is_editable(state: str | None) -> bool:
    """Whether texts can be uploaded."""
    return state in _EDITABLE


@dataclass(frozen=True, slots=True)
class Phase:
    """A phased release. Day and percent are there while one is under way; `complete` is at 100 percent."""

    state: str
    day: int | None = None
    percent: int | None = None
    paused_days: int | None = None
    since: str | None = None


UNKNOWN = Phase("unknown")
"""What is said where nothing was pulled that says whether there is a phased release."""


def make_phase(
    state: str | None, *, day: int | None = None, paused_days: int | None = None, since: str | None = None
) -> Phase:
    """A phased release, from what the API says of it. Days go from 1 to 7."""
    told = _PHASES.get(state or "", state or UNKNOWN.state)
    if told not in _UNDER_WAY or not day or day < 1:
        return Phase(told, percent=100 if told == "complete" else None, paused_days=paused_days, since=since)
    day = min(day, len(_PERCENT))
    return Phase(told, day, _PERCENT[day - 1], paused_days, since)
