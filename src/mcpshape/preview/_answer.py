"""What one choice gives: the real answer to the example of a tool, what each host makes of it, and what differs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from mcpshape._budget import find_counter
from mcpshape._call import Call
from mcpshape._caller import calling
from mcpshape._example import answer_example, find_tool, make_example, open_example, still
from mcpshape._hosts import HOSTS, Host
from mcpshape._page import Page
from mcpshape._paths import list_paths, walk
from mcpshape._telling import name_form
from mcpshape._tool import Tool
from mcpshape.explain import Cost, measure
from mcpshape.policy import Grant
from mcpshape.preview._choice import IN_FORCE, Choice, make_options
from mcpshape.preview._contrast import Change, Line, compare_lines, list_changes
from mcpshape.shape import Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What the models of some hosts read of the answer, all of them the same; `limits` has where each cuts that off."""

    hosts: Sequence[str]
    reads: str
    text: str
    cost: Cost
    limits: Mapping[str, str]
    too_long_for: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """The answer beside that at the level `against`, in the same format."""

    against: str
    changes: Sequence[Change]
    lines: Sequence[Line]

    @property
    def is_same(self) -> bool:
        """Whether there is no difference."""
        return not self.changes and all(line.is_same for line in self.lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """All that can be seen of one answer.

    `structured` is what is sent of it, `data` what both channels are made from. `size` is in bytes of UTF-8, `cost` in
    characters and in what `counted_by` counts. `narrowed` names who made the grant narrower than it was chosen,
    `reasons` say in words how it came about. `told` has the keys that leave as they are, `changed` those that leave in
    another form, with that form in words.
    """

    tool: str
    level: str | None
    toggles: Sequence[str]
    narrowed: Sequence[str]
    reasons: Sequence[str]
    format: str
    text: str
    size: int
    cost: Cost
    unit: str
    counted_by: str
    structured: Mapping[str, Any] | None
    data: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None
    description: str
    instructions: str
    told: Sequence[str]
    changed: Mapping[str, str]
    masked: Sequence[str]
    withheld: Sequence[str]
    hosts: Sequence[Shown]
    contrast: Contrast | None

    def to_dict(self) -> dict[str, Any]:
        """The preview as plain data."""
        return asdict(self)


def preview_tool(shape: Shape, choice: Choice) -> Preview:
    """Answer with the example of a tool as a call would, under what was chosen.

    Args:
        shape: The shape under the settings in force, which the choice is compared with.
        choice: What to look at.

    Raises:
        DefinitionError: The tool has no example, or cannot answer with it.
    """
    value = make_example(find_tool(shape, choice.tool))
    served = _under(shape, choice, choice.grant)
    tool = served.tools[choice.tool]
    with calling(choice.caller):
        call = open_example(served, tool)
        page = answer_example(call, tool, value)
        contrast = _contrast(shape, choice, value, call, page)
    text, structured = page.texts[0], page.view.data if tool.output_schema is not None else None
    paths, counter = list_paths(tool.plan, call.grant), find_counter()
    forms = sorted((step.path, name_form(step.action)) for step in walk(tool.plan, call.grant))
    changed = {path: form for path, form in forms if form}
    return Preview(
        tool=tool.name,
        level=call.grant.level if call.grant else None,
        toggles=sorted(call.grant.toggles) if call.grant else (),
        narrowed=[who for who in call.grant.narrowed_by if who != "setting"] if call.grant else (),
        reasons=call.grant.explain().splitlines() if call.grant else (),
        format=tool.encoder.name,
        text=text,
        size=len(text.encode()),
        cost=measure(text),
        unit=counter.unit,
        counted_by=counter.source,
        structured=structured,
        data=page.view.data,
        output_schema=tool.output_schema,
        description=tool.description,
        instructions=served.instructions(),
        told=[path for path in paths.disclosed if path not in changed],
        changed=changed,
        masked=paths.masked,
        withheld=paths.withheld,
        hosts=_hosts(text, structured),
        contrast=contrast,
    )


def _under(shape: Shape, choice: Choice, grant: Grant | None) -> Shape:
    """The shape as it would be if what was chosen were its setting."""
    return still(shape, **make_options(shape, choice, grant))


def _contrast(shape: Shape, choice: Choice, value: Any, call: Call, page: Page) -> Contrast | None:
    policy = shape.policy
    if policy is None:
        return None
    there = shape.grant if choice.against == IN_FORCE else policy.grant(choice.against)
    # Compared in one format, so that what is seen is what is told.
    served = _under(shape, choice, there)
    tool: Tool = served.tools[choice.tool]
    other = open_example(served, tool)
    return Contrast(
        against=choice.against,
        changes=list_changes(tool.plan, call.grant, other.grant),
        lines=compare_lines(page.texts[0], answer_example(other, tool, value).texts[0]),
    )


def _hosts(text: str, structured: Mapping[str, Any] | None) -> list[Shown]:
    """The hosts by what their models read, those that read the same together."""
    found: dict[tuple[str, str], list[Host]] = {}
    for host in HOSTS:
        found.setdefault((host.reads(has_structured=structured is not None), host.shown(text, structured)), []).append(
            host
        )
    return [_shown(reads, read, hosts) for (reads, read), hosts in found.items()]


def _shown(reads: str, text: str, hosts: Sequence[Host]) -> Shown:
    cost = measure(text)
    return Shown(
        hosts=[host.name for host in hosts],
        reads=reads,
        text=text,
        cost=cost,
        limits={host.name: f"{host.most:,} {host.unit}" for host in hosts if host.most},
        too_long_for=[host.name for host in hosts if host.most and getattr(cost, host.unit) > host.most],
    )
