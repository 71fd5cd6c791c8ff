"""What the rules look at: the tools of a shape, what their authors wrote, and what their examples answer with."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mcpshape._describe import NEUTRAL, Vocabulary
from mcpshape._example import answer_example, make_example, open_example, still
from mcpshape._layout import Layout
from mcpshape._page import Page
from mcpshape._tool import Tool
from mcpshape.encoders import Encoder, name_formats
from mcpshape.errors import DefinitionError, Problem
from mcpshape.policy import Grant
from mcpshape.shape import Shape

Found = tuple[str, Problem]
"""The tool, or an empty name for the shape as a whole, and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text that an author wrote for models, as it was written; `is_filled` where placeholders in it are filled."""

    place: str
    text: str
    is_filled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the example of a tool gives at one level, with all toggles that can be on there, and in one format."""

    level: str | None
    format: str
    page: Page


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Subject:
    """One tool.

    `formats` are those that its callers can get, the usual one first. `grants` are all levels that it can answer at,
    each with all toggles and with none. `answers` come from the narrowest level to the widest; there are none where it
    has no example, or one that fails, as `failure` then says.
    """

    tool: Tool
    formats: Mapping[str, Encoder]
    grants: tuple[Grant | None, ...]
    texts: tuple[Text, ...]
    answers: tuple[Answer, ...]
    failure: Problem | None

    @property
    def name(self) -> str:
        """The name of the tool."""
        return self.tool.name

    @property
    def vocabulary(self) -> Vocabulary:
        """The words of its descriptions."""
        return NEUTRAL if "format" in self.tool.options.ask else self.tool.encoder.vocabulary

    @property
    def arguments(self) -> list[str]:
        """The names of its author's arguments."""
        return [name for name in self.tool.parameters.adapters if name not in self.tool.parameters.added]

    @property
    def usual(self) -> list[Answer]:
        """The answers in the usual format, one a level."""
        usual = next(iter(self.formats))
        return [each for each in self.answers if each.format == usual]

    @property
    def keys(self) -> set[str]:
        """The wire names of all fields of its DTO classes."""
        return {field.key for record in self.tool.plan.declared.records.values() for field in record.fields}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Inspected:
    """A whole shape, and the tools of a server that do not go through it."""

    shape: Shape
    subjects: tuple[Subject, ...]
    unshaped: tuple[Found, ...] = ()


Names = Mapping[tuple[type | None, str], str]
"""The places of fields, by DTO class and wire name."""
Find = Callable[[Inspected], Iterator[Found]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of mistake: its stable name, and the function that finds it.

    What `is_told_once` is the same mistake in every tool that has it, such as one in a DTO class.
    """

    name: str
    find: Find
    is_told_once: bool = False


def of_tools(find: Callable[[Subject], Iterator[Problem]]) -> Find:
    """A rule for each tool by itself."""
    return lambda inspected: ((each.name, problem) for each in inspected.subjects for problem in find(each))


def inspect_shape(shape: Shape, unshaped: tuple[Found, ...] = ()) -> Inspected:
    """All that the rules look at. What an example holds is seen through the door only."""
    shape = still(shape)
    return Inspected(
        shape=shape, subjects=tuple(_subject(shape, each) for each in shape.tools.values()), unshaped=unshaped
    )


def _subject(shape: Shape, tool: Tool) -> Subject:
    formats = name_formats(tool.encoder, shape.formats if "format" in tool.options.ask else ())
    answers: tuple[Answer, ...] = ()
    failure = None
    if tool.options.example:
        try:
            answers = tuple(_answers(shape, tool, formats))
        except DefinitionError as error:
            failure = error.problems[0]
        except SystemExit:
            failure = Problem("example", "the function that makes it ends the program.", "Mend it.")
    return Subject(
        tool=tool,
        formats=formats,
        grants=tuple(_grants(tool)),
        texts=tuple(_texts(tool)),
        answers=answers,
        failure=failure,
    )


def _levels(tool: Tool) -> tuple[str, ...]:
    """The levels that a tool can answer at, narrow to wide."""
    policy, own = tool.plan.policy, tool.options.privacy
    return policy.levels[: policy.rank(own) + 1] if policy and own else policy.levels if policy else ()


def _grants(tool: Tool) -> Iterator[Grant | None]:
    policy = tool.plan.policy
    if policy is None:
        yield None
        return
    for level in _levels(tool):
        yield from dict.fromkeys([policy.widest(level), policy.widest(level, without=policy.toggles)])


def _answers(shape: Shape, tool: Tool, formats: Mapping[str, Encoder]) -> Iterator[Answer]:
    value, policy = make_example(tool), tool.plan.policy
    for grant in [policy.widest(level) for level in _levels(tool)] if policy else [None]:
        for name, encoder in formats.items():
            page = answer_example(open_example(shape, tool, grant=grant, encoder=encoder), tool, value)
            yield Answer(level=grant.level if grant else None, format=name, page=page)


def _texts(tool: Tool) -> Iterator[Text]:
    yield Text("description", inspect.cleandoc(tool.function.__doc__ or ""), is_filled=True)
    yield Text("empty", inspect.cleandoc(tool.options.empty or ""), is_filled=True)
    for name, adapter in tool.parameters.adapters.items():
        if name not in tool.parameters.added:
            said = dict.fromkeys(_descriptions(adapter.json_schema()))
            yield Text(f"argument {name}", "\n".join(said), is_filled=False)


def _descriptions(schema: Any) -> Iterator[str]:
    if isinstance(schema, list):
        for each in schema:
            yield from _descriptions(each)
    elif isinstance(schema, Mapping):
        for key, each in schema.items():
            if key == "description" and isinstance(each, str):
                yield each
            elif key not in {"default", "examples", "const", "enum"}:
                yield from _descriptions(each)


def cells(data: Any, layout: Layout, names: Names, place: str = "") -> Iterator[tuple[str, str]]:
    """The texts of a view that are no prose, each with its place.

    That is the field of a DTO class, so that all objects of a class are taken together, or a dotted path where the data
    does not tell the class; `*` is any key where keys are data.
    """
    if isinstance(data, str):
        if not layout.is_prose:
            yield place, data
    elif isinstance(data, list):
        for each in data:
            yield from cells(each, layout.at("*"), names, place)
    elif isinstance(data, Mapping):
        for key, value in data.items():
            name = key if key in layout.fields or "*" not in layout.fields else "*"
            yield from cells(value, layout.at(key), names, names.get((layout.dto, key), f"{place}.{name}".lstrip(".")))
