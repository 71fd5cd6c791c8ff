"""A shaped answer as the MCP SDK's `CallToolResult`, and the annotation under which servers publish its schema."""

from typing import Annotated, Any, cast

from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, CallToolResult, InputRequiredResult, TextContent
from pydantic import BaseModel, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema
from typing_extensions import override

from mcpshape._shaped import Shaped

FINISHED = (CallToolResult,)
"""What a tool must not return: the shape makes it."""

PASSED_ON = (InputRequiredResult,)
"""Results that belong to the protocol, not to the tool; they pass untouched."""

RAISED_ON = (MCPError,)
"""Exceptions that belong to the protocol, likewise."""


def annotate(schema: dict[str, Any] | None) -> Any:
    """The return annotation of a tool function: a finished result, with `schema` published for its structured part."""
    if schema is None:
        return CallToolResult
    published = _publishing(schema)

    class Published(BaseModel):
        @classmethod
        def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
            return core_schema.any_schema()

        @classmethod
        def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
            return handler(published)

    return Annotated[CallToolResult, Published]


def _publishing(schema: dict[str, Any]) -> CoreSchema:
    """A core schema that accepts anything and whose JSON Schema is `schema`, definitions included."""
    definitions = schema.get("$defs", {})
    root = {key: value for key, value in schema.items() if key != "$defs"}
    named = [_ready(definition, ref=name) for name, definition in definitions.items()]
    return core_schema.definitions_schema(_ready(root), named)


def _ready(schema: dict[str, Any], ref: str | None = None) -> CoreSchema:
    def publish(_: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return cast(JsonSchemaValue, _relink(schema, handler))

    return core_schema.any_schema(ref=ref, metadata={"pydantic_js_functions": [publish]})


def _relink(schema: Any, handler: GetJsonSchemaHandler) -> Any:
    """The same schema with its references made by the generator that is at work, which knows its own names only."""
    if isinstance(schema, list):
        return [_relink(each, handler) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if isinstance(ref := schema.get("$ref"), str):
        linked = handler(core_schema.definition_reference_schema(ref.removeprefix("#/$defs/")))
        return {**schema, "$ref": linked["$ref"]}
    return {key: _relink(each, handler) for key, each in schema.items()}


def make_protocol_error(shaped: Shaped) -> MCPError:
    """A failure where the protocol has no result for one, as when a resource is read."""
    return MCPError(INTERNAL_ERROR, shaped.text)


class PlainResult(CallToolResult):
    """A result whose structured part is plain JSON data, which its dump hands on in place of walking through it."""

    @override
    def model_dump(self, **options: Any) -> dict[str, Any]:
        """What pydantic makes of it; the shorter way where the SDK writes it for a client."""
        if options != _AS_SENT or self.structured_content is None:
            return super().model_dump(**options)
        dumped = super().model_dump(**options, exclude={_STRUCTURED})
        return {**dumped, _STRUCTURED_KEY: {**self.structured_content}}

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, CallToolResult) and vars(self) == vars(other)

    __hash__ = CallToolResult.__hash__


# How `mcp.server.runner` writes each result.
_AS_SENT = {"by_alias": True, "mode": "json", "exclude_none": True}
_STRUCTURED = "structured_content"
_STRUCTURED_KEY = str(CallToolResult.model_fields[_STRUCTURED].serialization_alias)


def make_result(shaped: Shaped) -> CallToolResult:
    """One text block, and the structured part only where there is one."""
    block = TextContent(type="text", text=shaped.text)
    cls = CallToolResult if shaped.structured is None else PlainResult
    return cls(content=[block], structured_content=shaped.structured, is_error=shaped.is_error)
