"""Typed values to MCP results: filtered by declared privacy levels, written as TOON, Markdown or JSON."""

from mcpshape._project import View
from mcpshape._shaped import Shaped
from mcpshape.errors import DefinitionError, EncodingError, UserError
from mcpshape.policy import Grant, Policy, Toggle
from mcpshape.rules import Always, Clip, Count, Derived, Drop, Mask, Never, Prose, Since, Until, When
from mcpshape.shape import Shape

__all__ = [
    "Always",
    "Clip",
    "Count",
    "DefinitionError",
    "Derived",
    "Drop",
    "EncodingError",
    "Grant",
    "Mask",
    "Never",
    "Policy",
    "Prose",
    "Shape",
    "Shaped",
    "Since",
    "Toggle",
    "Until",
    "UserError",
    "View",
    "When",
]
