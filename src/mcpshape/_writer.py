"""Writes a plan, under one grant, as one native serializer that reads declared and visible fields only."""

from collections.abc import Callable, Mapping
from typing import Any, assert_never

from pydantic_core import CoreConfig, CoreSchema, SchemaSerializer, core_schema, to_jsonable_python

from mcpshape._cleaning import clean, clean_text
from mcpshape._guards import Plan, decide
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
    is_scalar,
)
from mcpshape._values import CONCEALED, Check, clipper, exact_integer, finite, text_or_none, tidy_scalar
from mcpshape.errors import ProjectionError
from mcpshape.policy import Grant
from mcpshape.rules import Clip, Count, Drop, Mask

_CONFIG = CoreConfig(
    ser_json_bytes="base64", ser_json_timedelta="iso8601", ser_json_temporal="iso8601", serialize_by_alias=True
)


def write_serializer(plan: Plan, grant: Grant | None, *, is_careful: bool) -> SchemaSerializer:
    """The serializer for one grant; a careful one also tidies each scalar, which costs a Python call a value."""
    writer = _Writer(plan, grant, is_careful=is_careful)
    root = writer.write(plan.declared.root, plan.where)
    records = [writer.record(record) for record in plan.declared.records.values()]
    return SchemaSerializer(core_schema.definitions_schema(root, records), _CONFIG)


class _Writer:
    def __init__(self, plan: Plan, grant: Grant | None, *, is_careful: bool) -> None:
        self.plan, self.grant, self.is_careful = plan, grant, is_careful

    def write(self, node: Node, where: str) -> CoreSchema:
        schema = self._native(node, where)
        return _then(schema, clean) if self.is_careful and is_scalar(node) else schema

    def _native(self, node: Node, where: str) -> CoreSchema:
        match node:
            case Scalar():
                return _leaf(node, where)
            case Nullable(Scalar() as inner):
                return _nullable_leaf(inner, where)
            case Nullable(Choice() as inner) if is_scalar(inner):
                return _then(
                    core_schema.nullable_schema(self._union(inner, where)), tidy_scalar(where, is_nullable=True)
                )
            case Nullable(inner):
                return core_schema.nullable_schema(self.write(inner, where))
            case Choice():
                tidy = tidy_scalar(where, is_nullable=False)
                return _then(self._union(node, where), tidy) if is_scalar(node) else self._union(node, where)
            case Listing(items, form):
                return _array(self.write(items, where), form)
            case Positions(items):
                return core_schema.tuple_schema([self.write(item, where) for item in items])
            case Keyed(keys, values):
                return self._keyed(keys, self.write(values, where), where)
            case Converted():
                return self._converted(node, where)
            case Root(cls, inner):
                root = self.write(inner, where)
                return core_schema.model_schema(_stand_in(cls), root, root_model=True, config=_CONFIG)
            case Reference(key):
                return core_schema.definition_reference_schema(key)
            case _:
                assert_never(node)

    def _union(self, node: Choice, where: str) -> CoreSchema:
        options = [
            option.schema if isinstance(option, Scalar) else self.write(option, where) for option in node.options
        ]
        if node.tags:
            return core_schema.tagged_union_schema(dict(zip(node.tags, options, strict=True)), node.discriminator)
        return core_schema.union_schema(list(options))

    def _keyed(self, keys: Scalar, values: CoreSchema, where: str) -> CoreSchema:
        if not self.is_careful or keys.kind is not Kind.TEXT:
            return core_schema.dict_schema(keys.schema, values)
        written = core_schema.dict_schema(_with_function(clean_text), values)

        def check(value: Any, handler: Callable[[Any], Any]) -> Any:
            data = handler(value)
            if len(data) < len(value):
                raise ProjectionError(f"{where} has keys that become the same text once they are cleaned.")
            return data

        return _with_wrapper(check, written)

    def _converted(self, node: Converted, where: str) -> CoreSchema:
        serialization = {**node.serialization, "return_schema": self.write(node.result, where)}
        if node.source is not None:
            serialization["schema"] = self._native(node.source, where)
        return _serialized(serialization)

    def record(self, record: Record) -> CoreSchema:
        """The schema of a DTO class, with the fields that this grant shows."""
        written = {each.name: self._field(record, each) for each in record.fields}
        kept = {name: schema for name, schema in written.items() if schema is not None}
        computed = [
            core_schema.computed_field(each.name, kept[each.name], alias=each.key)
            for each in record.fields
            if each.is_computed and each.name in kept
        ]
        stored = [each for each in record.fields if not each.is_computed]
        match record.form:
            case "model":
                return _model(record, stored, kept, computed)
            case "dataclass":
                return _dataclass(record, [each for each in stored if each.name in kept], kept, computed)
            case _:
                return _typed_dict(record, stored, kept)

    def _field(self, record: Record, field: Field) -> CoreSchema | None:
        where = f"{record.name}.{field.name}"
        node = Nullable(field.node) if field.is_optional_key else field.node
        match decide(self.plan, record, field, self.grant):
            case Drop():
                return None
            case Mask(value):
                constant = to_jsonable_python(value)
                return _with_function(lambda _: constant)
            case Clip(length):
                return _then(self.write(node, where), clipper(length))
            case _:
                rule = self.plan.guard(record, field).rule
                return _count(rule.source) if isinstance(rule, Count) else self.write(node, where)


def _leaf(node: Scalar, where: str) -> CoreSchema:
    check = _check(node, where, is_nullable=False)
    return _with_function(check) if check else node.schema


def _nullable_leaf(node: Scalar, where: str) -> CoreSchema:
    check = text_or_none if node.kind is Kind.TEXT else _check(node, where, is_nullable=True)
    return _with_function(check, when_used="unless-none") if check else core_schema.nullable_schema(node.schema)


def _check(node: Scalar, where: str, *, is_nullable: bool) -> Check | None:
    """The function that writes a scalar where the native serializer would not keep to the table of values."""
    match node.kind:
        case Kind.CONCEALED:
            return lambda _: CONCEALED
        case Kind.STRING:
            return str
        case Kind.INTEGER:
            return exact_integer
        case Kind.NUMBER | Kind.DECIMAL:
            return finite(where, is_nullable=is_nullable)
        case _:
            return None


def _array(items: CoreSchema, form: str) -> CoreSchema:
    match form:
        case "set":
            return core_schema.set_schema(items)
        case "frozenset":
            return core_schema.frozenset_schema(items)
        case "sequence":
            # A declared Sequence may hold any kind of sequence; the native list takes lists only.
            return _with_function(list, core_schema.list_schema(items))
        case _:
            return core_schema.list_schema(items)


def _model(
    record: Record, stored: list[Field], kept: Mapping[str, CoreSchema], computed: list[core_schema.ComputedField]
) -> CoreSchema:
    # Withheld fields stay known and excluded: a union compares the number of known fields with the value's.
    fields = {
        each.name: core_schema.model_field(
            kept.get(each.name, core_schema.any_schema()),
            serialization_alias=each.key,
            serialization_exclude=each.name not in kept,
        )
        for each in stored
    }
    inner = core_schema.model_fields_schema(fields, computed_fields=computed)
    return core_schema.model_schema(_stand_in(record.cls), inner, config=_CONFIG, ref=record.key)


def _dataclass(
    record: Record, shown: list[Field], kept: Mapping[str, CoreSchema], computed: list[core_schema.ComputedField]
) -> CoreSchema:
    fields = [core_schema.dataclass_field(each.name, kept[each.name], serialization_alias=each.key) for each in shown]
    inner = core_schema.dataclass_args_schema(record.name, fields, computed_fields=computed)
    names = [each.name for each in shown]
    return core_schema.dataclass_schema(_stand_in(record.cls), inner, names, config=_CONFIG, ref=record.key)


def _typed_dict(record: Record, stored: list[Field], kept: Mapping[str, CoreSchema]) -> CoreSchema:
    fields = {
        each.name: core_schema.typed_dict_field(kept[each.name], serialization_alias=each.key)
        for each in stored
        if each.name in kept
    }
    written = core_schema.typed_dict_schema(fields, config=_CONFIG)
    names = [each.name for each in stored]

    def complete(value: Mapping[str, Any], handler: Callable[[Any], Any]) -> Any:
        return handler({name: value.get(name) for name in names})

    wrapped = core_schema.wrap_serializer_function_ser_schema(complete, schema=written)
    return core_schema.any_schema(serialization=wrapped, ref=record.key)


class _StandIn(type):
    """The type of stand-in classes, which answer `isinstance` for the class that they stand for."""

    target: type

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, cls.target)


def _stand_in(cls: type) -> type:
    # pydantic-core takes the ready serializer of a finished class, whatever the schema says. A stand-in has none.
    return _StandIn(cls.__name__, (), {"target": cls})


def _count(path: str) -> CoreSchema:
    names = path.split(".")

    def count(owner: Any, _: Any) -> int:
        rows = [owner]
        for name in names:
            rows = [row for each in rows for row in _rows(each, name)]
        return len(rows)

    return _serialized(core_schema.plain_serializer_function_ser_schema(count, is_field_serializer=True))


def _rows(owner: Any, name: str) -> Any:
    rows = owner.get(name) if isinstance(owner, dict) else getattr(owner, name)
    return getattr(rows, "root", rows) or ()


def _then(schema: CoreSchema, function: Callable[[Any], Any]) -> CoreSchema:
    return _with_wrapper(lambda value, handler: function(handler(value)), schema)


def _with_wrapper(function: Callable[[Any, Any], Any], schema: CoreSchema) -> CoreSchema:
    return _serialized(core_schema.wrap_serializer_function_ser_schema(function, schema=schema))


def _with_function(
    function: Callable[[Any], Any],
    returned: CoreSchema | None = None,
    *,
    when_used: core_schema.WhenUsed = "always",
) -> CoreSchema:
    written = core_schema.plain_serializer_function_ser_schema(function, return_schema=returned, when_used=when_used)
    return core_schema.none_schema(serialization=written)


def _serialized(serialization: Any) -> CoreSchema:
    return core_schema.any_schema(serialization=serialization)
