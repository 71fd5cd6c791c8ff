"""What the answer of a tool costs: at each level, in each format, in each host, and which arrays are no tables."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from mcpshape._budget import find_counter
from mcpshape._example import answer_example, find_tool, make_example, open_example, still
from mcpshape._hosts import HOSTS, Host
from mcpshape._page import Page
from mcpshape._project import View
from mcpshape._tables import Array, as_table, find_arrays, obstacle
from mcpshape._tool import Tool
from mcpshape.encoders import Toon, name_formats
from mcpshape.errors import DefinitionError, Problem
from mcpshape.shape import Shape


@dataclass(frozen=True, slots=True)
class Cost:
    """The length of a text."""

    characters: int
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelCost:
    """The cost of the answer at one level, by format; `level` is `None` without a policy."""

    level: str | None
    formats: dict[str, Cost]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayReport:
    """One array: how often it is in the answer, why it is no table in a format, and its cost as TOON.

    `as_table` is what the same entries would cost as one table, with nested rows joined to their parents and missing
    keys filled with null.
    """

    path: str
    arrays: int
    entries: int
    no_table: dict[str, str]
    cost: Cost
    as_table: Cost | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCost:
    """What the model of one host reads, without and with a structured part, and the most that it is given of it."""

    host: str
    text_only: Cost
    with_structured: Cost
    reads: str
    limit: str
    is_too_long: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """All that is known of one tool's answer; `counted_by` is the vocabulary or the estimate behind the tokens."""

    tool: str
    level: str | None
    format: str
    sends_structured: bool
    counted_by: str
    unit: str
    levels: Sequence[LevelCost]
    arrays: Sequence[ArrayReport]
    hosts: Sequence[HostCost]

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain data."""
        return asdict(self)


def explain_tool(shape: Shape, tool: str, value: Any = None, *, level: str | None = None) -> Explanation:
    """Explain the answer that a tool gives for an example: the one of its `example` option unless another is given.

    Args:
        shape: The shape that the tool is registered with.
        tool: Its name.
        value: A DTO to answer with.
        level: The level of arrays and hosts; the shape's own unless said.

    Raises:
        DefinitionError: There is no such tool or level, or no example, or the example cannot be answered with.
    """
    if level is not None and shape.policy is None:
        raise DefinitionError("explain", [Problem("level", "this shape has no levels.", "Leave it out.")])
    shape = still(shape, grant=shape.policy.grant(level) if shape.policy and level else None)
    known = find_tool(shape, tool)
    value = make_example(known) if value is None else value
    sends_structured = known.output_schema is not None
    usual = answer_example(open_example(shape, known), known, value)
    counter = find_counter()
    return Explanation(
        tool=tool,
        level=shape.grant.level if shape.grant else None,
        format=known.encoder.name,
        sends_structured=sends_structured,
        counted_by=counter.source,
        unit=counter.unit,
        levels=list(_levels(shape, known, value)),
        arrays=list(_arrays(usual.view)),
        hosts=[_host(host, usual, sends_structured=sends_structured) for host in HOSTS],
    )


def measure(text: str) -> Cost:
    """The cost of a text."""
    return Cost(len(text), find_counter().count(text))


def _levels(shape: Shape, tool: Tool, value: Any) -> Iterator[LevelCost]:
    policy = shape.policy
    formats = name_formats(tool.encoder, shape.formats)
    for grant in [policy.grant(level) for level in policy.levels] if policy else [None]:
        calls = {name: open_example(shape, tool, grant=grant, encoder=encoder) for name, encoder in formats.items()}
        pages = {name: answer_example(call, tool, value) for name, call in calls.items()}
        costs = {name: measure(page.texts[0]) for name, page in pages.items()}
        yield LevelCost(level=grant.level if grant else None, formats=costs)


def _arrays(view: View) -> Iterator[ArrayReport]:
    found: dict[str, list[Array]] = {}
    for array in find_arrays(view.data, view.layout):
        found.setdefault(array.path, []).append(array)
    for path, arrays in found.items():
        reasons = {
            name: next((why for each in arrays if (why := obstacle(each, allows_groups=name == "toon"))), None)
            for name in ("toon", "markdown")
        }
        joined = as_table(Array(path, [entry for each in arrays for entry in each.entries]))
        cost = [measure(_toon(path, each.entries)) for each in arrays]
        yield ArrayReport(
            path=path,
            arrays=len(arrays),
            entries=sum(len(each.entries) for each in arrays),
            no_table={name: why for name, why in reasons.items() if why},
            cost=Cost(sum(each.characters for each in cost), sum(each.tokens for each in cost)),
            as_table=measure(_toon(path, joined)) if joined and reasons["toon"] else None,
        )


def _toon(path: str, entries: Sequence[Any]) -> str:
    return Toon().encode(View({path.rpartition(".")[2]: list(entries)}))


def _host(host: Host, usual: Page, *, sends_structured: bool) -> HostCost:
    text, structured = usual.texts[0], usual.view.data
    costs = {has: measure(host.shown(text, structured if has else None)) for has in (False, True)}
    length = getattr(costs[sends_structured], host.unit)
    return HostCost(
        host=host.name,
        text_only=costs[False],
        with_structured=costs[True],
        reads=host.reads(has_structured=sends_structured),
        limit=f"{host.most:,} {host.unit}" if host.most else "",
        is_too_long=host.most is not None and length > host.most,
    )
