"""mcpshape's share of a call over stdio: a server with a shape against one that has the same answer ready."""

import os
import sys
from contextlib import AsyncExitStack
from statistics import median
from time import process_time

import anyio
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
_KINDS = ("ready", "shaped")


def share(rounds: int, calls: int) -> Spread:
    """The part of a call that is spent in mcpshape, its middleware included.

    A call is what the processor spends in the server and in the client; what it waits between them is not counted.
    """
    return anyio.run(_share, rounds, calls)


async def _share(rounds: int, calls: int) -> Spread:
    shares: list[float] = []
    async with AsyncExitStack() as stack:
        clients = {kind: await stack.enter_async_context(Client(stdio_client(_server(kind)))) for kind in _KINDS}
        ready, shaped = [await client.call_tool("answer", {}) for client in clients.values()]
        if ready.content != shaped.content:
            raise SystemExit("the two servers do not answer alike")
        for _ in range(rounds):
            # Of two processes no slow moment is the same: each has a median of its own.
            blocks = [[await _spend(client, calls) for client in clients.values()] for _ in range(_BLOCKS)]
            ready_server, shaped_server = (median(block[place][0] for block in blocks) for place in range(2))
            own = median(block[1][1] for block in blocks)
            shares.append((shaped_server - ready_server) / (shaped_server + own))
    return spread(shares)


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

    if kind == "shaped":
        server.tool()(shape.tool(answer))
        attach(server, shape)
    else:
        server.tool(name="answer")(ready)

    @server.tool(structured_output=False)
    async def spent() -> str:
        return str(process_time())

    server.run()


if __name__ == "__main__":
    serve(*sys.argv[1:])
