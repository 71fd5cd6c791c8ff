"""Encoders turn a view into text. One that you write needs `name`, `vocabulary`, `structured` and `encode`."""

from collections.abc import Collection
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from mcpshape._describe import Vocabulary
from mcpshape._layout import Layout
from mcpshape.encoders._encoder import Checking, Encoder, encoder_problems
from mcpshape.encoders.fallback import Fallback
from mcpshape.encoders.json import Json
from mcpshape.encoders.toon import Toon
from mcpshape.errors import DefinitionError, Problem

if TYPE_CHECKING:
    from mcpshape.encoders.markdown import Markdown

__all__ = [
    "Checking",
    "Encoder",
    "Fallback",
    "Json",
    "Layout",
    "Markdown",
    "Toon",
    "Vocabulary",
    "encoder_problems",
    "find_encoder",
]

GROUP = "mcpshape.encoders"
"""The entry-point group for encoders that can be chosen by name: each makes one when it is called without arguments."""


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


def __getattr__(name: str) -> Any:
    if name != "Markdown":
        raise AttributeError(name)
    from mcpshape.encoders.markdown import Markdown

    return Markdown
