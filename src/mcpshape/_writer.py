"""Writes a plan, under one grant, as one native serializer that reads declared and visible fields only."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, assert_never

from pydantic_core import CoreSchema, SchemaSerializer, core_schema, to_jsonable_python

from mcpshape._classes import CONFIG, Entry, data_class, model, stand_in, typed_dict
from mcpshape._cleaning import clean, clean_or_none, clean_text
from mcpshape._coarse import coarsener
from mcpshape._guards import WHOLE, Plan, decide, is_shown, may_be_silent, stands_in, steps
from mcpshape._leaves import (
    CountStep,
    array,
    constant,
    count_rows,
    handle,
    held,
    leaf,
    nullable_leaf,
    read_value,
    silence,
    then,
    windowed,
    with_function,
    with_wrapper,
    without,
)
from mcpshape._nodes import (
    Choice,
    Converted,
    Field,
    Keyed,
    Kind,
    Listing,
    Node,
    Nullable,
    Positions,
    Record,
    Reference,
    Root,
    Scalar,
    is_nullable_text,
    is_scalar,
    references,
)
from mcpshape._scan import Care
from mcpshape._values import as_dict, clipper
from mcpshape.errors import ProjectionError
from mcpshape.policy import Grant
from mcpshape.rules import Clip, Coarsen, Count, Drop, Handle, Mask, RowCap, Show


def write_serializer(plan: Plan, grant: Grant | None, care: Care, *, tells_held: bool = False) -> SchemaSerializer:
    """The serializer for one grant, which takes so much care; `tells_held` where each row says whether it is."""
    writer = _Writer(plan, grant, care, tells_held=tells_held)
    root = writer.root()
    return SchemaSerializer(core_schema.definitions_schema(root, list(writer.definitions())), CONFIG)


class _Writer:
    """Writes for one grant. Under `held_from` it is that of held rows, which keep the columns of the wider one."""

    def __init__(
        self, plan: Plan, grant: Grant | None, care: Care, held_from: Grant | None = None, *, tells_held: bool
    ) -> None:
        self.plan, self.grant, self.care, self.held_from, self.tells_held = plan, grant, care, held_from, tells_held
        self.suffix = f"|{grant.level}" if grant and held_from else ""
        self.in_place = _in_place(plan)

    def root(self) -> CoreSchema:
        """The schema of the whole value."""
        written = self.write(self.plan.declared.root, self.plan.where)
        return windowed(written, None) if self.plan.paged == WHOLE else written

    def definitions(self) -> Iterator[CoreSchema]:
        """The schemas of the DTO classes that are referred to, and of their held rows at each narrower level."""
        records = [each for each in self.plan.declared.records.values() if each.key not in self.in_place]
        narrower: list[_Writer] = []
        if self.plan.policy and self.grant and any(self.plan.cap(record) for record in records):
            levels = self.plan.policy.levels[: self.plan.rank(self.grant.level)]
            grants = [self.grant & self.plan.policy.grant(level) for level in levels]
            narrower = [self._narrowed(each) for each in grants]
        for place, writer in enumerate([*narrower, self]):
            for record in records:
                yield from writer.record(record, narrower[:place])

    def record(self, record: Record, narrower: Sequence["_Writer"]) -> Iterator[CoreSchema]:
        """The schema of a DTO class; where its rows can be held, one that tells by the row how it is written."""
        cap = self.plan.cap(record)
        if cap is None:
            yield self._rows(record, record.key + self.suffix)
            return
        own = f"{record.key}{self.suffix}|row"
        yield self._rows(record, own)
        choices = {"": own} | {each.suffix[1:]: f"{record.key}{each.suffix}|row" for each in narrower}
        written: dict[Any, Any] = {tag: core_schema.definition_reference_schema(ref) for tag, ref in choices.items()}
        yield core_schema.tagged_union_schema(
            written, self._teller(cap.name, set(choices)), ref=record.key + self.suffix
        )

    def _teller(self, name: str, narrower: set[str]) -> Callable[[Any], str]:
        levels = self.plan.policy.levels if self.plan.policy else ()

        def tell(row: Any) -> str:
            level = read_value(row, name)
            if level is None:
                return ""
            level = getattr(level, "value", level)
            # What is no level is held at the narrowest: the cap fails closed.
            known = level if level in levels else min(levels, key=self.plan.rank)
            return known if known in narrower else ""

        return tell

    def write(self, node: Node, where: str) -> CoreSchema:
        schema = self._native(node, where)
        if self.care < Care.CLEAN or not is_scalar(node):
            return schema
        return then(schema, clean_or_none if is_nullable_text(node) else clean)

    def _native(self, node: Node, where: str) -> CoreSchema:
        match node:
            case Scalar():
                return leaf(node, where, self.care)
            case Nullable(Scalar() as inner):
                return nullable_leaf(inner, where, self.care)
            case Nullable(Choice() as inner):
                return core_schema.nullable_schema(self._union(inner, where, is_nullable=True))
            case Nullable(inner):
                return core_schema.nullable_schema(self.write(inner, where))
            case Choice():
                return self._union(node, where, is_nullable=False)
            case Listing(items, form):
                return array(self.write(items, where), form)
            case Positions(items):
                return core_schema.tuple_schema([self.write(item, where) for item in items])
            case Keyed(keys, values):
                return self._keyed(keys, self.write(values, where), where)
            case Converted():
                return self._converted(node, where)
            case Root(cls, inner):
                root = self.write(inner, where)
                return core_schema.model_schema(stand_in(cls), root, root_model=True, config=CONFIG)
            case Reference(key) if key in self.in_place:
                return self._rows(self.plan.declared.records[key])
            case Reference(key):
                return core_schema.definition_reference_schema(key + self.suffix)
            case _:
                assert_never(node)

    def _union(self, node: Choice, where: str, *, is_nullable: bool) -> CoreSchema:
        options = [self.write(Nullable(each) if is_nullable else each, where) for each in node.options]
        if node.tags:
            return core_schema.tagged_union_schema(dict(zip(node.tags, options, strict=True)), node.discriminator)
        return core_schema.union_schema(list(options))

    def _keyed(self, keys: Scalar, values: CoreSchema, where: str) -> CoreSchema:
        if self.care < Care.CLEAN or keys.kind is not Kind.TEXT:
            return with_function(as_dict, core_schema.dict_schema(keys.schema, values))
        written = core_schema.dict_schema(with_function(clean_text), values)

        def check(value: Any, handler: Callable[[Any], Any]) -> Any:
            data = handler(as_dict(value))
            if len(data) < len(value):
                raise ProjectionError(f"{where} has keys that become the same text once they are cleaned.")
            return data

        return with_wrapper(check, written)

    def _converted(self, node: Converted, where: str) -> CoreSchema:
        serialization: Any = {**node.serialization, "return_schema": self.write(node.result, where)}
        if node.source is not None:
            # The author's function is given the same, however much care the rest of the answer takes.
            exact = _Writer(self.plan, self.grant, Care.EXACT, self.held_from, tells_held=self.tells_held)
            serialization["schema"] = exact._native(node.source, where)
        return core_schema.any_schema(serialization=serialization)

    def _rows(self, record: Record, ref: str | None = None) -> CoreSchema:
        kept = {
            each.name: Entry(schema, self._leave_out(record, each))
            for each in record.fields
            if (schema := self._field(record, each)) is not None
        }
        computed = [
            core_schema.computed_field(
                each.name,
                kept[each.name].schema,
                alias=each.key,
                serialization_exclude_if=kept[each.name].leave_out,
            )
            for each in record.fields
            if each.is_computed and each.name in kept
        ]
        stored = [each for each in record.fields if not each.is_computed]
        match record.form:
            case "model":
                return model(record, ref, stored, kept, computed)
            case "dataclass":
                return data_class(record, ref, [each for each in stored if each.name in kept], kept, computed)
            case _:
                return typed_dict(ref, stored, kept)

    def _field(self, record: Record, field: Field) -> CoreSchema | None:
        where = f"{record.name}.{field.name}"
        node = Nullable(field.node) if field.is_optional_key else field.node
        if self.held_from and decide(self.plan, record, field, self.held_from) == Drop():
            return None
        is_cap = isinstance(self.plan.guard(record, field).rule, RowCap)
        if is_cap and self.held_from:
            return held(self.suffix[1:])
        if is_cap and not self.tells_held:
            return None
        match decide(self.plan, record, field, self.grant):
            case Drop() if self.held_from and stands_in(self.plan, record, field, self.grant):
                return self._shown(record, field, node, where)
            case Drop():
                return constant(None) if self.held_from and not self.plan.guard(record, field).is_notice else None
            case Mask(value):
                return constant(clean(to_jsonable_python(value)))
            case Clip(length):
                return then(self.write(node, where), clipper(length, clean_text))
            case Coarsen(step):
                return with_function(coarsener(step), self.write(node, where), when_used="unless-none")
            case Handle(kind):
                return handle(kind)
            case Show():
                return self._shown(record, field, node, where)
            case action:
                assert_never(action)

    def _leave_out(self, record: Record, field: Field) -> Callable[[Any], bool] | None:
        action = decide(self.plan, record, field, self.grant)
        is_notice = may_be_silent(self.plan, record, field, action)
        return silence(self._hidden(record, field)) if is_notice else None

    def _shown(self, record: Record, field: Field, node: Node, where: str) -> CoreSchema:
        guard = self.plan.guard(record, field)
        match guard.rule:
            case Count(path):
                return count_rows(self.counted(list(steps(self.plan.declared, record, path))) or ())
            case RowCap():
                return constant(None)
            case _:
                hidden = self._hidden(record, field)
                keep = without(hidden) if hidden else None
                written = self.write(node, where)
                if self.plan.paged and (record.key, field.name) == (self.plan.paged.record, self.plan.paged.name):
                    return windowed(written, keep)
                return with_function(keep, written, when_used="unless-none") if keep else written

    def counted(
        self, path: Sequence[tuple[Record, Field]], place: int = 0, *, is_row: bool = False
    ) -> list[CountStep] | None:
        """The steps of a count under this grant, from a place on; a row on the way may be held at a narrower one."""
        if place == len(path):
            return []
        owner, each = path[place]
        rest = self.counted(path, place + 1, is_row=True)
        if rest is None or not is_shown(decide(self.plan, owner, each, self.grant)):
            return None
        plain = [CountStep(each.name, self._hidden(owner, each)), *rest]
        cap = self.plan.cap(owner) if is_row else None
        if cap is None or not self.plan.policy or not self.grant:
            return plain
        levels = self.plan.policy.levels[: self.plan.rank(self.grant.level)]
        writers = {level: self._narrowed(self.grant & self.plan.policy.grant(level)) for level in levels}
        held = {level: writer.counted(path, place) for level, writer in writers.items()}
        tell = self._teller(cap.name, {"", *held})
        return [replace(plain[0], narrow=lambda row: held[level] if (level := tell(row)) else plain), *rest]

    def _narrowed(self, grant: Grant) -> "_Writer":
        return _Writer(self.plan, grant, self.care, held_from=self.held_from or self.grant, tells_held=self.tells_held)

    def _hidden(self, record: Record, field: Field) -> str | None:
        """The name of the field whose rows are gone from a list under this grant."""
        guard = self.plan.guard(record, field)
        return guard.rows.when if guard.rows and guard.hides_rows(self.grant) else None


def _in_place(plan: Plan) -> frozenset[str]:
    """The DTO classes that are held in one place only, where they are written, at no row the cost of a reference.

    A class that holds itself is held there and where it is come to first.
    """
    found: frozenset[str] | None = plan.compiled.get("in place")
    if found is None:
        records = plan.declared.records
        nodes = [plan.declared.root, *(each.node for record in records.values() for each in record.fields)]
        places = Counter(key for node in nodes for key in references(node))
        found = frozenset(key for key, count in places.items() if count == 1 and not plan.cap(records[key]))
        plan.compiled["in place"] = found
    return found
