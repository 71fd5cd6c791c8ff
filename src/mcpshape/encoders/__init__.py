"""Encoders turn a view into text. One that you write needs `vocabulary`, `structured` and `encode`; no base class."""

from typing import TYPE_CHECKING, Any, Protocol

from mcpshape._describe import Vocabulary
from mcpshape._project import View
from mcpshape.encoders.json import Json
from mcpshape.encoders.toon import Toon

if TYPE_CHECKING:
    from mcpshape.encoders.markdown import Markdown

__all__ = ["Encoder", "Json", "Markdown", "Toon", "Vocabulary"]


class Encoder(Protocol):
    """View to text."""

    @property
    def name(self) -> str:
        """What the format is called in messages, such as `TOON`."""
        ...

    @property
    def vocabulary(self) -> Vocabulary:
        """The format's words for tool descriptions."""
        ...

    @property
    def structured(self) -> bool:
        """Whether `structuredContent` goes along with the text unless the author says otherwise."""
        ...

    def encode(self, view: View) -> str:
        """The view as text, never blank.

        Raises:
            EncodingError: The view cannot be written in this format.
        """
        ...


def __getattr__(name: str) -> Any:
    if name != "Markdown":
        raise AttributeError(name)
    from mcpshape.encoders.markdown import Markdown

    return Markdown
