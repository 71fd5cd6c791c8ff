"""Typed values to MCP results: filtered by declared privacy levels, written as TOON, Markdown or JSON."""

from importlib import import_module
from typing import TYPE_CHECKING

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

# A module that declares DTOs needs the rules alone: what answers are made with is loaded on first use (PEP 562).
_LATER = {
    "Chars": "mcpshape._budget",
    "Keyring": "mcpshape._tokens",
    "Shape": "mcpshape.shape",
    "Shaped": "mcpshape._shaped",
    "Tokens": "mcpshape._budget",
    "View": "mcpshape._project",
}
_MODULES = ("encoders", "shape")

if TYPE_CHECKING:
    from mcpshape._budget import Chars, Tokens
    from mcpshape._project import View
    from mcpshape._shaped import Shaped
    from mcpshape._tokens import Keyring
    from mcpshape.shape import Shape
else:

    def __getattr__(name: str) -> object:
        if name in _MODULES:
            return import_module(f"mcpshape.{name}")
        if name not in _LATER:
            raise AttributeError(f"module 'mcpshape' has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(_LATER[name]), name)
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})


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
