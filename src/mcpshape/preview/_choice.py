"""What a person chose to look at: a tool, who calls it, how much may be told, and how it reads."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from mcpshape._caller import Caller
from mcpshape._example import find_tool
from mcpshape._options import ShapeOptions
from mcpshape.encoders import name_formats
from mcpshape.errors import DefinitionError, Problem
from mcpshape.policy import Grant, Policy
from mcpshape.shape import Shape

IN_FORCE = "in force"
"""What the answer is compared with unless a level is named: the setting that is in force now."""

ANOTHER = "another one"
"""The name of a caller whom the settings do not name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One answer to look at.

    `grant` stands for the setting and is `None` without a policy; `format` is `None` where the tool keeps its own.
    `against` is a level, or `IN_FORCE`.
    """

    tool: str
    grant: Grant | None = None
    format: str | None = None
    caller: Caller = field(default_factory=Caller)
    against: str = IN_FORCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """A toggle where it is offered; `needs` is the one that it requires and `is_held` says that this one is off."""

    name: str
    about: str
    is_on: bool
    needs: str | None
    is_held: bool


def choose(
    shape: Shape,
    *,
    tool: str | None = None,
    level: str | None = None,
    toggles: Mapping[str, bool] | None = None,
    format: str | None = None,  # noqa: A002
    caller: Caller | None = None,
    against: str = IN_FORCE,
) -> Choice:
    """A choice among what there is; what is not said is as it is in force.

    Args:
        shape: The shape under the settings in force.
        tool: The name of a tool; the first with an example unless said.
        level: A level of the policy, which brings its usual toggles.
        toggles: What is flipped of these.
        format: The name of a format.
        caller: Who calls; unless said, the first of those who are told most.
        against: The level to compare with.

    Raises:
        DefinitionError: Something of that is not there, or a toggle is not offered at the level.
    """
    policy = shape.policy
    if policy is None and (level is not None or toggles):
        raise DefinitionError("preview", [Problem("level", "this shape has no levels.", "Leave it out.")])
    known = find_tool(shape, _first(shape) if tool is None else tool)
    grant = shape.grant
    if policy and (level is not None or toggles):
        grant = policy.grant(grant.level if level is None and grant else level, toggles=toggles)
        _require_on(grant, [name for name, is_on in (toggles or {}).items() if is_on])
    _require(policy, against)
    if format is not None and format not in offered_formats(shape):
        remedy = f"Choose one of: {', '.join(offered_formats(shape))}."
        raise DefinitionError("preview", [Problem("format", f"there is no format {format!r}.", remedy)])
    return Choice(
        tool=known.name, grant=grant, format=format, caller=caller or find_widest_caller(shape), against=against
    )


def find_widest_caller(shape: Shape) -> Caller:
    """A caller who is told most under the settings, one that they do not name if there is a choice."""
    entries, setting = shape.decisions.entries, shape.grant
    if setting is None or not entries:
        return Caller()

    def width(caller: Caller) -> tuple[int, int]:
        grant = entries.narrow(setting, None, caller)
        return setting.policy.rank(grant.level), len(grant.toggles)

    named = [Caller(principal=name, client=ANOTHER) for name in (ANOTHER, *entries.principals)]
    scoped = [Caller(principal=ANOTHER, scopes=frozenset({name}), client=ANOTHER) for name in entries.scopes]
    return max([Caller(client=ANOTHER), *named, *scoped], key=width)


def offered_formats(shape: Shape) -> list[str]:
    """The names of the formats that an answer can be looked at in."""
    return list(name_formats(shape.encoder, shape.formats))


def make_options(shape: Shape, choice: Choice, grant: Grant | None) -> ShapeOptions:
    """A grant and the format of a choice as options: for its tool, if that has a format of its own, else for all.

    A format that is in force already stays as it is.
    """
    tool, name = shape.tools[choice.tool], choice.format
    if name is None or name == tool.encoder.name.lower():
        return {"grant": grant}
    if tool.options.encoder:
        return {"grant": grant, "tools": {tool.name: {"encoder": name}}}
    return {"grant": grant, "encoder": name}


def flip(policy: Policy, level: str, on: Collection[str]) -> Grant:
    """The grant of a level with some of the toggles on that it offers, and none whose requirement is off.

    Raises:
        DefinitionError: There is no such level.
    """
    offered = policy.widest(policy.grant(level).level).toggles
    return policy.widest(level, without=offered - frozenset(on))


def list_switches(grant: Grant) -> list[Switch]:
    """The toggles that the level of a grant offers, in the order of the policy."""
    offered = grant.policy.widest(grant.level).toggles
    return [
        Switch(
            name=name,
            about=toggle.about,
            is_on=name in grant.toggles,
            needs=toggle.requires,
            is_held=toggle.requires is not None and toggle.requires not in grant.toggles,
        )
        for name, toggle in grant.policy.toggles.items()
        if name in offered
    ]


def _first(shape: Shape) -> str:
    names = [name for name, tool in shape.tools.items() if tool.options.example]
    if not names:
        remedy = "Pass example= to shape.tool()."
        raise DefinitionError("preview", [Problem("tools", "none of them has an example.", remedy)])
    return names[0]


def _require_on(grant: Grant, names: Collection[str]) -> None:
    """See that toggles that were asked for are on, which those without what they require are not."""
    problems = [
        Problem(f"toggles.{name}", f"it needs {needed}, which is off.", f"Turn {needed} on as well.")
        for name in names
        if name not in grant.toggles and (needed := grant.policy.toggles[name].requires)
    ]
    if problems:
        raise DefinitionError("preview", problems)


def _require(policy: Policy | None, against: str) -> None:
    levels = policy.levels if policy else ()
    if against not in {IN_FORCE, *levels}:
        remedy = f"Choose one of: {', '.join(levels) or 'none'}."
        raise DefinitionError("preview", [Problem("against", f"there is no level {against!r}.", remedy)])
