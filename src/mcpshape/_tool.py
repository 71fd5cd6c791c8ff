"""A tool as a server calls it: the author's function with its arguments checked and its DTO shaped."""

import functools
import inspect
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from dataclasses import field as slot
from types import MethodType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import Field

from mcpshape._arguments import Parameters, accepted_kinds, read_parameters, resolve_hints
from mcpshape._call import Call, ask, under_way
from mcpshape._describe import describe
from mcpshape._guards import Plan
from mcpshape._plan import handle_kinds
from mcpshape._schema import publish_schema
from mcpshape.encoders import Encoder
from mcpshape.errors import DefinitionError, Problem
from mcpshape.policy import Policy

_ASKABLE = frozenset({"privacy", "fields"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What an author decides for one tool beside its function."""

    empty: str | None = None
    structured: bool | None = None
    privacy: str | None = None
    ask: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Tool:
    """A registered tool: `function` as its author wrote it, `served` as a server calls it."""

    name: str
    function: Callable[..., Any] = slot(repr=False)
    plan: Plan = slot(repr=False)
    options: Options
    description: str = slot(repr=False)
    output_schema: dict[str, Any] | None = slot(repr=False)
    parameters: Parameters = slot(repr=False)
    served: Callable[..., Any] = slot(repr=False)

    @property
    def accepted_kinds(self) -> set[str]:
        """The kinds of handles that the tool takes back."""
        return accepted_kinds(self.function, self.plan.where)

    def bind(self, owner: object) -> Callable[..., Any]:
        """The served function of a tool that was defined as a method, for one object of its class."""
        return MethodType(self.served, owner)


def option_problems(options: Options, policy: Policy | None, *, is_taken: bool) -> Iterator[Problem]:
    """What is wrong with the options of a tool."""
    if is_taken:
        yield Problem("name", "it is registered twice.", "Give each tool its own name.")
    levels = policy.levels if policy else ()
    if options.privacy is not None and options.privacy not in levels:
        yield Problem("privacy", f"there is no level {options.privacy!r}.", f"Choose one of: {', '.join(levels)}.")
    if unknown := sorted(options.ask - _ASKABLE):
        yield Problem("ask", f"{unknown[0]!r} cannot be asked for.", f"Choose from: {', '.join(sorted(_ASKABLE))}.")
    if "privacy" in options.ask and not levels:
        yield Problem("ask", "privacy cannot be asked for without a policy.", "Pass the policy to Shape.")


def handle_problems(tools: Collection[Tool]) -> Iterator[Problem]:
    """Kinds of handles that some tool gives out and none takes back."""
    taken = {kind for tool in tools for kind in tool.accepted_kinds}
    given = {(tool.name, kind) for tool in tools for kind in handle_kinds(tool.plan)}
    for name, kind in sorted(given):
        if kind not in taken:
            remedy = "Add a parameter Annotated[str, Handle(kind, among=...)] to one."
            yield Problem(f"tool {name}", f"no tool takes back its handles of the kind {kind!r}.", remedy)


def added_arguments(options: Options, policy: Policy | None) -> dict[str, Any]:
    """The optional arguments that a tool offers, by name and type."""
    levels = policy.levels if policy else ()
    known: dict[str, Any] = {
        "privacy": Annotated[Literal[levels] | None, Field(description="Answer at this level or a narrower one.")],
        "fields": Annotated[list[str] | None, Field(description="Answer with these fields only, as in events.title.")],
    }
    return {name: known[name] for name in sorted(options.ask)}


def declared_return(function: Callable[..., Any], where: str) -> Any:
    """The type that a tool declares to return, without what belongs to the protocol.

    Raises:
        DefinitionError: It declares none, or a finished result.
    """
    from mcpshape._result import FINISHED, PASSED_ON

    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise DefinitionError(where, [Problem("return", "the tool yields.", "Return the whole DTO at once.")])
    returned = resolve_hints(function, where).get("return", inspect.Signature.empty)
    if get_origin(returned) in {Union, UnionType}:
        returned = Union[tuple(arm for arm in get_args(returned) if arm not in PASSED_ON)]  # noqa: UP007
    if returned is inspect.Signature.empty:
        problem = Problem("return", "the tool declares no return type.", "Annotate it with the DTO that it returns.")
        raise DefinitionError(where, [problem])
    if isinstance(returned, type) and issubclass(returned, FINISHED):
        problem = Problem(
            "return", "a finished result would go around the shape.", "Return the DTO; the shape makes the result."
        )
        raise DefinitionError(where, [problem])
    return returned


def make_tool(
    function: Callable[..., Any],
    plan: Plan,
    options: Options,
    policy: Policy | None,
    encoder: Encoder,
    opening: Callable[[], Call],
    *,
    sends_structured: bool,
) -> Tool:
    """A tool with all that can be decided before it is called."""
    from mcpshape._result import annotate

    schema = publish_schema(plan, has_choice="fields" in options.ask) if sends_structured else None
    parameters = read_parameters(function, annotate(schema), plan.where, added_arguments(options, policy))
    served = serve(function, plan, parameters, opening, sends_structured=sends_structured)
    served.__doc__ = describe(function.__doc__, encoder.vocabulary, empty=options.empty, where=plan.where)
    return Tool(
        name=function.__name__,
        function=function,
        plan=plan,
        options=options,
        description=served.__doc__,
        output_schema=schema,
        parameters=parameters,
        served=served,
    )


def serve(
    function: Callable[..., Any],
    plan: Plan,
    parameters: Parameters,
    opening: Callable[[], Call],
    *,
    sends_structured: bool,
) -> Callable[..., Any]:
    """The function that a server calls: same name and parameters, a finished result in place of the DTO."""
    from mcpshape._result import PASSED_ON, RAISED_ON, make_result

    def finish(call: Call, value: Any) -> Any:
        if isinstance(value, PASSED_ON):
            return value
        return make_result(call.answer(plan, value, sends_structured=sends_structured))

    def serve_sync(*args: Any, **kwargs: Any) -> Any:
        call = opening()
        with under_way(call):
            try:
                call = ask(call, **parameters.asked(kwargs))
                bound = parameters.bind(args, kwargs, call.find)
                return finish(call, function(*bound.args, **bound.kwargs))
            except RAISED_ON:
                raise
            except Exception as error:
                return make_result(call.fail(error))

    async def serve_async(*args: Any, **kwargs: Any) -> Any:
        call = opening()
        with under_way(call):
            try:
                call = ask(call, **parameters.asked(kwargs))
                bound = parameters.bind(args, kwargs, call.find)
                value = function(*bound.args, **bound.kwargs)
                return finish(call, await value if inspect.isawaitable(value) else value)
            except RAISED_ON:
                raise
            except Exception as error:
                return make_result(call.fail(error))

    is_async = inspect.iscoroutinefunction(inspect.unwrap(function))
    served = functools.wraps(function)(serve_async if is_async else serve_sync)
    parameters.describe(served)
    return served
