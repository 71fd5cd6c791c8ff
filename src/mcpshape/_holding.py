"""A context variable that holds a value for the time of a `with` block."""

from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from typing import Generic, TypeVar

_Value = TypeVar("_Value")


@dataclass(slots=True)
class Holding(Generic[_Value]):
    """The block; a class, since one made by `contextmanager` costs each call several times as much."""

    variable: ContextVar[_Value]
    value: _Value
    _token: Token[_Value] = field(init=False, repr=False)

    def __enter__(self) -> None:
        self._token = self.variable.set(self.value)

    def __exit__(self, *_: object) -> None:
        self.variable.reset(self._token)
