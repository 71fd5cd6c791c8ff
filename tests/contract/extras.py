"""What the server classes have of their own: dependencies, questions to the user, resources and prompts."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resolve import Resolve
from mcp.types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult
from pydantic import BaseModel

from contract.tools import Event, Named, events
from mcpshape import Shape, UserError

if TYPE_CHECKING:
    from fastmcp import FastMCP

QUESTION = "Which name?"


class Wanted(BaseModel):
    name: str


SCHEMA: dict[str, Any] = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def ask_back() -> InputRequiredResult:
    params = ElicitRequestFormParams(message=QUESTION, requested_schema=SCHEMA)
    return InputRequiredResult(input_requests={"who": ElicitRequest(params=params)}, request_state="round 1")


def told(responses: Mapping[str, Any] | None, state: str | None) -> Named | InputRequiredResult:
    """The second round of a tool that needs input, or the request for it."""
    if not responses:
        return ask_back()
    who = responses["who"]
    content = who["content"] if isinstance(who, Mapping) else who.content
    return Named(name=f"{content['name']} after {state}")


def owner() -> Wanted:
    return Wanted(name="the owner")


def add_to_mcpserver(server: MCPServer[Any], shape: Shape) -> None:
    @server.tool()
    @shape.tool()
    async def owned(by: Annotated[Wanted, Resolve(owner)], again: int = 1) -> Named:
        """Say whose it is."""
        return Named(name=f"{by.name} {again}")

    @server.tool()
    @shape.tool()
    async def need_input(ctx: Context) -> Named | InputRequiredResult:
        """Ask for a name by the result."""
        return told(ctx.input_responses, ctx.request_state)

    @server.tool()
    @shape.tool()
    async def elicit(ctx: Context) -> Named:
        """Ask for a name within the call."""
        answer = await ctx.elicit(QUESTION, Wanted)
        return Named(name=answer.data.name if answer.action == "accept" else answer.action)

    add_parts(server, shape)


def add_to_lowlevel(server: Server[Any], shape: Shape) -> None:
    @shape.tool()
    async def need_input(ctx: ServerRequestContext) -> Named | InputRequiredResult:
        """Ask for a name by the result."""
        params = ctx.params or {}
        return told(params.get("inputResponses"), params.get("requestState"))

    @shape.tool()
    async def elicit(ctx: ServerRequestContext) -> Named:
        """Ask for a name within the call."""
        answer = await ctx.session.elicit_form(QUESTION, SCHEMA, related_request_id=ctx.request_id)
        return Named(name=str((answer.content or {})["name"]))


def add_parts(server: "MCPServer[Any] | FastMCP[Any]", shape: Shape) -> None:
    """Resources and a prompt, which both high-level classes spell alike."""

    @server.resource("event://first")
    @shape.resource
    def first() -> Event:
        """The first event."""
        return events()[0]

    @server.resource("event://{name}/later")
    @shape.resource
    async def later(name: str) -> Named:
        """Something that is not there."""
        raise UserError(f"There is no {name}.") if name != "crash" else KeyError("CANARY")

    @server.prompt()
    def plan() -> str:
        """Plan around the first event."""
        return f"Plan around this:\n{shape.text(events()[0], declared=Event)}"

    @server.prompt()
    def broken() -> str:
        """Fail."""
        raise KeyError("the text of an exception")
