"""What stands where in a view under one grant, which its data does not tell by itself."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Literal

from mcpshape._guards import Plan, decide, may_be_silent
from mcpshape._nodes import (
    Choice,
    Converted,
    Keyed,
    Listing,
    Node,
    Nullable,
    Positions,
    Record,
    Reference,
    Root,
)
from mcpshape._scope import PAGE
from mcpshape.policy import Grant, Policy
from mcpshape.rules import Clip, Drop, RowCap, Show

Form = Literal["value", "array", "object", "unknown"]


@dataclass(frozen=True, slots=True)
class Layout:
    """One place of a view, with the places inside it.

    Args:
        is_prose: Whether text that people wrote in Markdown stands here.
        fields: The places inside, by key; `*` is any entry of an array and any key of an object whose keys are data.
        dto: The DTO class that every object here is of.
        mixed: The DTO classes that objects here may be of, where the data does not tell which.
        form: What stands here beside `null`.
        is_optional: Whether the key may be missing.
    """

    is_prose: bool = False
    fields: Mapping[str, "Layout"] = field(default_factory=dict, repr=False)
    dto: type | None = None
    mixed: frozenset[type] = frozenset()
    form: Form = "unknown"
    is_optional: bool = False

    def at(self, key: str) -> "Layout":
        """What stands under one key."""
        return self.fields.get(key) or self.fields.get("*") or NO_HINTS


NO_HINTS = Layout()
_MOST_TOGGLES = 6
_VALUE = Layout(form="value")


def layout_of(plan: Plan, grant: Grant | None) -> Layout:
    """The layout of all views that a grant lets out; made once."""
    layout: Layout | None = plan.compiled.get(("layout", grant))
    if layout is None:
        root = _Drawer(plan, grant).draw()
        wrapped = Layout(fields={"result": root}, form="object") if plan.is_wrapped else root
        layout = plan.compiled["layout", grant] = _with_page(plan, wrapped)
    return layout


def _with_page(plan: Plan, root: Layout) -> Layout:
    """The root of an answer that says which rows of its list it holds; it does not where there is no list."""
    if plan.paged is None or plan.paged.key not in root.fields:
        return root
    told: Mapping[str, Layout] = dict.fromkeys(("shown", "total", "next"), _VALUE)
    record = plan.declared.records.get(plan.paged.record)
    paged = record.field(plan.paged.name) if record else None
    page = Layout(fields=told, form="object", is_optional=paged is not None and paged.may_be_null)
    return replace(root, fields={**root.fields, PAGE: page})


def every_layout(plan: Plan) -> Iterator[tuple[str, Layout]]:
    """The layouts under all grants that differ, each with its grant in words, such as `standard without notes`."""
    for words, grant in _grants(plan.policy) if plan.policy else [("", None)]:
        yield words, layout_of(plan, grant)


def _grants(policy: Policy) -> Iterator[tuple[str, Grant]]:
    """Each level with its usual toggles, and with the others that it offers."""
    for level in policy.levels:
        usual, widest = policy.grant(level), policy.widest(level).toggles
        needs = {name: frozenset(_needed(policy, name)) for name in sorted(widest)}
        for toggles in dict.fromkeys([usual.toggles, *_choices(needs)]):
            off, on = sorted(usual.toggles - toggles), sorted(toggles - usual.toggles)
            changes = ([f"without {', '.join(off)}"] if off else []) + ([f"with {', '.join(on)}"] if on else [])
            yield " ".join([level, *changes]), replace(usual, toggles=toggles)


def _needed(policy: Policy, name: str | None) -> Iterator[str]:
    while name:
        yield name
        name = policy.toggles[name].requires


def _choices(needs: Mapping[str, frozenset[str]]) -> Iterator[frozenset[str]]:
    """All choices of a few toggles; of many all, none, each alone on and each alone off."""
    if len(needs) <= _MOST_TOGGLES:
        chosen = (frozenset(each) for size in range(len(needs) + 1) for each in combinations(needs, size))
        yield from (each for each in chosen if all(needs[name] <= each for name in each))
        return
    yield from (frozenset(needs), frozenset(), *needs.values())
    yield from (frozenset(other for other in needs if name not in needs[other]) for name in needs)


class _Drawer:
    """Draws one layout. A DTO class has one dict of places, filled once: this is what lets a type contain itself."""

    def __init__(self, plan: Plan, grant: Grant | None) -> None:
        self.plan, self.grant = plan, grant
        self.made: dict[str, dict[str, Layout]] = {key: {} for key in plan.declared.records}
        self.unions: list[tuple[dict[str, Layout], Sequence[Layout]]] = []

    def draw(self) -> Layout:
        for record in self.plan.declared.records.values():
            self.made[record.key].update(self.record(record))
        root = self.node(self.plan.declared.root)
        for fields, options in self.unions:
            fields.update(_merged([option.fields for option in options]))
        return root

    def record(self, record: Record) -> Iterator[tuple[str, Layout]]:
        for each in record.fields:
            action, guard = decide(self.plan, record, each, self.grant), self.plan.guard(record, each)
            if isinstance(action, Drop):
                continue
            if isinstance(guard.rule, RowCap) or not isinstance(action, Show | Clip):
                place = _VALUE
            else:
                place = _prose(self.node(each.node)) if guard.is_prose else self.node(each.node)
            is_optional = isinstance(guard.rule, RowCap) or may_be_silent(self.plan, record, each, action)
            yield each.key, replace(place, is_optional=is_optional)

    def node(self, node: Node) -> Layout:
        match node:
            case Reference(key):
                record = self.plan.declared.records[key]
                return Layout(fields=self.made[key], dto=record.cls, form="object")
            case Nullable(inner) | Root(_, inner) | Converted(_, inner):
                return self.node(inner)
            case Listing(inner):
                return Layout(fields={"*": self.node(inner)}, form="array")
            case Positions(items):
                return Layout(fields={"*": self.union([self.node(item) for item in items])}, form="array")
            case Keyed(_, inner):
                return Layout(fields={"*": self.node(inner)}, form="object")
            case Choice(options):
                return self.union([self.node(option) for option in options])
            case _:
                return _VALUE

    def union(self, options: Sequence[Layout]) -> Layout:
        fields: dict[str, Layout] = {}
        self.unions.append((fields, [option for option in options if option.form != "value"]))
        objects = {option.dto for option in options if option.form == "object"}
        classes = frozenset(cls for option in options for cls in (option.dto, *option.mixed) if cls)
        forms: set[Form] = {option.form for option in options}
        return Layout(
            fields=fields,
            dto=next(iter(objects)) if len(objects) == 1 and not any(option.mixed for option in options) else None,
            mixed=classes if len(objects) > 1 or any(option.mixed for option in options) else frozenset(),
            form=forms.pop() if len(forms) == 1 else "unknown",
        )


def _prose(place: Layout) -> Layout:
    """The same place for text that people wrote in Markdown, or for an array of such texts."""
    if place.form == "array":
        return replace(place, fields={"*": _prose(place.at("*"))})
    return Layout(is_prose=True, form="value")


def _merged(options: Sequence[Mapping[str, Layout]]) -> Iterator[tuple[str, Layout]]:
    """The places of a union. Where options differ in what stands under a key, the last one is taken for a hint."""
    for key in dict.fromkeys(key for fields in options for key in fields):
        found = [fields[key] for fields in options if key in fields]
        forms = {each.form for each in found} | {"unknown" for each in found if each.fields is not found[0].fields}
        mixed = frozenset(cls for each in found for cls in (each.dto, *each.mixed) if cls)
        yield (
            key,
            replace(
                found[-1],
                is_prose=any(each.is_prose for each in found),
                dto=found[-1].dto if len(mixed) < 2 else None,  # noqa: PLR2004
                mixed=mixed if len(mixed) > 1 else frozenset(),
                form=found[-1].form if len(forms) == 1 else "unknown",
                is_optional=len(found) < len(options) or any(each.is_optional for each in found),
            ),
        )
