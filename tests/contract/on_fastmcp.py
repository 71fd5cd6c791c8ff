"""The server of the contract on FastMCP."""

from typing import Any

from fastmcp import Context
from fastmcp import FastMCP as Server

from contract.tools import Named, make_shape
from mcpshape.fastmcp import add_tools, attach


def build(level: str = "open", *, principals: bool = False, **options: Any) -> tuple[Server[Any], Any]:
    shape = make_shape(level, principals=principals)

    @shape.tool()
    async def with_context(name: str, ctx: Context) -> Named:
        """Say a name."""
        return Named(name=name if isinstance(ctx, Context) else "no context")

    server: Server[Any] = Server("contract", instructions=shape.instructions(), **options)
    attach(server, shape)
    add_tools(server, shape)
    return server, shape
