"""Noninterference: what a level hides makes no difference to what it shows."""

from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mcpshape._guards import Plan, decide, row_type
from mcpshape._nodes import Choice, Field, Keyed, Listing, Node, Nullable, Record, Reference, Scalar
from mcpshape._plan import compile_plan
from mcpshape.encoders import Encoder, Json, Markdown, Toon
from mcpshape.policy import Grant
from mcpshape.rules import Clip, Coarsen, Count, Drop, Handle, Mask, Show
from mcpshape.shape import Shape
from mcpshape.testing._canaries import SLOW, SUBCLASS, Draw, Planter, build


def assert_noninterference(shape: Shape, declared: Any, level: str | None = None, *, examples: int = 100) -> None:
    """Check, on pairs of DTOs that agree on what a level shows, that their answers are the same byte for byte.

    Args:
        shape: The shape whose policy is checked.
        declared: The DTO type.
        level: The level; `None` for a shape without a policy.
        examples: How many pairs.

    Raises:
        AssertionError: Two answers differ although nothing that is shown does.
    """
    plan = compile_plan(declared, shape.policy, "noninterference")
    grant = shape.policy.grant(level) if shape.policy else None
    encoders: tuple[Encoder, ...] = (Toon(), Markdown(), Json())
    served = {encoder.name: shape.using(encoder=encoder, structured=True) for encoder in encoders}

    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=SLOW)
    @given(pairs(plan, grant))
    def check(pair: tuple[Any, Any]) -> None:
        for name, each in served.items():
            one, other = (each.render(value, grant=grant, declared=declared) for value in pair)
            if one != other:
                raise AssertionError(f"{name} at {level} tells two values apart that agree on what it shows")

    check()


def pairs(plan: Plan, grant: Grant | None) -> st.SearchStrategy[tuple[Any, Any]]:
    """Two values that agree on what the grant shows and differ in as much else as they can."""
    return st.composite(lambda draw: _Twins(plan, grant, draw).plant(plan.declared.root, "", 2))()


def _row_flags(plan: Plan) -> Iterator[tuple[str, str]]:
    """The fields that decide which rows are gone from a list: what they hold is told by that."""
    for record in plan.declared.records.values():
        for field in record.fields:
            rows, owner = plan.guard(record, field).rows, row_type(plan.declared, field.node)
            if rows and owner:
                yield owner.key, rows.when


class _Twins:
    """Plants two values side by side: the same draw where a field is shown, one each where it is not."""

    def __init__(self, plan: Plan, grant: Grant | None, draw: Draw) -> None:
        self.plan, self.grant, self.draw = plan, grant, draw
        self._flags = set(_row_flags(plan))
        self._shown = Planter(plan.declared, draw)
        self._hidden = (Planter(plan.declared, draw, 100_000), Planter(plan.declared, draw, 200_000))

    def plant(self, node: Node, path: str, room: int) -> tuple[Any, Any]:
        match node:
            case Reference(key):
                return self._record(self.plan.declared.records[key], room)
            case Nullable(inner):
                return self.plant(inner, path, room) if self.draw(st.booleans()) else (None, None)
            case Listing(items, "list" | "sequence"):
                made = [self.plant(items, path, room - 1) for _ in range(self.draw(st.integers(0, 2)) if room else 0)]
                return [one for one, _ in made], [other for _, other in made]
            case Keyed(keys, values):
                named = [self._shown.scalar(keys, path) for _ in range(self.draw(st.integers(0, 2)) if room else 0)]
                made = [self.plant(values, path, room - 1) for _ in named]
                return dict(zip(named, (one for one, _ in made), strict=True)), dict(
                    zip(named, (other for _, other in made), strict=True)
                )
            case Choice(options):
                return self.plant(self.draw(st.sampled_from(options)), path, room)
            case _:
                same = self._shown.plant(node, path, room)
                return same, same

    def _record(self, record: Record, room: int) -> tuple[Any, Any]:
        cap, policy = self.plan.cap(record), self.plan.policy
        level = self.draw(st.sampled_from((None, *policy.levels))) if cap and policy else None
        inside = (
            _Twins(self.plan, self.grant & policy.grant(level), self.draw) if self.grant and policy and level else self
        )
        twins = {
            each.name: (level, level) if each is cap else inside.field(record, each, f"{record.name}.{each.key}", room)
            for each in record.fields
            if not each.is_computed
        }
        secrets = [planter.text(SUBCLASS) for planter in self._hidden]
        one, other = (
            build(record, {name: twin[side] for name, twin in twins.items()}, secrets[side]) for side in (0, 1)
        )
        return one, other

    def field(self, record: Record, field: Field, path: str, room: int) -> tuple[Any, Any]:
        guard = self.plan.guard(record, field)
        if (record.key, field.name) in self._flags:
            same = self._shown.field(field, path, room)
            return same, same
        match decide(self.plan, record, field, self.grant):
            case Drop() | Mask():
                one, other = (planter.field(field, path, room) for planter in self._hidden)
                return one, other
            case Show() if isinstance(guard.rule, Count):
                return 1, 2
            case Show() if isinstance(field.node, Scalar):
                same = self._shown.scalar(field.node, path)
                return same, same
            case Clip() | Coarsen() | Handle():
                same = self._shown.field(field, path, room)
                return same, same
            case _:
                return self.plant(field.node, path, room)
