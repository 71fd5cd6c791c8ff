"""The paths of a plan: what each grant discloses, masks and withholds."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mcpshape._guards import WHOLE, Plan, decide, is_shown
from mcpshape._nodes import Node, Record, references
from mcpshape.policy import Grant
from mcpshape.rules import Action, Drop, Mask, Rule


@dataclass(frozen=True, slots=True)
class Paths:
    """All fields of a plan by what happens to them, as sorted dotted wire names."""

    disclosed: tuple[str, ...]
    masked: tuple[str, ...]
    withheld: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One field of a plan: its dotted wire name, its rule, and what happens to it.

    `record` is the key of its DTO class, since several can stand at one path; `node` is what it holds. `gone` is the
    field whose rows are gone from it, if any. `is_cut` says that it holds a DTO class around it, which is not followed
    again.
    """

    path: str
    rule: Rule
    action: Action
    record: str
    node: Node
    gone: str | None
    is_cut: bool


def list_paths(plan: Plan, grant: Grant | None) -> Paths:
    """The paths under one grant. A type that contains itself is followed once."""
    if ("paths", grant) not in plan.compiled:
        # Where several DTO classes have a key, it is told if one of them tells it.
        steps = sorted(walk(plan, grant), key=lambda step: _told(step.action))
        plan.compiled["paths", grant] = _list({step.path: step.action for step in steps})
    paths: Paths = plan.compiled["paths", grant]
    return paths


def _told(action: Action) -> int:
    return (not isinstance(action, Drop)) + (not isinstance(action, Drop | Mask))


def _list(found: Mapping[str, Action]) -> Paths:
    return Paths(
        disclosed=tuple(sorted(path for path, action in found.items() if not isinstance(action, Drop | Mask))),
        masked=tuple(sorted(path for path, action in found.items() if isinstance(action, Mask))),
        withheld=tuple(sorted(path for path, action in found.items() if isinstance(action, Drop))),
    )


def keys_at(plan: Plan, grant: Grant | None, path: str) -> tuple[str, ...]:
    """The keys that a grant lets out of the DTOs at a dotted path, in order; none where it leads nowhere."""
    places = [plan.declared.root]
    steps = path.split(".") if path else []
    if plan.is_wrapped and steps[:1] != [WHOLE.key]:
        return () if steps else (WHOLE.key,)
    for step in steps[plan.is_wrapped :]:
        fields = [(record, field) for record in _records(plan, places) for field in record.fields if field.key == step]
        places = [field.node for record, field in fields if is_shown(decide(plan, record, field, grant))]
    keys = [
        field.key
        for record in _records(plan, places)
        for field in record.fields
        if not isinstance(decide(plan, record, field, grant), Drop)
    ]
    return tuple(dict.fromkeys(keys))


def _records(plan: Plan, nodes: Iterable[Node]) -> list[Record]:
    return [plan.declared.records[key] for node in nodes for key in references(node)]


def count_entries(data: Any) -> int:
    """The number of entries in all lists of objects, in plain data."""
    if isinstance(data, list):
        return sum(count_entries(each) + isinstance(each, dict) for each in data if isinstance(each, _COMPOSED))
    return sum(count_entries(each) for each in data.values() if isinstance(each, _COMPOSED))


_COMPOSED = (dict, list)


def walk(plan: Plan, grant: Grant | None) -> Iterator[Step]:
    """Each field under a grant with what happens to it; there is none inside of what is dropped."""
    return _walk(plan, grant, plan.declared.root, "", ())


def _walk(plan: Plan, grant: Grant | None, node: Node, path: str, seen: tuple[Record, ...]) -> Iterator[Step]:
    for record in (plan.declared.records[key] for key in references(node)):
        if record in seen:
            continue
        for field in record.fields:
            guard, action = plan.guard(record, field), decide(plan, record, field, grant)
            gone = guard.rows.when if guard.rows and guard.hides_rows(grant) else None
            is_cut = any(plan.declared.records[key] in (*seen, record) for key in references(field.node))
            yield Step(f"{path}{field.key}", guard.rule, action, record.key, field.node, gone, is_cut)
            if not isinstance(action, Drop):
                yield from _walk(plan, grant, field.node, f"{path}{field.key}.", (*seen, record))
