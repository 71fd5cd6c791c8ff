"""Structured parts held against the schema that their tool publishes."""

from typing import Any

from jsonschema import Draft202012Validator

from mcpshape._shaped import Shaped


def assert_matches_schema(result: Any, tool: Any) -> None:
    """Check a `Shaped` or a `CallToolResult` against the output schema of its tool, formats included.

    Args:
        result: The answer. A failure needs no structured part, and must have none.
        tool: What has the schema: a tool of `Shape.tools`, or one that a client has listed.

    Raises:
        AssertionError: A success has no structured part where a schema is published, or one that does not fit it.
    """
    schema = getattr(tool, "output_schema", None)
    structured = result.structured if isinstance(result, Shaped) else result.structured_content
    if result.is_error or schema is None:
        if structured is not None:
            raise AssertionError("there is a structured part without a schema, or beside a failure")
        return
    if structured is None:
        raise AssertionError("a schema is published, but there is no structured part")
    validator = Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
    problems = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(structured)]
    if problems:
        raise AssertionError("\n".join(problems))
