"""Encoders turn a view into text. One that you write needs `name`, `vocabulary`, `structured` and `encode`."""

from collections.abc import Collection, Iterable
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from mcpshape._describe import Vocabulary
from mcpshape._layout import Layout
from mcpshape._project import View
from mcpshape.encoders.json import Json
from mcpshape.encoders.toon import Toon
from mcpshape.errors import DefinitionError, Problem

if TYPE_CHECKING:
    from mcpshape.encoders.markdown import Markdown

__all__ = ["Checking", "Encoder", "Json", "Layout", "Markdown", "Toon", "Vocabulary", "find_encoder"]

GROUP = "mcpshape.encoders"
"""The entry-point group for encoders that can be chosen by name: each makes one when it is called without arguments."""


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


def find_encoder(encoder: Encoder | str) -> Encoder:
    """The installed encoder of a name; an encoder is passed on as it is.

    Raises:
        DefinitionError: No installed package offers that name, or what it offers cannot be made.
    """
    if not isinstance(encoder, str):
        return encoder
    installed = {point.name: point for point in entry_points(group=GROUP)}
    if encoder not in installed:
        remedy = f"Choose one of: {', '.join(sorted(installed))}."
        raise DefinitionError("encoder", [Problem("format", f"{encoder!r} is not installed.", remedy)])
    try:
        made: Encoder = installed[encoder].load()()
    except Exception as error:
        message = f"{installed[encoder].value} cannot be made: {type(error).__name__}."
        raise DefinitionError("encoder", [Problem(encoder, message, "Mend or remove the package.")]) from error
    return made


def name_formats(encoder: Encoder, offered: Collection[Encoder | str]) -> dict[str, Encoder]:
    """Formats by the names that callers choose them by, the usual one first, which takes the place of its like."""
    formats = {encoder.name.lower(): encoder}
    for each in map(find_encoder, offered):
        formats.setdefault(each.name.lower(), each)
    return formats


@runtime_checkable
class Checking(Protocol):
    """What an encoder has beside, if it can tell at registration that it could not write the answers of a tool."""

    def find_problems(self, layouts: Iterable[tuple[str, Layout]]) -> Iterable[Problem]:
        """What is wrong, for all that one type can look like: grants in words, such as `standard without notes`.

        Without a policy there is one layout, with no words. The layouts are made while they are taken.
        """
        ...


def __getattr__(name: str) -> Any:
    if name != "Markdown":
        raise AttributeError(name)
    from mcpshape.encoders.markdown import Markdown

    return Markdown
