"""Where the server classes differ, and why: the table of docs/how-to/servers.md; the contract checks each row."""

from dataclasses import dataclass

OLD = ("2025-06-18", "2025-11-25")
NEW = ("2026-07-28",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One behaviour: what each class answers to a step of the conversation, word for word."""

    behaviour: str
    step: str
    mcpserver: str
    lowlevel: str
    fastmcp: str
    reason: str
    revisions: tuple[str, ...] = OLD + NEW

    def answer(self, kind: str) -> str:
        """What a class answers."""
        return {"MCPServer": self.mcpserver, "Server": self.lowlevel, "FastMCP": self.fastmcp}[kind]


NO_METHOD = "protocol error -32601: Method not found"
EVENT = """id: eqtd5kzmdsk
start: "2026-07-13T10:00:00Z"
title: title of meeting-0
place: null
notes: "a, b\""""
CRASH = (
    "Error: The tool failed for a reason of its own, not because of the arguments. Tell the user; whoever runs the "
    "server finds the reason in its log under reference 00000000."
)
TYPED = "no $defs, titles, no additionalProperties"
UNTYPED = "no $defs, no titles, additionalProperties: false"
NO_WAY_BACK = (
    "protocol error -32600: Cannot send 'elicitation/create': this transport context has no back-channel for "
    "server-initiated requests."
)
NO_DEPENDENCIES = "It fills no parameter but its context; take what you need from that."
NO_HANDLERS = "Its handlers are written by hand; call shape.text() in them."
DIFFERENCES = (
    Difference(
        behaviour="A tool that does not exist",
        step="unknown tool",
        mcpserver="isError: Unknown tool: no_such_tool",
        lowlevel="protocol error -32602: There is no tool of this name; tools/list names those that there are.",
        fastmcp="isError: Unknown tool: 'no_such_tool'",
        reason="No tool of the shape is called, so the class answers.",
    ),
    Difference(
        behaviour="A dependency of the framework (Resolve, Depends)",
        step="dependency",
        mcpserver="name: the owner 1",
        lowlevel="not offered",
        fastmcp="name: the owner 1",
        reason=NO_DEPENDENCIES,
    ),
    Difference(
        behaviour="A dependency that a client tries to give",
        step="dependency as argument",
        mcpserver="isError: Error: There is no argument 'by'; there are: again. Correct the arguments and call again.",
        lowlevel="not offered",
        fastmcp="isError: Error: There is no argument 'by'; there are: again. Correct the arguments and call again.",
        reason=NO_DEPENDENCIES,
    ),
    Difference(
        behaviour="A tool that returns InputRequiredResult, before 2026-07-28",
        step="input required",
        revisions=OLD,
        mcpserver="protocol error -32603: Handler returned an invalid result",
        lowlevel="protocol error -32603: Handler returned an invalid result",
        fastmcp="protocol error -32602: Tool 'need_input' returned an InputRequiredResult to request client input, but "
        "the multi-round-trip result type (SEP-2322) only exists at MCP 2026-07-28; this connection negotiated "
        "'REVISION'. Use ctx.elicit() for server-initiated input on handshake-era connections.",
        reason="Those revisions have no such result. The shape passes it on untouched, and the class refuses it.",
    ),
    Difference(
        behaviour="A tool that asks the user within the call, since 2026-07-28",
        step="elicitation",
        revisions=NEW,
        mcpserver=NO_WAY_BACK,
        lowlevel=NO_WAY_BACK,
        fastmcp=f"isError: {CRASH}",
        reason="That revision has no requests from server to client. FastMCP raises an error of its own, not an "
        "MCPError, which is a crash. Return InputRequiredResult.",
    ),
    Difference(
        behaviour="A resource with shape.resource",
        step="resource",
        mcpserver=EVENT,
        lowlevel=NO_METHOD,
        fastmcp=EVENT,
        reason=NO_HANDLERS,
    ),
    Difference(
        behaviour="A resource that raises UserError",
        step="resource error",
        mcpserver="protocol error -32603: Error: There is no nothing.",
        lowlevel=NO_METHOD,
        fastmcp="protocol error -32603: Error: There is no nothing.",
        reason=NO_HANDLERS,
    ),
    Difference(
        behaviour="A resource that crashes",
        step="resource crash",
        mcpserver=f"protocol error -32603: {CRASH}",
        lowlevel=NO_METHOD,
        fastmcp=f"protocol error -32603: {CRASH}",
        reason=NO_HANDLERS,
    ),
    Difference(
        behaviour="A prompt with shape.text",
        step="prompt",
        mcpserver=f"Plan around this:\n{EVENT}",
        lowlevel=NO_METHOD,
        fastmcp=f"Plan around this:\n{EVENT}",
        reason=NO_HANDLERS,
    ),
    Difference(
        behaviour="A prompt that crashes, before 2026-07-28",
        step="prompt crash",
        revisions=OLD,
        mcpserver="protocol error 0: Error rendering prompt broken",
        lowlevel=NO_METHOD,
        fastmcp="protocol error -32603: Error rendering prompt 'broken': 'the text of an exception'",
        reason="A prompt is the class's own. FastMCP shows the text of any exception, unless it is made with "
        "mask_error_details=True.",
    ),
    Difference(
        behaviour="A prompt that crashes, since 2026-07-28",
        step="prompt crash",
        revisions=NEW,
        mcpserver="protocol error -32603: Internal server error",
        lowlevel=NO_METHOD,
        fastmcp="protocol error -32603: Error rendering prompt 'broken': 'the text of an exception'",
        reason="Likewise.",
    ),
    Difference(
        behaviour="What tools/list says of a tool",
        step="members of a tool",
        mcpserver="description, inputSchema, name, outputSchema",
        lowlevel="description, inputSchema, name, outputSchema",
        fastmcp="_meta, description, inputSchema, name, outputSchema, title",
        reason="FastMCP adds its tags and a title made from the name.",
    ),
    Difference(
        behaviour="How input schemas are spelled",
        step="spelling of input schemas",
        mcpserver=TYPED,
        lowlevel=TYPED,
        fastmcp=UNTYPED,
        reason="FastMCP resolves references and drops titles. What is accepted is the same.",
    ),
    Difference(
        behaviour="How output schemas are spelled",
        step="spelling of output schemas",
        mcpserver="$defs, titles, no additionalProperties",
        lowlevel="$defs, titles, no additionalProperties",
        fastmcp="no $defs, no titles, no additionalProperties",
        reason="Likewise.",
    ),
    Difference(
        behaviour="serverInfo in _meta where arguments are refused by name, since 2026-07-28",
        step="server in a refusal",
        revisions=NEW,
        mcpserver="no serverInfo",
        lowlevel="no serverInfo",
        fastmcp="has serverInfo",
        reason="The SDK stamps what its handler returns; a refusal comes from a middleware before it. It is optional.",
    ),
    Difference(
        behaviour="Missing arguments, without attach (first line)",
        step="unattached missing",
        mcpserver="isError: Error executing tool search: 3 validation errors for searchArguments",
        lowlevel="isError: Error: day: this argument is missing. by: this argument is missing. most: this argument is "
        "missing. Correct the arguments and call again.",
        fastmcp="isError: 3 validation errors for call[search]",
        reason="The class compares names with its own model before it calls the tool.",
    ),
    Difference(
        behaviour="An unknown argument, without attach (first line)",
        step="unattached unknown",
        mcpserver='{"name":"2026-07-13 [] 1"}',
        lowlevel="isError: Error: There is no argument 'extra'; there are: day, by, most. Correct the arguments and "
        "call again.",
        fastmcp="isError: 1 validation error for call[search]",
        reason="Likewise. MCPServer leaves it out; FastMCP refuses and repeats its value.",
    ),
    Difference(
        behaviour="A tool that raises MCPError, without attach",
        step="unattached protocol error",
        mcpserver="protocol error -32001: not now",
        lowlevel="protocol error -32001: not now",
        fastmcp="isError: Error calling tool 'refuse': not now",
        reason="FastMCP makes a result of every exception; attach takes the error out again.",
    ),
)


def table() -> str:
    """The table of docs/how-to/servers.md; long words are cut there, and whole here."""
    head = ("behaviour", "`MCPServer`", "low-level `Server`", "`FastMCP`", "why")
    rows = [
        (row.behaviour, _cell(row.mcpserver), _cell(row.lowlevel), _cell(row.fastmcp), row.reason)
        for row in DIFFERENCES
    ]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ("---",) * len(head), *rows))


def _cell(answer: str) -> str:
    if answer == "not offered":
        return answer
    first, *rest = answer.split("\n")
    return f"`{first[:90]}`{' …' if rest or len(first) > 90 else ''}"
