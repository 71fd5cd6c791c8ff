"""Views as TOON (Token-Oriented Object Notation, https://github.com/toon-format/spec), written by a codec."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal

from mcpshape._describe import Vocabulary
from mcpshape._project import View
from mcpshape.errors import DefinitionError, EncodingError, Problem

Codec = Literal["toons", "python-toon", "toon-format"]
Delimiter = Literal["comma", "tab", "pipe"]

SPEC: Mapping[Codec, str] = {"toons": "4.1", "python-toon": "4.1", "toon-format": "4.4"}
"""The version of the TOON specification that each codec follows."""

DELIMITERS: Mapping[Delimiter, str] = {"comma": ",", "tab": "\t", "pipe": "|"}
"""What stands between the values of a row (TOON specification, section 11)."""

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

    The text is the same whichever codec writes it, but for numbers beyond 1e21 or below 1e-6, where it means the same.
    `spec` is the version of the specification that the codec follows.

    Args:
        codec: Who writes the notation: `auto` takes `toons` where it is installed (extra `fast`), else `python-toon`.
        delimiter: What stands between the values of a row: `comma`, `tab` or `pipe`.

    Raises:
        DefinitionError: The codec is unknown or not installed, or there is no such delimiter.

    Examples:
        >>> from mcpshape import View
        >>> print(Toon().encode(View({"total": 1, "events": [{"id": "E1", "location": None}]})))
        total: 1
        events[1]{id,location}:
          E1,null
    """

    name: str = field(default="TOON", init=False, repr=False)
    codec: Codec | Literal["auto"] = field(default="auto", kw_only=True)
    delimiter: Delimiter = field(default="comma", kw_only=True)
    spec: str = field(init=False)
    structured: bool = field(default=False, init=False, repr=False)
    writes_all: bool = field(default=True, init=False, repr=False)
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
        codec = _choose(self.codec, self.delimiter)
        object.__setattr__(self, "codec", codec)
        object.__setattr__(self, "spec", SPEC[codec])
        object.__setattr__(self, "_encode", _load(codec, self.delimiter))

    def encode(self, view: View) -> str:
        """The view as a TOON document.

        A view without any field would be an empty document; it becomes a comment line, which reads as the same.
        """
        try:
            return view.written(self._encode) or _EMPTY_DOCUMENT
        except Exception as error:
            raise EncodingError(self.name, f"{self.codec} failed with {type(error).__name__}") from error


def _load(codec: Codec, delimiter: Delimiter) -> Callable[[Any], str]:
    module, function = _CODECS[codec]
    encode, sign = getattr(import_module(module), function), DELIMITERS[delimiter]
    return partial(encode, options={"delimiter": sign}) if codec == "python-toon" else partial(encode, delimiter=sign)


def _choose(codec: str, delimiter: str) -> Codec:
    installed: dict[str, Codec] = {name: name for name, (module, _) in _CODECS.items() if find_spec(module)}
    chosen = next(iter(installed.values())) if codec == "auto" else installed.get(codec)
    problems = []
    if chosen is None:
        known = f"Choose auto or one of: {', '.join(installed)}; the extra fast brings toons."
        problems.append(Problem("codec", f"{codec!r} is unknown or not installed.", known))
    if delimiter not in DELIMITERS:
        problems.append(
            Problem("delimiter", f"{delimiter!r} is no delimiter.", f"Choose one of: {', '.join(DELIMITERS)}.")
        )
    if problems or chosen is None:
        raise DefinitionError("Toon", problems)
    return chosen
