"""What an encoder is."""

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from mcpshape._describe import Vocabulary
from mcpshape._layout import Layout
from mcpshape._project import View
from mcpshape.errors import Problem


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


@runtime_checkable
class Checking(Protocol):
    """What an encoder has beside, if it can tell at registration that it could not write the answers of a tool."""

    def find_problems(self, layouts: Iterable[tuple[str, Layout]]) -> Iterable[Problem]:
        """What is wrong, for all that one type can look like: grants in words, such as `standard without notes`.

        Without a policy there is one layout, with no words. The layouts are made while they are taken.
        """
        ...
