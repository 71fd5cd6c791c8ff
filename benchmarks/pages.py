"""What the search for a page costs: an answer within a budget against the plain answer with the same rows.

Both are timed side by side in one run, each subject in turn, so that a slow machine slows all of them. Rows are alike,
or their longest texts differ in length by a factor of up to 100. A budget in tokens has to count them at least once:
its plain answer is one that is counted once.
"""

import platform
import random
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Annotated

from pydantic import BaseModel

from mcpshape import Chars, Count, Keyring, Shape, Tokens
from mcpshape._budget import Budget, find_counter
from mcpshape.encoders import Encoder, Json, Markdown, Toon
from mcpshape.testing import decode
from timing import race, repeated

ROWS, ROUNDS, LIMIT = 10_000, 21, 1.5
BUDGETS: Sequence[Budget] = (Chars(8000), Chars(100_000), Tokens(2000), Tokens(20_000))


class Row(BaseModel):
    id: int
    title: str
    place: str | None
    count: int
    notes: str | None


class Table(BaseModel):
    total: Annotated[int, Count("rows")] = 0
    rows: list[Row]


def main() -> None:
    """Print a line for each budget, encoder and kind of rows, and whether its ratio is within the limit."""
    print(f"A page of {ROWS:,} rows of {len(Row.model_fields)} fields, median of {ROUNDS} rounds,")
    versions = ", ".join(f"{name} {version(name)}" for name in ("pydantic", "python-toon", "toons", "splintr-rs"))
    print(f"Python {platform.python_version()}, {versions}\n")
    encoders: Sequence[Encoder] = (Toon(codec="toons"), Toon(codec="python-toon"), Markdown(), Json())
    for kind, longest in (("alike", 1), ("uneven", 100)):
        table = _sample(longest)
        for budget in BUDGETS:
            for encoder in encoders:
                _report(kind, table, budget, encoder)


def _sample(longest: int) -> Table:
    chosen = random.Random(1)
    rows = [
        Row(
            id=place,
            title=f"Besprechung {place}",
            place=None if place % 2 else f"Raum {place % 20}",
            count=place % 7,
            notes="x" * (5 * chosen.randint(1, longest)),
        )
        for place in range(ROWS)
    ]
    return Table(rows=rows)


def _report(kind: str, table: Table, budget: Budget, encoder: Encoder) -> None:
    searched = _shape(table, encoder, budget=budget).answer("page", table)
    shown = decode(searched)["page"]["shown"]
    within = _shape(table, encoder, budget=budget)
    plain = _shape(table, encoder, limit=shown)
    count: Callable[[str], object] = find_counter().count if isinstance(budget, Tokens) else len
    timed = race(
        {
            "within": repeated(lambda: within.answer("page", table)),
            "plain": repeated(lambda: count(plain.answer("page", table).text)),
        },
        ROUNDS,
    )
    ratio = timed.ratio("within", "plain").figure
    filled = budget.measure(searched.text) / budget.most
    name = f"{encoder.name} {getattr(encoder, 'codec', '')}".strip()
    verdict = "pass" if ratio <= LIMIT else "FAIL"
    print(
        f"{kind:6} {budget.most:7,} {budget.unit:10} {name:16} {shown:5} rows, {filled:4.0%} filled, "
        f"{timed.seconds('within').figure * 1000:7.2f} ms, ratio {ratio:.2f}  (at most {LIMIT}: {verdict})"
    )


def _shape(table: Table, encoder: Encoder, *, budget: Budget | None = None, limit: int | None = None) -> Shape:
    shape = Shape(encoder=encoder, keyring=Keyring(b"a secret that protects nothing"), structured=False)

    @shape.tool(page="rows", budget=budget, limit=limit)
    def page() -> Table:
        return table

    return shape


if __name__ == "__main__":
    main()
