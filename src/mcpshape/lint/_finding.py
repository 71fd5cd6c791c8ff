"""What lint says: one mistake with its place and its remedy."""

from dataclasses import asdict, dataclass

from mcpshape.errors import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One mistake that a rule has found; `tool` is empty where it is one of the shape as a whole."""

    rule: str
    tool: str
    place: str
    message: str
    remedy: str

    def __str__(self) -> str:
        """The finding on one line."""
        return f"{self.tool or 'the shape'}: {self.place}: {self.message} {self.remedy} [{self.rule}]"

    def to_dict(self) -> dict[str, str]:
        """The finding as plain data."""
        return asdict(self)


def make_finding(rule: str, tool: str, problem: Problem) -> Finding:
    """The finding of a rule, on one line whatever an exception said."""
    message, remedy = (" ".join(text.split()) for text in (problem.message, problem.remedy))
    return Finding(rule=rule, tool=tool, place=problem.path, message=message, remedy=remedy)
