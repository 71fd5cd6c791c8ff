"""A tool as a server calls it: the author's function with its arguments checked and its DTO shaped."""

import functools
import inspect
import logging
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from dataclasses import field as slot
from types import MethodType, UnionType
from typing import Any, Union, get_args, get_origin

from mcpshape._arguments import Parameters, accepted_kinds, read_parameters, resolve_hints
from mcpshape._call import Call, ask, call_under_way, open_call, under_way
from mcpshape._decisions import Decisions
from mcpshape._describe import NEUTRAL, describe, instruct
from mcpshape._encodable import require_encodable
from mcpshape._guards import Plan
from mcpshape._narrowing import log_narrowed
from mcpshape._options import Options, added_arguments, on_pages, option_problems, page_problems
from mcpshape._paths import keys_at, list_paths
from mcpshape._pinned import pinned
from mcpshape._plan import handle_kinds, may_round
from mcpshape._schema import publish_schema
from mcpshape._tokens import Keyring
from mcpshape.encoders import Encoder, encoder_problems, name_formats
from mcpshape.errors import DefinitionError, Problem
from mcpshape.policy import Grant

_LOG = logging.getLogger("mcpshape")
# The mark of served functions; `functools.wraps` hands it on to whatever is put around them.
_SERVED = "__mcpshape_served__"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Tool:
    """A registered tool: `function` as its author wrote it, `served` as a server calls it."""

    name: str
    function: Callable[..., Any] = slot(repr=False)
    plan: Plan = slot(repr=False)
    options: Options
    encoder: Encoder
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


def check_handles(tools: Collection[Tool], keyring: Keyring) -> None:
    """See that handles of every kind that some tool gives out are taken back by one.

    Raises:
        DefinitionError: Nobody takes back a kind.
    """
    if keyring.is_ephemeral and any(handle_kinds(tool.plan) for tool in tools):
        _LOG.info("there is no secret, so the ids that this process gives out end with it")
    if problems := list(handle_problems(tools)):
        raise DefinitionError("Shape", problems)


def handle_problems(tools: Collection[Tool]) -> Iterator[Problem]:
    """Kinds of handles that some tool gives out and none takes back."""
    taken = {kind for tool in tools for kind in tool.accepted_kinds}
    given = {(tool.name, kind) for tool in tools for kind in handle_kinds(tool.plan)}
    for name, kind in sorted(given):
        if kind not in taken:
            remedy = "Add a parameter Annotated[str, Handle(kind, among=...)] to one."
            yield Problem(f"tool {name}", f"no tool takes back its handles of the kind {kind!r}.", remedy)


def instruct_on(tools: Collection[Tool], decisions: Decisions) -> str:
    """What a model has to know to read the answers of some tools."""
    return instruct(
        [tool.encoder.vocabulary for tool in tools] or [decisions.encoder.vocabulary],
        may_withhold=decisions.policy is not None or any("fields" in tool.options.ask for tool in tools),
        may_round=any(may_round(tool.plan) for tool in tools),
        has_pages=any(tool.plan.paged for tool in tools),
    )


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
    decisions: Decisions,
    plan_of: Callable[[Any], Plan],
    *,
    is_taken: bool,
) -> Tool:
    """A tool with all that can be decided before it is called.

    Raises:
        DefinitionError: An option cannot hold, an added argument has the name of one of the function's own, or the
            description has an unknown word.
    """
    from mcpshape._result import annotate

    encoder = options.encoder or decisions.encoder
    problems = [*option_problems(options, decisions.policy, is_taken=is_taken), *page_problems(options, plan)]
    if problems := [*problems, *encoder_problems(encoder)]:
        raise DefinitionError(plan.where, problems)
    plan = on_pages(plan, options.page)
    formats = name_formats(encoder, decisions.formats if "format" in options.ask else ())
    for each in formats.values():
        require_encodable(plan, each)
    sends_structured = decisions.sends_structured(encoder, options.structured)
    schema = publish_schema(plan, has_choice="fields" in options.ask) if sends_structured else None
    paths = list_paths(plan, decisions.grant).disclosed
    example = next((path for path in paths if "." in path), next(iter(paths), "a field"))
    added = added_arguments(options, decisions.policy, formats, f"result.{example}" if plan.is_wrapped else example)
    parameters = read_parameters(function, annotate(schema), plan.where, added)
    opening = _opening(plan, options, decisions, plan_of, encoder)
    begin = _beginning(plan, options, parameters, formats)
    served = serve(function, plan, parameters, opening, begin, sends_structured=sends_structured, owner=decisions)
    served.__doc__ = _describe(function, plan, options, decisions.grant, encoder)
    return Tool(
        name=function.__name__,
        function=function,
        plan=plan,
        options=options,
        encoder=encoder,
        description=served.__doc__,
        output_schema=schema,
        parameters=parameters,
        served=served,
    )


def _opening(
    plan: Plan, options: Options, decisions: Decisions, plan_of: Callable[[Any], Plan], encoder: Encoder
) -> Callable[[], Call]:
    cap = options.cap(decisions.policy)

    def opening() -> Call:
        call = open_call(decisions, plan.where, plan_of, encoder=encoder, cap=cap)
        log_narrowed(plan.where, call.grant)
        return call

    return opening


def _describe(function: Callable[..., Any], plan: Plan, options: Options, grant: Grant | None, encoder: Encoder) -> str:
    """The description in the words of the format; it names the keys that the setting lets out, never more."""
    cap = options.cap(plan.policy)
    widest = grant & cap if grant and cap else grant
    return describe(
        function.__doc__,
        NEUTRAL if "format" in options.ask else encoder.vocabulary,
        empty=options.empty,
        where=plan.where,
        find_keys=lambda path: keys_at(plan, widest, path),
    )


Begun = tuple[Call, list[Any], dict[str, Any]]
Begin = Callable[[Call, tuple[Any, ...], Mapping[str, Any]], Begun]


def _beginning(plan: Plan, options: Options, parameters: Parameters, formats: Mapping[str, Encoder]) -> Begin:
    """What happens before the author's function runs: the call is narrowed, its arguments are checked."""
    limits = options.limits(plan)

    def begin(call: Call, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Begun:
        asked = parameters.asked(kwargs)
        if asked:
            encoder = formats.get(asked.get("format") or "", call.encoder)
            call = ask(call, privacy=asked.get("privacy"), fields=asked.get("fields"), encoder=encoder)
        placed, named = parameters.bind(args, kwargs, call.find)
        if limits:
            fingerprint = parameters.fingerprint(args, kwargs)
            call = call.on_turn(limits, fingerprint, cursor=asked.get("cursor"), limit=asked.get("limit"))
        return call, placed, named

    return begin


def is_served(function: Any) -> bool:
    """Whether a function is what a shape serves in place of one, or is around such a one and says so."""
    return bool(getattr(function, _SERVED, False))


def serve(
    function: Callable[..., Any],
    plan: Plan,
    parameters: Parameters,
    opening: Callable[[], Call],
    begin: Begin,
    *,
    sends_structured: bool,
    owner: Decisions,
) -> Callable[..., Any]:
    """The function that a server calls: same name and parameters, a finished result in place of the DTO.

    In a request that began with other settings than its owner's, the same tool under those answers in its place.
    """
    from mcpshape._result import PASSED_ON, RAISED_ON, make_result

    def finish(call: Call, value: Any) -> Any:
        if isinstance(value, PASSED_ON):
            return value
        return make_result(call.answer(plan, value, sends_structured=sends_structured))

    def serve_sync(*args: Any, **kwargs: Any) -> Any:
        if instead := pinned(owner):
            return instead.tools[function.__name__].served(*args, **kwargs)
        call = opening()
        with under_way(call):
            try:
                call, placed, named = begin(call, args, kwargs)
                return finish(call, function(*placed, **named))
            except RAISED_ON:
                raise
            except Exception as error:
                return make_result((call_under_way() or call).fail(error))

    async def serve_async(*args: Any, **kwargs: Any) -> Any:
        if instead := pinned(owner):
            return await instead.tools[function.__name__].served(*args, **kwargs)
        call = opening()
        with under_way(call):
            try:
                call, placed, named = begin(call, args, kwargs)
                value = function(*placed, **named)
                return finish(call, await value if inspect.isawaitable(value) else value)
            except RAISED_ON:
                raise
            except Exception as error:
                return make_result((call_under_way() or call).fail(error))

    is_async = inspect.iscoroutinefunction(inspect.unwrap(function))
    served = functools.wraps(function)(serve_async if is_async else serve_sync)
    vars(served)[_SERVED] = True
    parameters.describe(served)
    return served
