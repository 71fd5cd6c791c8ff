"""Calls every tool of a shape at every level and in every format, and looks for what must not be there."""

import asyncio
import inspect
import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import given, settings

from mcpshape._guards import decide
from mcpshape._nodes import Declared
from mcpshape._shaped import Record
from mcpshape._tool import Tool
from mcpshape.encoders import Json, Markdown, Toon, name_formats
from mcpshape.policy import Grant, Policy
from mcpshape.rules import Always, Drop, Mask, Never, Since, When
from mcpshape.shape import Shape
from mcpshape.testing._canaries import SLOW, planted

_CANARY = re.compile(r"CANARY-([\w.]+)-\d+")

Calls = Mapping[str, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class Secret:
    """A value that was planted in the data behind the tools, and the rule that says who may be told."""

    path: str
    value: str
    rule: Always | Since | When | Never

    def may_leave(self, grant: Grant | None) -> bool:
        """Whether a grant may be told."""
        match self.rule:
            case Since(level):
                return grant is not None and grant.reaches(level)
            case When(toggle):
                return grant is not None and toggle in grant.toggles
            case Never():
                return False
            case _:
                return True


@dataclass(frozen=True, slots=True)
class Leak:
    """One secret where it must not be."""

    tool: str
    level: str | None
    channel: str
    path: str

    def __str__(self) -> str:
        return f"{self.tool} at {self.level or 'no level'}: {self.path} is in the {self.channel}"


def assert_no_leak(
    shape: Shape, *, calls: Calls | None = None, secrets: Sequence[Secret] = (), owner: object = None
) -> None:
    """Check that nothing leaves where its rule does not allow it.

    The DTO that each tool declares is filled with canaries and answered at every level and in every format. With
    `calls`, the tools themselves are called as well, and `secrets` are looked for in all that leaves.

    Args:
        shape: The shape whose tools are checked.
        calls: For each tool, the arguments to call it with; a tool without any is an error, so none is forgotten.
            Arguments may lead to failures: those are searched as well.
        secrets: What was planted in the data that the tools read.
        owner: The object that tools are bound to where they are methods.

    Raises:
        AssertionError: Something leaks; the text has one line for each, with tool, level, channel and path.
    """
    missing = sorted(name for name in shape.tools if calls is not None and not calls.get(name))
    if missing:
        raise AssertionError(f"no calls for {', '.join(missing)}")
    leaks = {str(leak) for leak in find_leaks(shape, calls=calls or {}, secrets=secrets, owner=owner)}
    if leaks:
        raise AssertionError("\n".join(sorted(leaks)))


def find_leaks(shape: Shape, *, calls: Calls, secrets: Sequence[Secret], owner: object = None) -> Iterator[Leak]:
    """The leaks that `assert_no_leak` complains about."""
    usual = name_formats(shape.encoder, (Toon(), Markdown(), Json()))
    planted_in = {name: _drawn(tool.plan.declared) for name, tool in shape.tools.items()}
    for encoder in usual.values():
        for grant in all_grants(shape.policy):
            records = _Records()
            served = shape.using(encoder=encoder, grant=grant, structured=True, sinks=[records])
            hidden = [secret for secret in secrets if not secret.may_leave(grant)]
            for tool in served.tools.values():
                yield from _leaked_canaries(tool, served, grant, planted_in[tool.name])
                texts = [{"description": tool.description, "schema": json.dumps(tool.output_schema)}]
                texts += [_call(tool, owner, arguments, records) for arguments in calls.get(tool.name, ())]
                for secret, channel in _found(hidden, texts):
                    yield Leak(tool.name, grant.level if grant else None, channel, secret.path)


def _found(hidden: Sequence[Secret], texts: Sequence[Mapping[str, str]]) -> Iterator[tuple[Secret, str]]:
    for channels in texts:
        for channel, text in channels.items():
            yield from ((secret, channel) for secret in hidden if secret.value in text)


def _drawn(declared: Declared) -> list[Any]:
    """The values that a DTO is checked with, the same ones at every level and in every format."""
    values: list[Any] = []

    @settings(max_examples=20, deadline=None, database=None, derandomize=True, suppress_health_check=SLOW)
    @given(planted(declared))
    def collect(value: Any) -> None:
        values.append(value)

    collect()
    return values


def _leaked_canaries(tool: Tool, served: Shape, grant: Grant | None, values: Sequence[Any]) -> Iterator[Leak]:
    """Canaries in the answers of a tool of which the plan says that they are withheld."""
    allowed = {
        f"{record.name}.{field.key}"
        for record in tool.plan.declared.records.values()
        for field in record.fields
        if not isinstance(decide(tool.plan, record, field, grant), Drop | Mask)
    }
    told: set[tuple[str, str]] = set()
    for value in values:
        answered = served.answer(tool.name, value, grant=grant)
        for channel, text in (("text", answered.text), ("structured part", json.dumps(answered.structured))):
            told.update((channel, path) for path in _CANARY.findall(text))
    level = grant.level if grant else None
    yield from (Leak(tool.name, level, channel, path) for channel, path in told if path not in allowed)


def all_grants(policy: Policy | None) -> Iterator[Grant | None]:
    """Every level with its usual toggles, and with each offered toggle flipped."""
    if policy is None:
        yield None
        return
    for level in policy.levels:
        usual = policy.grant(level)
        yield usual
        for name, toggle in policy.toggles.items():
            needs_more = toggle.requires is not None and toggle.requires not in usual.toggles
            if usual.reaches(toggle.offered_since) and not (needs_more and name not in usual.toggles):
                yield policy.grant(level, toggles={name: name not in usual.toggles})


def _call(tool: Any, owner: object, arguments: Mapping[str, Any], records: "_Records") -> dict[str, str]:
    logged = _Logged()
    root = logging.getLogger()
    root.addHandler(logged)
    try:
        result = (tool.bind(owner) if owner is not None else tool.served)(**arguments)
        result = asyncio.run(result) if inspect.iscoroutine(result) else result
    finally:
        root.removeHandler(logged)
    channels = {
        "error" if result.is_error else "text": "\n".join(block.text for block in result.content),
        "structured part": json.dumps(result.structured_content, ensure_ascii=False),
        "record": json.dumps([record.to_dict() for record in records.written], ensure_ascii=False),
        "log": "\n".join(logged.lines),
    }
    records.written.clear()
    return channels


class _Records:
    def __init__(self) -> None:
        self.written: list[Record] = []

    def write(self, record: Record) -> None:
        self.written.append(record)


class _Logged(logging.Handler):
    """What is logged at the level INFO and above, tracebacks included."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(logging.Formatter().format(record))
