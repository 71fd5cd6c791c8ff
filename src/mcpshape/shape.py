"""A server's decisions in one value: what may leave, how it reads, what is said when it fails."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from mcpshape._describe import describe
from mcpshape._failure import check_wording, explain
from mcpshape._guards import Plan
from mcpshape._plan import compile_plan
from mcpshape._project import View, project, settle
from mcpshape._say import say
from mcpshape._schema import publish_schema
from mcpshape._shaped import Shaped
from mcpshape._tool import Tool, declared_return, serve
from mcpshape.encoders import Encoder
from mcpshape.errors import DefinitionError, EncodingError, Problem
from mcpshape.policy import Grant, Policy

_Function = TypeVar("_Function", bound=Callable[..., Any])

# The shape that serves the call under way; lets `say` in a tool's body use the grant of the call.
_SERVING: ContextVar["Shape | None"] = ContextVar("mcpshape_serving", default=None)


class Shape:
    """The door of a server.

    Args:
        policy: Levels and toggles; without one every declared field leaves.
        encoder: How answers read.
        grant: The level and toggles in force; the policy's default unless said.
        structured: Whether `structuredContent` and an output schema are sent; the encoder decides unless said.
        user_errors: Exception types whose text the model may read, besides `UserError`.
        on_encoding_error: The text where an encoder fails; `{format}`, `{reason}` and `{reference}` are filled in.

    Example:
        >>> from mcpshape.encoders import Json
        >>> from pydantic import BaseModel
        >>> class Point(BaseModel):
        ...     x: int
        >>> Shape(encoder=Json()).render(Point(x=1)).text
        '{"x":1}'
    """

    def __init__(
        self,
        policy: Policy | None = None,
        *,
        encoder: Encoder,
        grant: Grant | None = None,
        structured: bool | None = None,
        user_errors: Sequence[type[Exception]] = (),
        on_encoding_error: str = "The answer could not be written as {format}: {reason} (reference {reference})",
    ) -> None:
        if grant is not None and grant.policy is not policy:
            raise DefinitionError("Shape", [Problem("grant", "it is of another policy.", "Take it from policy.grant.")])
        check_wording(on_encoding_error)
        self.policy = policy
        self.encoder = encoder
        self.grant = policy.grant() if policy and grant is None else grant
        self.structured = structured
        self.user_errors = tuple(user_errors)
        self.on_encoding_error = on_encoding_error
        self.tools: dict[str, Tool] = {}
        self._plans: dict[Any, Plan] = {}

    def using(
        self, *, encoder: Encoder | None = None, grant: Grant | None = None, structured: bool | None = None
    ) -> "Shape":
        """The same shape and tools with some of its decisions changed; the original stays as it is."""
        changed = Shape(
            self.policy,
            encoder=encoder or self.encoder,
            grant=grant or self.grant,
            structured=self.structured if structured is None else structured,
            user_errors=self.user_errors,
            on_encoding_error=self.on_encoding_error,
        )
        for tool in self.tools.values():
            changed._register(tool.function, tool.plan, empty=tool.empty, structured=tool.structured)
        return changed

    def tool(self, *, empty: str | None = None, structured: bool | None = None) -> Callable[[_Function], _Function]:
        """Decorate a tool function whose return annotation is a DTO; goes under the server's own `tool` decorator.

        Args:
            empty: What an empty answer means and what to do then; appended to the description.
            structured: Overrides the shape's choice for this tool.

        Raises:
            DefinitionError: The return type is untyped or breaks the policy, or the description has an unknown word.
        """

        def decorate(function: _Function) -> _Function:
            where = f"tool {function.__name__}"
            plan = compile_plan(declared_return(function, where), self.policy, where)
            return self._register(function, plan, empty=empty, structured=structured).served  # type: ignore[return-value]

        return decorate

    def render(self, value: Any, *, grant: Grant | None = None, declared: Any = None) -> Shaped:
        """The finished answer for a DTO. A value that cannot be projected or encoded gives a failure, not an exception.

        Args:
            value: The DTO.
            grant: The grant in force; the shape's unless said.
            declared: The declared type, where it is not the class of the value: a list, a union, a base class.

        Raises:
            DefinitionError: The type breaks a rule of the policy.
        """
        plan = self._plan(type(value) if declared is None else declared)
        return self._render(plan, value, grant or self.grant, self._sends_structured(None))

    def view(self, value: Any, *, grant: Grant | None = None, declared: Any = None) -> View:
        """What a grant lets out of a DTO, before it is encoded.

        Raises:
            DefinitionError: The type breaks a rule of the policy.
            ProjectionError: The value does not fit its type.
        """
        plan = self._plan(type(value) if declared is None else declared)
        return settle(plan, value, grant or self.grant, lambda view: (view.to_json(),))[0]

    def say(self, template: str, **dtos: Any) -> str:
        """A sentence about DTOs, such as `"Opened {event.title}"`, that tells no more than the grant of the call.

        Raises:
            DefinitionError: The template names anything but fields of the DTOs.
        """
        serving = _SERVING.get()
        grant = serving.grant if serving is not None and serving.policy is self.policy else self.grant
        plans = {name: self._plan(type(dto)) for name, dto in dtos.items()}
        views = {name: project(plans[name], dto, grant, is_careful=True) for name, dto in dtos.items()}
        return say(template, {name: (plans[name], views[name]) for name in dtos})

    def fail(self, error: Exception, *, where: str = "the server") -> Shaped:
        """The answer for an exception: its text where the model may read it, else a fixed sentence and a log entry."""
        failure = explain(error, where=where, user_errors=self.user_errors, on_encoding_error=self.on_encoding_error)
        return Shaped(failure.text, is_error=True)

    def _plan(self, declared: Any) -> Plan:
        if declared not in self._plans:
            self._plans[declared] = compile_plan(declared, self.policy, getattr(declared, "__name__", str(declared)))
        return self._plans[declared]

    def _sends_structured(self, own: bool | None) -> bool:
        return next(choice for choice in (own, self.structured, self.encoder.structured) if choice is not None)

    def _render(self, plan: Plan, value: Any, grant: Grant | None, sends_structured: bool) -> Shaped:
        def write(view: View) -> Sequence[str]:
            text = _encode(self.encoder, view)
            return (text, view.to_json()) if sends_structured else (text,)

        try:
            view, (text, *_) = settle(plan, value, grant, write)
        except Exception as error:
            return self.fail(error, where=plan.where)
        return Shaped(text, dict(view.data) if sends_structured else None)

    def _register(
        self, function: Callable[..., Any], plan: Plan, *, empty: str | None, structured: bool | None
    ) -> Tool:
        name, where = function.__name__, plan.where
        if name in self.tools:
            raise DefinitionError(where, [Problem("name", "it is registered twice.", "Give each tool its own name.")])
        sends_structured = self._sends_structured(structured)
        description = describe(function.__doc__, self.encoder.vocabulary, empty=empty, where=where)
        output_schema = publish_schema(plan) if sends_structured else None
        served = serve(
            function,
            where=where,
            description=description,
            output_schema=output_schema,
            answer=lambda value: self._render(plan, value, self.grant, sends_structured),
            fail=lambda error: self.fail(error, where=where),
            serving=self._serving,
        )
        self.tools[name] = Tool(
            name=name,
            function=function,
            plan=plan,
            empty=empty,
            structured=structured,
            description=description,
            output_schema=output_schema,
            served=served,
        )
        return self.tools[name]

    @contextmanager
    def _serving(self) -> Iterator[None]:
        token = _SERVING.set(self)
        try:
            yield
        finally:
            _SERVING.reset(token)


def _encode(encoder: Encoder, view: View) -> str:
    text = encoder.encode(view)
    if not text.strip():
        raise EncodingError(encoder.name, "the encoder returned no text")
    return text
