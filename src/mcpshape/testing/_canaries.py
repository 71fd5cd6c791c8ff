"""Values of a declared type with something recognisable in every leaf."""

from collections.abc import Callable, Mapping
from dataclasses import fields as dataclass_fields
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, assert_never, cast
from uuid import UUID

from hypothesis import HealthCheck
from hypothesis import strategies as st

from mcpshape._declared import read_type
from mcpshape._nodes import (
    Choice,
    Converted,
    Declared,
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
)
from mcpshape.errors import DefinitionError

Draw = Callable[[st.SearchStrategy[Any]], Any]
SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)
SUBCLASS = "secret_of_a_subclass"
_START = datetime(2026, 1, 1, tzinfo=UTC)


def canaries(declared: Any) -> st.SearchStrategy[Any]:
    """Values of a DTO type: texts are `CANARY-<class>.<key>-<number>`, numbers and moments differ from leaf to leaf.

    Models are built without validation, and now and then as a subclass with a secret of its own.

    Raises:
        DefinitionError: The type cannot be read.
    """
    tree, problems = read_type(declared, "canaries")
    if problems:
        raise DefinitionError("canaries", problems)
    return planted(tree)


def planted(tree: Declared) -> st.SearchStrategy[Any]:
    """Values of a tree that is read already."""
    return st.composite(lambda draw: Planter(tree, draw).plant(tree.root, "result"))()


class Planter:
    """Builds one value; `draw` decides its shape, and the numbering makes each leaf its own."""

    def __init__(self, tree: Declared, draw: Draw, first: int = 0) -> None:
        self.tree, self.draw, self._number = tree, draw, first

    def plant(self, node: Node, path: str, room: int = 2) -> Any:
        match node:
            case Nullable(inner):
                return self.plant(inner, path, room) if self.draw(st.booleans()) else None
            case Listing(items, form):
                size = self.draw(st.integers(0, 2)) if room else 0
                made = [self.plant(items, path, room - 1) for _ in range(size)]
                return {"set": set, "frozenset": frozenset}.get(form, list)(made)
            case Positions(items):
                return tuple(self.plant(item, path, room) for item in items)
            case Keyed(keys, values):
                size = self.draw(st.integers(0, 2)) if room else 0
                return {self.scalar(keys, path): self.plant(values, path, room - 1) for _ in range(size)}
            case Choice(options):
                return self.plant(self.draw(st.sampled_from(options)), path, room)
            case Converted(_, result, source):
                return self.plant(source or result, path, room)
            case Root(cls, inner):
                return cast("Any", cls).model_construct(self.plant(inner, path, room))
            case Reference(key):
                return self.record(self.tree.records[key], room)
            case Scalar():
                return self.scalar(node, path)
            case _:
                assert_never(node)

    def record(self, record: Record, room: int) -> Any:
        stored = [each for each in record.fields if not each.is_computed]
        values = {each.name: self.field(each, f"{record.name}.{each.key}", room) for each in stored}
        return build(record, values, self.text(SUBCLASS) if self.draw(st.booleans()) else None)

    def field(self, field: Field, path: str, room: int) -> Any:
        return self.plant(field.node, path, room)

    def text(self, path: str) -> str:
        return f"CANARY-{path}-{self._next()}"

    def scalar(self, node: Scalar, path: str) -> Any:
        schema: Any = node.schema
        kind: str = schema["type"]
        if kind in {"literal", "enum"}:
            return self.draw(st.sampled_from(schema["expected" if kind == "literal" else "members"]))
        return self.text(path) if node.kind in {Kind.TEXT, Kind.STRING, Kind.CONCEALED} else _LEAVES[kind](self._next())

    def _next(self) -> int:
        self._number += 1
        return self._number


def build(record: Record, values: Mapping[str, Any], secret: str | None) -> Any:
    """An object of a DTO class, or of a subclass that holds a secret."""
    if record.form == "typed-dict":
        return {**values, **({SUBCLASS: secret} if secret else {})}
    cls: Any = type(record.cls.__name__, (record.cls,), {"__module__": record.cls.__module__}) if secret else record.cls
    if record.form == "dataclass":
        made: Any = object.__new__(record.cls)
        for name in {each.name for each in dataclass_fields(made)} & values.keys():
            object.__setattr__(made, name, values[name])
        return made
    model = cls.model_construct(**{each.name: values[each.name] for each in record.fields if each.name in values})
    model.__dict__.update({SUBCLASS: secret} if secret else {})
    return model


_LEAVES: Mapping[str, Callable[[int], Any]] = {
    "int": lambda number: 700_000_000 + number,
    "float": lambda number: 700_000_000.5 + number,
    "decimal": lambda number: Decimal(700_000_000 + number),
    "bool": lambda number: number % 2 == 0,
    "none": lambda _: None,
    "bytes": lambda number: f"CANARY-{number}".encode(),
    "datetime": lambda number: _START + timedelta(minutes=number),
    "date": lambda number: date(2026, 1, 1) + timedelta(days=number),
    "time": lambda number: time(number % 24, number % 60),
    "timedelta": lambda number: timedelta(seconds=number),
    "uuid": lambda number: UUID(int=number),
}
