"""What a shape has decided for every call."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mcpshape._shaped import Sink
from mcpshape._tokens import Keyring
from mcpshape.encoders import Encoder, encoder_problems
from mcpshape.errors import Problem
from mcpshape.policy import Grant, Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """What a shape has decided for every call."""

    policy: Policy | None
    encoder: Encoder
    formats: tuple[Encoder | str, ...]
    grant: Grant | None
    structured: bool | None
    keyring: Keyring
    principals: Mapping[str, Grant]
    clients: Mapping[str, Grant]
    sinks: tuple[Sink, ...]
    user_errors: tuple[type[Exception], ...]
    on_encoding_error: str
    ancestors: tuple["Decisions", ...] = field(default=(), repr=False)

    def comes_from(self, other: "Decisions") -> bool:
        """Whether these are the other's, or were made of them with some changed."""
        return any(each is other for each in (self, *self.ancestors))

    def sends_structured(self, encoder: Encoder, own: bool | None = None) -> bool:
        """Whether a structured part goes along: what a tool says, else the shape, else the encoder."""
        return next(choice for choice in (own, self.structured, encoder.structured) if choice is not None)


def decision_problems(policy: Policy | None, encoder: Any, grants: Mapping[str, Any]) -> Iterator[Problem]:
    """What is wrong with the decisions of a shape."""
    yield from encoder_problems(encoder)
    for path, grant in grants.items():
        if not isinstance(grant, Grant) or grant.policy is not policy:
            yield not_of_this_policy(path)


def not_of_this_policy(path: str) -> Problem:
    """What is wrong with a grant of another policy."""
    return Problem(path, "it is no grant of this policy.", "Take it from policy.grant(level).")
