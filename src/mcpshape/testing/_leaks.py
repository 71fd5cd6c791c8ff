"""Calls every tool of a shape at every level and in every format, and looks for what must not be there."""

import asyncio
import inspect
import json
import logging
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings
from mcp.types import CallToolResult

from mcpshape._guards import decide
from mcpshape._nodes import Declared
from mcpshape._scope import PAGE
from mcpshape._shaped import Record
from mcpshape._tool import Tool
from mcpshape.encoders import Json, Markdown, Toon, name_formats
from mcpshape.policy import Grant, Policy
from mcpshape.rules import Always, Drop, Mask, Never, Since, When
from mcpshape.shape import Shape
from mcpshape.testing._canaries import SLOW, planted

_MOST_PAGES = 1_000
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


@dataclass(slots=True)
class Searched:
    """What a search has seen: the tools that answered, and the secrets that were told where they may be."""

    answered: set[str] = field(default_factory=set)
    told: set[Secret] = field(default_factory=set)


def assert_no_leak(
    shape: Shape,
    *,
    calls: Calls | None = None,
    secrets: Sequence[Secret] = (),
    owner: object = None,
    may_fail: Collection[str] = (),
) -> None:
    """Check that nothing leaves where its rule does not allow it.

    The DTO that each tool declares is filled with canaries and answered at every level and in every format. With
    `calls`, the tools themselves are called as well, page after page, and `secrets` are looked for in all that leaves.
    A search that could have found nothing is an error, too: a tool whose calls all fail, and a secret that is told
    nowhere although its rule allows it.

    Args:
        shape: The shape whose tools are checked.
        calls: For each tool, the arguments to call it with; a tool without any is an error, so none is forgotten.
            Some may lead to failures: those are searched as well.
        secrets: What was planted in the data that the tools read; what no caller is ever told has the rule `Never()`.
        owner: The object that tools are bound to where they are methods.
        may_fail: The tools of which all calls may fail, such as those that need what a test does not have.

    Raises:
        AssertionError: Something leaks, or was not tested; the text has one line for each, with tool, level, channel
            and path.
    """
    missing = sorted(name for name in shape.tools if calls is not None and not calls.get(name))
    if missing:
        raise AssertionError(f"no calls for {', '.join(missing)}")
    searched = Searched()
    leaks = {str(leak) for leak in find_leaks(shape, searched, calls=calls or {}, secrets=secrets, owner=owner)}
    if problems := sorted(leaks) + (list(_untested(shape, searched, secrets, may_fail)) if calls else []):
        raise AssertionError("\n".join(problems))


def find_leaks(
    shape: Shape, searched: Searched, *, calls: Calls, secrets: Sequence[Secret], owner: object = None
) -> Iterator[Leak]:
    """The leaks that `assert_no_leak` complains about; what was seen on the way is noted."""
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
                answers = [each for given in calls.get(tool.name, ()) for each in _call(tool, owner, given, records)]
                _note(searched, tool.name, answers, [secret for secret in secrets if secret not in hidden])
                for secret, channel in _found(hidden, [*texts, *answers]):
                    yield Leak(tool.name, grant.level if grant else None, channel, secret.path)


def _note(searched: Searched, tool: str, answers: Sequence[Mapping[str, str]], told: Sequence[Secret]) -> None:
    if any("text" in answer for answer in answers):
        searched.answered.add(tool)
    searched.told |= {secret for secret, channel in _found(told, answers) if channel in {"text", "structured part"}}


def _untested(shape: Shape, searched: Searched, secrets: Sequence[Secret], may_fail: Collection[str]) -> Iterator[str]:
    for name in shape.tools:
        if name not in searched.answered and name not in may_fail:
            yield f"{name} never answered: each of its calls failed, so nothing of it was searched"
    for secret in secrets:
        if secret not in searched.told and secret.rule != Never():
            yield f"{secret.path} is told nowhere, not even where its rule allows it, so nothing was found out about it"


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


def _call(tool: Tool, owner: object, arguments: Mapping[str, Any], records: "_Records") -> Iterator[dict[str, str]]:
    """What leaves by a call, and by those for the pages that follow."""
    given = dict(arguments)
    for _ in range(_MOST_PAGES):
        result, channels = _answer(tool, owner, given, records)
        yield channels
        page = (result.structured_content or {}).get(PAGE) if tool.options.page else None
        if not page or page["next"] is None:
            return
        given = {**arguments, "cursor": page["next"]}
    raise AssertionError(f"{tool.name} has more than {_MOST_PAGES} pages for {arguments}; give it fewer rows")


def _answer(
    tool: Tool, owner: object, arguments: Mapping[str, Any], records: "_Records"
) -> tuple[CallToolResult, dict[str, str]]:
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
    return result, channels


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
