"""Checks every calendar, shows what a host would see of them, and says how to add the server to a host."""

import json
import logging
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from io import TextIOWrapper
from pathlib import Path
from textwrap import indent
from time import perf_counter

import anyio
from mcp import Client

from calendar_server.config import Config
from calendar_server.feeds import Feed
from calendar_server.server import build, make_agenda

_COMMAND = "mcpshape-calendar"
_QUESTIONS = ("list_calendars", "list_events")


def examine(config: Config, arguments: Sequence[str]) -> int:
    """Print all that is to be known before the server is used; 1 where a calendar cannot be read, else 0."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # A terminal may not have the letters of a calendar.
    config = replace(config, warm=False)
    logging.disable(logging.WARNING)  # The calendars are read again below, where it is said what is wrong with them.
    answers = anyio.run(_ask, config)
    logging.disable(logging.NOTSET)
    agenda = make_agenda(config)
    began = perf_counter()
    outages = agenda.outages()
    print("Calendars")
    lines = [line for feed in agenda.feeds for line in _lines(feed)]
    width = max(len(label) for label, _, _ in lines)
    for label, state, rest in lines:
        print(f"  {label:<{width}}  {state:<11}  {rest}")
    print(f"  read in {perf_counter() - began:.1f} s\n\nWhat a host sees")
    print("\n\n".join(indent(answer, "  ") for answer in answers))
    print("\nAdd it to a host")
    for host, text in _hosts(arguments):
        print(f"  {host}\n{indent(text, '    ')}\n")
    return 1 if outages else 0


def _lines(feed: Feed) -> Iterator[tuple[str, str, str]]:
    """What is to be said of a source: each calendar in it, and what cannot be read."""
    out = {outage.label: outage for outage in feed.outages()}
    blocks: dict[str, int] = dict.fromkeys(feed.labels(), 0)
    for label, _ in feed.labelled():
        blocks[label] += 1
    for label, count in blocks.items():
        if label not in out:
            yield label, "ok", f"{count} event{'' if count == 1 else 's'}"
    for outage in out.values():
        yield outage.label, outage.reason, outage.remedy


async def _ask(config: Config) -> list[str]:
    now = config.now or datetime.now(config.zone)
    answers = []
    async with Client(build(config)) as client:
        for tool in _QUESTIONS:
            arguments = {"day": f"{now:%Y-%m-%d}"} if tool == "list_events" else {}
            result = await client.call_tool(tool, arguments)
            (text,) = (block.text for block in result.content if block.type == "text")
            asked = " ".join([tool, *arguments.values()])
            answers.append(f"{asked} ({len(text)} characters)\n{indent(text, '  ')}")
    return answers


def _hosts(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    command, *first = _command()
    server = {"command": command, "args": [*first, *arguments]}
    yield (
        "Claude Desktop: claude_desktop_config.json (Settings, Developer, Edit Config)",
        _json({"mcpServers": {"calendar": server}}),
    )
    yield (
        "Claude Code: in a terminal",
        shlex.join(["claude", "mcp", "add", "calendar", "--", command, *first, *arguments]),
    )
    yield "VS Code: .vscode/mcp.json", _json({"servers": {"calendar": {"type": "stdio", **server}}})


def _command() -> list[str]:
    """How this very installation is started; hosts have a PATH of their own."""
    script = Path(sys.executable).with_name(_COMMAND)
    return [str(script)] if script.exists() else [sys.executable, "-m", "calendar_server.cli"]


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
