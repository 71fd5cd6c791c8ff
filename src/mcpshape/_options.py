"""What an author decides for one tool beside its function, and what that adds to its arguments."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, TypedDict

from mcpshape._budget import Budget
from mcpshape._guards import WHOLE, Place, Plan
from mcpshape._nodes import Listing, Node, Nullable, Reference, Root, references
from mcpshape._page import Limits
from mcpshape._scope import PAGE
from mcpshape._shaped import Sink
from mcpshape._tokens import Keyring
from mcpshape.encoders import Encoder
from mcpshape.errors import DefinitionError, Problem
from mcpshape.policy import Grant, Policy

_ASKABLE = ("fields", "format", "limit", "privacy")
_PAGED_FORMS = frozenset({"list", "sequence"})


Pick = Callable[[Encoder | str, Encoder | None], Encoder]
"""Finds an encoder by its name, beside the one that a tool has already."""


class ToolOptions(TypedDict, total=False):
    """The options of `Shape.tool`."""

    empty: str | None
    encoder: Encoder | str | None
    structured: bool | None
    privacy: str | None
    ask: Collection[str]
    page: str | None
    limit: int | None
    budget: Budget | None
    example: Callable[[], Any] | None


class ShapeOptions(TypedDict, total=False):
    """What of a shape can be changed; `None` changes nothing. `tools` has options by the name of a tool."""

    encoder: Encoder | str | None
    formats: Collection[Encoder | str] | None
    grant: Grant | None
    structured: bool | None
    keyring: Keyring | None
    principals: Mapping[str, Grant] | None
    scopes: Mapping[str, Grant] | None
    clients: Mapping[str, Grant] | None
    sinks: Collection[Sink] | None
    tools: Mapping[str, ToolOptions] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of one tool, with the encoders by their names."""

    empty: str | None = None
    encoder: Encoder | None = None
    structured: bool | None = None
    privacy: str | None = None
    ask: frozenset[str] = frozenset()
    page: str | None = None
    limit: int | None = None
    budget: Budget | None = None
    example: Callable[[], Any] | None = None

    def cap(self, policy: Policy | None) -> Grant | None:
        """The widest that the tool answers at, where it has a level of its own."""
        return policy.widest(self.privacy) if policy and self.privacy else None

    def limits(self, plan: Plan) -> Limits | None:
        """How long answers of a plan may be, if that is limited."""
        if self.budget is None and plan.paged is None:
            return None
        return Limits(place=plan.paged, limit=self.limit, budget=self.budget, can_choose="fields" in self.ask)


def read_options(given: Mapping[str, Any], pick: Pick, usual: Options | None = None) -> Options:
    """The options as they were given, `encoder` by name or not; those that were not are the usual ones.

    Raises:
        DefinitionError: There is no such option, or no encoder of that name is installed.
    """
    if unknown := sorted(given.keys() - ToolOptions.__annotations__.keys()):
        remedy = f"There are: {', '.join(sorted(ToolOptions.__annotations__))}."
        raise DefinitionError("tool", [Problem(unknown[0], "there is no option of this name.", remedy)])
    options = replace(usual or Options(), **given)
    found = None if options.encoder is None else pick(options.encoder, usual.encoder if usual else None)
    return replace(
        options, encoder=found, ask=frozenset([options.ask] if isinstance(options.ask, str) else options.ask)
    )


def option_problems(options: Options, policy: Policy | None, *, is_taken: bool) -> Iterator[Problem]:
    """What is wrong with the options of a tool."""
    if is_taken:
        yield Problem("name", "it is registered twice.", "Give each tool its own name.")
    levels = policy.levels if policy else ()
    if options.privacy is not None and options.privacy not in levels:
        yield Problem("privacy", f"there is no level {options.privacy!r}.", f"Choose one of: {', '.join(levels)}.")
    if unknown := sorted(options.ask - set(_ASKABLE)):
        yield Problem("ask", f"{unknown[0]!r} cannot be asked for.", f"Choose from: {', '.join(_ASKABLE)}.")
    if "privacy" in options.ask and not levels:
        yield Problem("ask", "privacy cannot be asked for without a policy.", "Pass the policy to Shape.")


def page_problems(options: Options, plan: Plan) -> Iterator[Problem]:
    """What is wrong with the options on the length of answers."""
    if options.limit is not None and (not isinstance(options.limit, int) or options.limit < 1):
        yield Problem("limit", "it is no number of at least 1.", "Say how many entries one answer holds.")
    if options.budget is not None and not callable(getattr(options.budget, "measure", None)):
        yield Problem("budget", "it is no budget.", "Use Chars(8000) or Tokens(2000).")
    if options.example is not None and not callable(options.example):
        yield Problem("example", "it is no function.", "Pass one that makes the DTO, such as a lambda.")
    if options.page is None:
        if options.limit is not None or "limit" in options.ask:
            yield Problem("limit", "no list is paged.", "Name the list with page=.")
        return
    if options.limit is None and options.budget is None:
        yield Problem("page", "nothing limits a page.", "Add limit= or budget=.")
    root = _root(plan)
    if root and any(field.key == options.page and plan.guard(root, field).is_notice for field in root.fields):
        yield Problem("page", f"{options.page!r} is a notice, which is told whole.", "Leave out Notice().")
    elif find_paged(plan, options.page) is None:
        lists = ", ".join(place.key for place in _lists(plan)) or "none"
        inner = "its DTO can hold itself; wrap it in one that cannot" if _is_recursive(plan) else lists
        yield Problem("page", f"the answer has no list {options.page!r} of its own.", f"Its lists are: {inner}.")
    if root and any(field.key == PAGE for field in root.fields):
        yield Problem("page", f"the DTO has a field {PAGE!r} of its own.", "Rename it.")


def on_pages(plan: Plan, key: str | None) -> Plan:
    """The plan whose answers hold a list in part only."""
    place = find_paged(plan, key) if key else None
    return plan if place == plan.paged else replace(plan, paged=place, compiled={})


def find_paged(plan: Plan, key: str) -> Place | None:
    """The list of the answer with that key on the wire."""
    return next((place for place in _lists(plan) if place.key == key), None)


def _lists(plan: Plan) -> Iterator[Place]:
    """The lists that the answer itself holds; none where it could not be told from a list of the same DTO inside."""
    if plan.is_wrapped and _is_list(plan.declared.root):
        yield WHOLE
    root = _root(plan)
    if root and not _is_recursive(plan):
        lists = (field for field in root.fields if _is_list(field.node) and not plan.guard(root, field).is_notice)
        yield from (Place(root.key, field.name, field.key) for field in lists)


def _is_list(node: Node) -> bool:
    inner = node.inner if isinstance(node, Nullable) else node
    return isinstance(inner, Listing) and inner.form in _PAGED_FORMS


def _root(plan: Plan) -> Any:
    node = plan.declared.root
    while isinstance(node, Root):
        node = node.inner
    return plan.declared.records[node.key] if isinstance(node, Reference) else None


def _is_recursive(plan: Plan) -> bool:
    root = _root(plan)
    return root is not None and root.key in _reached(plan, root.key)


def _reached(plan: Plan, key: str) -> set[str]:
    """The DTO classes inside one."""
    found: set[str] = set()
    waiting = [key]
    while waiting:
        inner = {each for field in plan.declared.records[waiting.pop()].fields for each in references(field.node)}
        waiting += inner - found
        found |= inner
    return found


def added_arguments(
    options: Options, policy: Policy | None, formats: Mapping[str, Encoder], example: str
) -> dict[str, Any]:
    """The optional arguments that a tool offers, by name and type."""
    from pydantic import Field

    levels = policy.levels if policy else ()
    usual = next(iter(formats))
    most = f", {options.limit} at most" if options.limit else ""
    known: dict[str, Any] = {
        "cursor": Annotated[str | None, Field(description="page.next of the answer before, to go on after it.")],
        "fields": Annotated[list[str] | None, Field(description=f"Answer with these fields only, as in {example}.")],
        # Sorted, since `typing` takes literals in another order for the same and hands out the first that it saw.
        "format": Annotated[
            Literal[tuple(sorted(formats))] | None, Field(description=f"Write the answer as this in place of {usual}.")
        ],
        "limit": Annotated[int | None, Field(ge=1, description=f"How many entries to answer with{most}.")],
        "privacy": Annotated[Literal[levels] | None, Field(description="Answer at this level or a narrower one.")],
    }
    offered = options.ask | ({"cursor"} if options.page else set())
    return {name: known[name] for name in sorted(offered)}
