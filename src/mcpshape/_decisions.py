"""What a shape has decided for every call."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mcpshape._failure import check_wording
from mcpshape._narrowing import Entries
from mcpshape._shaped import Sink
from mcpshape._tokens import Keyring
from mcpshape.encoders import Encoder, encoder_problems, pick_encoder
from mcpshape.errors import DefinitionError, Problem
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
    entries: Entries
    sinks: tuple[Sink, ...]
    user_errors: tuple[type[Exception], ...]
    on_encoding_error: str
    ancestors: tuple["Decisions", ...] = field(default=(), repr=False)

    def pick(self, encoder: Encoder | str, own: Encoder | None = None) -> Encoder:
        """An encoder by its name: the tool's, the shape's or a format as it was made, else an installed one.

        Raises:
            DefinitionError: There is none.
        """
        return pick_encoder(encoder, [*([own] if own else []), self.encoder, *self.formats])

    def comes_from(self, other: "Decisions") -> bool:
        """Whether these are the other's, or were made of them with some changed."""
        return any(each is other for each in (self, *self.ancestors))

    def sends_structured(self, encoder: Encoder, own: bool | None = None) -> bool:
        """Whether a structured part goes along: what a tool says, else the shape, else the encoder."""
        return next(choice for choice in (own, self.structured, encoder.structured) if choice is not None)


def decide(given: Mapping[str, Any]) -> Decisions:
    """The decisions of a shape, from the arguments that it was given.

    Raises:
        DefinitionError: An argument is not what it should be.
    """
    check_wording(given["on_encoding_error"])
    policy, formats = given["policy"], given["formats"]
    encoder = pick_encoder(given["encoder"], formats)
    entries = {name: dict(given[name] or {}) for name in ("principals", "scopes", "clients")}
    grants = {"grant": given["grant"]} if given["grant"] else {}
    named = {f"{name}.{who}": grant for name, each in entries.items() for who, grant in each.items()}
    if problems := list(decision_problems(policy, encoder, {**grants, **named})):
        raise DefinitionError("Shape", problems)
    setting = (given["grant"] or policy.grant()) if policy else None
    return Decisions(
        policy=policy,
        encoder=encoder,
        formats=(formats,) if isinstance(formats, str) else tuple(formats),
        grant=setting and setting.policy.widest(setting.policy.levels[-1]).narrowed("setting", setting),
        structured=given["structured"],
        keyring=given["keyring"] or Keyring.of_this_process(),
        entries=Entries(**entries),
        sinks=tuple(given["sinks"]),
        user_errors=tuple(given["user_errors"]),
        on_encoding_error=given["on_encoding_error"],
    )


def decision_problems(policy: Policy | None, encoder: Any, grants: Mapping[str, Any]) -> Iterator[Problem]:
    """What is wrong with the decisions of a shape."""
    yield from encoder_problems(encoder)
    for path, grant in grants.items():
        if not isinstance(grant, Grant) or grant.policy is not policy:
            yield not_of_this_policy(path)


def not_of_this_policy(path: str) -> Problem:
    """What is wrong with a grant of another policy."""
    return Problem(path, "it is no grant of this policy.", "Take it from policy.grant(level).")
