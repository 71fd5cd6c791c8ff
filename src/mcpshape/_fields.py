"""A choice of fields, by dotted paths: it only ever leaves out."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from mcpshape._guards import WHOLE, Plan, outcomes
from mcpshape._layout import Layout
from mcpshape._nodes import Field, Keyed, Node, Record, parts, references
from mcpshape._paths import keys_at
from mcpshape._scope import PAGE
from mcpshape.errors import UserError
from mcpshape.policy import Grant
from mcpshape.rules import Drop, RowCap

Chosen = Mapping[str, "Chosen"]
_ANY = "*"
_NOTHING = object()
_UNASKED: Chosen = MappingProxyType({})


def choose_fields(plan: Plan, paths: Sequence[str], grant: Grant | None) -> Chosen:
    """The tree of the chosen paths, in which `*` is any key of an object whose keys are data.

    What holds a chosen field always keeps its notices, and a row what says at which level it is held.

    Raises:
        UserError: A path names no field of the answer; those that the grant lets out are named.
    """
    chosen: dict[str, Any] = {}
    for path in paths:
        if not _choose(plan, chosen, path.split(".")):
            hint = _there_are(plan, path, grant)
            raise UserError(f"There is no field {path!r}.", code="invalid_arguments", hint=hint)
    return chosen


def _choose(plan: Plan, level: dict[str, Any], keys: Sequence[str]) -> bool:
    """Add one path to the tree; `False` where it leads nowhere."""
    records = _records(plan, [plan.declared.root])
    if plan.is_wrapped:
        if keys[0] != WHOLE.key:
            return False
        level, keys = level.setdefault(WHOLE.key, {}), keys[1:]
    for place, key in enumerate(keys):
        found = [(record, field) for record in records if (field := _field(plan, record, key))]
        if not found:
            return False
        level |= {each: _UNASKED for record in records for each in _always_kept(plan, record) if each not in level}
        if level.get(key) is _UNASKED:
            del level[key]
        level = level.setdefault(key, {})
        for _ in range(_keyed(found[0][1].node) if keys[place + 1 :] else 0):
            level = level.setdefault(_ANY, {})
        records = _records(plan, [field.node for _, field in found])
    return True


def _always_kept(plan: Plan, record: Record) -> Iterator[str]:
    """The keys that no choice leaves out."""
    for each in record.fields:
        guard = plan.guard(record, each)
        if guard.is_notice or isinstance(guard.rule, RowCap):
            yield each.key


def _field(plan: Plan, record: Record, key: str) -> Field | None:
    """The field of a wire name, unless no grant ever lets it out."""
    found = next((field for field in record.fields if field.key == key), None)
    return found if found and outcomes(plan, record, found) != {Drop()} else None


def _records(plan: Plan, nodes: Iterable[Node]) -> list[Record]:
    return [plan.declared.records[key] for node in nodes for key in references(node)]


def _keyed(node: Node) -> int:
    """How many objects whose keys are data lie around the DTOs in a node."""
    return isinstance(node, Keyed) + max(map(_keyed, parts(node)), default=0)


def _there_are(plan: Plan, path: str, grant: Grant | None) -> str:
    """The fields at the first place of a path that has none of its next name."""
    parents = path.split(".")[:-1]
    while parents and not keys_at(plan, grant, ".".join(parents)):
        parents.pop()
    keys, holder = keys_at(plan, grant, ".".join(parents)), "".join(f"{each}." for each in parents)
    return f"There are: {', '.join(f'{holder}{key}' for key in keys)}."


def is_chosen(plan: Plan, path: str, chosen: Chosen) -> bool:
    """Whether a choice keeps what stands under the path of a field, as records of what was told name it."""
    level = chosen.get(WHOLE.key, {}) if plan.is_wrapped else chosen
    for key in path.split("."):
        while _ANY in level:
            level = level[_ANY]
        if not level:
            return True
        if key not in level:
            return False
        level = level[key]
    return True


def keep_chosen(data: Mapping[str, Any], chosen: Chosen) -> Mapping[str, Any]:
    """The data without what was not chosen; an empty choice keeps everything below it.

    Where nothing that was chosen inside of a field is told, that field is left out as well.
    """
    kept = _keep(data, chosen)
    return {} if kept is _NOTHING else kept


def is_told(kept: Mapping[str, Any], layout: Layout, chosen: Chosen) -> bool:
    """Whether something of what was chosen is told; a notice that holds nothing tells so by its absence."""
    return any(chosen.get(key) is not _UNASKED for key in kept) or _may_be_told(layout, chosen)


def _may_be_told(layout: Layout, chosen: Chosen) -> bool:
    while layout.form == "array":
        layout = layout.at(_ANY)
    asked = {key: inner for key, inner in chosen.items() if inner is not _UNASKED and key in layout.fields}
    return any(not inner or _may_be_told(layout.fields[key], inner) for key, inner in asked.items())


def choose_layout(layout: Layout, chosen: Chosen) -> Layout:
    """The layout of what was chosen: what lacks a part of its DTO class is of none, so no template relies on it."""
    if not chosen:
        return layout
    if layout.form == "array" or _ANY in chosen:
        inner = choose_layout(layout.at(_ANY), chosen.get(_ANY, chosen))
        return replace(layout, fields={_ANY: inner})
    kept = {PAGE: {}, **chosen}
    fields = {key: choose_layout(layout.fields[key], inner) for key, inner in kept.items() if key in layout.fields}
    return replace(layout, dto=None, mixed=frozenset(), fields=fields)


def _keep(data: Any, chosen: Chosen) -> Any:
    if not chosen:
        return data
    if isinstance(data, list):
        kept = [_keep(each, chosen) for each in data]
        is_told = not data or any(each is not _NOTHING for each in kept)
        return [{} if each is _NOTHING else each for each in kept] if is_told else _NOTHING
    if isinstance(data, Mapping):
        wanted = dict.fromkeys(data, chosen[_ANY]) if _ANY in chosen else chosen
        found = {key: _keep(data[key], inner) for key, inner in wanted.items() if key in data}
        told = {key: value for key, value in found.items() if value is not _NOTHING}
        return told if told or not data else _NOTHING
    return data
