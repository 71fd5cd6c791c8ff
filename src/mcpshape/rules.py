"""What a field of a DTO declares: at which level it is shown, and what stands there otherwise."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Show:
    """The value itself leaves."""


@dataclass(frozen=True, slots=True)
class Drop:
    """No key at all: the reader is not told."""


@dataclass(frozen=True, slots=True)
class Mask:
    """A fixed value of the field's own type in place of the real one; part of the published schema."""

    value: Any


@dataclass(frozen=True, slots=True)
class Clip:
    """At most `length` characters as a person counts them (grapheme clusters, UAX #29); a cut ends in `…`."""

    length: int


Action = Show | Drop | Mask | Clip


@dataclass(frozen=True, slots=True)
class Always:
    """Shown at every level."""


@dataclass(frozen=True, slots=True)
class Since:
    """Shown from `level` on; `below` is what stands there at narrower levels."""

    level: str
    below: Action = Drop()


@dataclass(frozen=True, slots=True)
class Until:
    """Shown below `level` only, where the field `then` takes over and tells the same.

    The plan checks that `then` really is shown from that level on, so that a wider level never tells less.
    """

    level: str
    then: str


@dataclass(frozen=True, slots=True)
class When:
    """Shown while `toggle` is on; `otherwise` is what stands there while it is off."""

    toggle: str
    otherwise: Action = Drop()


@dataclass(frozen=True, slots=True)
class Never:
    """Read by the server only; leaves at no level."""


@dataclass(frozen=True, slots=True, init=False)
class Derived:
    """An aggregate or flag made from other fields of the same DTO: shown only where all of them are shown."""

    sources: tuple[str, ...]

    def __init__(self, *sources: str) -> None:
        object.__setattr__(self, "sources", sources)


@dataclass(frozen=True, slots=True)
class Count:
    """The number of visible rows under `source`, filled in by the projection.

    `source` is a field of the same DTO, or a path through lists of DTOs such as `days.events`.
    """

    source: str


@dataclass(frozen=True, slots=True)
class Holds:
    """The rule of a field that only holds DTOs and has none of its own: shown while anything inside is.

    Otherwise a list of rows that show nothing would still tell how many there are.
    """


@dataclass(frozen=True, slots=True)
class Prose:
    """A hint, not a rule: text that its user wrote in Markdown, kept whole where the format is Markdown."""


Rule = Always | Since | Until | When | Never | Derived | Count | Mask | Clip | Holds
RULES = (Always, Since, Until, When, Never, Derived, Count, Mask, Clip)
