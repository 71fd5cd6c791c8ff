"""Starts the calendar server, asks it as any MCP client would, and prints the answers."""

import sys

import anyio
from mcp import Client, StdioServerParameters

from calendar_server.dtos import policy

Question = tuple[str, list[str], str, dict[str, str]]

_DAY = ("list_events", {"day": "2026-07-13"})
_NEXT: tuple[str, dict[str, str]] = ("next_event", {})
_ASKS = {
    "strict": "is this time taken?",
    "minimal": "what is it and where?",
    "standard": "lists as at minimal; single events tell more",
    "detailed": "likewise",
}
_UNKNOWN = ("get_event", {"event_id": "abcdefghijk"})


async def main() -> None:
    """Show one day at every level, then in every format, then an error."""
    questions: list[Question] = [
        (f"list_events at the level {level} ({_ASKS[level]}), as TOON", ["--privacy", level], *_DAY)
        for level in policy.levels
    ]
    questions.append(("next_event at the level detailed, where people are told", ["--privacy", "detailed"], *_NEXT))
    for written in ("markdown", "json"):
        options = ["--privacy", "minimal", "--format", written]
        questions.append((f"list_events at the level minimal, as {written}", options, *_DAY))
    questions.append(("get_event with an id that does not exist", ["--privacy", "minimal"], *_UNKNOWN))
    answers = dict.fromkeys(range(len(questions)), "")

    async def ask(place: int) -> None:
        answers[place] = await _ask(*questions[place])

    async with anyio.create_task_group() as group:
        for place in answers:
            group.start_soon(ask, place)
    print("\n\n".join(answers.values()))


async def _ask(heading: str, options: list[str], tool: str, arguments: dict[str, str]) -> str:
    fixed = ["--tz", "Europe/Berlin", "--now", "2026-07-13T10:20"]
    command = StdioServerParameters(command=sys.executable, args=["-m", "calendar_server.cli", *fixed, *options])
    async with Client(command) as client:
        result = await client.call_tool(tool, arguments)
    blocks = [block.text for block in result.content if block.type == "text"]
    return "\n".join([f"=== {heading}{' (isError)' if result.is_error else ''}", *blocks])


if __name__ == "__main__":
    anyio.run(main)
