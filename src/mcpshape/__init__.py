"""Typed values to MCP results: filtered by declared privacy levels, written as TOON, Markdown or JSON."""

from mcpshape._budget import Chars, Tokens
from mcpshape._project import View
from mcpshape._shaped import Shaped
from mcpshape._tokens import Keyring
from mcpshape.errors import DefinitionError, EncodingError, UserError
from mcpshape.policy import Grant, Policy, Toggle
from mcpshape.rules import (
    Always,
    Clip,
    Coarsen,
    Count,
    Derived,
    Drop,
    Handle,
    Ladder,
    Mask,
    Never,
    Notice,
    Prose,
    RowCap,
    Rows,
    Show,
    Since,
    Until,
    When,
)
from mcpshape.shape import Shape

__all__ = [
    "Always",
    "Chars",
    "Clip",
    "Coarsen",
    "Count",
    "DefinitionError",
    "Derived",
    "Drop",
    "EncodingError",
    "Grant",
    "Handle",
    "Keyring",
    "Ladder",
    "Mask",
    "Never",
    "Notice",
    "Policy",
    "Prose",
    "RowCap",
    "Rows",
    "Shape",
    "Shaped",
    "Show",
    "Since",
    "Toggle",
    "Tokens",
    "Until",
    "UserError",
    "View",
    "When",
]
