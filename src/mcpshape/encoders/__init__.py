"""Encoders turn a view into text. One that you write needs `vocabulary`, `structured` and `encode`; no base class."""

from typing import TYPE_CHECKING, Any

from mcpshape._describe import Vocabulary
from mcpshape.encoders._encoder import Encoder
from mcpshape.encoders.fallback import Fallback
from mcpshape.encoders.json import Json
from mcpshape.encoders.toon import Toon

if TYPE_CHECKING:
    from mcpshape.encoders.markdown import Markdown

__all__ = ["Encoder", "Fallback", "Json", "Markdown", "Toon", "Vocabulary"]


def __getattr__(name: str) -> Any:
    if name != "Markdown":
        raise AttributeError(name)
    from mcpshape.encoders.markdown import Markdown

    return Markdown
