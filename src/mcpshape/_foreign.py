"""pydantic's own types whose serializers state no return type: secrets, URLs, paths, addresses, encoded bytes."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from pydantic_core import CoreSchema, core_schema

from mcpshape._nodes import Converted, Kind, Node, Scalar

Schema = Mapping[str, Any]

_DECORATION = frozenset({"ref", "metadata", "serialization"})


def read_foreign(bare: Schema, serialization: Schema) -> Node | None:
    """Pydantic's own types whose serializers state no return type: secrets, URLs, paths, addresses."""
    function = serialization["function"]
    if getattr(bare.get("function", {}).get("function"), "__name__", "") == "pattern_bytes_validator":
        return Converted(serialization, Scalar(Kind.BYTES, core_schema.bytes_schema()))
    owner = getattr(function, "__self__", None)
    module = getattr(function, "__module__", None) or type(owner).__module__
    if not module.startswith("pydantic.") or "return_schema" in serialization:
        return None
    name = getattr(function, "__name__", "")
    if name.startswith("_serialize_secret"):
        return Scalar(Kind.CONCEALED, core_schema.str_schema())
    if name == "serialize_url":
        return Scalar(Kind.STRING, bare_core(bare["schema"]), (owner,) if isinstance(owner, type) else ())
    if name in {"ser_path", "ser_ip"}:
        return Scalar(Kind.STRING, core_schema.str_schema(), _instances(bare))
    if bare["type"] == "function-after" and bare["schema"]["type"] == "enum":
        # `use_enum_values`: what is stored is the value of a member.
        return Scalar(Kind.OTHER, core_schema.literal_schema([member.value for member in bare["schema"]["members"]]))
    if name in {"encode", "encode_str"}:
        return Converted({**serialization, "function": _as_text(function)}, Scalar(Kind.TEXT, core_schema.str_schema()))
    return None


def _instances(schema: Schema) -> tuple[type, ...]:
    """The class that a path or an address is an instance of."""
    while schema["type"] != "is-instance":
        schema = schema["strict_schema" if schema["type"] == "lax-or-strict" else "python_schema"]
    return (schema["cls"],)


def _as_text(encode: Callable[[Any], str | bytes]) -> Callable[[Any], str]:
    def write(value: Any) -> str:
        encoded = encode(value)
        return encoded.decode() if isinstance(encoded, bytes) else encoded

    return write


def bare_core(schema: Schema) -> CoreSchema:
    """A core schema without its name, its decoration and its serializer."""
    return cast(CoreSchema, {key: value for key, value in schema.items() if key not in _DECORATION})
