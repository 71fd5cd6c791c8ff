"""What lint finds: each rule with a mistake and its mended twin, the laws that findings keep, and the page on them."""

import asyncio
import re
from collections.abc import Callable
from enum import Enum
from functools import partial, wraps
from itertools import product
from pathlib import Path
from types import GenericAlias, MethodType
from typing import Annotated, Any, Literal

import pytest
from fastmcp import FastMCP
from fastmcp.tools import Tool as FastTool
from hypothesis import given
from hypothesis import strategies as st
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from mcp.types import CallToolRequestParams
from pydantic import BaseModel, Field, RootModel

import mcpshape.fastmcp
import mcpshape.lowlevel
import mcpshape.mcpserver
from clients import make_server
from generated import Case, cases
from mcpshape import (
    Always,
    Chars,
    Clip,
    Count,
    DefinitionError,
    Handle,
    Mask,
    Never,
    Notice,
    Policy,
    Prose,
    Shape,
    Since,
    Toggle,
    View,
    When,
)
from mcpshape.encoders import Encoder, Json, Markdown, Toon, Vocabulary
from mcpshape.lint import Finding, LintConfig, lint_shape, list_rules, read_config
from mcpshape.settings import follow

PAGE = (Path(__file__).parents[1] / "docs" / "reference" / "lint.md").read_text(encoding="utf-8")
POLICY = Policy(
    levels=("strict", "open"),
    toggles={
        "people": Toggle(on_since="open", offered_since="open"),
        "links": Toggle(on_since="open", offered_since="open", requires="people"),
    },
)
LEVELS = Policy(levels=("strict", "middle", "open"))
LEFT_OUT = LintConfig(ignore=frozenset({"no-example", "unused-toggle"}))


class Point(BaseModel):
    a: int


class Mood(Enum):
    GOOD = "good"
    BAD = "⚠️ bad"


def made(
    returns: Any,
    example: Any = None,
    doc: str | None = "Get it.",
    *,
    name: str = "get_it",
    arguments: dict[str, Any] | None = None,
    policy: Policy | None = None,
    encoder: Encoder | None = None,
    structured: bool | None = None,
    **options: Any,
) -> Shape:
    """A shape with one tool that returns that type; an argument of the type `None` has none."""
    shape, arguments = Shape(policy, encoder=encoder or Toon(), structured=structured), arguments or {}
    namespace: dict[str, Any] = {}
    exec(f"def {name}({', '.join(arguments)}): return None", namespace)
    function = namespace[name]
    function.__doc__ = doc
    function.__annotations__ = {key: each for key, each in arguments.items() if each} | {"return": returns}
    shape.tool(example=None if example is None else lambda: example, **options)(function)
    return shape


def model(**fields: Any) -> Any:
    """A DTO class with these fields."""
    return type("It", (BaseModel,), {"__annotations__": fields, "__module__": __name__})


def rows_of(annotation: Any, *values: Any, **options: Any) -> Shape:
    """A shape whose tool answers with rows of one field, `value`."""
    row = type("Row", (BaseModel,), {"__annotations__": {"value": annotation}, "__module__": __name__})
    listed = model(rows=list_of(row))
    return made(listed, listed(rows=[row(value=each) for each in values]), empty="None.", **options)


def list_of(item: Any) -> Any:
    return GenericAlias(list, (item,))


def lines(shape: Shape, server: object = None) -> list[str]:
    """What is found, but for what nearly every small shape lacks."""
    return [f"{each.rule} {each.place}" for each in lint_shape(shape, server=server, config=LEFT_OUT)]


KEY = Annotated[str, Always()]
LINK = model(id=KEY, video_url=Annotated[str | None, Since("open")], notes=Annotated[str | None, Since("open")])
NOTE = model(text=str)
SECRET = Annotated[str, Never()]
BELOW = Annotated[str, Since("open", below=Mask("[b]"))]
SWITCHED = Annotated[str, When("people", otherwise=Mask("[b]"))]
TASK = model(id=Annotated[str, Handle("task")])

told = partial(made, LINK, policy=LEVELS)
point = partial(made, Point)
rows = partial(partial, rows_of)

Mistake = tuple[Callable[[], Shape], Callable[[], Shape], str]
# By rule: a shape with the mistake, the same without it, and the place of the finding.
MISTAKES: dict[str, list[Mistake]] = {
    "foreign-word": [
        (partial(point, doc="Get rows."), partial(point, doc="Get entries."), "description"),
        (partial(point, doc="Get a column."), partial(point, doc="Get a field."), "description"),
        (partial(point, doc="Get Tables."), partial(point, doc="Get lists."), "description"),
        (partial(point, doc="Get an array."), partial(point, doc="Get a `row`, row-like, {{row}}."), "description"),
        (partial(point, doc="List objects."), partial(point, doc="List objects.", name="list_objects"), "description"),
        (partial(point, doc="{null}, null.", encoder=Markdown()), partial(point, doc="{null}, null."), "description"),
        (partial(point, doc="An empty cell."), partial(point, doc="An empty cell.", encoder=Markdown()), "description"),
        (
            partial(point, doc="One row.", encoder=Markdown(), ask={"format"}),
            partial(point, doc="One row.", encoder=Markdown()),
            "description",
        ),
        (partial(made, list[int], empty="No rows."), partial(made, list[int], empty="No {entries}."), "empty"),
        (
            partial(point, arguments={"order": Annotated[str, Field(description="A column.")]}),
            partial(point, arguments={"column": Annotated[str, Field(description="A column.", examples=["A row."])]}),
            "argument order",
        ),
        *(
            (partial(point, doc=wrong), partial(point, doc=right), "description")
            for wrong, right in [
                ("Returns JSON with the day.", "Returns TOON with the day."),
                ("A Markdown text.", "A text. Markdown is read as text."),
                ("A text, formatted as CSV.", "Convert CSV, as `JSON`."),
                ("Get the note\nas JSON.", "Search folders of Markdown and HTML."),
                ("List the days in CSV.", "List documents in CSV."),
                ("Show the day.\n\nReturns:\n    valid JSON.", "Show the day.\n\nArgs:\n    day: it is sent as JSON."),
                ("The answer is in XML.", "Returns XML files, JSON-like, that are kept as JSON or XML."),
                ("Returns a Markdown text.", "Returns the JSON schema."),
                ("Returns the answer as TOON or JSON.", "Returns Markdown and JSON documents."),
            ]
        ),
        (
            partial(point, doc="Get it as JSON.", ask={"format"}),
            partial(point, doc="Get it as TOON, Markdown or JSON.", ask={"format"}),
            "description",
        ),
        (partial(point, doc="Get it as CSV."), partial(point, doc="Get it as CSV.", name="get_csv"), "description"),
        (
            partial(made, NOTE, doc="Get it as Markdown."),
            partial(made, model(text=Annotated[str, Prose()]), doc="Get it as Markdown."),
            "description",
        ),
        (partial(point, empty="Returns JSON of none."), partial(point, empty="No JSON is there."), "empty"),
        (
            partial(
                point, doc="Returns JSON.", arguments={"text": Annotated[str, Field(description="Returned as JSON.")]}
            ),
            partial(point, arguments={"text": Annotated[str, Field(description="Returned as JSON.")]}),
            "description",
        ),
    ],
    "withheld-name": [
        (partial(told, doc="Get its video_url."), partial(told, doc="Get its {keys}."), "description"),
        (
            partial(told, doc="Get it, with video_url where there is one."),
            partial(told, doc="Without a key video_url or `notes` it may not be told, but with its notes."),
            "description",
        ),
        (partial(told, doc="It has the {field} notes."), partial(told, doc="It has no {field} notes."), "description"),
        (partial(told, doc='It has "notes".'), partial(told, doc="Its notes."), "description"),
        (partial(told, doc="Get id and notes of it."), partial(told, doc="Its id and its notes."), "description"),
        (partial(told, doc="Get notes, or id."), partial(told, doc="No notes, or id."), "description"),
        (
            partial(made, model(Aa=SECRET), doc="Get `Aa`."),
            partial(made, model(Aa=SECRET), doc="Get Aa."),
            "description",
        ),
        (partial(told, empty="But `video_url`."), partial(told, empty="No `video_url`."), "empty"),
        (
            partial(told, doc="By its video_url."),
            partial(told, doc="By its video_url.", arguments={"video_url": str}),
            "description",
        ),
        (partial(made, model(a=int, b2=SECRET), doc="Without b2."), partial(made, model(b2=int)), "description"),
        (partial(made, model(a=int, toB=SECRET), doc="Its toB."), partial(made, model(toB=int)), "description"),
        (
            partial(made, model(a=KEY, b2=SECRET), doc="Without b2.", policy=LEVELS),
            partial(made, model(a=KEY, b2=BELOW), doc="With b2.", policy=LEVELS),
            "description",
        ),
        (
            partial(made, model(a=KEY, b2=Annotated[str, When("people")]), doc="It has b2.", policy=POLICY),
            partial(made, model(a=KEY, b2=SWITCHED), doc="It has b2.", policy=POLICY),
            "description",
        ),
    ],
    "no-empty-text": [
        (partial(made, list[int]), partial(made, list[int], empty="None."), "result"),
        (partial(made, list_of(NOTE) | None), partial(made, int | None), "result"),
        (partial(made, RootModel[list[str]]), partial(made, RootModel[dict[str, str]]), "result"),
        (
            partial(made, model(day=str, notes=list_of(NOTE))),
            partial(made, model(uid=str, notes=list_of(NOTE))),
            "It.notes",
        ),
        (
            partial(made, model(total=Annotated[int, Count("tags")], tags=list[str])),
            partial(made, model(total=int, tags=list[str])),
            "It.tags",
        ),
        (
            partial(made, model(a=str, notes=list_of(NOTE) | None)),
            partial(made, model(a=str, notes=Annotated[list_of(NOTE) | None, Notice()])),
            "It.notes",
        ),
    ],
    "untyped-value": [
        *(
            (partial(point, arguments={"value": wrong}), partial(point, arguments={"value": right}), "argument value")
            for wrong, right in [
                (Any, str | None),
                (None, int),
                (dict, dict[str, int]),
                (list, list[str]),
                (list[dict[str, Any]] | None, list[dict[str, int]] | None),
                (tuple[Any, int], tuple[str, int]),
                (model(inner=Any), model(inner=int)),
                (model(inner=model(deep=object)), model(inner=model(deep=int))),
            ]
        ),
        (rows(str, '{"a": 1}', "[1, 2]"), rows(str, '{"a": 1}', "[Event]"), "Row.value"),
        (rows(str, "[]"), rows(str, "[" * 7000, "{", "1"), "Row.value"),
    ],
    "decoration": [
        *(
            (rows(str | None, *wrong), rows(str | None, *right), "Row.value")
            for wrong, right in [
                (("🟢 Ongoing", "🔴 Over"), ("🎉 Party", "Lunch")),
                (("Done ✅",), ("Done ™", "1 ©")),
                (("✓", None), ("1", None)),
                (("🇩🇪", "🇫🇷 France"), ("Germany", "-1")),
                (("Room A", "-"), ("Room A", "Room - B")),
                (("—", "x"), (None, "x")),
                (("N/A",), ("NA",)),
                ((" none ",), ("nonesuch",)),
                (("TBD",), ("tbd.io",)),
            ]
        ),
        (rows(str, "a", ""), rows(str | None, "a", ""), "Row.value"),
        (rows(str, "- a", "-"), rows(Annotated[str, Prose()], "- a", "-"), "Row.value"),
        (rows(str, "-"), rows(Literal["-", "+"], "-"), "Row.value"),
        (rows(Literal["🟢 on", "off"], "off"), rows(Literal["on", "none"], "none"), "Row.value"),
        (rows(Mood, Mood.GOOD), rows(Literal[1, True, "good"], "good"), "Row.value"),
        (rows(dict[str, str], {"a": "-"}), rows(dict[str, str], {"-": "a"}), "Row.value.*"),
        (partial(made, list[str], ["-"], empty="None."), partial(made, list[str], ["a"], empty="None."), "result"),
        (
            rows(Annotated[str, Since("open", below=Mask("—"))], "a", policy=LEVELS),
            rows(Annotated[str, Since("open", below=Mask("[a]"))], "a", policy=LEVELS),
            "Row.value",
        ),
        (
            rows(Annotated[str, Since("middle")], "-", policy=LEVELS),
            rows(Annotated[str, Since("middle")], "a", policy=LEVELS),
            "Row.value",
        ),
    ],
    "always-masked": [
        (
            partial(made, model(a=KEY, b=Annotated[str, Mask("[b]")]), policy=LEVELS),
            partial(made, model(a=KEY, b=BELOW), policy=LEVELS),
            "It.b",
        ),
        (
            partial(made, model(b=BELOW), policy=LEVELS, privacy="middle"),
            partial(made, model(b=BELOW), policy=LEVELS, privacy="open"),
            "It.b",
        ),
        (partial(made, model(a=KEY, b=Annotated[int, Mask(0)])), partial(made, model(a=KEY, b=SECRET)), "It.b"),
        (
            partial(made, model(b=SWITCHED), policy=POLICY, privacy="strict"),
            partial(made, model(b=SWITCHED), policy=POLICY),
            "It.b",
        ),
    ],
    "failing-example": [(partial(point, 5), partial(point, Point(a=5)), "example")],
    "structured-price": [
        (partial(point, structured=True), point, "structured"),
        (partial(point, Point(a=1), encoder=Markdown(), structured=True), partial(point, encoder=Json()), "structured"),
    ],
    "too-long-for-host": [
        (
            partial(made, list[str], ["word"] * 2000, empty="None."),
            partial(made, list[str], ["word"] * 2000, empty="None.", page="result", budget=Chars(7000)),
            "example",
        ),
        (rows(str, "word " * 4000), rows(Annotated[str, Clip(7000)], "word " * 4000), "example"),
    ],
    "unaccepted-handle": [
        (
            partial(made, TASK),
            partial(made, TASK, arguments={"task": Annotated[str, Handle("task", among=lambda: ["a"])]}),
            "return",
        ),
    ],
}


@pytest.mark.parametrize(
    ("rule", "wrong", "right", "place"),
    [pytest.param(rule, *each, id=f"{rule}-{place}") for rule in MISTAKES for place, each in enumerate(MISTAKES[rule])],
)
def test_a_seeded_mistake_is_found_and_its_mended_twin_is_not(
    rule: str, wrong: Callable[[], Shape], right: Callable[[], Shape], place: str
) -> None:
    """A1, A2, A11, A12, C4: the rule finds it at its place, no other rule finds anything, and once mended none does."""
    assert set(lines(wrong())) == {f"{rule} {place}"}
    assert lines(right()) == []


def add(shape: Shape, name: str, **options: Any) -> Callable[..., Any]:
    """Another tool of a shape, as a server is given it."""

    def function() -> Point:
        """Get it."""
        return Point(a=1)

    function.__name__ = name
    return shape.tool(**options)(function)


def test_a_tool_without_an_example_is_a_finding_and_a_shape_without_any_is_one() -> None:
    """B6: what rules see in answers was not seen; said once where no tool has an example."""
    shape = made(Point)
    assert [str(each) for each in lint_shape(shape)] == [
        "get_it: example: it has none. Pass example=, a function that makes a DTO, to shape.tool(). [no-example]"
    ]
    add(shape, "other")
    assert [(each.tool, each.place, each.message) for each in lint_shape(shape)] == [
        ("", "examples", "none of its 2 tools has one.")
    ]
    add(shape, "third", example=lambda: Point(a=1))
    assert [each.tool for each in lint_shape(shape)] == ["get_it", "other"]


def test_an_example_that_fails_is_told_on_one_line() -> None:
    """A finding is one line that says where, whatever the exception says; the other rules go on."""

    def fail() -> Any:
        raise ValueError("first\nsecond\x85third")

    def leave() -> Any:
        raise SystemExit(0)

    shape = made(Point, doc="Get a row.")
    add(shape, "other", example=fail)
    add(shape, "third", example=leave)
    found = [str(each) for each in lint_shape(shape, config=LEFT_OUT)]
    assert [line.rpartition("[")[2] for line in found] == ["foreign-word]", "failing-example]", "failing-example]"]
    assert re.search(r"failed with ValueError in line \d+ of test_lint\.py\. Mend it\.", found[1])
    assert "third: example: the function that makes it ends the program. Mend it." in found[2]
    assert not [line for line in found if len(line.splitlines()) > 1]


def test_a_toggle_that_nothing_is_under_is_found() -> None:
    """B4: a switch that a used one requires is used; one of no field is not, nor is one of a field of no tool."""
    toggles = {name: Toggle(on_since="open", offered_since="open", requires=needs) for name, needs in
               {"a": None, "b": "a", "c": "b", "d": "c"}.items()}  # fmt: skip
    policy = Policy(levels=("strict", "open"), toggles=toggles)
    config = LintConfig(ignore=frozenset({"no-example"}))

    def found(name: str) -> list[tuple[str, str]]:
        shape = made(model(key=KEY, value=Annotated[str, When(name)]), policy=policy)
        return [(each.rule, each.place) for each in lint_shape(shape, config=config)]

    assert found("c") == [("unused-toggle", "toggles.d")]
    assert found("d") == []
    assert found("a") == [("unused-toggle", f"toggles.{name}") for name in "bcd"]


def test_findings_come_tool_by_tool_and_those_of_the_shape_last() -> None:
    """Stable order: tools as they were registered, rules as they are documented."""
    shape = made(list[int], doc="Get rows.")
    add(shape, "another")
    server = MCPServer("test")
    server.add_tool(shape.tools["another"].function, name="elsewhere")
    assert [(each.tool, each.rule) for each in lint_shape(shape, server=server)] == [
        ("get_it", "foreign-word"),
        ("get_it", "no-empty-text"),
        ("elsewhere", "unshaped-tool"),
        ("", "no-example"),
    ]
    tools = {"get_it": frozenset({"foreign-word"}), "elsewhere": frozenset({"unshaped-tool"})}
    ignored = LintConfig(ignore=frozenset({"no-example"}), tools=tools)
    assert [each.rule for each in lint_shape(shape, server=server, config=ignored)] == ["no-empty-text"]
    with pytest.raises(DefinitionError, match=r"there is no tool 'elsewhere'\. Tools: get_it, another\."):
        lint_shape(shape, config=ignored)


def test_one_field_is_one_finding_however_often_its_class_stands_in_an_answer() -> None:
    """A place is the field to mend; where the data does not tell the class, it is the path."""

    class Leaf(BaseModel):
        name: str = Field(serialization_alias="title")
        leaves: list["Leaf"] = []

    class Other(BaseModel):
        name: str

    leaf = Leaf(name="-", leaves=[Leaf(name="-", leaves=[Leaf(name="a")])])
    assert lines(made(Leaf, leaf, empty="None.")) == ["decoration Leaf.name"]

    def get_other() -> Other:
        """Get a row."""
        return Other(name="-")

    both = made(Other, Other(name="-"))
    both.tool(example=get_other)(get_other)
    of_first, of_second = ("get_it", "Other.name"), ("get_other", "Other.name")
    row = ("get_other", "description")
    config = LintConfig(ignore=LEFT_OUT.ignore, tools={"get_it": frozenset({"decoration"})})
    assert [(each.tool, each.place) for each in lint_shape(both, config=LEFT_OUT)] == [of_first, row]
    assert [(each.tool, each.place) for each in lint_shape(both, config=config)] == [row, of_second]
    mixed = model(key=str, one=Leaf | Other)
    assert lines(made(mixed, mixed(key="a", one=Other(name="-")))) == ["decoration It.one.name"]


def test_a_handle_that_nobody_takes_back_is_told_of_the_first_tool() -> None:
    """One parameter mends it for all tools that return the DTO; another kind is another mistake."""
    shape = made(TASK, name="second_by_name")
    for name, declared in [("again", TASK), ("other", model(id=Annotated[str, Handle("note")]))]:
        shape.tool(made(declared, name=name).tools[name].function)
    found = lint_shape(shape, config=LEFT_OUT)
    assert [(each.tool, each.rule) for each in found] == [
        ("second_by_name", "unaccepted-handle"),
        ("other", "unaccepted-handle"),
    ]


@given(
    st.lists(
        st.sampled_from(
            ["Returns", "get", "a", "as", "in", "or", ",", ".", "JSON", "T\u017fV", "files", "\n", "\u0130"]
        )
    )
)
def test_a_description_of_any_words_can_be_read_for_formats(words: list[str]) -> None:
    """Never a crash, always one line; no name at all where the tool is about all of them."""
    assert all(len(str(each).splitlines()) == 1 for each in lint_shape(made(Point, doc=" ".join(words))))
    about: dict[str, Any] = dict.fromkeys(("toon", "markdown", "json", "csv", "html", "tsv", "xml", "yaml"), int)
    assert lines(point(doc=" ".join(words), arguments=about)) == []


def test_the_finding_on_a_format_says_what_the_answer_is() -> None:
    """A11: what is wrong, what is true, and what to do; each name once."""
    shape = made(Point, doc="Returns JSON. Get it as JSON or as CSV.", encoder=Toon())
    said = "Leave the name of the format out. [foreign-word]"
    assert [str(each) for each in lint_shape(shape, config=LEFT_OUT)] == [
        f"get_it: description: it says that the answer is {name}, but it is TOON. {said}" for name in ("JSON", "CSV")
    ]
    (chosen,) = lint_shape(made(Point, doc="Returns JSON.", ask={"format"}), config=LEFT_OUT)
    assert chosen.message == "it says that the answer is JSON, but callers choose its format."


def test_a_finding_is_plain_data() -> None:
    """For programs: stable keys."""
    (finding,) = lint_shape(made(Point))
    assert finding.to_dict().keys() == {"rule", "tool", "place", "message", "remedy"}
    assert Finding(**finding.to_dict()) == finding


METHODS = Shape(encoder=Toon())


class Bound:
    @METHODS.tool()
    def get_point(self) -> Point:
        """Get it."""
        return Point(a=1)

    @METHODS.tool()
    async def get_later(self) -> Point:
        """Get it."""
        return Point(a=1)


def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    """What another decorator makes of a function."""

    @wraps(function)
    def inner(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return inner


@pytest.mark.parametrize("kind", ["MCPServer", "FastMCP"])
def test_a_tool_that_goes_through_a_shape_is_known_by_its_function(kind: str) -> None:
    """B5: bound methods, settings that are followed, other decorators and other names change nothing."""
    adapter: Any = mcpshape.mcpserver if kind == "MCPServer" else mcpshape.fastmcp
    for source in (METHODS, METHODS.using(encoder="json"), follow(METHODS, None, prefix="MCPSHAPE_LINT_TEST_")):
        server = make_server(kind)
        adapter.add_tools(server, source, owner=Bound())
        assert lines(METHODS, server) == []
    shape, server = made(Point), make_server(kind)
    served, other = shape.tools["get_it"].served, made(Point, name="of_another").tools["of_another"].served
    server.tool(name="renamed")(wrapped(served))
    server.tool(name="of_another")(other)
    assert lines(shape, server) == []


@pytest.mark.parametrize("kind", ["MCPServer", "FastMCP"])
def test_a_tool_that_goes_around_the_shape_is_found(kind: str) -> None:
    """B5: decorators in the wrong order, tools of the server's own, and methods that were bound bare."""
    shape, server = made(Point), make_server(kind)

    def get_all(word: str) -> str:
        """Get all."""
        return word

    server.tool()(get_all)
    server.tool()(shape.tools["get_it"].function)
    server.tool(name="bare")(MethodType(METHODS.tools["get_point"].function, Bound()))
    found = {each.tool: each.message for each in lint_shape(shape, server=server, config=LEFT_OUT)}
    assert found.keys() == {"get_all", "get_it", "bare"}
    assert found["get_it"] == "it is served without its shape."
    assert found["get_all"].endswith("get_all does not go through the shape.")
    assert {each.tool: each.message for each in lint_shape(METHODS, server=server, config=LEFT_OUT)}["bare"] == (
        "it is served without its shape."
    )


def test_a_tool_that_was_made_of_a_shaped_one_goes_through_the_shape() -> None:
    """FastMCP transforms tools and mounts servers; a proxy for a tool elsewhere has no function here."""
    shape, server = made(Point, arguments={"x": int}), FastMCP("test")
    server.add_tool(FastTool.from_tool(FastTool.from_function(shape.tools["get_it"].served), name="made_of_it"))
    assert lines(shape, server) == []

    outer: FastMCP[Any] = FastMCP("outer")
    outer.mount(server, namespace="inner")
    outer.mount(make_server("FastMCP"))
    assert lines(shape, outer) == []

    class Remote(FastTool):
        pass

    server.add_tool(Remote(name="remote", parameters={"type": "object"}))
    (finding,) = lint_shape(shape, server=outer, config=LEFT_OUT)
    assert (finding.tool, finding.message) == ("inner_remote", "what it calls does not go through the shape.")


def test_the_handler_of_a_low_level_server_is_that_of_the_adapter() -> None:
    """One handler answers all calls there."""

    async def call(_: Any, params: CallToolRequestParams) -> Any: ...

    shape, server = made(Point), Server[Any]("test")
    assert lines(shape, server) == []
    server.add_request_handler("tools/call", CallToolRequestParams, call)
    (finding,) = lint_shape(shape, server=server, config=LEFT_OUT)
    assert (finding.tool, finding.rule) == ("", "unshaped-tool")
    assert finding.message.endswith("call, which does not go through the shape.")
    server.add_request_handler("tools/call", CallToolRequestParams, partial(call))
    (finding,) = lint_shape(shape, server=server, config=LEFT_OUT)
    assert "tools/call is answered by partial," in finding.message
    mcpshape.lowlevel.add_tools(server, shape)
    assert lines(shape, server) == []


def test_a_server_can_be_looked_at_while_a_loop_runs() -> None:
    """A test that is async is no obstacle."""

    async def run() -> list[str]:
        shape, server = made(Point), FastMCP("test")
        mcpshape.fastmcp.add_tools(server, shape)
        return lines(shape, server)

    assert asyncio.run(run()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"server": 5}, "server: int is no server. Pass an MCPServer, Server or FastMCP."),
        ({"config": LintConfig(ignore=frozenset({"rows"}))}, "ignore: there is no rule 'rows'. Rules: foreign-word,"),
        ({"config": LintConfig(tools={"it": frozenset()})}, "tools: there is no tool 'it'. Tools: get_it."),
        ({"config": LintConfig(tools={"get_it": frozenset({"x"})})}, "ignore: there is no rule 'x'."),
    ],
)
def test_what_cannot_be_looked_at_is_said(options: dict[str, Any], message: str) -> None:
    """Errors for authors say what to do."""
    with pytest.raises(DefinitionError, match=re.escape(message)):
        lint_shape(made(Point), **options)


def test_a_shape_without_tools_has_nothing_to_look_at() -> None:
    """A forgotten import is no clean bill."""
    with pytest.raises(DefinitionError, match=r"tools: the shape has none\. Import the module with its tools\."):
        lint_shape(Shape(encoder=Toon()))


ENCODERS: tuple[Encoder, ...] = (Toon(), Markdown(), Json())
OF_THE_FORMAT = {"foreign-word", "structured-price", "too-long-for-host"}


@given(cases(), st.sampled_from(ENCODERS), st.booleans())
def test_lint_looks_at_any_shape_and_tells_no_value(case: Case, encoder: Encoder, has_format: bool) -> None:
    """Rule 1: never a crash, always one line, no canary, the same twice."""
    ask = {"format"} if has_format else ()
    shape = made(case.spec.cls, case.value, policy=case.policy, encoder=encoder, structured=True, ask=ask)
    found = lint_shape(shape)
    assert found == lint_shape(shape)
    for finding in found:
        assert finding.rule in list_rules()
        assert len(str(finding).splitlines()) == 1
        assert "CANARY" not in str(finding)
    everything = LintConfig(ignore=frozenset(each.rule for each in found))
    assert lint_shape(shape, config=everything) == []


@given(cases())
def test_what_is_wrong_with_a_dto_is_wrong_in_every_format(case: Case) -> None:
    """A6: one DTO, so the same findings but for those on the format itself."""

    def found(encoder: Encoder) -> list[Finding]:
        shape = made(case.spec.cls, case.value, policy=case.policy, encoder=encoder)
        return [each for each in lint_shape(shape) if each.rule not in OF_THE_FORMAT]

    toon, markdown, json = map(found, ENCODERS)
    assert toon == markdown == json


@pytest.mark.parametrize(("encoder", "asks"), list(product(ENCODERS, [False, True])), ids=str)
def test_the_words_of_a_format_are_foreign_in_no_format_that_they_came_from(encoder: Encoder, asks: bool) -> None:
    """A11: placeholders are never foreign, whatever format is chosen, and what `describe` makes of them is not."""
    doc = "{entry} {entries} {field} {fields} {listing} {null}"
    shape = made(Point, doc=doc, encoder=encoder, ask={"format"} if asks else ())
    assert lines(shape) == []
    assert (
        lines(
            made(Point, doc=shape.tools["get_it"].description, encoder=encoder, ask=shape.tools["get_it"].options.ask)
        )
        == []
    )


def test_the_words_of_an_encoder_of_ones_own_are_known_where_callers_choose_it() -> None:
    """A11: no list of words in lint."""

    class Lines:
        name, structured = "Lines", False
        vocabulary = Vocabulary(entry="strip", entries="strips", field="part", fields="parts", listing="heap")

        def encode(self, view: View) -> str:
            return str(view.data)

    def found(**options: Any) -> list[str]:
        shape = Shape(encoder=Toon(), formats=(Lines(), "toon"))
        shape.tool(**options)(get_strips)
        return lines(shape)

    def get_strips() -> Point:
        """Get two heaps of parts."""
        return Point(a=1)

    assert found() == []
    assert found(ask={"format"}) == ["foreign-word description", "foreign-word description"]


def test_the_page_on_lint_shows_a_configuration_that_holds(tmp_path: Path) -> None:
    """docs/reference/lint.md: both tables together, for the shape that the second one names."""
    path = tmp_path / "pyproject.toml"
    path.write_text("\n".join(re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)), encoding="utf-8")
    assert read_config(path, "search_server:shape") == LintConfig(
        ignore=frozenset({"no-example"}),
        server="notes_server:build",
        tools={"export_notes": frozenset({"too-long-for-host"}), "search_content": frozenset({"structured-price"})},
    )


def test_the_page_on_lint_has_every_rule_and_shows_what_is_found() -> None:
    """docs/reference/lint.md: each example gives the findings beside it."""
    introduction, *sections = re.split(r"^### ", PAGE, flags=re.MULTILINE)
    assert [section.partition("\n")[0] for section in sections] == list(list_rules())
    shared: dict[str, Any] = {}
    exec(re.findall(r"```python\n(.*?)```", introduction, re.DOTALL)[0], shared)
    for section in sections:
        (code,), (shown,) = (
            re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL) for language in ("python", "text")
        )
        namespace = dict(shared)
        exec(compile(code, "lint.md", "exec"), namespace)
        assert "\n".join(map(str, lint_shape(namespace["shape"], server=namespace.get("server")))) == shown.strip()
