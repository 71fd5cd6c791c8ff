"""The core schemas of single values, arrays and counts, as a writer puts them together."""

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Any

from pydantic import SerializationInfo
from pydantic_core import CoreSchema, core_schema

from mcpshape._cleaning import clean_text
from mcpshape._markers import is_root_model
from mcpshape._nodes import Kind, Scalar
from mcpshape._scan import Care
from mcpshape._values import Check, as_list, as_text, concealed, exact_integer, finite, one_of, text_or_none


def leaf(node: Scalar, where: str, care: Care) -> CoreSchema:
    """One scalar, written by the table of values as far as that is in native code or there is care for more."""
    check = _check(node, where, is_nullable=False)
    if check is not None:
        return with_function(check)
    return then(node.schema, exact_integer) if care >= Care.EXACT and node.kind is Kind.INTEGER else node.schema


def nullable_leaf(node: Scalar, where: str, care: Care) -> CoreSchema:
    """One scalar that may be null; where the table says so, an empty text or a number that JSON cannot hold is."""
    check = text_or_none if care >= Care.EXACT and node.kind is Kind.TEXT else _check(node, where, is_nullable=True)
    if check is not None:
        return with_function(check, when_used="unless-none")
    return core_schema.nullable_schema(leaf(node, where, care))


def _check(node: Scalar, where: str, *, is_nullable: bool) -> Check | None:
    """The function that writes a scalar where the native serializer would not keep to the table of values."""
    match node.kind:
        case Kind.CONCEALED:
            return concealed
        case Kind.STRING:
            return as_text(node.types)
        case Kind.NUMBER | Kind.DECIMAL:
            return finite(where, is_nullable=is_nullable, is_decimal=node.kind is Kind.DECIMAL)
        case _ if node.schema["type"] == "literal":
            return one_of(node.schema["expected"])
        case _:
            return None


def array(items: CoreSchema, form: str) -> CoreSchema:
    """An array of the given form, `list`, `set`, `frozenset` or any `sequence`."""
    match form:
        case "set":
            return core_schema.set_schema(items)
        case "frozenset":
            return core_schema.frozenset_schema(items)
        case "sequence":
            # A declared Sequence may hold any kind of sequence; the native list takes lists only.
            return with_function(as_list, core_schema.list_schema(items))
        case _:
            return core_schema.list_schema(items)


def constant(value: Any) -> CoreSchema:
    """The same value in place of any other."""
    return with_function(lambda _: value)


def handle(kind: str) -> CoreSchema:
    """A handle in place of an id, made by the `Handles` of the projection's scope."""

    def write(value: Any, info: SerializationInfo[Any]) -> str | None:
        return None if value is None else info.context.handles.make(kind, str(value))

    return serialized(core_schema.plain_serializer_function_ser_schema(write, info_arg=True))


def held(level: str) -> CoreSchema:
    """The level that a row is held at, of which the projection's scope is told."""

    def write(_: Any, info: SerializationInfo[Any]) -> str:
        info.context.is_held = True
        return level

    return serialized(core_schema.plain_serializer_function_ser_schema(write, info_arg=True))


def windowed(rows: CoreSchema, keep: Callable[[Any], Any] | None) -> CoreSchema:
    """Of the rows of a list that `keep` leaves, those in the window of the projection's scope."""

    def cut(value: Any, info: SerializationInfo[Any]) -> Any:
        kept = keep(value) if keep else value
        is_list = isinstance(kept, Sequence | deque) and not isinstance(kept, str | bytes)
        return info.context.window.cut(kept if isinstance(kept, list) else list(kept)) if is_list else kept

    written = core_schema.plain_serializer_function_ser_schema(
        cut, info_arg=True, return_schema=rows, when_used="unless-none"
    )
    return core_schema.none_schema(serialization=written)


@dataclass(frozen=True, slots=True)
class CountStep:
    """One list along the path of a count.

    Args:
        name: The field of the list.
        hidden: The field whose rows are gone from it, if any.
        narrow: For an owner that can be held: the steps from this one on as they are for it; `None` counts nothing.
    """

    name: str
    hidden: str | None
    narrow: Callable[[Any], "Sequence[CountStep] | None"] | None = None


def count_rows(path: Sequence[CountStep]) -> CoreSchema:
    """The number of rows along a path of lists, as far as they are visible."""
    return serialized(
        core_schema.plain_serializer_function_ser_schema(lambda owner, _: _count(owner, path), is_field_serializer=True)
    )


def _count(owner: Any, path: Sequence[CountStep]) -> int:
    step, *others = path
    if step.narrow:
        narrowed = step.narrow(owner)
        if narrowed is None:
            return 0
        step, *others = narrowed
    rows = _visible_rows(owner, step.name, step.hidden)
    return sum(_count(row, others) for row in rows) if others else len(rows)


def _visible_rows(owner: Any, name: str, hidden: str | None) -> Any:
    rows = read_value(owner, name)
    while hasattr(rows, "root"):
        rows = rows.root
    return without(hidden)(rows or ()) if hidden else rows or ()


def without(hidden: str) -> Callable[[Any], list[Any]]:
    """The function that drops the rows in which a field is true."""
    return lambda rows: [row for row in rows if not read_value(row, hidden)]


def silence(hidden: str | None) -> Callable[[Any], bool]:
    """The function that tells whether a notice holds nothing, once the rows in which a field is true are gone."""
    if hidden is None:
        return holds_nothing
    keep = without(hidden)
    return lambda rows: rows is None or holds_nothing(keep(rows))


def holds_nothing(value: Any) -> bool:
    """Whether a value is written as null or as an empty text, array or object."""
    while is_root_model(type(value)):
        value = value.root
    match value.value if isinstance(value, Enum) else value:
        case None:
            return True
        case str() as text:
            return not clean_text(text)
        case float() as number:
            return not math.isfinite(number)
        case Decimal() as number:
            return not number.is_finite()
        case Sequence() | AbstractSet() | Mapping() as held:
            return len(held) == 0
        case _:
            return False


def read_value(row: Any, name: str) -> Any:
    """One value of a row, by its Python name."""
    return row.get(name) if isinstance(row, dict) else getattr(row, name)


def then(schema: CoreSchema, function: Callable[[Any], Any]) -> CoreSchema:
    """What a schema writes, passed through a function."""
    return with_wrapper(lambda value, handler: function(handler(value)), schema)


def with_wrapper(function: Callable[[Any, Any], Any], schema: CoreSchema) -> CoreSchema:
    """What a function makes of a value and of the handler that writes it."""
    return serialized(core_schema.wrap_serializer_function_ser_schema(function, schema=schema))


def with_function(
    function: Callable[[Any], Any],
    returned: CoreSchema | None = None,
    *,
    when_used: core_schema.WhenUsed = "always",
) -> CoreSchema:
    """What a function makes of a value, written by `returned` where that is given."""
    written = core_schema.plain_serializer_function_ser_schema(function, return_schema=returned, when_used=when_used)
    return core_schema.none_schema(serialization=written)


def serialized(serialization: Any) -> CoreSchema:
    """A schema that is only ever written."""
    return core_schema.any_schema(serialization=serialization)
