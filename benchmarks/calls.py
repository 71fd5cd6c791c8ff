"""What a whole call costs on a server: a model that the server class writes itself, and the same through a shape.

Everything is timed side by side in one run, without a transport, each subject in turn.
"""

import asyncio
import logging
import platform
from collections.abc import Callable
from importlib.metadata import version

from fastmcp import FastMCP
from mcp.server.mcpserver import MCPServer

from mcpshape import Shape
from mcpshape.encoders import Encoder, Json, Markdown, Toon
from projection import ROWS, Rows, policy, sample
from timing import time_in_turn

ROUNDS = 21
_ENCODERS: dict[str, Encoder] = {
    "TOON, toons": Toon(codec="toons"),
    "TOON, python-toon": Toon(codec="python-toon"),
    "JSON": Json(),
    "Markdown": Markdown(),
}


def main() -> None:
    """Print the milliseconds of each way to answer with the same rows."""
    logging.disable()
    rows = sample()

    def list_rows() -> Rows:
        """List the rows."""
        return rows

    servers: dict[str, MCPServer | FastMCP] = {"MCPServer alone": MCPServer("alone"), "FastMCP alone": FastMCP("alone")}
    for server in servers.values():
        server.tool()(list_rows)
    for name, encoder in _ENCODERS.items():
        servers[f"MCPServer, mcpshape, {name}"] = MCPServer("shaped")
        servers[f"MCPServer, mcpshape, {name}"].tool()(_shape(encoder).tool(list_rows))
    with asyncio.Runner() as runner:
        subjects = {name: _call(runner, server) for name, server in servers.items()}
        times = time_in_turn(subjects, ROUNDS)
    print(f"{ROWS} rows of {len(type(rows.rows[0]).model_fields)} fields, median of {ROUNDS} rounds, in ms,")
    packages = ("mcp", "fastmcp", "pydantic", "python-toon", "toons")
    print(", ".join([f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in packages)]))
    for name, taken in times.items():
        print(f"  {name:40} {taken * 1000:6.2f}")


def _shape(encoder: Encoder) -> Shape:
    return Shape(policy, encoder=encoder, grant=policy.grant("detailed"))


def _call(runner: asyncio.Runner, server: MCPServer | FastMCP) -> Callable[[], object]:
    return lambda: runner.run(server.call_tool("list_rows", {}))


if __name__ == "__main__":
    main()
