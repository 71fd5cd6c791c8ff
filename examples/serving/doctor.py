"""Prints what is to be known before a server is used: what it reads, what a host sees, and how to add it to one."""

import json
import logging
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from io import TextIOWrapper
from pathlib import Path
from textwrap import indent
from time import perf_counter
from typing import Any, NamedTuple

import anyio
from mcp import Client
from mcp.server.mcpserver import MCPServer


class Line(NamedTuple):
    """One thing that a server reads: whether it can be read (`ok`, or a reason), and what there is to say of it."""

    label: str
    state: str
    rest: str


class Question(NamedTuple):
    """A call that shows what a host sees."""

    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Doctor:
    """What a doctor says of one server.

    Args:
        name: How hosts call the server.
        command: What is typed to start it.
        module: What Python starts where that is not installed.
        build: Makes the server that is asked.
        questions: What it is asked.
        heading: What it reads, in one word.
        read: Reads all of it anew.
    """

    name: str
    command: str
    module: str
    build: Callable[[], MCPServer]
    questions: Sequence[Question]
    heading: str
    read: Callable[[], Sequence[Line]] = field(repr=False)

    def examine(self, arguments: Sequence[str]) -> int:
        """Print everything, for a host that starts the server with some arguments; 1 where something cannot be read."""
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # A terminal may not have the letters of what is read.
        logging.disable(logging.WARNING)  # All is read again below, where it is said what is wrong with it.
        try:
            answers = anyio.run(self._ask)
        finally:
            logging.disable(logging.NOTSET)
        began = perf_counter()
        lines = self.read()
        print(self.heading)
        width = max((len(line.label) for line in lines), default=0)
        for line in lines:
            print(f"  {line.label:<{width}}  {line.state:<11}  {line.rest}")
        print(f"  read in {perf_counter() - began:.1f} s\n\nWhat a host sees")
        print("\n\n".join(indent(answer, "  ") for answer in answers))
        print("\nAdd it to a host")
        for host, text in self._hosts(arguments):
            print(f"  {host}\n{indent(text, '    ')}\n")
        return 1 if any(line.state != "ok" for line in lines) else 0

    async def _ask(self) -> list[str]:
        answers = []
        async with Client(self.build()) as client:
            for tool, arguments in self.questions:
                result = await client.call_tool(tool, arguments)
                (text,) = (block.text for block in result.content if block.type == "text")
                asked = " ".join([tool, *map(str, arguments.values())])
                answers.append(f"{asked} ({len(text)} characters)\n{indent(text, '  ')}")
        return answers

    def _hosts(self, arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
        command, *first = self._start()
        server = {"command": command, "args": [*first, *arguments]}
        yield (
            "Claude Desktop: claude_desktop_config.json (Settings, Developer, Edit Config)",
            _json({"mcpServers": {self.name: server}}),
        )
        yield (
            "Claude Code: in a terminal",
            shlex.join(["claude", "mcp", "add", self.name, "--", command, *first, *arguments]),
        )
        yield "VS Code: .vscode/mcp.json", _json({"servers": {self.name: {"type": "stdio", **server}}})

    def _start(self) -> list[str]:
        """How this very installation is started; hosts have a PATH of their own."""
        script = Path(sys.executable).with_name(self.command)
        return [str(script)] if script.exists() else [sys.executable, "-m", self.module]


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
