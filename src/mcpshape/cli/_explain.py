"""The command `mcpshape explain`: what the answers of a tool cost, and why."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from pydantic import TypeAdapter, ValidationError
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from mcpshape._tool import declared_return
from mcpshape.cli._place import load_shape, refuse, refusing
from mcpshape.explain import ArrayReport, Cost, Explanation, HostCost, explain_tool
from mcpshape.shape import Shape

_WIDTH = 120


def explain(
    shape: str,
    tool: str,
    /,
    *,
    value: Annotated[Path | None, Parameter(help="A file with a DTO as JSON, in place of the tool's example.")] = None,
    level: Annotated[str | None, Parameter(help="The privacy level to explain, in place of the shape's own.")] = None,
    as_json: Annotated[bool, Parameter(name="--json", negative="", help="Print JSON for programs.")] = False,
) -> None:
    """Show what the answer of a tool costs at each level, in each format and in each host.

    Parameters
    ----------
    shape
        Where the shape is, as module:name, such as calendar_server:shape.
    tool
        The name of the tool.
    """
    found = load_shape(shape)
    with refusing():
        explained = explain_tool(found, tool, _read(found, tool, value) if value else None, level=level)
    if as_json:
        print(json.dumps(explained.to_dict(), indent=2))  # noqa: T201
    else:
        _print(explained)


def _read(shape: Shape, tool: str, path: Path) -> Any:
    known = shape.tools.get(tool)
    if known is None:
        return None
    try:
        return TypeAdapter(declared_return(known.function, tool)).validate_json(path.read_bytes())
    except OSError as error:
        refuse(f"{path} cannot be read: {error.strerror}")
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(step) for step in first["loc"]) or "the file"
        refuse(f"{path} is no answer of {tool}: {where}: {first['msg']}")


def _print(explained: Explanation) -> None:
    console = Console(width=None if sys.stdout.isatty() else _WIDTH, highlight=False)
    sent = "text and structuredContent" if explained.sends_structured else "text alone"
    level = f", at the level {explained.level}" if explained.level else ""
    console.print(f"{explained.tool}: {explained.format}{level}, {sent}.")
    console.print(f"Characters / {explained.unit} ({explained.counted_by}) of its example:\n")
    console.print(_costs(explained))
    if explained.arrays:
        console.print()
        console.print(_arrays(explained.arrays))
    console.print()
    console.print(_hosts(explained.hosts, sends_structured=explained.sends_structured))


def _costs(explained: Explanation) -> Table:
    formats = list(explained.levels[0].formats)
    table = _table("Level", *({"markdown": "Markdown"}.get(each, each.upper()) for each in formats))
    for each in explained.levels:
        table.add_row(each.level or "all fields", *(_cost(each.formats[name]) for name in formats))
    return table


def _arrays(arrays: Sequence[ArrayReport]) -> Table:
    table = _table("Array", "Entries", "As TOON", "As one table", text=("Why it is none",))
    for each in arrays:
        whys = [f"{'TOON' if name == 'toon' else 'Markdown'}: {why}" for name, why in each.no_table.items()]
        same = len(set(each.no_table.values())) == 1 and len(whys) > 1
        why = next(iter(each.no_table.values())) if same else "; ".join(whys)
        entries = f"{each.entries}" if each.arrays == 1 else f"{each.entries} in {each.arrays}"
        table.add_row(
            escape(each.path),
            entries,
            _cost(each.cost),
            _cost(each.as_table) if each.as_table else "",
            escape(why) or "a table",
        )
    return table


def _hosts(hosts: Sequence[HostCost], *, sends_structured: bool) -> Table:
    names = {"Text only": not sends_structured, "With structured": sends_structured}
    figures = [f"{name} (as set)" if is_set else name for name, is_set in names.items()]
    table = _table("Host", *figures, text=("Its model reads", "It cuts above"))
    for each in hosts:
        limit = f"{each.limit}, exceeded" if each.is_too_long else each.limit
        table.add_row(each.host, _cost(each.text_only), _cost(each.with_structured), each.reads, limit)
    return table


def _table(first: str, *figures: str, text: Sequence[str] = ()) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column(first)
    for each in figures:
        table.add_column(each, justify="right", no_wrap=True)
    for each in text:
        table.add_column(each)
    return table


def _cost(cost: Cost) -> str:
    return f"{cost.characters:,} / {cost.tokens:,}"
