"""A declared type as a small tree: what a DTO can hold, without any value."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from pydantic_core import CoreSchema


class Kind(Enum):
    """The rows of the table of values: how a scalar is written."""

    TEXT = "text"
    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    DECIMAL = "decimal"
    BYTES = "bytes"
    CONCEALED = "concealed"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Scalar:
    """One JSON value that is neither an object nor an array; `types` are the classes of a `STRING` in Python."""

    kind: Kind
    schema: CoreSchema
    types: tuple[type, ...] = ()


@dataclass(frozen=True, slots=True)
class Nullable:
    """A value that may be `null`, which means that there is none."""

    inner: "Node"


@dataclass(frozen=True, slots=True)
class Listing:
    """An array whose entries share one declared type."""

    items: "Node"
    form: str = "list"


@dataclass(frozen=True, slots=True)
class Positions:
    """An array of a fixed length, each place with its own declared type."""

    items: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Keyed:
    """An object whose keys are data."""

    keys: Scalar
    values: "Node"


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several declared types; `tags` when a discriminator tells which."""

    options: tuple["Node", ...]
    discriminator: Any = None
    tags: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Converted:
    """The declared result of a serializer function that the author wrote."""

    serialization: Mapping[str, Any]
    result: "Node"
    source: "Node | None" = None


@dataclass(frozen=True, slots=True)
class Root:
    """A `RootModel`: a class whose value is its one inner value."""

    cls: type
    inner: "Node"


@dataclass(frozen=True, slots=True)
class Reference:
    """A DTO class, by its key in `Declared.records`; what makes recursive types finite."""

    key: str


Node = Scalar | Nullable | Listing | Positions | Keyed | Choice | Converted | Root | Reference


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a DTO class: `name` in Python, `key` on the wire, `markers` as the author wrote them."""

    name: str
    key: str
    node: Node
    markers: tuple[Any, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    is_computed: bool = False
    is_optional_key: bool = False

    @property
    def may_be_null(self) -> bool:
        """Whether `null` can stand there, be it for a key that is missing in Python."""
        return self.is_optional_key or may_be_none(self.node)


@dataclass(frozen=True, slots=True)
class Record:
    """A DTO class: a model, a dataclass or a TypedDict, with its declared fields only."""

    key: str
    cls: type
    form: str
    fields: tuple[Field, ...]

    @property
    def name(self) -> str:
        """The class name as the author knows it."""
        return self.cls.__name__

    def field(self, name: str) -> Field | None:
        """The field of that Python name, or `None`."""
        return next((field for field in self.fields if field.name == name), None)


@dataclass(frozen=True, slots=True)
class Declared:
    """A whole declared type: where it starts and the DTO classes it reaches."""

    root: Node
    records: Mapping[str, Record]


def is_scalar(node: Node) -> bool:
    """Whether a node is one value: it holds no DTO, array or object."""
    match node:
        case Scalar():
            return True
        case Nullable(inner) | Root(_, inner):
            return is_scalar(inner)
        case Choice(options):
            return all(is_scalar(option) for option in options)
        case Converted(_, result):
            return is_scalar(result)
        case _:
            return False


def is_nullable_text(node: Node) -> bool:
    """Whether a node is a text that may be `null`, which an empty one is written as."""
    return isinstance(node, Nullable) and isinstance(node.inner, Scalar) and node.inner.kind is Kind.TEXT


def holds_values(node: Node) -> bool:
    """Whether a node holds values that no rule inside it guards: anything but DTO classes."""
    return isinstance(node, Scalar) or any(holds_values(inner) for inner in parts(node))


def references(node: Node) -> Iterator[str]:
    """The keys of the DTO classes that a node holds directly, through lists and choices but not through other DTOs."""
    if isinstance(node, Reference):
        yield node.key
    for inner in parts(node):
        yield from references(inner)


def parts(node: Node) -> tuple[Node, ...]:
    """The nodes inside a node."""
    match node:
        case Nullable(inner) | Root(_, inner) | Listing(inner) | Converted(_, inner):
            return (inner,)
        case Keyed(keys, values):
            return keys, values
        case Positions(nodes) | Choice(nodes):
            return nodes
        case _:
            return ()


def may_be_none(node: Node) -> bool:
    """Whether a declared type has room for `None`."""
    match node:
        case Nullable() | Converted():
            return True
        case Scalar(_, schema):
            return schema["type"] == "none" or None in schema.get("expected", ())
        case Root(_, inner):
            return may_be_none(inner)
        case Choice(options):
            return any(may_be_none(option) for option in options)
        case _:
            return False
