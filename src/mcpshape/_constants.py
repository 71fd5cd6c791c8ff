"""Values that an author fixes in a definition: members of enums, literals and masks."""

from collections.abc import Iterator, Mapping
from enum import Enum, Flag
from typing import Any

from pydantic_core import to_json

from mcpshape._cleaning import clean_text
from mcpshape._nodes import Kind, Scalar
from mcpshape._values import SAFE_INTEGER
from mcpshape.errors import Problem

_PLAIN_KEYS = frozenset({"str", "int", "date", "datetime", "uuid", "enum", "literal"})


def constants(schema: Mapping[str, Any]) -> list[Any]:
    """The values that a core schema allows, where it is one of an enum or a literal."""
    declared = schema.get("members", schema.get("expected", ()))
    return [each.value if isinstance(each, Enum) else each for each in declared]


def can_be_key(node: Scalar) -> bool:
    """Whether the values of a declared type can be the keys of an object, none of them read as `None`."""
    is_plain = node.kind not in {Kind.STRING, Kind.CONCEALED} and node.schema["type"] in _PLAIN_KEYS
    return is_plain and None not in constants(node.schema)


def constant_problems(schema: Mapping[str, Any], path: str) -> Iterator[Problem]:
    """What is wrong with the members of an enum or a literal: the schema would promise what the data does not keep."""
    if issubclass(schema.get("cls", object), Flag):
        yield Problem(path, "a flag can be several of its members at once.", "Declare a list of members.")
    elif not all(map(is_exact, constants(schema))):
        message = "one of its members cannot be written as it is."
        yield Problem(path, message, "Use text without invisible characters, or numbers up to 2^53.")


def is_exact(value: Any) -> bool:
    """Whether a constant is written as it is declared, in every format."""
    match value:
        case None | bool():
            return True
        case str():
            return clean_text(value) == value
        case int() | float():
            return abs(value) <= SAFE_INTEGER
        case bytes():
            return False
        case list() | tuple():
            return all(map(is_exact, value))
        case _:
            return _has_json(value)


def _has_json(value: Any) -> bool:
    try:
        to_json(value)
    except ValueError:
        return False
    return True
