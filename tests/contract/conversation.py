"""What every client asks every server, and all that is answered."""

from typing import Any

from contract.asking import Asker

DAY = "2026-07-13"
Transcript = dict[str, Any]
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "toon": ("as_toon", {"day": DAY}),
    "markdown": ("as_markdown", {"day": DAY}),
    "json": ("as_json", {"day": DAY}),
    "record of json": ("last_record", {}),
    "asked": ("asked", {}),
    "asked in markdown": ("asked", {"format": "markdown"}),
    "asked in json": ("asked", {"format": "json"}),
    "asked for a field": ("asked", {"fields": ["events.title"]}),
    "asked for less": ("asked", {"privacy": "strict"}),
    "record of less": ("last_record", {}),
    "asked for nonsense": ("asked", {"privacy": "CANARY", "fields": 7, "format": "CANARY"}),
    "user error": ("as_toon", {"day": "1999-01-01"}),
    "record of user error": ("last_record", {}),
    "user error beside a schema": ("as_json", {"day": "1999-01-01"}),
    "missing": ("search", {}),
    "record of missing": ("last_record", {}),
    "unknown": ("search", {"day": DAY, "by": {"words": []}, "most": 1, "CANARY_1": 1, "CANARY_2": "CANARY"}),
    "wrong type": ("search", {"day": "CANARY", "by": {"words": [1, "CANARY"]}, "most": "CANARY"}),
    "missing and unknown": ("search", {"dy": "CANARY", "most": "CANARY"}),
    "coerced": ("search", {"day": DAY, "by": {"words": ["1"]}, "most": "2"}),
    "crash": ("crash", {"title": "CANARY"}),
    "crash later": ("crash_later", {"title": "CANARY"}),
    "record of crash": ("last_record", {}),
    "invisible": ("dirty", {}),
    "invisible in an error": ("complain", {}),
    "protocol error": ("refuse", {}),
    "unknown tool": ("no_such_tool", {}),
    "context": ("with_context", {"name": "ada"}),
    "context as argument": ("with_context", {"name": "ada", "ctx": "CANARY"}),
    "caller": ("whoami", {}),
    "caller in a thread": ("whoami_in_a_thread", {}),
    "foreign handle": ("get_event", {"event_id": "abcdefghijk"}),
    "real id": ("get_event", {"event_id": "meeting-0@example.com"}),
    "invented cursor": ("paged", {"cursor": "abcdefgh"}),
    "dependency": ("owned", {}),
    "dependency as argument": ("owned", {"by": {"name": "CANARY"}}),
    "input required": ("need_input", {}),
    "elicitation": ("elicit", {}),
}


async def converse(asker: Asker) -> Transcript:
    """One whole conversation."""
    heard: Transcript = {
        "instructions": await asker.instructions(),
        "tools": {tool["name"]: tool for tool in (await asker.tools())["tools"]},
    }
    for name, (tool, given) in CALLS.items():
        heard[name] = await asker.call(tool, **given)
    handle = heard["json"]["structuredContent"]["events"][1]["id"]
    heard["handle"] = await asker.call("get_event", event_id=handle)
    heard["pages"] = [await asker.call("paged")]
    while cursor := heard["pages"][-1]["structuredContent"]["page"]["next"]:
        heard["pages"].append(await asker.call("paged", cursor=cursor))
    heard["resource"] = await asker.read("event://first")
    heard["resource error"] = await asker.read("event://nothing/later")
    heard["resource crash"] = await asker.read("event://crash/later")
    heard["prompt"] = await asker.prompt("plan")
    heard["cancelled"] = await asker.cancel()
    return heard
