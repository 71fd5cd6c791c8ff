"""How each target is measured."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import toon
import toons

import stdio
from by_hand import escaped_alike, join_table
from data import LEVEL, Row, Rows, Workload, policy, row, rows
from mcpshape import Shape
from mcpshape.encoders import Encoder, Markdown, Toon
from results import Figure, figure
from subjects import ALONE, BY_HAND, BY_HAND_STRUCTURED, NATIVE, STRUCTURED, subjects
from timing import LEAST, Repeat, Spread, race, repeated, spread

_PROBES = Path(__file__).with_name("probes.py")
_PAGE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How many rows, and how often."""

    many: int = 1000
    most: int = 100_000
    rounds: int = 101
    few_rounds: int = 9
    processes: int = 15
    stdio_rounds: int = 7
    calls: int = 20
    least: float = LEAST


QUICK = Effort(many=20, most=200, rounds=2, few_rounds=2, processes=1, stdio_rounds=1, calls=1, least=0)


def measure(effort: Effort) -> Iterator[tuple[str, Figure]]:
    """All targets, each by its name."""
    table = rows(effort.many)
    measures: list[Callable[[], Mapping[str, Spread]]] = [
        lambda: _results(table, effort),
        lambda: _floor(table, effort),
        lambda: _python_codec(table, effort),
        lambda: _growth(table, effort),
        lambda: _memory(effort),
        lambda: _markdown(table, effort),
        lambda: _page(effort),
        lambda: _imports(effort),
        lambda: _strict(table, effort),
        lambda: stdio.shares(effort.stdio_rounds, effort.calls),
    ]
    for each in measures:
        for name, found in each().items():
            yield name, figure(found)


def _shape(encoder: Encoder, level: str = LEVEL) -> Shape:
    return Shape(policy, encoder=encoder, grant=policy.grant(level))


def _native(level: str = LEVEL) -> Shape:
    return _shape(Toon(codec="toons"), level)


def _rendered(shape: Shape, dto: Row | Rows) -> Repeat:
    return repeated(lambda: shape.render(dto))


def _by_hand(dto: Row | Rows) -> Repeat:
    return repeated(lambda: toons.dumps(dto.model_dump(mode="json")))


def _results(table: Rows, effort: Effort) -> Mapping[str, Spread]:
    """What `subjects` times as well, with more rounds."""
    found = subjects(Workload("targets", table))
    with asyncio.Runner() as runner:
        timed = race(
            {name: found[name].repeat(runner) for name in (ALONE, NATIVE, STRUCTURED, BY_HAND, BY_HAND_STRUCTURED)},
            effort.rounds,
            least=effort.least,
        )
    names = {"1a": NATIVE, "1b": STRUCTURED, "1a by hand": BY_HAND, "1b by hand": BY_HAND_STRUCTURED}
    return {name: timed.ratio(subject, ALONE) for name, subject in names.items()}


def _floor(table: Rows, effort: Effort) -> Mapping[str, Spread]:
    """At `standard` every field is visible, so that the floor is the plain dump of the same DTO."""
    shape, record = _native(), row(20)
    for dto in (table, record):
        _require_same(shape.render(dto).text, toons.dumps(dto.model_dump(mode="json")))
    many = race(
        {"floor": _by_hand(table), "shape": _rendered(shape, table)},
        effort.rounds,
        least=effort.least,
    )
    one = race(
        {"floor": _by_hand(record), "shape": _rendered(shape, record)},
        effort.rounds,
        least=effort.least,
    )
    over = many.ratio("shape", "floor")
    return {"2a": Spread(over.figure - 1, over.low - 1, over.high - 1), "2b": one.beyond("shape", "floor") * 1e6}


def _python_codec(table: Rows, effort: Effort) -> Mapping[str, Spread]:
    shape = _shape(Toon(codec="python-toon"))
    _require_same(shape.render(table).text, toon.encode(table.model_dump(mode="json")))
    by_hand = repeated(lambda: toon.encode(table.model_dump(mode="json")))
    timed = race({"by hand": by_hand, "shape": _rendered(shape, table)}, effort.rounds, least=effort.least)
    return {"3": timed.ratio("shape", "by hand")}


def _growth(table: Rows, effort: Effort) -> Mapping[str, Spread]:
    shape, most = _native(), rows(effort.most)
    subjects = {"many": _rendered(shape, table), "most": _rendered(shape, most)}
    subjects |= {"many by hand": _by_hand(table), "most by hand": _by_hand(most)}
    timed = race(subjects, effort.few_rounds, least=effort.least)
    return {"4a": timed.ratio("most", "many"), "4a by hand": timed.ratio("most by hand", "many by hand")}


def _memory(effort: Effort) -> Mapping[str, Spread]:
    """In a process of its own, since a peak never goes down."""
    names = {"4b": "memory", "4b by hand": "memory-by-hand"}
    found = {
        name: [_probe(kind, str(effort.most)) for _ in range(min(effort.processes, 3))] for name, kind in names.items()
    }
    return {name: spread([each["beyond"] / each["text"] for each in figures]) for name, figures in found.items()}


def _markdown(table: Rows, effort: Effort) -> Mapping[str, Spread]:
    shape = _shape(Markdown())
    _require_same(shape.render(table).text, join_table(table, escaped_alike))
    by_hand = repeated(lambda: join_table(table, escaped_alike))
    timed = race({"by hand": by_hand, "shape": _rendered(shape, table)}, effort.rounds, least=effort.least)
    return {"5": timed.ratio("shape", "by hand")}


def _page(effort: Effort) -> Mapping[str, Spread]:
    """Rows beyond the page hold nothing at all in a check, so that an answer which wrote one would be an error."""
    shape = _native()

    @shape.tool(page="rows", limit=_PAGE)
    def page() -> Rows:
        return table

    table = rows(effort.most)
    first = Rows(rows=table.rows[:_PAGE], total=_PAGE)
    hollow = [*first.rows, *[Row.model_construct()] * (effort.most - _PAGE)]
    answer = shape.answer("page", Rows.model_construct(rows=hollow, total=0))
    _require_same(answer.text, shape.answer("page", table).text)
    timed = race(
        {"page": repeated(lambda: shape.answer("page", table)), "rows": _rendered(shape, first)},
        effort.rounds,
        least=effort.least,
    )
    return {"6": timed.ratio("page", "rows")}


def _imports(effort: Effort) -> Mapping[str, Spread]:
    """Both packages load most of what they have on first use; the third figure is that with all of it loaded."""
    names = ("pydantic", "mcpshape", "pydantic:BaseModel", "mcpshape:*")
    found = [{name: _probe("import", name)["seconds"] for name in names} for _ in range(effort.processes)]
    return {
        "7a": spread([each["mcpshape"] for each in found]),
        "7b": spread([each["mcpshape"] / each["pydantic"] for each in found]),
        "7c": spread([each["mcpshape:*"] / each["pydantic:BaseModel"] for each in found]),
    }


def _strict(table: Rows, effort: Effort) -> Mapping[str, Spread]:
    subjects = {level: _rendered(_native(level), table) for level in ("strict", "detailed")}
    return {"8": race(subjects, effort.rounds, least=effort.least).ratio("strict", "detailed")}


def _probe(*words: str) -> Mapping[str, float]:
    line = [sys.executable, str(_PROBES), *words]
    printed = subprocess.run(line, capture_output=True, text=True, check=True).stdout  # noqa: S603 # It is ours.
    found: dict[str, float] = json.loads(printed)
    return found


def _require_same(text: str, other: str) -> None:
    if text != other:
        raise SystemExit(f"two subjects do not write the same:\n{text[:300]}\n---\n{other[:300]}")
