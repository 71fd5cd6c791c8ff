"""A tool as a server calls it: the author's function with its arguments checked and its DTO shaped."""

import functools
import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import MethodType, UnionType
from typing import Any, Union, get_args, get_origin

from mcpshape._arguments import read_parameters, resolve_hints
from mcpshape._guards import Plan
from mcpshape._shaped import Shaped
from mcpshape.errors import DefinitionError, Problem


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Tool:
    """A registered tool: `function` as its author wrote it, `served` as a server calls it."""

    name: str
    function: Callable[..., Any] = field(repr=False)
    plan: Plan = field(repr=False)
    empty: str | None
    structured: bool | None
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
    *,
    where: str,
    description: str,
    output_schema: dict[str, Any] | None,
    answer: Callable[[Any], Shaped],
    fail: Callable[[Exception], Shaped],
    serving: Callable[[], AbstractContextManager[None]],
) -> Callable[..., Any]:
    """The function that a server calls: same name and parameters, a finished result in place of the DTO."""
    from mcpshape._result import PASSED_ON, RAISED_ON, annotate, make_result

    parameters = read_parameters(function, annotate(output_schema), where)

    def finish(value: Any) -> Any:
        return value if isinstance(value, PASSED_ON) else make_result(answer(value))

    def call(*args: Any, **kwargs: Any) -> Any:
        with serving():
            try:
                bound = parameters.bind(args, kwargs)
                return finish(function(*bound.args, **bound.kwargs))
            except RAISED_ON:
                raise
            except Exception as error:
                return make_result(fail(error))

    async def call_async(*args: Any, **kwargs: Any) -> Any:
        with serving():
            try:
                bound = parameters.bind(args, kwargs)
                return finish(await function(*bound.args, **bound.kwargs))
            except RAISED_ON:
                raise
            except Exception as error:
                return make_result(fail(error))

    served = functools.wraps(function)(call_async if inspect.iscoroutinefunction(function) else call)
    served.__doc__ = description
    parameters.describe(served)
    return served
