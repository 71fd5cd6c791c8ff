"""The example of a tool, and what the tool answers with if it returns it."""

from pathlib import Path
from traceback import walk_tb
from typing import Any, Unpack

from mcpshape._call import Call
from mcpshape._options import ShapeOptions
from mcpshape._page import Page
from mcpshape._tokens import Keyring
from mcpshape._tool import Tool
from mcpshape.encoders import Encoder
from mcpshape.errors import DefinitionError, EncodingError, Problem, ProjectionError, UserError
from mcpshape.policy import Grant
from mcpshape.shape import Shape

_WITHOUT_VALUES = (ProjectionError, EncodingError, UserError)


def still(shape: Shape, **changes: Unpack[ShapeOptions]) -> Shape:
    """The shape with the same handles each time, so that the same answer always reads the same, and without records."""
    keyring = Keyring(b"a secret that protects nothing", clock=lambda: 0)
    options: ShapeOptions = {**changes, "keyring": keyring, "sinks": ()}
    return shape.using(**options)


def find_tool(shape: Shape, name: str) -> Tool:
    """The tool of a name.

    Raises:
        DefinitionError: There is none.
    """
    if name not in shape.tools:
        known = ", ".join(sorted(shape.tools)) or "none"
        raise DefinitionError("tool", [Problem(name, "there is no such tool.", f"Known tools: {known}.")])
    return shape.tools[name]


def make_example(tool: Tool) -> Any:
    """The DTO of the tool's `example` option.

    Raises:
        DefinitionError: It has none, or the function that makes it fails.
    """
    if tool.options.example is None:
        raise DefinitionError(
            tool.name, [Problem("example", "it has none.", "Pass example= to shape.tool(), or a value.")]
        )
    try:
        return tool.options.example()
    except Exception as error:
        message = f"the function that makes it failed with {_name(error)}."
        raise DefinitionError(tool.name, [Problem("example", message, "Mend it.")]) from error


def open_example(shape: Shape, tool: Tool, *, grant: Grant | None = None, encoder: Encoder | None = None) -> Call:
    """A call of a tool by whoever is calling, under a grant and in a format where these are given."""
    return shape._opened(tool, grant, tool.encoder if encoder is None else encoder)  # noqa: SLF001


def answer_example(call: Call, tool: Tool, value: Any) -> Page:
    """What leaves of an example in a call.

    Raises:
        DefinitionError: The tool cannot answer with it.
    """
    try:
        return call.page(tool.plan, value, sends_structured=tool.output_schema is not None)
    except Exception as error:
        remedy = "Pass another example, or mend what the tool returns."
        # What others raise can hold values of the example.
        why = str(error) if isinstance(error, _WITHOUT_VALUES) else f"{_name(error)}."
        raise DefinitionError(tool.name, [Problem("example", f"it cannot be answered with: {why}", remedy)]) from error


def _name(error: Exception) -> str:
    """An exception by its type and where it was raised, without its text."""
    *_, (frame, line) = walk_tb(error.__traceback__)
    return f"{type(error).__name__} in line {line} of {Path(frame.f_code.co_filename).name}"
