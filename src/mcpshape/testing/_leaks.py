"""Calls every tool of a shape at every level and in every format, and looks for what must not be there."""

import asyncio
import inspect
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcpshape._shaped import Record
from mcpshape.encoders import Encoder, Json, Markdown, Toon
from mcpshape.policy import Grant, Policy
from mcpshape.rules import Always, Never, Since, When
from mcpshape.shape import Shape

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


def assert_no_leak(shape: Shape, *, calls: Calls, secrets: Sequence[Secret], owner: object = None) -> None:
    """Check that no secret leaves where its rule does not allow it.

    Args:
        shape: The shape whose tools are called.
        calls: For each tool, the arguments to call it with; a tool without any is an error, so that none is forgotten.
            Arguments may lead to failures: those are searched as well.
        secrets: What was planted in the data that the tools read.
        owner: The object that tools are bound to where they are methods.

    Raises:
        AssertionError: A secret leaks; the text has one line for each, with tool, level, channel and path.
    """
    missing = sorted(name for name in shape.tools if not calls.get(name))
    assert not missing, f"no calls for {', '.join(missing)}"  # noqa: S101
    leaks = sorted({str(leak) for leak in find_leaks(shape, calls=calls, secrets=secrets, owner=owner)})
    assert not leaks, "\n".join(leaks)  # noqa: S101


def find_leaks(shape: Shape, *, calls: Calls, secrets: Sequence[Secret], owner: object = None) -> Iterator[Leak]:
    """The leaks that `assert_no_leak` complains about."""
    encoders: tuple[Encoder, ...] = (Toon(), Markdown(), Json())
    for encoder in encoders:
        for grant in all_grants(shape.policy):
            records = _Records()
            served = shape.using(encoder=encoder, grant=grant, structured=True, sinks=[records])
            level = grant.level if grant else None
            hidden = [secret for secret in secrets if not secret.may_leave(grant)]
            for name, tool in served.tools.items():
                texts = [{"description": tool.description, "schema": json.dumps(tool.output_schema)}]
                texts += [_call(tool, owner, arguments, records) for arguments in calls[name]]
                yield from (
                    Leak(name, level, channel, secret.path)
                    for channels in texts
                    for channel, text in channels.items()
                    for secret in hidden
                    if secret.value in text
                )


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
