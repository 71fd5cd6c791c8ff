"""One call under way: who asks, what is granted, and how the answer or the failure is made from it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mcpshape._caller import Caller, current_caller
from mcpshape._failure import explain
from mcpshape._fields import choose_fields, keep_chosen
from mcpshape._guards import Plan
from mcpshape._project import View, project, settle
from mcpshape._say import say
from mcpshape._shaped import Shaped
from mcpshape._tokens import Handles, Keyring
from mcpshape.encoders import Encoder
from mcpshape.errors import EncodingError, UserError
from mcpshape.policy import Grant, Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """What a shape has decided for every call."""

    policy: Policy | None
    encoder: Encoder
    grant: Grant | None
    keyring: Keyring
    principals: Mapping[str, Grant]
    clients: Mapping[str, Grant]
    user_errors: tuple[type[Exception], ...]
    on_encoding_error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call; frozen, so that what was granted cannot widen on the way."""

    decisions: Decisions
    where: str
    grant: Grant | None
    caller: Caller
    plan_of: Callable[[Any], Plan]
    fields: tuple[str, ...] = ()

    def asked(self, *, privacy: str | None = None, fields: Sequence[str] | None = None) -> "Call":
        """The call with what its arguments ask for, which only narrows it."""
        grant = self.grant
        if privacy is not None and grant is not None:
            grant = grant.narrowed("call", grant.policy.widest(privacy))
        return replace(self, grant=grant, fields=tuple(fields or ()))

    def handles(self) -> Handles:
        """A fresh maker of handles for one answer to this caller."""
        return Handles(self.decisions.keyring, self.caller.identity)

    def find(self, kind: str, handle: str, candidates: Iterable[str]) -> str:
        """The real id that a handle stands for.

        Raises:
            UserError: It is expired, foreign, edited or invented; which of these, nobody is told.
        """
        real = self.decisions.keyring.find(kind, handle, self.caller.identity, candidates)
        if real is None:
            message = f"There is no {kind} with this id."
            raise UserError(
                message, code="not_found", hint="Ids change from time to time; take a new one from another answer."
            )
        return real

    def answer(self, plan: Plan, value: Any, *, sends_structured: bool) -> Shaped:
        """The finished answer; what cannot be projected or encoded becomes a failure."""
        encoder = self.decisions.encoder

        def write(view: View) -> Sequence[str]:
            text = encoder.encode(view)
            if not text.strip():
                raise EncodingError(encoder.name, "the encoder returned no text")
            return (text, view.to_json()) if sends_structured else (text,)

        try:
            chosen = choose_fields(plan, self.fields)
            reduce = (lambda view: replace(view, data=keep_chosen(view.data, chosen))) if chosen else None
            view, (text, *_) = settle(plan, value, self.grant, self.handles(), write, reduce)
        except Exception as error:
            return self.fail(error)
        return Shaped(text, dict(view.data) if sends_structured else None)

    def sentence(self, template: str, subjects: Mapping[str, tuple[Plan, Any]]) -> str:
        """A sentence about DTOs, each with the plan of its class."""
        views = {
            name: (plan, project(plan, dto, self.grant, self.handles(), is_careful=True))
            for name, (plan, dto) in subjects.items()
        }
        return say(template, views)

    def fail(self, error: Exception) -> Shaped:
        """The answer for an exception."""
        decided = self.decisions
        if isinstance(error, UserError) and error.about:
            error = self._worded(error)
        failure = explain(
            error, where=self.where, user_errors=decided.user_errors, on_encoding_error=decided.on_encoding_error
        )
        return Shaped(failure.text, is_error=True)

    def _worded(self, error: UserError) -> Exception:
        """An error about DTOs, with its template filled through the door."""
        try:
            subjects = {name: (self.plan_of(type(dto)), dto) for name, dto in (error.about or {}).items()}
            message = self.sentence(error.message, subjects)
        except Exception as mistake:
            return mistake
        return UserError(message, code=error.code, hint=error.hint, retry_after=error.retry_after)


def open_call(decisions: Decisions, where: str, cap: Grant | None, plan_of: Callable[[Any], Plan]) -> Call:
    """The call of whoever is calling: setting, tool, principal and client, each of which only narrows."""
    caller = current_caller() or Caller()
    grant = decisions.grant
    if grant is not None:
        if cap is not None:
            grant = grant.narrowed("tool", cap)
        if decisions.principals:
            # Whoever is not authenticated where principals are told apart gets the least.
            least = grant.policy.widest(grant.policy.levels[0])
            named = least if caller.principal is None else decisions.principals.get(caller.principal, grant)
            grant = grant.narrowed(f"principal {caller.principal or 'unknown'}", named)
        if caller.client is not None and caller.client in decisions.clients:
            grant = grant.narrowed(f"client {caller.client}", decisions.clients[caller.client])
    return Call(decisions=decisions, where=where, grant=grant, caller=caller, plan_of=plan_of)
