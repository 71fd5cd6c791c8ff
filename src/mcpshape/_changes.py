"""What a server published and what of it has changed: listings and instructions of now, and who is told."""

from collections.abc import Mapping
from typing import Any
from weakref import WeakSet

import anyio
from mcp.server.connection import Connection
from mcp.server.lowlevel import Server
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, SubscriptionBus, ToolsListChanged
from mcp.types import SubscriptionsListenRequestParams

from mcpshape._live import Source
from mcpshape.errors import DefinitionError, Problem
from mcpshape.shape import Shape

_LISTEN = "subscriptions/listen"
_PATIENCE = 1.0
"""Seconds that a client which has stopped reading can hold up the one whose request found the change."""


class Audience:
    """The clients of one server, who are told when the list of its tools changes.

    Those of a handshake revision get a notification, those of 2026-07-28 an event of the subscription that they opened.
    """

    def __init__(self, source: Source, bus: SubscriptionBus | None) -> None:
        self._bus = bus or InMemorySubscriptionBus()
        self._connections: WeakSet[Connection] = WeakSet()
        with source.begin() as shape:
            self._shape, self._listings = shape, list_all(shape)

    async def hear(self, session: ServerSession, shape: Shape) -> None:
        """Take note of a client with an open connection, and tell all of them what its request found changed."""
        # The SDK has no public name for what lives longer than a request.
        self._connections.add(session._connection)  # noqa: SLF001
        if shape is self._shape:
            return
        before, self._shape, self._listings = self._listings, shape, list_all(shape)
        if before != self._listings:
            await self._tell()

    async def _tell(self) -> None:
        with anyio.move_on_after(_PATIENCE):
            async with anyio.create_task_group() as group:
                for connection in list(self._connections):
                    group.start_soon(connection.send_tool_list_changed)
                group.start_soon(self._bus.publish, ToolsListChanged())


def serve_subscriptions(server: Server[Any]) -> SubscriptionBus:
    """Let a server that serves no subscriptions serve them, from the bus that is returned.

    Raises:
        DefinitionError: It serves some already, from a bus of its own.
    """
    if server.get_request_handler(_LISTEN):
        problem = Problem("bus", "the server has subscriptions from a bus that is not known.", "Pass it as bus=.")
        raise DefinitionError("attach", [problem])
    bus = InMemorySubscriptionBus()
    server.add_request_handler(_LISTEN, SubscriptionsListenRequestParams, ListenHandler(bus))
    return bus


def list_all(shape: Shape) -> dict[str, tuple[Any, ...]]:
    """What is published of each tool."""
    return {
        name: (tool.description, tool.parameters.input_schema(name), tool.output_schema)
        for name, tool in shape.tools.items()
    }


def relist(name: str, listed: Mapping[str, Any], source: Source, shape: Shape) -> dict[str, Any]:
    """What of a listed tool is out of date: keys of `tools/list` with their values of now.

    A tool whose author gave the server another description keeps that.
    """
    if not source.former or name not in shape.tools:
        return {}
    tool = shape.tools[name]
    changes: dict[str, Any] = {"outputSchema": tool.output_schema}
    if listed.get("description") in _descriptions(name, source):
        changes["description"] = tool.description
    if tool.parameters.added:
        now = tool.parameters.input_schema(name)["properties"]
        schema = listed["inputSchema"]
        # The server's own way of writing a schema stays; what an added argument says is taken over.
        said = {each: {**schema["properties"][each], **_said(now[each])} for each in tool.parameters.added}
        changes["inputSchema"] = {**schema, "properties": {**schema["properties"], **said}}
    return changes


def reword(instructions: str, source: Source, shape: Shape) -> str:
    """The instructions of a server, with what a shape said of itself before in its words of now."""
    # The longest, since the words of one format can be the end of another's.
    said = max((each for each in _instructions(source) if each in instructions), key=len, default="")
    return instructions.replace(said, shape.instructions()) if said else instructions


def _instructions(source: Source) -> set[str]:
    return {former.instructions() for former in source.former}


def _descriptions(name: str, source: Source) -> set[str]:
    return {former.tools[name].description for former in source.former if name in former.tools}


def _said(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != "title"}
