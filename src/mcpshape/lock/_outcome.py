"""What becomes of one path under a grant, and which of two outcomes tells more."""

from dataclasses import dataclass
from fractions import Fraction
from math import isfinite

from mcpshape.rules import Action, Clip, Coarsen, Drop, Mask, Show

_MINUTES = {"hour": 60, "day": 24 * 60, "week": 7 * 24 * 60, "month": 24 * 60}


@dataclass(frozen=True, slots=True)
class Outcome:
    """An action; for DTOs also which of their rows are held back.

    `without` is the field that marks rows which are gone (`Rows`), `capped` the one that caps rows (`RowCap`).
    """

    action: Action
    without: str | None = None
    capped: str | None = None

    def tells_no_more_than(self, other: "Outcome") -> bool:
        """Whether nobody learns more from this than from the other one; False where the two cannot be compared."""
        return self.action == Drop() or (
            other.without in {None, self.without}
            and other.capped in {None, self.capped}
            and _is_within(self.action, other.action)
        )


WITHHELD = Outcome(Drop())
WHOLE = Outcome(Show())


def join(one: Outcome, other: Outcome) -> Outcome:
    """What tells no less than both: the wider one; of two that cannot be compared, nothing short of everything."""
    if one.tells_no_more_than(other):
        return other
    return one if other.tells_no_more_than(one) else WHOLE


def _is_within(action: Action, other: Action) -> bool:
    """Whether an action tells no more than another one. A mask tells nothing of the value, so any two are alike."""
    match action, other:
        case _, Show():
            return True
        case _, Drop():
            return False
        case Mask(), _:
            return True
        case Clip(length), Clip(most):
            return length <= most
        case Coarsen(step), Coarsen(finest):
            return step == finest or _is_coarser(step, finest)
        case _:
            return action == other


def _is_coarser(step: str | float, finer: str | float) -> bool:
    """Whether each value in coarse steps follows from the one in finer steps, because these end where those do."""
    if isinstance(step, str) and isinstance(finer, str):
        return finer not in {"week", "month"} and _minutes(step) % _minutes(finer) == 0
    if isinstance(step, str) or isinstance(finer, str) or not (isfinite(step) and isfinite(finer)):
        return False
    return Fraction(str(step)) % Fraction(str(finer)) == 0


def _minutes(step: str) -> int:
    return _MINUTES.get(step) or int(step.removesuffix("min"))
