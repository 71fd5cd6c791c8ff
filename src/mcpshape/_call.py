"""One call under way: who asks, what is granted, and how the answer or the failure is made from it."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from mcpshape._caller import NOBODY, Caller, current_caller
from mcpshape._decisions import Decisions
from mcpshape._failure import crash, explain
from mcpshape._fields import Chosen, choose_fields, choose_layout, is_chosen, is_told, keep_chosen
from mcpshape._guards import Plan
from mcpshape._holding import Holding
from mcpshape._page import WHOLE_ANSWER, Limits, Page, Turn, fill, tell
from mcpshape._paths import Paths, count_entries, list_paths
from mcpshape._project import Finish, View, project, settle
from mcpshape._say import say
from mcpshape._scope import Scope, Window
from mcpshape._shaped import Record, Shaped
from mcpshape._tokens import Handles
from mcpshape.encoders import Encoder
from mcpshape.encoders._encoder import writes_all
from mcpshape.errors import EncodingError, UserError
from mcpshape.policy import Grant

_LOG = logging.getLogger("mcpshape")
_NOTHING_TOLD = "Nothing of what was chosen may be told."
_CHOOSE_OTHERS = "Choose other fields, or none for all that may be told."


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call; frozen, so that what was granted cannot widen on the way."""

    decisions: Decisions
    where: str
    encoder: Encoder
    grant: Grant | None
    caller: Caller
    plan_of: Callable[[Any], Plan]
    fields: tuple[str, ...] = ()
    turn: Turn = WHOLE_ANSWER

    def scope(self, window: Window | None = None) -> Scope:
        """A fresh scope for one answer to this caller."""
        return Scope(Handles(self.decisions.keyring, self.caller.identity), window or Window())

    def on_turn(self, limits: Limits, arguments: str, *, cursor: str | None = None, limit: int | None = None) -> "Call":
        """The call for the rows that are its turn.

        Raises:
            UserError: The cursor was not made for this tool, arguments, grant and caller, or too long ago.
        """
        grant = f"{self.grant.level} {sorted(self.grant.toggles)}" if self.grant else ""
        bound = (self.where, arguments, grant, self.caller.identity)
        return replace(self, turn=limits.turn(self.decisions.keyring, bound, cursor=cursor, limit=limit))

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
        try:
            page = self.page(plan, value, sends_structured=sends_structured)
        except Exception as error:
            return self.fail(error)
        structured = dict(page.view.data) if sends_structured else None
        return self._recorded(Shaped(page.texts[0], structured), plan, page.view)

    def page(self, plan: Plan, value: Any, *, sends_structured: bool) -> Page:
        """What leaves of a value.

        Raises:
            UserError: A chosen field is not there, or not even one row has room.
            ProjectionError: The value does not fit its type.
            EncodingError: The encoder cannot write it.
        """
        chosen = choose_fields(plan, self.fields, self.grant)
        place = plan.paged if plan.paged and (not chosen or plan.paged.key in chosen) else None
        measures_json = sends_structured and self.turn.budget is not None

        def attempt(most: int | None) -> Page:
            window = Window(self.turn.start, most)

            def finish(view: View) -> tuple[View, Sequence[str]]:
                view = _partial(view, chosen) if chosen else view
                view = tell(view, place, window, self.turn) if place and place.key in view.data else view
                text = self._encode(view)
                return view, (text, view.to_json()) if measures_json else (text,)

            return Page(*self._settle(plan, value, self.scope(window), finish), window)

        return fill(attempt, place, self.turn)

    def _encode(self, view: View) -> str:
        text: Any = self.encoder.encode(view)
        if not isinstance(text, str) or not text.strip():
            raise EncodingError(self.encoder.name, "the encoder returned no text")
        return str(text)

    def text(self, plan: Plan, value: Any) -> str:
        """The text of a DTO.

        Raises:
            ProjectionError: The value does not fit its type.
            EncodingError: The encoder cannot write it.
        """

        def finish(view: View) -> tuple[View, Sequence[str]]:
            return view, (self._encode(view),)

        return self._settle(plan, value, self.scope(), finish)[1][0]

    def _settle(self, plan: Plan, value: Any, scope: Scope, finish: Finish) -> tuple[View, Sequence[str]]:
        return settle(plan, value, self.grant, scope, finish, writes_all=writes_all(self.encoder))

    def sentence(self, template: str, subjects: Mapping[str, tuple[Plan, Any]]) -> str:
        """A sentence about DTOs, each with the plan of its class."""
        views = {name: (plan, project(plan, dto, self.grant, self.scope())) for name, (plan, dto) in subjects.items()}
        return say(template, views)

    def fail(self, error: Exception) -> Shaped:
        """The answer for an exception."""
        decided = self.decisions
        try:
            error = self._worded(error) if isinstance(error, UserError) and error.about else error
            failure = explain(
                error, where=self.where, user_errors=decided.user_errors, on_encoding_error=decided.on_encoding_error
            )
        except Exception as second:
            failure = crash(second, self.where)
        return self._recorded(Shaped(failure.text, is_error=True), error=failure.code)

    def _recorded(
        self, shaped: Shaped, plan: Plan | None = None, view: View | None = None, *, error: str | None = None
    ) -> Shaped:
        """The answer with its record, once every sink has been given it."""
        if not self.decisions.sinks:
            return shaped
        paths = self._told(plan) if plan else Paths((), (), ())
        record = Record(
            time=datetime.now(UTC),
            tool=self.where.removeprefix("tool "),
            level=self.grant.level if self.grant else None,
            toggles=tuple(sorted(self.grant.toggles)) if self.grant else (),
            narrowed_by=self.grant.narrowed_by if self.grant else (),
            format=self.encoder.name,
            client=self.caller.client,
            principal=self.caller.principal,
            disclosed=paths.disclosed,
            masked=paths.masked,
            withheld=paths.withheld,
            rows=count_entries(view.data) if view else 0,
            size=len(shaped.text.encode("utf-8", "replace"))
            + (len(view.to_json().encode()) if view and shaped.structured else 0),
            error=error,
        )
        for sink in self.decisions.sinks:
            try:
                sink.write(record)
            except Exception as failed:
                with suppress(Exception):
                    _LOG.warning("a sink for disclosure records failed with %s", type(failed).__name__)
        return replace(shaped, record=record)

    def _told(self, plan: Plan) -> Paths:
        """The paths of a plan under this grant, without those that a choice of fields has left out."""
        paths = list_paths(plan, self.grant)
        chosen = choose_fields(plan, self.fields, self.grant)
        disclosed, masked = (
            tuple(path for path in each if is_chosen(plan, path, chosen)) for each in (paths.disclosed, paths.masked)
        )
        return replace(paths, disclosed=disclosed, masked=masked) if chosen else paths

    def _worded(self, error: UserError) -> Exception:
        """An error about DTOs, with its template filled through the door."""
        try:
            subjects = {name: (self.plan_of(type(dto)), dto) for name, dto in (error.about or {}).items()}
            message = self.sentence(error.message, subjects)
        except Exception as mistake:
            return mistake
        return UserError(message, code=error.code, hint=error.hint, retry_after=error.retry_after)


def _partial(view: View, chosen: Chosen) -> View:
    """The view with what was chosen of it.

    Raises:
        UserError: Nothing of that may be told.
    """
    data = keep_chosen(view.data, chosen)
    if not is_told(data, view.layout, chosen):
        raise UserError(_NOTHING_TOLD, code="nothing_told", hint=_CHOOSE_OTHERS)
    return replace(view, data=data, layout=choose_layout(view.layout, chosen))


# The call under way, so that a sentence made in a tool's body tells no more than the call is granted.
_UNDER_WAY: ContextVar[Call | None] = ContextVar("mcpshape_call", default=None)


def call_under_way() -> Call | None:
    """The call that the running tool answers."""
    return _UNDER_WAY.get()


def under_way(call: Call) -> AbstractContextManager[None]:
    """Let a call be the one under way."""
    return Holding(_UNDER_WAY, call)


def ask(call: Call, *, encoder: Encoder, privacy: str | None = None, fields: Sequence[str] | None = None) -> Call:
    """The call under way, narrowed from here on by what its arguments ask for, and in the format that they ask for."""
    grant = call.grant
    if privacy is not None and grant is not None:
        grant = grant.narrowed("call", grant.policy.widest(privacy))
    call = replace(call, grant=grant, fields=tuple(fields or ()), encoder=encoder)
    _UNDER_WAY.set(call)
    return call


def open_call(
    decisions: Decisions,
    where: str,
    plan_of: Callable[[Any], Plan],
    *,
    encoder: Encoder,
    cap: Grant | None = None,
    given: Grant | None = None,
) -> Call:
    """The call of whoever is calling: setting, tool, principal, scopes and client, each of which only narrows.

    A grant that is given stands in place of these. Inside of another call, that one narrows as well; where it is a call
    of a shape that was made of this one, it stands in place of the setting.
    """
    caller, outer = current_caller(), call_under_way()
    is_inside = outer is not None and outer.decisions.comes_from(decisions)
    grant = given or (outer.grant if outer and is_inside else None)
    if grant is None:
        grant = decisions.grant and decisions.entries.narrow(decisions.grant, cap, caller)
    elif cap is not None:
        grant = grant.narrowed("tool", cap)
    if grant is not None and outer and outer.grant and outer.decisions.policy is decisions.policy:
        grant = grant.narrowed("the call around it", outer.grant)
    return Call(
        decisions=decisions, where=where, encoder=encoder, grant=grant, caller=caller or NOBODY, plan_of=plan_of
    )
