"""What a field of a DTO declares: at which level it is shown, and what stands there otherwise."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, ValidationInfo
from pydantic_core import CoreSchema, core_schema


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


@dataclass(frozen=True, slots=True)
class Coarsen:
    """A coarser value in place of the real one, rounded down.

    `step` is `"15min"` or another part of an hour, `"hour"`, `"day"`, `"week"` (from Monday) or `"month"` for dates and
    times, in their own zone; a number for numbers.
    """

    step: str | int | float


@dataclass(frozen=True, slots=True)
class Handle:
    """A short opaque id in place of the real one, which differs between principals and between periods.

    On a tool parameter, `Annotated[str, Handle("event", among=ids)]` takes such an id back: `ids` gives the real ids
    that it may stand for, and the tool receives the real one. Of a tool that is a method, `ids` may take the object it
    is bound to.
    """

    kind: str
    among: Callable[..., Iterable[str]] | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """On a parameter, resolve the handle once it is known to be a text; the published schema is a text's."""
        declared = handler(source)
        kind, among = self.kind, self.among
        if among is None:
            return declared

        def resolve(handle: Any, info: ValidationInfo) -> Any:
            return info.context.resolve(kind, handle, among) if isinstance(info.context, Resolving) else handle

        return core_schema.with_info_after_validator_function(resolve, declared)


FindReal = Callable[[str, str, Iterable[str]], str]
"""Kind, handle and candidates to the real id; raises the one `UserError` where there is none."""


@dataclass(frozen=True, slots=True)
class Resolving:
    """The validation context under which handles in arguments are resolved."""

    find: FindReal
    owner: Any = None

    def resolve(self, kind: str, handle: str, among: Callable[..., Iterable[str]]) -> str:
        """The real id that a handle stands for."""
        try:
            candidates = tuple(among(self.owner) if inspect.signature(among).parameters else among())
        except ValueError as error:
            # A ValueError in a validator would be shown as the caller's mistake, text and all.
            raise LookupError("the candidates of a handle could not be listed") from error
        return self.find(kind, handle, candidates)


Action = Show | Drop | Mask | Clip | Coarsen | Handle


@dataclass(frozen=True, slots=True, init=False)
class Ladder:
    """One action from each of several levels on, as `{"minimal": Coarsen("day"), "standard": Show()}`.

    Below the narrowest level that is named there is no key.
    """

    steps: tuple[tuple[str, Action], ...]

    def __init__(self, steps: Mapping[str, Action]) -> None:
        object.__setattr__(self, "steps", tuple(steps.items()))


@dataclass(frozen=True, slots=True)
class RowCap:
    """The rule of a field that holds a level or `None`: its row is told as that level usually is, and no wider.

    The table keeps its columns: what the row withholds is masked or `null`, and this field says at which level it is
    held. It is `null` in rows that are told like the others, and has no key in an answer without held rows, nor at the
    narrowest level. A value that is no level counts as the narrowest.
    """


@dataclass(frozen=True, slots=True)
class Rows:
    """Beside the rule of a list: rows whose field `when` is true are there only since level `visible_since`.

    They are gone before anything is counted.
    """

    visible_since: str
    when: str


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
    """A hint, not a rule: text that its user wrote in Markdown, or a list of such texts, kept whole in Markdown."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A hint, not a rule: the field has a key only in answers in which it holds something.

    It is for what an answer says about itself, such as warnings or sources that are down. `None`, an empty text, an
    empty array and an empty object say nothing, judged after `Rows` are gone. At which levels the field is let out at
    all is for its rule to say.
    """


ACTIONS = (Show, Drop, Mask, Clip, Coarsen, Handle)
Rule = (
    Always
    | Since
    | Until
    | When
    | Never
    | Ladder
    | RowCap
    | Derived
    | Count
    | Show
    | Drop
    | Mask
    | Clip
    | Coarsen
    | Handle
    | Holds
)
HINTS = (Prose, Notice)
RULES = (Always, Since, Until, When, Never, Ladder, RowCap, Derived, Count, Rows, *ACTIONS)
