"""Views as TOON (Token-Oriented Object Notation, https://github.com/toon-format/spec), written by a codec."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal

from mcpshape._describe import Vocabulary
from mcpshape._project import View
from mcpshape.errors import DefinitionError, EncodingError, Problem

Codec = Literal["toons", "python-toon", "toon-format"]

# Import name and function of each codec, the fastest first.
_CODECS: Mapping[Codec, tuple[str, str]] = {
    "toons": ("toons", "dumps"),
    "python-toon": ("toon", "encode"),
    "toon-format": ("toon_format", "dumps"),
}
_EMPTY_DOCUMENT = "# nothing to show"


@dataclass(frozen=True, slots=True)
class Toon:
    """TOON text without `structuredContent`, which would hide the text in many hosts.

    Args:
        codec: Who writes the notation: `auto` takes `toons` where it is installed (extra `fast`), else `python-toon`.

    Raises:
        DefinitionError: The codec is unknown or not installed.

    Example:
        >>> from mcpshape import View
        >>> print(Toon().encode(View({"total": 1, "events": [{"id": "E1", "location": None}]})))
        total: 1
        events[1]{id,location}:
          E1,null
    """

    name: str = field(default="TOON", init=False, repr=False)
    codec: Codec | Literal["auto"] = "auto"
    structured: bool = field(default=False, init=False, repr=False)
    vocabulary: Vocabulary = field(
        default=Vocabulary(
            entry="entry",
            entries="entries",
            field="field",
            fields="fields",
            listing="list",
            reading=(
                "Answers are TOON: key: value lines; name[N]{a,b}: begins N entries, one a line, that hold the values "
                "of a and b in this order."
            ),
        ),
        init=False,
        repr=False,
    )
    _encode: Callable[[Any], str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        codec = _choose(self.codec)
        module, function = _CODECS[codec]
        object.__setattr__(self, "codec", codec)
        object.__setattr__(self, "_encode", getattr(import_module(module), function))

    def encode(self, view: View) -> str:
        """The view as a TOON document.

        A view without any field would be an empty document; it becomes a comment line, which reads as the same.
        """
        try:
            return self._encode(view.data) or _EMPTY_DOCUMENT
        except Exception as error:
            raise EncodingError(self.name, f"{self.codec} failed with {type(error).__name__}") from error


def _choose(codec: str) -> Codec:
    installed: list[Codec] = [name for name, (module, _) in _CODECS.items() if find_spec(module)]
    if codec == "auto":
        return installed[0]
    if codec in installed:
        return codec
    known = f"Choose auto or one of: {', '.join(installed)}."
    raise DefinitionError("Toon", [Problem("codec", f"{codec!r} is unknown or not installed.", known)])
