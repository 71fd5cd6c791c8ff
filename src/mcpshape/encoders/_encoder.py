"""What an encoder is."""

from typing import Protocol

from mcpshape._describe import Vocabulary
from mcpshape._project import View


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
