"""What every client asks every server, and all that is answered."""

import re
from collections.abc import Mapping
from typing import Any

from contract.asking import Asker, Place

DAY = "2026-07-13"
Transcript = dict[str, Any]
# What a revision or a class adds to a result, whatever is in it.
ENVELOPE = {"_meta", "resultType", "ttlMs", "cacheScope"}
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
    "unknown": ("search", {"day": DAY, "by": {"words": []}, "most": 1, "extra_1": 1, "extra_2": "CANARY"}),
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
    tools = {tool["name"]: tool for tool in (await asker.tools())["tools"]}
    heard: Transcript = {"instructions": await asker.instructions(), "tools": tools}
    for name, (tool, given) in CALLS.items():
        is_offered = tool in tools or name == "unknown tool"
        heard[name] = await asker.call(tool, **given) if is_offered else "not offered"
    handle = heard["json"]["structuredContent"]["events"][1]["id"]
    heard["handle"] = await asker.call("get_event", event_id=handle)
    heard["pages"] = [await asker.call("paged")]
    while cursor := heard["pages"][-1]["structuredContent"]["page"]["next"]:
        heard["pages"].append(await asker.call("paged", cursor=cursor))
    heard["resource"] = await asker.read("event://first")
    heard["resource error"] = await asker.read("event://nothing/later")
    heard["resource crash"] = await asker.read("event://crash/later")
    heard["prompt"] = await asker.prompt("plan")
    heard["prompt crash"] = await asker.prompt("broken")
    heard["cancelled"] = await asker.cancel()
    return heard | look_at(tools, heard)


def look_at(tools: Mapping[str, Any], heard: Transcript) -> Transcript:
    """Facts about what was heard, each in a line or as plain data."""
    given, returned = tools["asked"]["inputSchema"], tools["as_json"]["outputSchema"]
    return {
        "members of a tool": ", ".join(sorted(tools["as_json"])),
        "spelling of input schemas": ", ".join(_spelling(given)),
        "spelling of output schemas": ", ".join(_spelling(returned)),
        "server in a refusal": "has serverInfo" if "_meta" in heard["missing"] else "no serverInfo",
        "descriptions": {name: tool["description"] for name, tool in tools.items() if name.startswith("as")},
        "input schemas": {
            name: _plain(tools[name]["inputSchema"]) for name in ("asked", "paged", "search", "get_event")
        },
        "output schemas": {
            name: _plain(tool["outputSchema"]) for name, tool in tools.items() if "outputSchema" in tool
        },
    }


def _spelling(schema: Mapping[str, Any]) -> list[str]:
    return [
        "$defs" if "$defs" in schema else "no $defs",
        "titles" if "title" in schema else "no titles",
        "additionalProperties: false" if schema.get("additionalProperties") is False else "no additionalProperties",
    ]


def _plain(schema: Any, definitions: Mapping[str, Any] | None = None, *, names: bool = False) -> Any:
    """A schema without titles and `additionalProperties: false`, its references resolved; `names` are no keywords."""
    if isinstance(schema, list):
        return [_plain(each, definitions) for each in schema]
    if not isinstance(schema, dict):
        return schema
    definitions = definitions if definitions is not None else schema.get("$defs", {})
    if "$ref" in schema and not names:
        return _plain(definitions[schema["$ref"].removeprefix("#/$defs/")], definitions)
    dropped = set() if names else {"title", "$defs", "additionalProperties"}
    kept = {key: value for key, value in schema.items() if key not in dropped}
    return {key: _plain(value, definitions, names=key == "properties" and not names) for key, value in kept.items()}


def normal(answer: Any, place: Place) -> Any:
    """An answer without what belongs to the transport, the revision or the client that asked."""
    if isinstance(answer, dict):
        kept = {key: value for key, value in answer.items() if key not in ENVELOPE}
        return {key: normal(value, place) for key, value in kept.items()}
    if isinstance(answer, list):
        return [normal(each, place) for each in answer]
    if isinstance(answer, str):
        text = re.sub(r"reference [0-9a-f]{8}", "reference 00000000", answer)
        return re.sub(r"^MCP error -?\d+: ", "", text).replace(place.revision, "REVISION")
    return answer


def sum_up(answer: Any) -> str:
    """A normal answer in a line, as the table of differences has it."""
    if isinstance(answer, str):
        return answer
    if "error" in answer:
        return f"protocol error {answer['error']['code']}: {answer['error']['message']}"
    blocks = answer.get("content") or answer.get("contents") or [each["content"] for each in answer["messages"]]
    texts = [block["text"] for block in blocks]
    return ("isError: " if answer.get("isError") else "") + "\n".join(texts)
