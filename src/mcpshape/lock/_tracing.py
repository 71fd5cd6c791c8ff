"""What leaves of each path, found by asking the plans of a shape under every grant that makes a difference."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from pydantic_core import to_jsonable_python

from mcpshape._guards import Plan, decide
from mcpshape._nodes import Field, Node, Record, holds_values, references
from mcpshape.lock._lock import Kind, Lock, Setting, Step, quoted, word
from mcpshape.lock._outcome import WHOLE, WITHHELD, Outcome, join
from mcpshape.policy import Grant, Policy
from mcpshape.rules import Action, Drop, Handle, Mask
from mcpshape.shape import Shape

ROOT = "."
"""The path of a whole answer."""
VALUES = "*"
"""The path of what an answer holds in no field of a DTO, as a list of texts does."""

Table = Mapping[str, Outcome]
Ask = Callable[[Grant | None], Table]
Find = Callable[[Grant], Outcome]
LeaveOut = Callable[[Grant, str], Grant]
Clauses = frozenset[tuple[frozenset[str], Outcome]]
"""Outcomes, each with the fewest toggles that have to be on for it."""


def lock_shape(shape: Shape) -> Lock:
    """Everything that the registered tools and resources of a shape can let out, at each level."""
    policy, setting = shape.policy, shape.grant
    steps = [
        Step(kind, name, *step) for (kind, name), ask in _answers(shape).items() for step in _trace(policy, cache(ask))
    ]
    return Lock(
        levels=policy.levels if policy else (),
        # What a toggle is about decides nothing, and is no part of a lock.
        toggles={name: replace(each, about="") for name, each in policy.toggles.items()} if policy else {},
        setting=Setting(setting.level, setting.toggles) if setting else None,
        steps=frozenset(steps),
    )


def _answers(shape: Shape) -> dict[tuple[Kind, str], Ask]:
    found: dict[tuple[Kind, str], Ask] = {}
    for tool in shape.tools.values():
        found["tool", tool.name] = _asking(tool.plan, tool.options.cap(shape.policy))
    for plan in shape.resources:
        place: tuple[Kind, str] = ("resource", plan.where.removeprefix("resource "))
        found[place] = _either(found[place], _asking(plan, None)) if place in found else _asking(plan, None)
    return found


def _asking(plan: Plan, cap: Grant | None) -> Ask:
    def ask(grant: Grant | None) -> Table:
        return _merge(_walk(plan, grant & cap if grant and cap else grant, plan.declared.root, ROOT, WHOLE, ()))

    return ask


def _either(one: Ask, other: Ask) -> Ask:
    """Two functions of one name, of which nobody can say which one a server has."""
    return lambda grant: _merge((*one(grant).items(), *other(grant).items()))


def _merge(found: Iterator[tuple[str, Outcome]] | tuple[tuple[str, Outcome], ...]) -> Table:
    merged: dict[str, Outcome] = {}
    for path, outcome in found:
        merged[path] = join(merged[path], outcome) if path in merged else outcome
    return merged


def _walk(
    plan: Plan, grant: Grant | None, node: Node, path: str, outcome: Outcome, seen: tuple[Record, ...]
) -> Iterator[tuple[str, Outcome]]:
    """The paths under a grant, but for those withheld. A DTO class among others of a union is part of the path.

    A type that contains itself is followed once.
    """
    if path == ROOT and holds_values(node):
        yield VALUES, WHOLE
    records = [plan.declared.records[key] for key in dict.fromkeys(references(node))]
    is_alone = len(records) == 1
    yield path, Outcome(outcome.action, outcome.without, _cap(plan, records[0], grant) if is_alone else None)
    for record in records:
        place = path if is_alone else f"{'' if path == ROOT else path}({word(record.name)})"
        if not is_alone:
            yield place, Outcome(WHOLE.action, capped=_cap(plan, record, grant))
        for each in record.fields if record not in seen else ():
            found = Outcome(_plain(decide(plan, record, each, grant)), _without(plan, record, each, grant))
            if found.action != Drop():
                inner = word(each.key) if place == ROOT else f"{place}.{word(each.key)}"
                yield from _walk(plan, grant, each.node, inner, found, (*seen, record))


def _cap(plan: Plan, record: Record, grant: Grant | None) -> str | None:
    cap = plan.cap(record)
    return cap.key if cap and decide(plan, record, cap, grant) != Drop() else None


def _without(plan: Plan, record: Record, field: Field, grant: Grant | None) -> str | None:
    guard = plan.guard(record, field)
    return guard.rows.when if guard.rows and guard.hides_rows(grant) else None


def _plain(action: Action) -> Action:
    """The action with what a text can hold of it."""
    match action:
        case Mask(value):
            told: Any = to_jsonable_python(value)
            return Mask(quoted(told) if isinstance(told, list | dict) else told)
        case Handle(kind):
            return Handle(kind)
        case _:
            return action


def _trace(policy: Policy | None, ask: Ask) -> Iterator[tuple[str, str | None, Outcome, frozenset[str]]]:
    """The steps of each path: where what becomes of it is other than at the level before."""
    before: dict[str, Clauses] = {}
    for level in policy.levels if policy else (None,):
        now = _clauses(policy.widest(level) if policy and level is not None else None, ask)
        for path in {*before, *now}:
            clauses = now.get(path, frozenset())
            if clauses != before.get(path, frozenset()):
                for toggles, outcome in clauses or {(frozenset[str](), WITHHELD)}:
                    yield path, level, outcome, toggles
        before = now


def _clauses(widest: Grant | None, ask: Ask) -> dict[str, Clauses]:
    """What becomes of each path with any choice of toggles; with all of them on, every path is there."""
    if widest is None:
        return {path: frozenset({(frozenset(), outcome)}) for path, outcome in ask(None).items()}
    leave_out = cache(_leave_out)
    return {path: frozenset(_least(widest, _looking(ask, path), leave_out)) for path in ask(widest)}


def _looking(ask: Ask, path: str) -> Find:
    return lambda grant: ask(grant).get(path, WITHHELD)


def _least(widest: Grant, find: Find, leave_out: LeaveOut) -> Iterator[tuple[frozenset[str], Outcome]]:
    """Every outcome with each of the smallest choices of toggles that bring it about.

    A toggle of a choice that was found is left out in turn: what then comes about has other choices (Reiter, 1987).
    More toggles never tell less, so whatever a choice tells, one found inside of it tells as well.
    """
    waiting, seen = [widest], set[Grant]()
    while waiting:
        grant = waiting.pop()
        if grant in seen:
            continue
        seen.add(grant)
        least = grant
        for name in sorted(grant.toggles):
            less = leave_out(least, name)
            least = less if find(less) == find(least) else least
        if (outcome := find(least)) != WITHHELD:
            yield least.toggles, outcome
            waiting += [leave_out(grant, name) for name in least.toggles]


def _leave_out(grant: Grant, name: str) -> Grant:
    """The grant without a toggle and those that require it."""
    off = (grant.policy.toggles.keys() - grant.toggles) | {name}
    return grant.policy.widest(grant.level, without=off)
