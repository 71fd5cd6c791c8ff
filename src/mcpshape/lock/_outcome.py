"""What becomes of one path under a grant, and which of two outcomes tells more."""

from dataclasses import dataclass

from mcpshape._telling import tells_no_more
from mcpshape.rules import Action, Drop, Show


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
            and tells_no_more(self.action, other.action)
        )


WITHHELD = Outcome(Drop())
WHOLE = Outcome(Show())


def join(one: Outcome, other: Outcome) -> Outcome:
    """What tells no less than both: the wider one; of two that cannot be compared, nothing short of everything."""
    if one.tells_no_more_than(other):
        return other
    return one if other.tells_no_more_than(one) else WHOLE
