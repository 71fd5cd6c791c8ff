"""Whether a subject does the job: what its answer holds, decoded, against what it has to hold."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import toons
from mcp.types import CallToolResult, TextContent

from data import KEYRING, WITHHELD, Workload, visible
from mcpshape import Shape
from mcpshape.encoders import Json
from mcpshape.testing import decode
from subjects import Subject

STRICT = "strict"


def text_of(result: CallToolResult) -> str:
    """The one text of a result."""
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


def check(name: str, subject: Subject, workload: Workload, result: CallToolResult) -> None:
    """See that an answer holds what it has to, in its text and in its structured part where it has one.

    Raises:
        SystemExit: It does not, so that its time means nothing.
    """
    expected = expect(subject, workload)
    text = text_of(result)
    held = [_decoded(text), *([result.structured_content] if result.structured_content is not None else [])]
    if subject.holds == "what a scrubber leaves":
        same = all(_shape_of(each) == _shape_of(expected) for each in held)
    else:
        is_typed = not text.startswith(("- ", "#"))
        same = all(each == expected if is_typed else _loose(each) == _loose(expected) for each in held)
    if result.is_error or not same:
        raise SystemExit(f"{name} does not answer with {workload.name}: {text[:200]}")


def expect(subject: Subject, workload: Workload) -> Any:
    """What an answer has to hold: at a level what is worked out by hand; of an example server what its view holds."""
    if subject.holds != "the level":
        return workload.plain
    if workload.is_own and subject.level:
        return visible(workload.plain, subject.level)
    grant = workload.grant(subject.level)
    return Shape(workload.policy, encoder=Json(), grant=grant, keyring=KEYRING).view(workload.dto).data


def left_over(workload: Workload, result: CallToolResult) -> dict[str, str]:
    """How many of the values that `strict` keeps back an answer still holds, by key."""
    text = text_of(result)
    secrets: dict[str, set[str]] = {}
    for key, value in _leaves(workload.plain):
        if key in {*WITHHELD[STRICT], "title"} and isinstance(value, str):
            secrets.setdefault(key, set()).add(value)
    return {key: f"{sum(each in text for each in values)} of {len(values)}" for key, values in secrets.items()}


def _decoded(text: str) -> Any:
    if text.startswith("{"):
        return json.loads(text)
    return decode(text) if text.startswith(("- ", "#")) else toons.loads(text)


def _loose(data: Any) -> Any:
    """Data without the types that Markdown does not have."""
    if isinstance(data, Mapping):
        return {key: _loose(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_loose(each) for each in data]
    return data if data is None else str(data)


def _shape_of(data: Any) -> Any:
    """Keys and lengths alone."""
    if isinstance(data, Mapping):
        return {key: _shape_of(value) for key, value in data.items()}
    return [_shape_of(each) for each in data] if isinstance(data, list) else None


def _leaves(data: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(data, Mapping):
        for name, value in data.items():
            yield from _leaves(value, name)
    elif isinstance(data, list):
        for each in data:
            yield from _leaves(each, key)
    else:
        yield key, data
