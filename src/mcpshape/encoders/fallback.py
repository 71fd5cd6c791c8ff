"""Several encoders in a row: where one cannot write a view, the next one does."""

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from mcpshape._describe import Vocabulary
from mcpshape._layout import Layout
from mcpshape._plain import make_plain
from mcpshape._project import View
from mcpshape.encoders._encoder import Checking, Encoder, encoder_problems
from mcpshape.errors import DefinitionError, EncodingError, Problem

INTRODUCTION = re.compile(r"(?:.+ could not be used for this answer; .+ follows\.\n)+")
"""What stands before a text that the first encoder could not write."""

_LOG = logging.getLogger("mcpshape")
_FEWEST = 2


@dataclass(frozen=True, slots=True, init=False)
class Fallback:
    """The first of several encoders that can write a view.

    Name, vocabulary and `structured` are those of the first, so that nothing published depends on a single answer. A
    text of another one begins with a line that says so to the model, and the log gets a warning.

    Args:
        encoders: The encoders, in the order in which they are tried.

    Raises:
        DefinitionError: There are fewer than two, or one of them is no encoder.

    Examples:
        >>> from mcpshape import View
        >>> from mcpshape.encoders import Json, Toon
        >>> print(Fallback(Toon(), Json()).encode(View({"total": 1})))
        total: 1
    """

    encoders: tuple[Encoder, ...]

    def __init__(self, *encoders: Encoder) -> None:
        problems = list(_problems(encoders))
        if problems:
            raise DefinitionError("Fallback", problems)
        object.__setattr__(self, "encoders", encoders)

    @property
    def name(self) -> str:
        """The name of the first encoder."""
        return self.encoders[0].name

    @property
    def vocabulary(self) -> Vocabulary:
        """The words of the first encoder."""
        return self.encoders[0].vocabulary

    @property
    def structured(self) -> bool:
        """Whether the first encoder sends `structuredContent` along."""
        return self.encoders[0].structured

    def encode(self, view: View) -> str:
        """The view as the first encoder writes it that can.

        Raises:
            EncodingError: None of them can; its reason names all.
        """
        failed: list[tuple[str, Exception]] = []
        for encoder in self.encoders:
            try:
                text = _write(encoder, view)
            except Exception as error:
                if view.is_projected and make_plain(view.data) != view.data:
                    # No encoder's fault: the same one is given a view that was projected with more care.
                    raise
                failed.append((encoder.name, error))
            else:
                return _introduced(text, encoder.name, failed) if failed else text
        raise EncodingError(self.name, f"no format could be used ({_reasons(failed)})") from failed[0][1]

    def find_problems(self, layouts: Iterable[tuple[str, Layout]]) -> Iterator[Problem]:
        """What each of the encoders that can tell has against the answers of a tool."""
        known = list(layouts)
        for encoder in self.encoders:
            if isinstance(encoder, Checking):
                yield from encoder.find_problems(known)


def _problems(encoders: tuple[Encoder, ...]) -> Iterator[Problem]:
    if len(encoders) < _FEWEST:
        yield Problem("encoders", "there is none to fall back to.", "Pass at least two, such as Toon(), Json().")
    for place, encoder in enumerate(encoders, 1):
        yield from encoder_problems(encoder, f"encoders, number {place}")


def _write(encoder: Encoder, view: View) -> str:
    text = encoder.encode(view)
    if not text.strip():
        raise EncodingError(encoder.name, "the encoder returned no text")
    return text


def _introduced(text: str, name: str, failed: Sequence[tuple[str, Exception]]) -> str:
    _LOG.warning("%s was used in place of what failed (%s)", name, _reasons(failed))
    names = " and ".join(dict(failed))
    return f"{names} could not be used for this answer; {name} follows.\n{text}"


def _reasons(failed: Sequence[tuple[str, Exception]]) -> str:
    """Why each encoder failed, without the messages of foreign exceptions, which may quote a value."""
    return "; ".join(
        str(error) if isinstance(error, EncodingError) else f"{name}: {type(error).__name__}" for name, error in failed
    )
