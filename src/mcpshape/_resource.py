"""A resource as a server reads it: the author's function with its DTO as text."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

from mcpshape._call import Call, under_way
from mcpshape._guards import Plan


def make_resource(function: Callable[..., Any], plan: Plan, opening: Callable[[], Call]) -> Callable[..., Any]:
    """The function that a server calls: same name and parameters, text in place of the DTO."""
    from mcpshape._result import RAISED_ON, make_protocol_error

    def read_sync(*args: Any, **kwargs: Any) -> str:
        call = opening()
        with under_way(call):
            try:
                return call.text(plan, function(*args, **kwargs))
            except RAISED_ON:
                raise
            except Exception as error:
                raise make_protocol_error(call.fail(error)) from None

    async def read_async(*args: Any, **kwargs: Any) -> str:
        call = opening()
        with under_way(call):
            try:
                return call.text(plan, await function(*args, **kwargs))
            except RAISED_ON:
                raise
            except Exception as error:
                raise make_protocol_error(call.fail(error)) from None

    read = functools.wraps(function)(read_async if inspect.iscoroutinefunction(function) else read_sync)
    read.__annotations__ = {**function.__annotations__, "return": str}
    read.__signature__ = inspect.signature(function).replace(return_annotation=str)  # type: ignore[attr-defined]
    return read
