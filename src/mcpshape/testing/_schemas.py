"""Structured parts held against the schema that their tool publishes."""

from typing import Any

from jsonschema import Draft202012Validator


def assert_matches_schema(result: Any, tool: Any) -> None:
    """Check a `Shaped` or a `CallToolResult` against the output schema of its tool, formats included.

    Args:
        result: The answer. A failure needs no structured part, and must have none.
        tool: What has the schema: a tool of `Shape.tools`, or one that a client has listed.

    Raises:
        AssertionError: A success has no structured part where a schema is published, or one that does not fit it.
    """
    schema = getattr(tool, "output_schema", None)
    structured = getattr(result, "structured", None) or getattr(result, "structured_content", None)
    if result.is_error or schema is None:
        assert structured is None, "there is a structured part without a schema, or beside a failure"  # noqa: S101
        return
    assert structured is not None, "a schema is published, but there is no structured part"  # noqa: S101
    validator = Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
    problems = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(structured)]
    assert not problems, "\n".join(problems)  # noqa: S101
