"""The published output schema of a plan: what a reader may find, over every grant."""

from collections.abc import Mapping
from typing import Any, assert_never, cast

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import CoreSchema, core_schema, to_json

from mcpshape._guards import Plan, outcomes
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
    references,
)
from mcpshape._scope import PAGE
from mcpshape._values import CONCEALED, SAFE_INTEGER
from mcpshape.rules import Clip, Coarsen, Count, Drop, Handle, Mask, RowCap

_DECIMAL = r"^-?(\d+(\.\d*)?|\.\d+)([Ee][+-]?\d+)?$"
_DURATION = r"^-?P(\d+[YMWD])*(T(\d+(\.\d+)?[HMS])+)?$"
_LOCAL = "#/$defs/"
_NAMED = frozenset({"properties", "$defs"})
_UNPUBLISHED = frozenset({"default", "examples", "example"})


def publish_schema(plan: Plan, *, has_choice: bool = False) -> dict[str, Any]:
    """JSON Schema 2020-12 for the structured result: an object at the root, every `$ref` local.

    A field that some grant drops is not required; one that some grant masks also allows its mask. Defaults and
    examples, which may hold data, are left out. Where callers have a choice of fields, none is required. Where a list
    is paged, an answer that holds it also holds `page`.
    """
    writer = _Writer(plan, has_choice=has_choice)
    root = writer.write(plan.declared.root)
    if plan.is_wrapped:
        page = {PAGE: _page(is_required=isinstance(plan.declared.root, Listing))} if plan.paged else {}
        root = core_schema.typed_dict_schema({"result": core_schema.typed_dict_field(root), **page})
    records = [writer.record(record) for record in plan.declared.records.values()]
    schema = _Generator(by_alias=True).generate(core_schema.definitions_schema(root, records), mode="serialization")
    published: dict[str, Any] = _without_data(_inline_root(schema))
    return published


class _Writer:
    """Writes a plan as a core schema that is only ever read for its JSON Schema."""

    def __init__(self, plan: Plan, *, has_choice: bool) -> None:
        self.plan, self.has_choice = plan, has_choice
        self.held = _held_classes(plan)

    def write(self, node: Node) -> CoreSchema:
        match node:
            case Scalar(Kind.CONCEALED):
                return core_schema.literal_schema([CONCEALED])
            case Scalar(_, schema):
                return schema
            case Nullable(inner):
                return core_schema.nullable_schema(self.write(inner))
            case Listing(items):
                return core_schema.list_schema(self.write(items))
            case Positions(items):
                return core_schema.tuple_schema([self.write(item) for item in items])
            case Keyed(keys, values):
                return core_schema.dict_schema(keys.schema, self.write(values))
            case Choice(options, discriminator, tags):
                written = [self.write(option) for option in options]
                if tags and self._always_told(options, discriminator):
                    return core_schema.tagged_union_schema(dict(zip(tags, written, strict=True)), discriminator)
                return core_schema.union_schema(list(written))
            case Converted(_, inner) | Root(_, inner):
                return self.write(inner)
            case Reference(key):
                return core_schema.definition_reference_schema(key)
            case _:
                assert_never(node)

    def _always_told(self, options: tuple[Node, ...], discriminator: Any) -> bool:
        """Whether every option shows its discriminator to everybody, so that the schema may rely on it."""
        records = [self.plan.declared.records[each.key] for each in options if isinstance(each, Reference)]
        tags = [(record, record.field(discriminator)) for record in records if isinstance(discriminator, str)]
        told = [tag and not self._is_withheld(record, tag) for record, tag in tags]
        return len(told) == len(options) and all(told)

    def _is_withheld(self, record: Record, field: Field) -> bool:
        actions = outcomes(self.plan, record, field)
        return self.plan.guard(record, field).is_notice or any(isinstance(each, Drop | Mask) for each in actions)

    def record(self, record: Record) -> CoreSchema:
        fields = {each.key: self._field(record, each) for each in record.fields}
        kept = {key: field for key, field in fields.items() if field is not None}
        if self.plan.paged and self.plan.paged.record == record.key:
            paged = record.field(self.plan.paged.name)
            is_always = paged and kept[paged.key].get("required") and not paged.may_be_null
            kept[PAGE] = _page(is_required=bool(is_always))
        described = {"title": record.name} | ({"description": _doc(record.cls)} if _doc(record.cls) else {})
        return core_schema.typed_dict_schema(kept, ref=record.key, metadata={"pydantic_js_updates": described})

    def _field(self, record: Record, field: Field) -> core_schema.TypedDictField | None:
        actions = outcomes(self.plan, record, field)
        shapes = [self._shape(record, field, action) for action in sorted(actions, key=repr)]
        written = [shape for shape in shapes if shape is not None]
        if not written:
            return None
        is_notice = self.plan.guard(record, field).is_notice
        if record.key in self.held and Drop() in actions and not is_notice:
            written.append(core_schema.none_schema())
        schema = written[0] if len(written) == 1 else core_schema.union_schema(list(written))
        is_required = Drop() not in actions and not is_notice and not self.has_choice
        return core_schema.typed_dict_field(schema, required=is_required, metadata=dict(field.metadata))

    def _shape(self, record: Record, field: Field, action: Any) -> CoreSchema | None:
        match action:
            case Drop():
                return None
            case Mask(value):
                return core_schema.literal_schema([value])
            case Clip() | Handle():
                text = core_schema.str_schema()
                return core_schema.nullable_schema(text) if _may_be_null(field) else text
            case Coarsen():
                return cast(CoreSchema, _unbounded(self.write(field.node)))
            case _ if isinstance(self.plan.guard(record, field).rule, RowCap) and self.plan.policy:
                return core_schema.nullable_schema(core_schema.literal_schema(list(self.plan.policy.levels[:-1])))
            case _ if isinstance(self.plan.guard(record, field).rule, Count):
                return core_schema.int_schema(ge=0, le=SAFE_INTEGER)
            case _:
                written = self.write(field.node)
                return core_schema.nullable_schema(written) if field.is_optional_key else written


def _page(*, is_required: bool) -> core_schema.TypedDictField:
    """What an answer says of its rows."""
    fields = {
        "shown": core_schema.typed_dict_field(core_schema.int_schema(ge=0, le=SAFE_INTEGER)),
        "total": core_schema.typed_dict_field(core_schema.int_schema(ge=0, le=SAFE_INTEGER)),
        "next": core_schema.typed_dict_field(core_schema.nullable_schema(core_schema.str_schema())),
    }
    return core_schema.typed_dict_field(core_schema.typed_dict_schema(fields), required=is_required)


class _Generator(GenerateJsonSchema):
    """pydantic's generator, true to the table of values: it promises no format that the data does not keep."""

    def int_schema(self, schema: core_schema.IntSchema) -> JsonSchemaValue:
        low, high = schema.get("ge", schema.get("gt")), schema.get("le", schema.get("lt"))
        written = super().int_schema(schema)
        if low is not None and high is not None and low >= -SAFE_INTEGER and high <= SAFE_INTEGER:
            return written
        return {**written, "type": ["integer", "string"], "pattern": r"^-?\d+$"}

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        return {"type": "string", "pattern": _DECIMAL}

    def fraction_schema(self, schema: Any) -> JsonSchemaValue:
        return {"type": "string"}

    def bytes_schema(self, schema: core_schema.BytesSchema) -> JsonSchemaValue:
        return {"type": "string", "contentEncoding": "base64url"}

    def datetime_schema(self, schema: core_schema.DatetimeSchema) -> JsonSchemaValue:
        # RFC 3339 wants an offset, and only an aware datetime is sure to have one.
        return super().datetime_schema(schema) if schema.get("tz_constraint") == "aware" else {"type": "string"}

    def time_schema(self, schema: core_schema.TimeSchema) -> JsonSchemaValue:
        return {"type": "string"}

    def timedelta_schema(self, schema: core_schema.TimedeltaSchema) -> JsonSchemaValue:
        return {"type": "string", "pattern": _DURATION}

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def _may_be_null(field: Field) -> bool:
    node = field.node
    while isinstance(node, Root | Converted):
        node = node.inner if isinstance(node, Root) else node.result
    return field.is_optional_key or isinstance(node, Nullable)


def _unbounded(schema: Any) -> Any:
    """A schema without the bounds that a value rounded down may leave."""
    if isinstance(schema, list):
        return [_unbounded(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {key: _unbounded(each) for key, each in schema.items() if key not in {"ge", "gt", "le", "lt", "multiple_of"}}


def _held_classes(plan: Plan) -> set[str]:
    """The DTO classes whose rows can be held, or can be inside a row that is."""
    held = {record.key for record in plan.declared.records.values() if plan.cap(record)}
    while True:
        inner = {key for each in held for field in plan.declared.records[each].fields for key in references(field.node)}
        if inner <= held:
            return held
        held |= inner


def _doc(cls: type) -> str:
    doc = cls.__doc__ or ""
    return "" if doc.startswith((f"{cls.__name__}(", "dict(")) else doc.strip()


def _inline_root(schema: dict[str, Any]) -> dict[str, Any]:
    """Give a schema whose root is a bare `$ref` the definition itself; hosts want an object there."""
    ref: str | None = schema.get("$ref")
    if ref is None:
        return schema
    name = ref.removeprefix(_LOCAL)
    others = {each: definition for each, definition in schema["$defs"].items() if each != name}
    root = cast("dict[str, Any]", schema["$defs"][name])
    is_recursive = f'"{ref}"' in to_json([root, others]).decode()
    definitions = schema["$defs"] if is_recursive else others
    return {**root, "$defs": definitions} if definitions else root


def _without_data(schema: Any, *, holds_names: bool = False) -> Any:
    if isinstance(schema, list):
        return [_without_data(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    kept = schema.items() if holds_names else ((key, each) for key, each in schema.items() if key not in _UNPUBLISHED)
    return {key: _without_data(each, holds_names=key in _NAMED and not holds_names) for key, each in kept}
