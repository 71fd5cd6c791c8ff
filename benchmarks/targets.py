"""What the project promises of its speed, and whether the figures of a run keep it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from results import Figure


@dataclass(frozen=True, slots=True)
class Target:
    """One promise: its figure is at most `most`.

    Args:
        name: What it is called.
        claim: What is measured.
        most: The figure, at most.
        unit: What it is counted in, where it is no ratio.
        has_floor: Whether the same is measured of a tool that does it by hand, with no library and no filter.
    """

    name: str
    claim: str
    most: float
    unit: str = ""
    has_floor: bool = False

    @property
    def floor(self) -> str:
        """What the figure of doing it by hand is called."""
        return f"{self.name} by hand"

    def is_met(self, figure: Figure) -> bool:
        """Whether the median keeps the promise."""
        return figure.figure <= self.most

    def written(self, number: float) -> str:
        """A figure in the unit of the target."""
        if self.unit == "%":
            return f"{number:.1%}"
        return f"{number:.3f} s" if self.unit == "s" else f"{number:.0f} µs" if self.unit == "µs" else f"{number:.2f}"


_ALONE = "from the DTO to the bytes of its result, 1,000 rows, TOON by toons, against MCPServer alone"
TARGETS = (
    Target("1a", f"{_ALONE}: text only", 0.55, has_floor=True),
    Target("1b", f"{_ALONE}: with the structured part", 0.75, has_floor=True),
    Target("2a", "beyond the floor, which is pydantic's own dump and the codec, 1,000 rows", 0.15, "%"),
    Target("2b", "beyond the floor, 1 record", 60, "µs"),
    Target("3", "TOON by python-toon, against model_dump and python-toon, 1,000 rows", 1.10),
    Target("4a", "100,000 rows against 1,000: time", 110, has_floor=True),
    Target("4b", "100,000 rows: memory beyond the DTOs, against the size of the text", 4, has_floor=True),
    Target("5", "a Markdown table of 1,000 rows, against strings joined by hand with the same escaping", 1.5),
    Target("6", "a page of 50 out of 100,000 rows, against an answer of 50 rows", 2),
    Target("7a", "import mcpshape", 0.15, "s"),
    Target("7b", "import mcpshape, against import pydantic", 2.5),
    Target("7c", "from mcpshape import *, against from pydantic import BaseModel", 2.5),
    Target("8", "strict against detailed, 1,000 rows", 1),
    Target("9", "mcpshape's share of a call through MCPServer over stdio, 20 rows", 0.10, "%", has_floor=True),
)
NAMES = [name for each in TARGETS for name in ([each.name, each.floor] if each.has_floor else [each.name])]
"""The names of all figures."""


def lines(figures: Mapping[str, Figure]) -> Iterator[str]:
    """Each target with its figure, the quarters around it, and `pass` or `FAIL`."""
    for target in TARGETS:
        if (found := figures.get(target.name)) is None:
            yield f"  {target.name:3} {target.claim}: not measured"
            continue
        middle, low, high, most = map(target.written, (found.figure, found.low, found.high, target.most))
        verdict = "pass" if target.is_met(found) else "FAIL"
        floor = f"; by hand {target.written(figures[target.floor].figure)}" if target.has_floor else ""
        yield f"  {target.name:3} {verdict}  {middle:>8} ({low} to {high}), at most {most}{floor}: {target.claim}"
