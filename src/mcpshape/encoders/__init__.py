"""Encoders turn a view into text. One that you write needs `name`, `vocabulary`, `structured` and `encode`."""

from collections.abc import Collection, Iterable
from inspect import signature
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


def find_encoder(encoder: Encoder | str, **options: Any) -> Encoder:
    """The installed encoder of a name, made with options; an encoder is passed on as it is.

    Raises:
        DefinitionError: No installed package offers that name, or what it offers cannot be made, or not so.
    """
    if not isinstance(encoder, str):
        return encoder
    from importlib.metadata import entry_points

    installed = {point.name: point for point in entry_points(group=GROUP)}
    if encoder not in installed:
        remedy = f"Choose one of: {', '.join(sorted(installed))}."
        raise DefinitionError("encoder", [Problem("format", f"{encoder!r} is not installed.", remedy)])
    try:
        make = installed[encoder].load()
        _check_options(make, options)
        made: Encoder = make(**options)
    except DefinitionError:
        raise
    except Exception as error:
        message = f"{installed[encoder].value} cannot be made: {type(error).__name__}."
        raise DefinitionError("encoder", [Problem(encoder, message, "Mend or remove the package.")]) from error
    return made


def pick_encoder(encoder: Encoder | str, among: Iterable[Encoder | str]) -> Encoder:
    """The encoder of a name: the first of these that has it, as it was made, else an installed one.

    Raises:
        DefinitionError: No installed package offers the name either.
    """
    made = [each for each in among if not isinstance(each, str) and each.name.lower() == encoder]
    return made[0] if made else find_encoder(encoder)


def _check_options(make: Any, options: Collection[str]) -> None:
    known = list(signature(make).parameters) if options else []
    remedy = f"Choose from: {', '.join(known) or 'none'}."
    if problems := [Problem(name, "there is no such option.", remedy) for name in options if name not in known]:
        raise DefinitionError("encoder", problems)


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
