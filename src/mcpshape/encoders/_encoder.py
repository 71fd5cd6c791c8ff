"""What an encoder is."""

from collections.abc import Iterable, Iterator
from typing import Any, Protocol, runtime_checkable

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


def writes_all(encoder: Encoder) -> bool:
    """Whether the text of an encoder holds all that is in the view; it says so with an attribute of this name.

    Keys and texts have to be there as they are or with the escapes of JSON, integers in decimal digits. What must not
    leave as it is will then be looked for in the text alone, which saves writing the view as JSON to look at that.

    A class that has an `encode` of its own has to say so itself: what it extends or wraps cannot know of it.
    """
    for each in type(encoder).__mro__:
        own = vars(each)
        if "writes_all" in own:
            return bool(getattr(encoder, "writes_all", False))
        if "encode" in own:
            return False
    return False


@runtime_checkable
class Checking(Protocol):
    """What an encoder has beside, if it can tell at registration that it could not write the answers of a tool."""

    def find_problems(self, layouts: Iterable[tuple[str, Layout]]) -> Iterable[Problem]:
        """What is wrong, for all that one type can look like: grants in words, such as `standard without notes`.

        Without a policy there is one layout, with no words. The layouts are made while they are taken.
        """
        ...


def encoder_problems(encoder: Any, path: str = "encoder") -> Iterator[Problem]:
    """What is wrong with an object that should be an encoder."""
    missing = [name for name in ("name", "vocabulary", "structured", "encode") if not hasattr(encoder, name)]
    if isinstance(encoder, type):
        yield Problem(path, "it is no encoder but a class.", "Pass an object, such as Toon().")
    elif missing:
        message = f"it is no encoder: {type(encoder).__name__} has no {', '.join(missing)}."
        yield Problem(path, message, "Pass an object, such as Toon().")
    elif not isinstance(encoder.vocabulary, Vocabulary):
        yield Problem(path, "it is no encoder: its vocabulary is none.", "Make it with mcpshape.encoders.Vocabulary.")
