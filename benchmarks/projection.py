"""What the filter costs: a view and its TOON text against `model_dump(mode="json")` and the same codec.

Everything is timed side by side in one run, each subject in turn, so that a slow machine slows all of them.
"""

import platform
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from typing import Annotated

from pydantic import BaseModel

from mcpshape import Always, Count, Mask, Policy, Shape, Since
from mcpshape._cleaning import needs_care
from mcpshape.encoders import Toon
from mcpshape.encoders.toon import Codec
from timing import time_in_turn

ROWS, ROUNDS, LIMIT = 1000, 41, 1.4

policy = Policy(levels=("strict", "minimal", "standard", "detailed"))


class Row(BaseModel):
    id: Annotated[str, Always()]
    title: Annotated[str, Since("minimal", below=Mask("[Event]"))]
    start: Annotated[datetime, Always()]
    end: Annotated[datetime, Always()]
    is_busy: Annotated[bool, Always()]
    attendees: Annotated[int, Since("minimal")]
    location: Annotated[str | None, Since("minimal")]
    organizer: Annotated[str | None, Since("standard")]
    notes: Annotated[str | None, Since("standard")]


class Rows(BaseModel):
    total: Annotated[int, Count("rows")] = 0
    rows: list[Row]


def main() -> None:
    """Print a line for each codec and level, and whether its ratio is within the limit."""
    dto = sample()
    print(
        f"{ROWS} rows of {len(Row.model_fields)} fields, median of {ROUNDS} rounds, Python {platform.python_version()},"
    )
    print(", ".join(f"{name} {version(name)}" for name in ("pydantic", "python-toon", "toons")))
    codecs: tuple[Codec, ...] = ("toons", "python-toon")
    for codec in codecs:
        encoder = Toon(codec=codec)
        shape = Shape(policy, encoder=encoder)
        subjects: dict[str, Callable[[], object]] = {"plain": lambda: encoder._encode(dto.model_dump(mode="json"))}  # noqa: B023, SLF001
        for level in policy.levels:
            grant = policy.grant(level)
            subjects[level] = lambda grant=grant: shape.render(dto, grant=grant)  # type: ignore[misc]  # noqa: B023
        text = shape.render(dto, grant=policy.grant("detailed")).text
        subjects["scan"] = lambda text=text: needs_care(text)  # type: ignore[misc]
        _check(dto, shape)
        _report(codec, time_in_turn(subjects, ROUNDS))


def sample() -> Rows:
    start = datetime(2026, 7, 13, 9, tzinfo=UTC)
    rows = [
        Row(
            id=f"e{place:06d}",
            title=f"Besprechung Größe {place}",
            start=start + timedelta(hours=place),
            end=start + timedelta(hours=place + 1),
            is_busy=place % 3 > 0,
            attendees=place % 7,
            location=None if place % 2 else f"Raum {place % 20}",
            organizer=None if place % 5 else "Ada Moreau",
            notes=None if place % 4 else "bring the draft, and the numbers of May",
        )
        for place in range(ROWS)
    ]
    return Rows(rows=rows, total=len(rows))


def _check(dto: Rows, shape: Shape) -> None:
    """The widest view has to be the plain dump, or the two would not be comparable."""
    if shape.view(dto, grant=policy.grant("detailed")).data != dto.model_dump(mode="json"):
        raise SystemExit("the detailed view is not the plain dump")


def _report(codec: str, times: dict[str, float]) -> None:
    plain, scan = times.pop("plain"), times.pop("scan")
    print(f"\n{codec}: model_dump and codec {plain * 1000:.2f} ms")
    for level, taken in times.items():
        verdict = "pass" if taken / plain <= LIMIT else "FAIL"
        print(f"  {level:9} {taken * 1000:6.2f} ms  ratio {taken / plain:.2f}  (at most {LIMIT}: {verdict})")
    print(f"  the scan for what must be cleaned is {scan / (times['detailed'] - scan):.1%} of the rest (at most 10 %)")


if __name__ == "__main__":
    main()
