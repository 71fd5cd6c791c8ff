"""What the answer of a tool costs: at each level, in each format, in each host, and which arrays are no tables."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from mcpshape._budget import find_counter
from mcpshape._hosts import HOSTS, Host
from mcpshape._page import Page
from mcpshape._project import View
from mcpshape._tables import Array, as_table, find_arrays, obstacle
from mcpshape._tokens import Keyring
from mcpshape._tool import Tool
from mcpshape.encoders import Encoder, Toon, name_formats
from mcpshape.errors import DefinitionError, EncodingError, Problem, ProjectionError, UserError
from mcpshape.policy import Grant
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
    if tool not in shape.tools:
        names = ", ".join(sorted(shape.tools)) or "none"
        raise DefinitionError("explain", [Problem(tool, "there is no such tool.", f"Known tools: {names}.")])
    # With the same handles each time, so that the same answer always has the same cost.
    keyring = Keyring(b"a secret that protects nothing", clock=lambda: 0)
    shape = shape.using(keyring=keyring, sinks=(), grant=shape.policy.grant(level) if shape.policy and level else None)
    known = shape.tools[tool]
    value = _example(known) if value is None else value
    sends_structured = known.output_schema is not None
    usual = _answer(shape, known, value, shape.grant, known.encoder)
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
        pages = {name: _answer(shape, tool, value, grant, encoder) for name, encoder in formats.items()}
        costs = {name: measure(page.texts[0]) for name, page in pages.items()}
        yield LevelCost(level=grant.level if grant else None, formats=costs)


def _answer(shape: Shape, tool: Tool, value: Any, grant: Grant | None, encoder: Encoder) -> Page:
    try:
        call, is_structured = shape._opened(tool, grant, encoder), tool.output_schema is not None  # noqa: SLF001
        return call.page(tool.plan, value, sends_structured=is_structured)
    except (UserError, EncodingError, ProjectionError) as error:
        remedy = "Pass another example, or mend what the tool returns."
        raise DefinitionError(
            tool.name, [Problem("example", f"it cannot be answered with: {error}", remedy)]
        ) from error


def _example(tool: Tool) -> Any:
    if tool.options.example is None:
        raise DefinitionError(
            tool.name, [Problem("example", "it has none.", "Pass example= to shape.tool(), or a value.")]
        )
    try:
        return tool.options.example()
    except Exception as error:
        message = f"the function that makes it failed with {type(error).__name__}: {error}."
        raise DefinitionError(tool.name, [Problem("example", message, "Mend it.")]) from error


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
    costs = {has: measure(_read(host, usual, has_structured=has)) for has in (False, True)}
    length = getattr(costs[sends_structured], host.unit)
    return HostCost(
        host=host.name,
        text_only=costs[False],
        with_structured=costs[True],
        reads=host.reads(has_structured=sends_structured),
        limit=f"{host.most:,} {host.unit}" if host.most else "",
        is_too_long=host.most is not None and length > host.most,
    )


def _read(host: Host, usual: Page, *, has_structured: bool) -> str:
    """The text that the model of a host reads of a result."""
    text, structured = usual.texts[0], usual.view.to_json()
    match host.reads(has_structured=has_structured):
        case "text":
            return text
        case "structured":
            return structured
        case "both":
            return f"{text}\n{structured}"
        case _:
            result: dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": False}
            whole = {**result, "structuredContent": usual.view.data} if has_structured else result
            return json.dumps(whole, ensure_ascii=False)
