"""Rules 1 to 11 as a client sees them, on every class, transport, revision and client."""

import json
import re
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker

from contract.asking import Place
from contract.conversation import CALLS, Transcript, normal, sum_up
from contract.snapshot import FILE, difference
from contract.tools import IDS
from mcpshape.testing import decode

EXPECTED: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
FAILURES = {
    "asked for nonsense", "user error", "user error beside a schema", "missing", "unknown", "wrong type",
    "missing and unknown", "crash", "crash later", "invisible in an error", "context as argument", "foreign handle",
    "real id", "invented cursor",
}  # fmt: skip
STRUCTURED = {"json", "asked", "asked in markdown", "asked in json", "asked for a field", "asked for less", "handle"}


def text(answer: Any) -> str:
    (block,) = answer["content"]
    assert block["type"] == "text"
    return str(block["text"])


def results(heard: Transcript) -> dict[str, Any]:
    """The answers that are results of the shape's tools."""
    found = {name: heard[name] for name in (*CALLS, "handle") if "content" in heard[name] and name != "unknown tool"}
    return found | {f"page {place}": page for place, page in enumerate(heard["pages"])}


def test_every_class_answers_in_the_same_bytes(place: Place, heard: Transcript) -> None:
    """Show 2: one definition, three classes, any transport, revision and client; keys of data stand in one order."""
    alike = [step for step in EXPECTED if not difference(step, place.revision)]
    assert len(alike) > 40
    assert {step: _spelled(normal(heard[step], place)) for step in alike} == {
        step: _spelled(EXPECTED[step]) for step in alike
    }


def _spelled(answer: Any) -> Any:
    """A result part by part, each as it is spelled; in which order the parts come is the class's choice."""
    if isinstance(answer, dict) and "content" in answer:
        return {key: json.dumps(value) for key, value in answer.items()}
    return [_spelled(each) for each in answer] if isinstance(answer, list) else answer


def test_what_differs_is_what_the_table_says(place: Place, heard: Transcript) -> None:
    """Every other step has a row with the words of each class, and no row is there without a difference."""
    different = {step: row for step in heard if (row := difference(step, place.revision))}
    assert heard.keys() - different.keys() - {"tools"} <= EXPECTED.keys()
    for step, row in different.items():
        assert sum_up(normal(heard[step], place)) == row.answer(place.kind)
        assert len({row.mcpserver, row.lowlevel, row.fastmcp}) > 1 or step in EXPECTED


def test_every_result_is_one_text_block_that_is_not_blank(heard: Transcript) -> None:
    """Hosts 2: successes and errors alike."""
    found = results(heard)
    assert len(found) > 30
    assert all(text(answer).strip() for answer in found.values())


def test_an_error_reads_as_one_and_has_no_structured_part(heard: Transcript) -> None:
    """Rule 6, hosts 3: `isError`, no `structuredContent` key even beside a schema, "Error:" first, below 8,000."""
    failed = {name for name, answer in results(heard).items() if answer.get("isError")}
    assert {*FAILURES, *({"dependency as argument"} & failed), *({"elicitation"} & failed)} == failed
    for name in failed:
        assert "structuredContent" not in heard[name]
        assert text(heard[name]).startswith("Error: ")
        assert len(text(heard[name])) < 8000


def test_nothing_withheld_or_private_leaves_by_any_channel(heard: Transcript) -> None:
    """Rules 1, 2 and 6: fields of a subclass, rejected values, ids behind handles, texts of exceptions."""
    wire = json.dumps(heard)
    assert "CANARY" not in wire
    assert not [real for real in IDS if real in wire]


def test_structured_content_fits_the_published_schema_and_its_text_copy(heard: Transcript) -> None:
    """Rule 5, hosts 5: valid with format checks; the JSON text is the same data in the same order."""
    for name in STRUCTURED:
        schema = heard["tools"][CALLS[name][0] if name in CALLS else "get_event"]["outputSchema"]
        Draft202012Validator(schema, format_checker=FormatChecker()).validate(heard[name]["structuredContent"])
    for name in ("json", "asked in json", "handle"):
        assert text(heard[name]) == json.dumps(heard[name]["structuredContent"], separators=(",", ":"))


def test_a_schema_is_published_where_every_success_has_structured_content(heard: Transcript) -> None:
    """Hosts 1 and 5: text only means no schema and no key; both or none."""
    for name, answer in results(heard).items():
        tool = {"handle": "get_event"}.get(name) or (CALLS[name][0] if name in CALLS else "paged")
        if not answer.get("isError"):
            assert ("structuredContent" in answer) == ("outputSchema" in heard["tools"][tool])
    assert not {"as_toon", "as_markdown"} & {name for name, tool in heard["tools"].items() if "outputSchema" in tool}


def test_published_schemas_are_objects_with_local_references(heard: Transcript) -> None:
    """Hosts 4: an object at the root, no root reference, every reference resolvable."""
    for tool in heard["tools"].values():
        for schema in (tool["inputSchema"], tool.get("outputSchema", {"type": "object"})):
            assert schema["type"] == "object"
            assert "$ref" not in schema
            Draft202012Validator.check_schema(schema)
            names = re.findall(r'"\$ref": "([^"]*)"', json.dumps(schema))
            assert all(name.removeprefix("#/$defs/") in schema["$defs"] for name in names)


def test_masked_absent_and_null_stay_apart(heard: Transcript) -> None:
    """Rule 3: a mask below its level, no key for what is withheld, null for what is not there."""
    (least, _) = heard["asked for less"]["structuredContent"]["events"]
    assert set(least) == {"id", "start", "title"}
    assert least["title"] == "[Event]"
    (most, _) = heard["json"]["structuredContent"]["events"]
    assert most["place"] is None
    assert most["notes"] == "a, b"
    assert "place" not in text(heard["asked for less"])
    assert "null" in text(heard["toon"])


def test_all_formats_hold_the_same_data(heard: Transcript) -> None:
    """Rule 5: TOON, Markdown and JSON decode to what the structured part says, by tool and by call."""
    whole = heard["json"]["structuredContent"]
    for name in ("toon", "markdown", "json", "asked", "asked in markdown", "asked in json"):
        assert decode(text(heard[name])) == whole


def test_descriptions_speak_the_words_of_the_format(heard: Transcript) -> None:
    """The same docstring for each; tools whose callers choose the format get neutral words."""
    for name, one, many in (
        ("as_toon", "entry", "entries"),
        ("as_markdown", "row", "rows"),
        ("as_json", "object", "objects"),
    ):
        assert heard["tools"][name]["description"] == f"List events, one {one} each.\n\nNo {many}: the day is free."


def test_pages_hold_every_row_once(heard: Transcript) -> None:
    """Rule 9: whole rows, true counts, the last page says that it is."""
    pages = [page["structuredContent"] for page in heard["pages"]]
    rows = [row["title"] for page in pages for row in page["events"]]
    assert rows == [f"title of {each[:9]}" for each in IDS]
    assert {page["total"] for page in pages} == {page["page"]["total"] for page in pages} == {len(IDS)}
    assert [page["page"]["shown"] for page in pages] == [2, 2, 1]


def test_a_handle_comes_back_as_the_one_that_was_given_out(heard: Transcript) -> None:
    """Handles: taken back on the next call of the same client."""
    assert heard["handle"]["structuredContent"] == heard["json"]["structuredContent"]["events"][1]


def test_the_server_sees_who_calls(place: Place, heard: Transcript) -> None:
    """Name, version and revision, in functions that are async and in those that run in a thread."""
    for name in ("caller", "caller in a thread"):
        seen = heard[name]["structuredContent"]
        assert seen["protocol"] == place.revision
        assert (seen["client"], seen["client_version"], seen["principal"]) == ("contract", "1", None)


def test_every_call_leaves_a_record_without_values(heard: Transcript) -> None:
    """Disclosure: answers, refused arguments, errors and crashes; the level and paths that were in force."""
    told = {name: heard[name]["structuredContent"] for name in CALLS if name.startswith("record of ")}
    assert [told[f"record of {name}"]["error"] for name in ("json", "user error", "missing", "crash")] == [
        None, "user", "invalid_arguments", "internal",
    ]  # fmt: skip
    assert told["record of less"]["level"] == "strict"
    assert told["record of less"]["masked"] == ["events.title"]
    assert {each["client"] for each in told.values()} == {"contract"}


def test_a_cancelled_call_is_cancelled_in_the_tool(heard: Transcript) -> None:
    """Rule 6: cancellation passes; it is no failure to word."""
    assert heard["cancelled"] == {"started": 1, "cancelled": 1}


def test_each_crash_has_its_own_reference(heard: Transcript) -> None:
    """Rule 6: the fixed sentence names the entry in the log."""
    names = ("crash", "crash later")
    assert len({text(heard[name]).split()[-1] for name in names}) == len(names)
