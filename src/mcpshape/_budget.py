"""How long one answer may be, in characters or in tokens, and how tokens are counted."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from typing import Protocol

from mcpshape.errors import DefinitionError, Problem

# Bytes of UTF-8 a token in tables of short values; prose has more of them, so its estimate errs to the high side.
_BYTES_A_TOKEN = 2
_VOCABULARY = "o200k_base"


class Budget(Protocol):
    """How much one text may hold: `Chars` or `Tokens`."""

    @property
    def most(self) -> int:
        """The longest that a text may be."""
        ...

    @property
    def unit(self) -> str:
        """What is counted, in the plural."""
        ...

    def measure(self, text: str) -> int:
        """How long a text is."""
        ...


@dataclass(frozen=True, slots=True)
class Chars:
    """A budget in characters (Unicode code points).

    Raises:
        DefinitionError: It is less than one.

    Examples:
        >>> Chars(8000).measure("größe")
        5
    """

    most: int
    unit: str = field(default="characters", init=False, repr=False)

    def __post_init__(self) -> None:
        _require_room("Chars", self.most)

    def measure(self, text: str) -> int:
        """The number of characters."""
        return len(text)


@dataclass(frozen=True, slots=True)
class Tokens:
    """A budget in tokens.

    They are counted with the vocabulary `o200k_base` where the extra `tokens` is installed; without it they are
    estimated, one for two bytes, and the unit says so. No two models count alike: leave some room.

    Args:
        most: The most tokens that a text may have.
        count: Counts the tokens of a text with a tokenizer of your own.

    Raises:
        DefinitionError: It is less than one.
    """

    most: int
    count: Callable[[str], int] | None = field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        _require_room("Tokens", self.most)

    @property
    def unit(self) -> str:
        """`tokens`, or `estimated tokens` where no tokenizer is at hand."""
        return "tokens" if self.count else find_counter().unit

    def measure(self, text: str) -> int:
        """The number of tokens."""
        return (self.count or find_counter().count)(text)


@dataclass(frozen=True, slots=True)
class Counter:
    """A way to count tokens: its unit, what it goes by, and the function."""

    unit: str
    source: str
    count: Callable[[str], int]


@cache
def find_counter() -> Counter:
    """The installed tokenizer, or an estimate that is named as one."""
    if find_spec("splintr") is None:
        return Counter("estimated tokens", f"one for every {_BYTES_A_TOKEN} bytes of UTF-8", estimate)
    from splintr import Tokenizer

    encode = Tokenizer.from_pretrained(_VOCABULARY).encode
    return Counter("tokens", _VOCABULARY, lambda text: len(encode(text)))


def estimate(text: str) -> int:
    """About how many tokens a text has, from its length alone."""
    return -(-len(text.encode("utf-8", "replace")) // _BYTES_A_TOKEN)


def _require_room(where: str, most: int) -> None:
    if not isinstance(most, int) or isinstance(most, bool) or most < 1:
        raise DefinitionError(where, [Problem("most", "it is no number of at least 1.", "Say how much fits.")])
