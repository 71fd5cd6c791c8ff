"""Reads a declared type, as pydantic understands it, into a tree of nodes. Untyped corners are found here."""

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from pydantic import PydanticUserError, TypeAdapter
from pydantic_core import core_schema

from mcpshape._constants import can_be_key, constant_problems
from mcpshape._foreign import bare_core, read_foreign
from mcpshape._markers import computed_markers, field_markers, hides_rule, record_problems
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
    is_scalar,
    may_be_none,
    parts,
)
from mcpshape.errors import DefinitionError, Problem

Schema = Mapping[str, Any]

_ANY = core_schema.any_schema()
_UNREADABLE = Scalar(Kind.OTHER, core_schema.none_schema())
_KINDS = {
    "str": Kind.TEXT,
    "int": Kind.INTEGER,
    "float": Kind.NUMBER,
    "decimal": Kind.DECIMAL,
    "bytes": Kind.BYTES,
    "url": Kind.STRING,
    "multi-host-url": Kind.STRING,
    "fraction": Kind.STRING,
    **dict.fromkeys(("bool", "none", "date", "datetime", "time", "timedelta", "uuid", "enum", "literal"), Kind.OTHER),
}
_INNER = {
    "default": "schema",
    "function-before": "schema",
    "function-after": "schema",
    "function-wrap": "schema",
    "custom-error": "schema",
    "json": "schema",
    "lax-or-strict": "strict_schema",
    "json-or-python": "python_schema",
}
_LISTS = {"list": "list", "set": "set", "frozenset": "frozenset", "deque": "sequence"}


def read_type(declared: Any, where: str) -> tuple[Declared, list[Problem]]:
    """The tree of a declared type, and what in it cannot be read.

    Raises:
        DefinitionError: pydantic cannot make a schema of the type at all.
    """
    try:
        # A type with an unknown name in it has a stand-in for a schema, which fails when it is looked into.
        schema = dict(TypeAdapter(declared).core_schema)
    except (PydanticUserError, NameError, TypeError) as error:
        problem = Problem(
            _name(declared), "its type cannot be read.", "Declare a pydantic model, dataclass or TypedDict."
        )
        raise DefinitionError(where, [problem]) from error
    reader = _Reader()
    root = reader.read(schema, _name(declared))
    if hides_rule(list[declared]):
        problem = Problem(
            _name(declared), "a rule on a whole answer guards nothing.", "Put rules on the fields of a DTO."
        )
        reader.problems.append(problem)
    return Declared(root, reader.records), reader.problems


def _name(declared: Any) -> str:
    return declared.__name__ if isinstance(declared, type) and not get_args(declared) else str(declared)


class _Reader:
    """One pass over a core schema; collects DTO classes and problems on its way."""

    def __init__(self) -> None:
        self.records: dict[str, Record] = {}
        self.problems: list[Problem] = []
        self._definitions: dict[str, Schema] = {}
        self._open: list[str] = []

    def read(self, schema: Schema, path: str) -> Node:
        kind = schema["type"]
        if "serialization" in schema:
            return self._read_serialized(schema, schema["serialization"], path)
        if kind in _KINDS:
            self.problems += constant_problems(schema, path)
            return Scalar(_KINDS[kind], bare_core(schema))
        if kind in _INNER:
            return self.read(schema.get(_INNER[kind], _ANY), path)
        if kind in _LISTS:
            return Listing(self.read(schema.get("items_schema", _ANY), f"{path}[]"), _LISTS[kind])
        return self._read_composed(schema, path)

    def _read_composed(self, schema: Schema, path: str) -> Node:
        match schema["type"]:
            case "model" if schema.get("root_model"):
                return Root(schema["cls"], self.read(schema["schema"], path))
            case "model" | "dataclass" | "typed-dict":
                return self._read_record(schema)
            case "definitions":
                self._definitions |= {definition["ref"]: definition for definition in schema["definitions"]}
                return self.read(schema["schema"], path)
            case "definition-ref":
                return self._read_reference(schema["schema_ref"], path)
            case "nullable":
                return _nullable(self.read(schema["schema"], path))
            case "chain":
                return self.read(schema["steps"][-1], path)
            case "tuple":
                return self._read_tuple(schema, path)
            case "dict":
                return self._read_dict(schema, path)
            case "union":
                return self._read_union(schema, path)
            case "tagged-union":
                choices = tuple(self.read(choice, path) for choice in schema["choices"].values())
                return Choice(choices, schema["discriminator"], tuple(schema["choices"]))
            case kind:
                return self._refuse(path, kind)

    def _refuse(self, path: str, kind: str) -> Node:
        if kind in {"any", "function-plain", "is-instance"}:
            message, remedy = "it is untyped, so nobody can say what would leave.", "Declare what it holds."
        elif kind == "generator":
            message, remedy = "an iterator can be read only once.", "Declare a list."
        else:
            message, remedy = f"a {kind} has no place in a result.", "Declare a model, a list or a dict[str, …]."
        self.problems.append(Problem(path, message, remedy))
        return _UNREADABLE

    def _read_reference(self, ref: str, path: str) -> Node:
        if ref in self.records:
            return Reference(ref)
        if ref in self._open:
            return self._refuse(path, "recursive alias")
        self._open.append(ref)
        node = self.read(self._definitions[ref], path)
        self._open.pop()
        return node

    def _read_tuple(self, schema: Schema, path: str) -> Node:
        items = schema["items_schema"]
        if "variadic_item_index" in schema and len(items) == 1:
            return Listing(self.read(items[0], f"{path}[]"), "sequence")
        if "variadic_item_index" in schema:
            return self._refuse(path, "tuple of a fixed and a variable part")
        return Positions(tuple(self.read(item, f"{path}[{place}]") for place, item in enumerate(items)))

    def _read_dict(self, schema: Schema, path: str) -> Node:
        keys = self.read(schema.get("keys_schema", _ANY), f"{path}{{}}")
        if not isinstance(keys, Scalar) or not (keys is _UNREADABLE or can_be_key(keys)):
            self.problems.append(Problem(path, "its keys are no plain text.", "Declare dict[str, …]."))
            keys = _UNREADABLE
        return Keyed(keys, self.read(schema.get("values_schema", _ANY), f"{path}{{}}"))

    def _read_union(self, schema: Schema, path: str) -> Node:
        choices = [choice[0] if isinstance(choice, tuple) else choice for choice in schema["choices"]]
        kept = [choice for choice in choices if choice["type"] != "none"]
        options = tuple(self.read(choice, path) for choice in kept)
        if sum(self._holds_dicts(option) for option in options) > 1:
            self._refuse(path, "union of several kinds of dicts without a discriminator")
        # A subclass before its bases: the native union takes the first class that the value is an instance of.
        ranked = sorted(options, key=self._depth)
        node = Choice(tuple(ranked)) if len(ranked) > 1 else ranked[0]
        return _nullable(node) if len(kept) < len(choices) else node

    def _holds_dicts(self, node: Node) -> bool:
        """Whether a value may be a dict, or a list of dicts: nothing in a dict tells which declared type it is of."""
        match node:
            case Reference(key):
                return self.records[key].form == "typed-dict"
            case Keyed():
                return True
            case _:
                return any(self._holds_dicts(inner) for inner in parts(node))

    def _depth(self, node: Node) -> int:
        if isinstance(node, Reference):
            return -len(self.records[node.key].cls.__mro__)
        return -len(node.cls.__mro__) if isinstance(node, Root) else 0

    def _read_record(self, schema: Schema) -> Node:
        cls, form = schema["cls"], schema["type"]
        key = schema.get("ref") or f"{cls.__module__}.{cls.__qualname__}:{id(cls)}"
        self.records[key] = Record(key, cls, form, ())
        inner = schema if form == "typed-dict" else _fields_schema(schema["schema"])
        fields = (*self._read_fields(cls, inner), *self._read_computed(cls, inner))
        self.records[key] = Record(key, cls, form, fields)
        self.problems += record_problems(self.records[key])
        return Reference(key)

    def _read_fields(self, cls: type, schema: Schema) -> Iterator[Field]:
        markers, infos = field_markers(cls), getattr(cls, "__pydantic_fields__", {})
        for name, field in _named_fields(schema):
            path = f"{cls.__name__}.{name}"
            if field.get("serialization_exclude") or field.get("init_only"):
                continue
            self.problems += _dropping(field, path)
            node = self.read(field["schema"], path)
            if name in infos and infos[name].default is None and not may_be_none(node):
                self.problems.append(
                    Problem(path, "its default is None, which its type does not allow.", "Add | None.")
                )
            yield Field(
                name,
                field.get("serialization_alias", name),
                node,
                markers[name],
                field.get("metadata", {}),
                is_optional_key=field.get("required") is False,
            )

    def _read_computed(self, cls: type, schema: Schema) -> Iterator[Field]:
        for computed in schema.get("computed_fields", ()):
            name = computed["property_name"]
            self.problems += _dropping(computed, f"{cls.__name__}.{name}")
            node = self.read(computed["return_schema"], f"{cls.__name__}.{name}")
            yield Field(
                name,
                computed.get("alias", name),
                node,
                computed_markers(cls, name),
                computed.get("metadata", {}),
                is_computed=True,
            )

    def _read_serialized(self, schema: Schema, serialization: Schema, path: str) -> Node:
        bare = {key: value for key, value in schema.items() if key != "serialization"}
        kind = serialization["type"]
        if kind in {"any", "base64"}:
            return self.read(bare, path)
        if kind in {"to-string", "format"}:
            return Scalar(Kind.STRING, core_schema.str_schema())
        if kind in {"function-plain", "function-wrap"}:
            return self._read_function(bare, serialization, path)
        if kind.startswith("include-exclude"):
            return self._refuse(path, "field with include or exclude of its own")
        return self.read(serialization, path)

    def _read_function(self, bare: Schema, serialization: Schema, path: str) -> Node:
        known = read_foreign(bare, serialization)
        if known is not None:
            self.problems += constant_problems(known.schema, path) if isinstance(known, Scalar) else ()
            return known
        if getattr(serialization["function"], "__name__", "") == "serialize_sequence_via_list":
            return Listing(self.read(serialization["schema"], f"{path}[]"), "sequence")
        if "return_schema" not in serialization:
            self.problems.append(
                Problem(path, "its serializer does not say what it returns.", "Annotate the return type.")
            )
            return _UNREADABLE
        result = self.read(serialization["return_schema"], path)
        if serialization["type"] == "function-plain":
            converted = Converted(serialization, result)
            return _nullable(converted) if "unless-none" in serialization.get("when_used", "") else converted
        source = self.read(bare, path)
        if not (is_scalar(source) and is_scalar(result)):
            message = "a wrapping serializer around a DTO would see what is withheld."
            self.problems.append(Problem(path, message, "Use a plain serializer that returns a declared type."))
        return Converted(serialization, result, source)


def _nullable(node: Node) -> Node:
    return node if isinstance(node, Nullable) else Nullable(node)


def _dropping(field: Schema, path: str) -> Iterator[Problem]:
    if "serialization_exclude_if" in field:
        yield Problem(path, "exclude_if drops its key by value.", "Use Notice(), a rule, or let it be null.")


def _fields_schema(schema: Schema) -> Schema:
    while schema["type"] in _INNER:
        schema = schema[_INNER[schema["type"]]]
    return schema


def _named_fields(schema: Schema) -> Iterator[tuple[str, Schema]]:
    fields = schema["fields"]
    return iter(fields.items()) if isinstance(fields, dict) else ((field["name"], field) for field in fields)
