"""mcpshape's share of a call over stdio: a server with a shape against one that has the same answer ready.

Beside it the share of the same answer made by hand, which filters nothing.
"""

import os
import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack
from statistics import median
from time import process_time

import anyio
import toons
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.server.mcpserver import MCPServer
from mcp.types import CallToolResult, TextContent

from data import LEVEL, Rows, policy, rows
from mcpshape import Shape
from mcpshape.encoders import Toon
from mcpshape.mcpserver import attach
from timing import Spread, spread

_ROWS, _BLOCKS = 20, 20
_KINDS = {"shaped": "9", "by hand": "9 by hand"}
_READY = "ready"


def shares(rounds: int, calls: int) -> dict[str, Spread]:
    """The part of a call that is spent in mcpshape, its middleware included, and the part that is spent by hand.

    A call is what the processor spends in the server and in the client; what it waits between them is not counted.
    """
    return anyio.run(_shares, rounds, calls)


async def _shares(rounds: int, calls: int) -> dict[str, Spread]:
    kinds = [_READY, *_KINDS]
    async with AsyncExitStack() as stack:
        clients = {kind: await stack.enter_async_context(Client(stdio_client(_server(kind)))) for kind in kinds}
        answers = [await client.call_tool("answer", {}) for client in clients.values()]
        if any(answer.content != answers[0].content for answer in answers):
            raise SystemExit("the servers do not answer alike")
        found = [await _round(clients, calls) for _ in range(rounds)]
    return {name: spread([each[kind] for each in found]) for kind, name in _KINDS.items()}


async def _round(clients: Mapping[str, Client], calls: int) -> dict[str, float]:
    """The share of each kind, in one round."""
    blocks = [{kind: await _spend(client, calls) for kind, client in clients.items()} for _ in range(_BLOCKS)]
    # Of several processes no slow moment is the same: each has a median of its own.
    server, own = ({kind: median(block[kind][side] for block in blocks) for kind in clients} for side in range(2))
    return {kind: (server[kind] - server[_READY]) / (server[kind] + own[kind]) for kind in _KINDS}


async def _spend(client: Client, calls: int) -> tuple[float, float]:
    """The seconds of the server and of the client for some calls."""
    server, own = await _spent(client), process_time()
    for _ in range(calls):
        await client.call_tool("answer", {})
    own = process_time() - own
    return await _spent(client) - server, own


async def _spent(client: Client) -> float:
    block = (await client.call_tool("spent", {})).content[0]
    return float(block.text) if isinstance(block, TextContent) else 0.0


def _server(kind: str) -> StdioServerParameters:
    return StdioServerParameters(command=sys.executable, args=[__file__, kind], env=dict(os.environ))


def serve(kind: str) -> None:
    """Serve 20 rows."""
    server, dto = MCPServer("rows", log_level="CRITICAL"), rows(_ROWS)
    shape = Shape(policy, encoder=Toon(codec="toons"), grant=policy.grant(LEVEL))
    made = CallToolResult(content=[TextContent(type="text", text=shape.render(dto).text)])

    async def ready() -> CallToolResult:
        return made

    async def answer() -> Rows:
        return dto

    async def by_hand() -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text=toons.dumps(dto.model_dump(mode="json")))])

    if kind == "shaped":
        server.tool()(shape.tool(answer))
        attach(server, shape)
    else:
        server.tool(name="answer")(ready if kind == _READY else by_hand)

    @server.tool(structured_output=False)
    async def spent() -> str:
        return str(process_time())

    server.run()


if __name__ == "__main__":
    serve(*sys.argv[1:])
