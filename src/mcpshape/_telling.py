"""Actions against each other: which of two tells more, and in which form each lets a value out."""

from fractions import Fraction
from math import isfinite

from mcpshape.rules import Action, Clip, Coarsen, Drop, Handle, Mask, Show

_MINUTES = {"hour": 60, "day": 24 * 60, "week": 7 * 24 * 60, "month": 24 * 60}


def tells_no_more(action: Action, other: Action) -> bool:
    """Whether nobody learns more from an action than from another one; False where the two cannot be compared.

    A mask tells nothing of the value, so any two of them are alike.
    """
    match action, other:
        case (Drop(), _) | (_, Show()):
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


def name_form(action: Action) -> str:
    """In which form a value leaves that is neither masked nor withheld; nothing for the value itself."""
    match action:
        case Clip(length):
            return f"cut to {length} characters"
        case Coarsen(step):
            return f"rounded down to {step}"
        case Handle(kind):
            return f"as a handle of the kind {kind}"
        case _:
            return ""


def _is_coarser(step: str | float, finer: str | float) -> bool:
    """Whether each value in coarse steps follows from the one in finer steps, because these end where those do."""
    if isinstance(step, str) and isinstance(finer, str):
        return finer not in {"week", "month"} and _minutes(step) % _minutes(finer) == 0
    if isinstance(step, str) or isinstance(finer, str) or not (isfinite(step) and isfinite(finer)):
        return False
    return Fraction(str(step)) % Fraction(str(finer)) == 0


def _minutes(step: str) -> int:
    return _MINUTES.get(step) or int(step.removesuffix("min"))
