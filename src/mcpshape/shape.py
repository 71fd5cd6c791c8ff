"""A server's decisions in one value: what may leave, how it reads, what is said when it fails."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any, TypeVar, Unpack, cast, overload

from mcpshape._call import Call, open_call
from mcpshape._decisions import Decisions, decide, not_of_this_policy
from mcpshape._describe import describe
from mcpshape._encodable import require_encodable
from mcpshape._failure import ON_ENCODING_ERROR
from mcpshape._guards import Plan
from mcpshape._options import Options, ShapeOptions, ToolOptions, read_options
from mcpshape._pinned import pinned
from mcpshape._plan import compile_plan
from mcpshape._project import View, settle
from mcpshape._resource import make_resource
from mcpshape._shaped import Shaped, Sink
from mcpshape._tokens import Keyring
from mcpshape._tool import Tool, check_handles, declared_return, instruct_on, make_tool
from mcpshape.encoders import Encoder
from mcpshape.errors import DefinitionError, Problem
from mcpshape.policy import Grant, Policy

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Shape:
    """The door of a server.

    Args:
        policy: Levels and toggles; without one every declared field leaves.
        encoder: How answers read; an object, or the name of an installed one, such as `toon`.
        formats: What a tool offers whose callers choose the format (`ask={"format"}`); the built-in ones unless said.
        grant: The level and toggles in force; the policy's default unless said.
        structured: Whether `structuredContent` and an output schema are sent; the encoder decides unless said.
        keyring: What handles are made with; one that ends with the process unless said.
        principals: Grants of authenticated callers by client id. They narrow `grant`; whoever is not authenticated then
            gets the narrowest level.
        scopes: Grants by scope of the access token, which add up and then narrow `grant`. They hold for those who are
            not among `principals`; a token without any of them gets the narrowest level.
        clients: Grants by client name, which a client says of itself; they narrow as well.
        sinks: Where records of what was disclosed go; see `mcpshape.disclosure`.
        user_errors: Exception types whose text the model may read, besides `UserError`.
        on_encoding_error: The text where an encoder fails; `{format}`, `{reason}` and `{reference}` are filled in.

    Raises:
        DefinitionError: An argument is not what it should be.

    Examples:
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
        encoder: Encoder | str,
        formats: Collection[Encoder | str] = ("toon", "markdown", "json"),
        grant: Grant | None = None,
        structured: bool | None = None,
        keyring: Keyring | None = None,
        principals: Mapping[str, Grant] | None = None,
        scopes: Mapping[str, Grant] | None = None,
        clients: Mapping[str, Grant] | None = None,
        sinks: Sequence[Sink] = (),
        user_errors: Sequence[type[Exception]] = (),
        on_encoding_error: str = ON_ENCODING_ERROR,
    ) -> None:
        given: dict[str, Any] = {name: each for name, each in locals().items() if name != "self"}
        self._decisions = decide(given)
        self._given = {**given, "keyring": self._decisions.keyring}
        self._plans: dict[Any, Plan] = {}
        self.tools: dict[str, Tool] = {}
        self.resources: list[Plan] = []
        self.former: Sequence[Shape] = ()

    @property
    def policy(self) -> Policy | None:
        """The levels and toggles, if there are any."""
        return self._decisions.policy

    @property
    def encoder(self) -> Encoder:
        """How answers read."""
        return self._decisions.encoder

    @property
    def formats(self) -> tuple[Encoder | str, ...]:
        """What tools offer whose callers choose the format."""
        return self._decisions.formats

    @property
    def grant(self) -> Grant | None:
        """The setting: the widest that any call gets."""
        return self._decisions.grant

    def using(self, **changes: Unpack[ShapeOptions]) -> "Shape":
        """The same shape and tools with some of its decisions changed; the original stays as it is."""
        changed = {name: each for name, each in changes.items() if name != "tools" and each is not None}
        if encoder := changes.get("encoder"):
            changed["encoder"] = self._decisions.pick(encoder)
        shape, own = Shape(**{**self._given, **changed}), changes.get("tools") or {}
        if unknown := sorted(own.keys() - self.tools.keys()):
            raise DefinitionError("using", [Problem(f"tools.{name}", "there is no such tool.", "") for name in unknown])
        shape._decisions = replace(shape._decisions, ancestors=(*self._decisions.ancestors, self._decisions))
        shape.resources = [*self.resources]
        for tool in self.tools.values():
            options = read_options(own.get(tool.name, {}), self._decisions.pick, tool.options)
            shape._register(tool.function, tool.plan, options)
        return shape

    @property
    def decisions(self) -> Decisions:
        """All that was decided, which also tells its tools from those of a changed copy; settings start from it."""
        return self._decisions

    def begin(self) -> AbstractContextManager["Shape"]:
        """What a request is answered with, from its beginning to its end; adapters call it."""
        return nullcontext(self)

    @overload
    def tool(self, function: _Function, /) -> _Function: ...

    @overload
    def tool(self, function: None = None, /, **options: Unpack[ToolOptions]) -> Callable[[_Function], _Function]: ...

    def tool(self, function: Any = None, /, **options: Unpack[ToolOptions]) -> Any:
        """Decorate a tool function whose return annotation is a DTO; goes under the server's own `tool` decorator.

        Args:
            function: The function, where the decorator stands without parentheses.
            **options: What is decided for this tool alone, all of it optional.

                `empty`: what an empty answer means and what to do then; appended to the description.
                `encoder`: how the answers of this tool read, in place of the shape's encoder.
                `structured`: overrides the shape's choice for this tool.
                `privacy`: the widest level that this tool answers at.
                `ask`: optional arguments that a caller may shape one call with, from `privacy`, `fields`, `format` and
                `limit`; none of them widens anything.
                `page`: the list of the DTO that answers hold in part: `page.next` is then what the added argument
                `cursor` takes to go on, stateless and bound to tool, arguments, grant and caller.
                `limit`: the most entries of that list in one answer.
                `budget`: the most that one text may hold, `Chars(8000)` or `Tokens(2000)`.
                `example`: a function that makes a DTO to show the tool with.

        Raises:
            DefinitionError: The return type is untyped or breaks the policy, the description has an unknown word, or an
                option cannot hold.
        """
        decided = read_options(options, self._decisions.pick)

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            where = f"tool {getattr(function, '__name__', '')}"
            if not hasattr(function, "__name__"):
                raise DefinitionError("tool", [Problem("name", "it has none.", "Decorate a function, not an object.")])
            plan = compile_plan(declared_return(function, where), self.policy, where)
            return self._register(function, plan, decided).served

        return decorate(function) if function else decorate

    def text(self, value: Any, *, declared: Any = None) -> str:
        """A DTO as the text that the call under way lets out, for prompts and for whatever is no tool.

        Raises:
            DefinitionError: The type breaks a rule of the policy.
            ProjectionError: The value does not fit its type.
            EncodingError: The encoder cannot write it.
        """
        plan = self._plan(type(value) if declared is None else declared)
        return self._call(plan.where).text(plan, value)

    def resource(self, function: _Function) -> _Function:
        """Decorate a resource function whose return annotation is a DTO; goes under the server's `resource` decorator.

        It then returns the text that a tool would answer with. Where a tool would answer with an error, it raises
        `MCPError` with the same text, since a resource has no other way to fail.

        Raises:
            DefinitionError: The return type is untyped or breaks the policy.
        """
        where = f"resource {function.__name__}"
        plan = require_encodable(compile_plan(declared_return(function, where), self.policy, where), self.encoder)
        self.resources.append(plan)
        return cast(_Function, make_resource(function, plan, lambda: self._call(where)))

    def check_handles(self) -> None:
        """See that handles of every kind that some tool gives out are taken back by one; adapters call it.

        Raises:
            DefinitionError: Nobody takes back a kind.
        """
        check_handles(self.tools.values(), self._decisions.keyring)

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
        call = self._call(plan.where, grant)
        return call.answer(plan, value, sends_structured=call.decisions.sends_structured(call.encoder))

    def answer(
        self,
        tool: str,
        value: Any,
        *,
        grant: Grant | None = None,
        encoder: Encoder | str | None = None,
        structured: bool | None = None,
    ) -> Shaped:
        """The finished answer, or its first page, that a registered tool would give if it returned this value.

        In another format or with another choice of `structuredContent`, where these are given.
        """
        known = self.tools[tool]
        call = self._opened(known, grant, self._decisions.pick(encoder or known.encoder, known.encoder))
        sends_structured = known.output_schema is not None if structured is None else structured
        return call.answer(known.plan, value, sends_structured=sends_structured)

    def _opened(self, tool: Tool, grant: Grant | None, encoder: Encoder) -> Call:
        call = self._call(tool.plan.where, grant)
        cap = tool.options.cap(self.policy)
        narrowed = call.grant.narrowed("tool", cap) if call.grant and cap else call.grant
        call = replace(call, encoder=encoder, grant=narrowed)
        limits = tool.options.limits(tool.plan)
        return call.on_turn(limits, "") if limits else call

    def view(self, value: Any, *, grant: Grant | None = None, declared: Any = None) -> View:
        """What a grant lets out of a DTO, before it is encoded.

        Raises:
            DefinitionError: The type breaks a rule of the policy.
            ProjectionError: The value does not fit its type.
        """
        plan = self._plan(type(value) if declared is None else declared)
        call = self._call(plan.where, grant)
        return settle(plan, value, call.grant, call.scope(), lambda view: (view, (view.to_json(),)), writes_all=True)[0]

    def say(self, template: str, /, **dtos: Any) -> str:
        """A sentence about DTOs, such as `"Opened {event.title}"`, that tells no more than the grant of the call.

        Raises:
            DefinitionError: The template names anything but fields of the DTOs.
        """
        return self._call("say").sentence(template, {name: (self._plan(type(dto)), dto) for name, dto in dtos.items()})

    def describe(self, text: str, *, empty: str | None = None) -> str:
        """A description in the words of the format, as tools get it from their docstring.

        Raises:
            DefinitionError: It has an unknown word.
        """
        return describe(text, self.encoder.vocabulary, empty=empty, where="description")

    def instructions(self) -> str:
        """What a model has to know to read the answers of the registered tools, for the server's `instructions`."""
        return instruct_on(self.tools.values(), self._decisions)

    def fail(self, error: Exception, *, where: str = "the server") -> Shaped:
        """The answer for an exception: its text where the model may read it, else a fixed sentence and a log entry."""
        return self._call(where).fail(error)

    def _call(self, where: str, grant: Grant | None = None) -> Call:
        """A call outside of a tool, or inside of the one under way, whose grant nothing widens."""
        if grant and grant.policy is not self.policy:
            raise DefinitionError(where, [not_of_this_policy("grant")])
        now: Shape = pinned(self._decisions) or self
        return open_call(now._decisions, where, now._plan, encoder=now.encoder, given=grant)

    def _plan(self, declared: Any) -> Plan:
        if declared not in self._plans:
            plan = compile_plan(declared, self.policy, getattr(declared, "__name__", str(declared)))
            self._plans[declared] = require_encodable(plan, self.encoder)
        return self._plans[declared]

    def _register(self, function: Callable[..., Any], plan: Plan, options: Options) -> Tool:
        is_taken = function.__name__ in self.tools
        tool = make_tool(function, plan, options, self._decisions, self._plan, is_taken=is_taken)
        self.tools[tool.name] = tool
        return tool
