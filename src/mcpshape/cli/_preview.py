"""The command `mcpshape preview`: what leaves, as a page on this machine, in the terminal or for programs."""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mcpshape.cli._place import load_shape, refuse, refusing
from mcpshape.preview import IN_FORCE, Contrast, Preview, Shown, choose, preview_tool

_PREFIX = "MCPSHAPE_"
_WIDTH = 120
_READS = {"text": "the text", "structured": "the structured part", "both": "both", "result": "the whole result as JSON"}


def preview(
    shape: str,
    /,
    *,
    settings: Annotated[Path | None, Parameter(help="The settings file of the server, also to save to.")] = None,
    prefix: Annotated[
        str | None, Parameter(help="How the environment variables of its settings begin; MCPSHAPE_ unless given.")
    ] = None,
    port: Annotated[
        int, Parameter(help="The port of the page; one that is free unless given.", validator=Number(gte=0, lte=65_535))
    ] = 0,
    as_text: Annotated[bool, Parameter(name="--text", negative="", help="Print it, without a page.")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="", help="Print JSON for programs.")] = False,
    tool: Annotated[str | None, Parameter(help="The tool to begin with.")] = None,
    level: Annotated[str | None, Parameter(help="A privacy level, in place of the one in force.")] = None,
    on: Annotated[Sequence[str], Parameter(help="A toggle to turn on.", negative="")] = (),
    off: Annotated[Sequence[str], Parameter(help="A toggle to turn off.", negative="")] = (),
    format: Annotated[str | None, Parameter(help="A format, in place of the one in force.")] = None,  # noqa: A002
    principal: Annotated[str | None, Parameter(help="The client id of the token that calls.")] = None,
    scope: Annotated[str | None, Parameter(help="A scope of the token that calls.")] = None,
    client: Annotated[str | None, Parameter(help="The name that the calling client gives of itself.")] = None,
    against: Annotated[str, Parameter(help="The level to compare with.")] = IN_FORCE,
) -> None:
    """Show what the tools answer for their examples: on a page on this machine, or at once with --text or --json.

    Parameters
    ----------
    shape
        Where the shape is, as module:name, such as calendar_server:shape.
    """
    found = load_shape(shape)
    try:
        from mcpshape.preview._app import Desk
        from mcpshape.preview._choice import ANOTHER
        from mcpshape.preview._form import address, make_caller
        from mcpshape.preview._saving import SettingsFile
        from mcpshape.preview._server import serve
    except ModuleNotFoundError as error:
        refuse(f"{error.name} is not installed; install mcpshape-output[preview]")
    if prefix is not None and settings is None:
        refuse("--prefix is of use with --settings alone; add the settings file, be it one that is yet to come")
    if both := sorted({*on} & {*off}):
        refuse(f"{both[0]} cannot be both on and off; leave out one of --on and --off")
    named = principal or scope or client
    with refusing():
        file = SettingsFile(settings, _PREFIX if prefix is None else prefix) if settings else None
        desk = Desk(found, shape, file)
        choice = choose(
            desk.now(),
            tool=tool,
            level=level,
            toggles={**dict.fromkeys(on, True), **dict.fromkeys(off, False)},
            format=format,
            caller=make_caller(principal=principal, scope=scope, client=client or ANOTHER) if named else None,
            against=against,
        )
        if as_json or as_text:
            _tell(preview_tool(desk.now(), choice), as_json=as_json)
        else:
            with suppress(KeyboardInterrupt):
                serve(desk, port=port, tell=lambda place: _invite(place + address(choice)))


def _invite(address: str) -> None:
    print(f"Open {address}\nIt is for this machine alone. End it with Ctrl+C.", flush=True)  # noqa: T201


def _tell(preview: Preview, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(preview.to_dict(), indent=2))  # noqa: T201
    else:
        _print(preview)


def _print(preview: Preview) -> None:
    console = Console(width=None if sys.stdout.isatty() else _WIDTH, highlight=False, markup=False, emoji=False)
    level = f" at {preview.level}" if preview.level else ""
    sent = "text alone" if preview.structured is None else "text and structuredContent"
    console.print(f"{preview.tool}{level}: {preview.format}, {sent}.")
    cost = f"{preview.cost.characters:,} characters, {preview.cost.tokens:,} {preview.unit} ({preview.counted_by})"
    console.print(f"{preview.size:,} bytes, {cost}.")
    if preview.narrowed:
        console.print(f"Narrowed by {', then by '.join(preview.narrowed)}.")
    _section(console, "What a model reads", preview.text)
    if preview.reasons:
        _section(console, "Keys", "\n".join(_list_keys(preview)))
        _section(console, "Who decided", "\n".join(preview.reasons))
    if preview.contrast:
        _compare(console, preview.contrast)
    if preview.structured is not None:
        _section(console, "What programs get", json.dumps(preview.structured, indent=2, ensure_ascii=False))
        _section(console, "Output schema", json.dumps(preview.output_schema, indent=2, ensure_ascii=False))
    _section(console, "What the model is told before", preview.description)
    _section(console, "What each host shows", "")
    for shown in preview.hosts:
        _host(console, shown, preview.unit)


def _list_keys(preview: Preview) -> Iterator[str]:
    yield f"Told: {', '.join(preview.told) or 'none'}"
    if preview.changed:
        yield f"In another form: {', '.join(f'{path} {form}' for path, form in preview.changed.items())}"
    yield f"Masked: {', '.join(preview.masked) or 'none'}"
    yield f"Withheld: {', '.join(preview.withheld) or 'none'}"


def _section(console: Console, heading: str, text: str) -> None:
    console.print(f"\n{heading}", style="bold")
    if text:
        console.print(Text(text), soft_wrap=True)


def _compare(console: Console, contrast: Contrast) -> None:
    there = "what is in force" if contrast.against == IN_FORCE else contrast.against
    _section(console, f"Beside {there}", "The same." if contrast.is_same else "")
    if contrast.changes:
        table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for name in ("Key", "Here", "There"):
            table.add_column(name, overflow="fold")
        for change in contrast.changes:
            table.add_row(*map(Text, (change.path, change.here, change.there)))
        console.print(table)
    for line in contrast.lines:
        for mark, style, text in (("-", "red", line.there), ("+", "green", line.here)):
            if not line.is_same and text is not None:
                console.print(Text(f"{mark} {text}", style=style), soft_wrap=True)


def _host(console: Console, shown: Shown, unit: str) -> None:
    figures = f"{shown.cost.characters:,} characters, {shown.cost.tokens:,} {unit}"
    console.print(f"{', '.join(shown.hosts)}: {_READS[shown.reads]}, {figures}.", soft_wrap=True)
    for host, limit in shown.limits.items():
        exceeded = ", which this exceeds" if host in shown.too_long_for else ""
        console.print(f"  {host} cuts above {limit}{exceeded}.")
