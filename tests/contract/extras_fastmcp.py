"""What FastMCP has of its own."""

from typing import Any

from fastmcp import Context, FastMCP
from fastmcp.dependencies import Depends
from mcp.types import InputRequiredResult

from contract.extras import QUESTION, Wanted, add_parts, owner, told
from contract.tools import Named
from mcpshape import Shape

OWNER: Wanted = Depends(owner)


def add_to_fastmcp(server: FastMCP[Any], shape: Shape) -> None:
    @server.tool
    @shape.tool()
    async def owned(by: Wanted = OWNER, again: int = 1) -> Named:
        """Say whose it is."""
        return Named(name=f"{by.name} {again}")

    @server.tool
    @shape.tool()
    async def need_input(ctx: Context) -> Named | InputRequiredResult:
        """Ask for a name by the result."""
        return told(ctx.input_responses, ctx.request_state)

    @server.tool
    @shape.tool()
    async def elicit(ctx: Context) -> Named:
        """Ask for a name within the call."""
        answer = await ctx.elicit(QUESTION, Wanted)
        return Named(name=answer.data.name if answer.action == "accept" else answer.action)

    add_parts(server, shape)
