"""The door: the only place where values are read off a DTO. What comes out is a view."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import to_json

from mcpshape._cleaning import REPLACEMENT, clean_text
from mcpshape._guards import Plan
from mcpshape._layout import NO_HINTS, Layout, layout_of
from mcpshape._nodes import Reference, Root
from mcpshape._plain import make_plain
from mcpshape._scan import Care, needed_care
from mcpshape._scope import Scope
from mcpshape._writer import write_serializer
from mcpshape.errors import ProjectionError
from mcpshape.policy import Grant


@dataclass(frozen=True, slots=True)
class View:
    """The plain JSON data that a grant lets out of a DTO; all that an encoder, a message or an error may read.

    Args:
        data: An object of texts, numbers, booleans, `None`, lists and objects.
        layout: What the DTO says of how it likes to be laid out.
        is_projected: Whether the data came through a shape, and so needs no look for what JSON cannot hold.
    """

    data: Mapping[str, Any]
    layout: Layout = field(default=NO_HINTS, repr=False, compare=False)
    is_projected: bool = field(default=False, repr=False, compare=False, kw_only=True)

    def to_json(self) -> str:
        """The data as compact JSON (RFC 8259)."""
        return self.written(lambda data: to_json(data).decode())

    def written(self, write: Callable[[Any], str]) -> str:
        """What `write` makes of the data, with what no encoder can write replaced.

        That costs a walk through the data, which no projected view needs: where `write` fails on one, the encoder
        fails, and is given one that was projected with more care.
        """
        return write(self.data if self.is_projected else make_plain(self.data))


Finish = Callable[[View], tuple[View, Sequence[str]]]
"""What is made of a projected view: the view that leaves and the texts that leave with it."""


def project(
    plan: Plan, value: Any, grant: Grant | None, scope: Scope | None = None, *, care: Care = Care.CLEAN
) -> View:
    """Let out of `value` what `grant` allows.

    With less care it is quicker, and what is made of it has to be looked at before it leaves; see `settle`.

    Raises:
        ProjectionError: The value is not of its declared type, or holds a number that JSON cannot.
    """
    _require_type(plan, value)
    scope = scope or Scope()
    data = _serialize(plan, value, grant, scope, care=care)
    while scope.handles and scope.handles.collided:
        scope.handles = scope.handles.longer()
        data = _serialize(plan, value, grant, scope, care=care)
    return View({"result": data} if plan.is_wrapped else data, layout_of(plan, grant), is_projected=True)


def settle(
    plan: Plan, value: Any, grant: Grant | None, scope: Scope, finish: Finish, *, writes_all: bool
) -> tuple[View, Sequence[str]]:
    """A view and the texts that are made of it to leave, all of them clean.

    No more care is taken than is needed: those texts show it, or the view as JSON if they do not show all that is in
    it or cannot be made. What an encoder adds of its own is cleaned as well.
    """
    learned = ("care", grant)
    care = plan.compiled.get(learned, Care.NATIVE)
    while care < Care.CLEAN:
        plain = project(plan, value, grant, scope, care=care)
        try:
            view, texts = finish(plain)
        except Exception:
            needed = needed_care(_seen(plain))
            if needed <= care:
                raise
        else:
            needed = max(map(needed_care, texts if writes_all else (*texts, _seen(view))))
            if needed <= care:
                return view, texts
        if needed == Care.EXACT:
            # Where texts are empty once, they will be again.
            plan.compiled[learned] = needed
        care = needed
    view, texts = finish(project(plan, value, grant, scope))
    return view, [clean_text(text) for text in texts]


def _seen(view: View) -> str:
    """A view as JSON, to be looked at; where it cannot be written, something in it takes all care."""
    try:
        return view.to_json()
    except Exception:
        return REPLACEMENT


def _require_type(plan: Plan, value: Any) -> None:
    match plan.declared.root:
        case Root(cls, _):
            expected = cls
        case Reference(key):
            record = plan.declared.records[key]
            expected = dict if record.form == "typed-dict" else record.cls
        case _:
            return
    if not isinstance(value, expected):
        raise ProjectionError(f"{plan.where} returned {type(value).__name__} in place of {expected.__name__}.")


def _serialize(plan: Plan, value: Any, grant: Grant | None, scope: Scope, *, care: Care) -> Any:
    """The plain data, in which rows say whether they are held if some are; what was so the last time is tried first."""
    learned = ("tells held", grant)
    tells_held = plan.compiled.get(learned, False)
    data = _run(plan, value, grant, scope, care, tells_held=tells_held)
    if scope.is_held is tells_held:
        return data
    plan.compiled[learned] = tells_held = scope.is_held
    return _run(plan, value, grant, scope, care, tells_held=tells_held)


def _run(plan: Plan, value: Any, grant: Grant | None, scope: Scope, care: Care, *, tells_held: bool) -> Any:
    key = (grant, care, tells_held)
    serializer = plan.compiled.get(key)
    if serializer is None:
        serializer = plan.compiled[key] = write_serializer(plan, grant, care, tells_held=tells_held)
    scope.is_held = False
    try:
        return serializer.to_python(value, mode="json", warnings="error", context=scope)
    except Exception as error:
        if reason := _reason(error):
            raise reason from None
        raise ProjectionError(f"{plan.where} returned a value that does not fit its declared type.") from error


def _reason(error: BaseException | None) -> ProjectionError | None:
    """What a function of ours says of a value; each serializer around it has put an error of its own around that."""
    while error is not None and not isinstance(error, ProjectionError):
        error = error.__cause__
    return error
