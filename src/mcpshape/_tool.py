"""A tool as a server calls it: the author's function with its arguments checked and its DTO shaped."""

import functools
import inspect
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import MethodType, UnionType
from typing import Any, Union, get_args, get_origin

from mcpshape._arguments import read_parameters, resolve_hints
from mcpshape._call import Call
from mcpshape._guards import Plan
from mcpshape.errors import DefinitionError, Problem


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
    function: Callable[..., Any] = field(repr=False)
    plan: Plan = field(repr=False)
    options: Options
    description: str = field(repr=False)
    output_schema: dict[str, Any] | None = field(repr=False)
    served: Callable[..., Any] = field(repr=False)

    def bind(self, owner: object) -> Callable[..., Any]:
        """The served function of a tool that was defined as a method, for one object of its class."""
        return MethodType(self.served, owner)


def declared_return(function: Callable[..., Any], where: str) -> Any:
    """The type that a tool declares to return, without what belongs to the protocol.

    Raises:
        DefinitionError: It declares none, or a finished result.
    """
    from mcpshape._result import FINISHED, PASSED_ON

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


def serve(
    function: Callable[..., Any],
    plan: Plan,
    *,
    description: str,
    output_schema: dict[str, Any] | None,
    added: Mapping[str, Any],
    opening: Callable[[], AbstractContextManager[Call]],
) -> Callable[..., Any]:
    """The function that a server calls: same name and parameters, a finished result in place of the DTO."""
    from mcpshape._result import PASSED_ON, RAISED_ON, annotate, make_result

    parameters = read_parameters(function, annotate(output_schema), plan.where, added)
    sends_structured = output_schema is not None

    def finish(call: Call, asked: Mapping[str, Any], value: Any) -> Any:
        if isinstance(value, PASSED_ON):
            return value
        return make_result(call.asked(**asked).answer(plan, value, sends_structured=sends_structured))

    def serve_sync(*args: Any, **kwargs: Any) -> Any:
        with opening() as call:
            try:
                bound, asked = parameters.bind(args, kwargs, call.find)
                return finish(call, asked, function(*bound.args, **bound.kwargs))
            except RAISED_ON:
                raise
            except Exception as error:
                return make_result(call.fail(error))

    async def serve_async(*args: Any, **kwargs: Any) -> Any:
        with opening() as call:
            try:
                bound, asked = parameters.bind(args, kwargs, call.find)
                return finish(call, asked, await function(*bound.args, **bound.kwargs))
            except RAISED_ON:
                raise
            except Exception as error:
                return make_result(call.fail(error))

    served = functools.wraps(function)(serve_async if inspect.iscoroutinefunction(function) else serve_sync)
    served.__doc__ = description
    parameters.describe(served)
    return served
