"""What a server says in one session, as lines for a diff."""

import json
import os
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from pydantic import BaseModel

from mcpshape.testing import decode
from replicas import MODES, replica

Call = tuple[str, dict[str, Any]]
Transport = Literal["stdio", "http"]

# What a revision adds to every result, whatever is in it.
ENVELOPE = {"_meta", "resultType", "ttlMs", "cacheScope"}
WIDEST = 110


@dataclass(slots=True)
class Session:
    """A client in one session, which knows the ids and cursors that it was told by stable names.

    Ids are called by `noun` and a number, in the order in which they are first told, and so are cursors.
    """

    client: Client
    noun: str
    names: dict[str, str] = field(default_factory=dict)

    async def hold(self, calls: Sequence[Call]) -> dict[str, str]:
        """All that is asked, and what is answered, as lines of text."""
        session = self.client.session
        greeting = session.initialize_result or session.discover_result
        assert greeting
        heard = {"the greeting": "\n".join(lines(_sent(greeting)))}
        for tool in _sent(await self.client.list_tools())["tools"]:
            heard[f"the tool {tool['name']}"] = "\n".join(lines(tool))
        for tool, given in calls:
            step = f"{tool} {json.dumps(given)}"
            heard[f"{step}, again" if step in heard else step] = await self._ask(tool, given)
        return heard

    async def _ask(self, tool: str, given: dict[str, Any]) -> str:
        real = {name: told for told, name in self.names.items()}
        arguments = {key: real.get(str(value), value) for key, value in given.items()}
        try:
            result = await self.client.call_tool(tool, arguments)
        except MCPError as error:
            return "\n".join(lines(_sent(error.error)))
        (block,) = result.content
        assert block.type == "text"
        if not result.is_error:
            self._learn(decode(result))
        rest = {key: value for key, value in _sent(result).items() if key != "content"}
        text = "\n".join([*lines(rest), *_quoted(block.text)])
        for told, name in self.names.items():
            text = text.replace(told, name)
        return text

    def _learn(self, answer: Any) -> None:
        for key, told in _told(answer):
            kind = self.noun if key == "id" else "cursor"
            count = sum(name.startswith(kind) for name in self.names.values())
            self.names.setdefault(told, f"{kind}-{count + 1}")


def _sent(message: BaseModel) -> dict[str, Any]:
    """A message with the keys that were sent, but for those of its envelope."""
    dumped = message.model_dump(by_alias=True, mode="json", exclude_unset=True)
    return {key: value for key, value in dumped.items() if key not in ENVELOPE}


def _told(answer: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """The ids and cursors in an answer, each with its key, in order."""
    if isinstance(answer, dict):
        for name, value in answer.items():
            yield from _told(value, name)
    elif isinstance(answer, list):
        for value in answer:
            yield from _told(value)
    elif answer is not None and key in {"id", "next"}:
        yield key, str(answer)  # An id of digits is a number in Markdown.


def lines(value: Any, path: str = "") -> Iterator[str]:
    """A value of JSON as lines for a diff: what is short on one, a text as it reads, all else part by part."""
    if isinstance(value, dict):
        # Revisions differ in where the key is that says what a schema is of.
        value = dict(sorted(value.items(), key=lambda item: item[0] != "type"))
    written = json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and "\n" in value:
        yield from (f"{path}:", *_quoted(value))
    elif not isinstance(value, dict | list) or (path and len(written) <= WIDEST):
        yield f"{path}: {written}"
    else:
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from lines(each, f"{path}.{key}".lstrip("."))


def _quoted(text: str) -> Iterator[str]:
    return (f"| {line}".rstrip() for line in text.split("\n"))


async def both(
    connected: Callable[[Any], AbstractAsyncContextManager[Client]], calls: Sequence[Call], noun: str
) -> dict[str, str]:
    """What is answered in both revisions of the protocol that hosts speak today: where they differ, both."""
    heard = []
    for mode in MODES:
        async with connected(mode) as client:
            heard.append(await Session(client, noun).hold(calls))
            revision = client.protocol_version
        heard[-1] = {step: f"in {revision}\n{answer}" for step, answer in heard[-1].items()}
    return {step: _either(*(each[step] for each in heard)) for step in heard[0]}


def _either(*answers: str) -> str:
    without = {answer.partition("\n")[2] for answer in answers}
    return without.pop() if len(without) == 1 else "\n".join(answers)


@asynccontextmanager
async def connected(transport: Transport, mode: Any, command: Sequence[str], **variables: str) -> AsyncIterator[Client]:
    """A client of a server of its own, over a transport and in a revision."""
    if transport == "http":
        asked = replica([*command, "--transport", "http"], **variables)
        async with asked as started, Client(started.url, mode=mode, cache=None) as client:
            yield client
        return
    program, *arguments = command
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MCPSHAPE_", "CALDAV_"))}
    server = StdioServerParameters(command=program, args=arguments, env=kept | variables)
    with tempfile.TemporaryFile("w+") as log:
        async with Client(stdio_client(server, errlog=log), mode=mode, cache=None) as client:
            yield client
