"""The command `mcpshape demo`: what all tools answer for their examples, at every level and in every format."""

from collections.abc import Iterator

from mcpshape._example import answer_example, make_example, open_example, still
from mcpshape._tool import Tool
from mcpshape.cli._place import load_shape, refuse, refusing
from mcpshape.encoders import name_formats
from mcpshape.policy import Grant
from mcpshape.shape import Shape


def demo(shape: str, /) -> None:
    """Print what all tools answer for their examples: at every level, then in every other format.

    Parameters
    ----------
    shape
        Where the shape is, as module:name, such as calendar_server:shape.
    """
    found = still(load_shape(shape))
    shown = [tool for tool in found.tools.values() if tool.options.example]
    if not shown:
        refuse("no tool has an example; pass example= to shape.tool()")
    with refusing():
        print("\n\n".join(answer for tool in shown for answer in _answers(found, tool)))  # noqa: T201


def _answers(shape: Shape, tool: Tool) -> Iterator[str]:
    """The answers of a tool under headings; levels that tell the same stand in one."""
    value, usual, *others = make_example(tool), *name_formats(tool.encoder, shape.formats).values()
    told: dict[str, list[str]] = {}
    for grant in _grants(shape):
        text = answer_example(open_example(shape, tool, grant=grant, encoder=usual), tool, value).texts[0]
        told.setdefault(text, []).append(grant.level if grant else "")
    for text, levels in told.items():
        at = f" at {', '.join(levels)}" if levels != [""] else ""
        yield f"=== {tool.name}{at}, as {usual.name}\n{text}"
    at = f" at {shape.grant.level}" if shape.grant else ""
    for encoder in others:
        text = answer_example(open_example(shape, tool, encoder=encoder), tool, value).texts[0]
        yield f"=== {tool.name}{at}, as {encoder.name}\n{text}"


def _grants(shape: Shape) -> list[Grant | None]:
    return [shape.policy.grant(level) for level in shape.policy.levels] if shape.policy else [None]
