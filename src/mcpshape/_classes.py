"""The core schemas of DTO classes: models, dataclasses and TypedDicts, read by their declared fields."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_core import CoreConfig, CoreSchema, core_schema

from mcpshape._nodes import Field, Record

CONFIG = CoreConfig(
    ser_json_bytes="base64", ser_json_timedelta="iso8601", ser_json_temporal="iso8601", serialize_by_alias=True
)


@dataclass(frozen=True, slots=True)
class Entry:
    """How one field is written; for a notice, the function that tells whether a value of it is left out."""

    schema: CoreSchema
    leave_out: Callable[[Any], bool] | None = None


def model(
    record: Record,
    ref: str | None,
    stored: list[Field],
    kept: Mapping[str, Entry],
    computed: list[core_schema.ComputedField],
) -> CoreSchema:
    """A model, with the fields in `kept`."""
    # Withheld fields stay known and excluded: a union compares the number of known fields with the value's.
    entries = {each.name: kept.get(each.name, Entry(core_schema.any_schema())) for each in stored}
    fields = {
        each.name: core_schema.model_field(
            entries[each.name].schema,
            serialization_alias=each.key,
            serialization_exclude=each.name not in kept,
            serialization_exclude_if=entries[each.name].leave_out,
        )
        for each in stored
    }
    inner = core_schema.model_fields_schema(fields, computed_fields=computed)
    return core_schema.model_schema(stand_in(record.cls), inner, config=CONFIG, ref=ref)


def data_class(
    record: Record,
    ref: str | None,
    shown: list[Field],
    kept: Mapping[str, Entry],
    computed: list[core_schema.ComputedField],
) -> CoreSchema:
    """A dataclass, with the fields in `shown`."""
    fields = [
        core_schema.dataclass_field(
            each.name,
            kept[each.name].schema,
            serialization_alias=each.key,
            serialization_exclude_if=kept[each.name].leave_out,
        )
        for each in shown
    ]
    inner = core_schema.dataclass_args_schema(record.name, fields, computed_fields=computed)
    names = [each.name for each in shown]
    return core_schema.dataclass_schema(stand_in(record.cls), inner, names, config=CONFIG, ref=ref)


def typed_dict(ref: str | None, stored: list[Field], kept: Mapping[str, Entry]) -> CoreSchema:
    """A TypedDict, with the fields in `kept`; keys that a value lacks are null."""
    fields = {
        each.name: core_schema.typed_dict_field(
            kept[each.name].schema,
            serialization_alias=each.key,
            serialization_exclude_if=kept[each.name].leave_out,
        )
        for each in stored
        if each.name in kept
    }
    written = core_schema.typed_dict_schema(fields, config=CONFIG)
    names = list(fields)

    def complete(value: Mapping[str, Any], handler: Callable[[Any], Any]) -> Any:
        return handler({name: value.get(name) for name in names})

    wrapped = core_schema.wrap_serializer_function_ser_schema(complete, schema=written)
    return core_schema.any_schema(serialization=wrapped, ref=ref)


class _StandIn(type):
    """The type of stand-in classes, which answer `isinstance` for the class that they stand for."""

    target: type

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, cls.target)


def stand_in(cls: type) -> type:
    """A class that answers `isinstance` for another one."""
    # pydantic-core takes the ready serializer of a finished class, whatever the schema says. A stand-in has none.
    return _StandIn(cls.__name__, (), {"target": cls})
