"""A shape at work under both server classes, through real clients."""

import json
import logging
from collections.abc import Callable
from datetime import date
from typing import Annotated, Any

import pytest
from fastmcp import Context as FastContext
from jsonschema import Draft202012Validator
from mcp import MCPError
from mcp.server.mcpserver import Context, MCPServer
from mcp.types import CallToolResult, InputRequiredResult
from pydantic import BaseModel

from clients import KINDS, ask, list_tools, make_server
from mcpshape import (
    Always,
    Count,
    EncodingError,
    Mask,
    Policy,
    Shape,
    Shaped,
    Since,
    Toggle,
    UserError,
    View,
    When,
)
from mcpshape.encoders import Json, Markdown, Toon

pytestmark = pytest.mark.anyio

POLICY = Policy(levels=("strict", "open"), toggles={"notes": Toggle(on_since="open", offered_since="open")})


class Event(BaseModel):
    id: Annotated[str, Always()]
    title: Annotated[str, Since("open", below=Mask("[Event]"))]
    location: Annotated[str | None, Since("open")] = None
    notes: Annotated[str | None, When("notes")] = None


class Day(BaseModel):
    date: Annotated[date, Always()]
    total: Annotated[int, Count("events")] = 0
    events: list[Event]


class Secretive(Event):
    secret: str = "CANARY-subclass"


class Public(BaseModel):
    id: str


class Private(Public):
    secret: str = "CANARY-subclass"


class BrokenEncoder(Toon):
    def encode(self, view: View) -> str:
        raise EncodingError("TOON", "it is broken")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def serve(kind: str, shape: Shape, *functions: Callable[..., Any], **options: Any) -> Any:
    server = make_server(kind)
    for function in functions:
        server.tool()(shape.tool(**options)(function))
    return server


def list_events(day: date, limit: int = 10) -> Day:
    """List the events of a day, one {entry} per event."""
    if day.year < 2000:
        raise UserError("The calendar starts in 2000.", code="too_early", hint="Ask for a later day.", retry_after=2.5)
    events: list[Event] = [Secretive(id="E1", title="CANARY-title", notes="CANARY-notes")]
    return Day(date=day, events=events[:limit])


async def test_a_tool_answers_with_what_the_grant_lets_out(kind: str) -> None:
    """Rules 1 and 2, C1: one text block, no structured part beside TOON, nothing withheld anywhere."""
    server = serve(kind, Shape(POLICY, encoder=Toon()), list_events)
    answer = await ask(server, "list_events", day="2026-07-13")
    assert answer.text == 'date: 2026-07-13\ntotal: 1\nevents[1]{id,title}:\n  E1,"[Event]"'
    assert answer.structured is None
    assert answer.blocks == 1
    assert "CANARY" not in answer.wire


@pytest.mark.parametrize(("encoder", "is_sent"), [(Toon(), False), (Markdown(), False), (Json(), True)])
async def test_the_encoder_decides_whether_structured_content_goes_along(
    kind: str, encoder: Any, is_sent: bool
) -> None:
    """Text that is worth sending is sent alone, with no schema either, unless the author says otherwise."""
    for structured, sent in ((None, is_sent), (True, True), (False, False)):
        server = serve(kind, Shape(POLICY, encoder=encoder, structured=structured), list_events)
        answer = await ask(server, "list_events", day="2026-07-13")
        assert (answer.structured is not None) == sent
        assert ("outputSchema" in (await list_tools(server))["list_events"]) == sent


async def test_structured_content_keeps_nulls_and_fits_the_published_schema(kind: str) -> None:
    """A3, B13, C1: keys are never dropped for being null, and the schema is the one of the data."""
    shape = Shape(POLICY, encoder=Toon(), structured=True, grant=POLICY.grant("open"))
    server = serve(kind, shape, list_events)
    answer = await ask(server, "list_events", day="2026-07-13")
    schema = (await list_tools(server))["list_events"]["outputSchema"]
    assert schema["type"] == "object"
    Draft202012Validator(schema).validate(answer.structured)
    assert answer.structured["events"] == [
        {"id": "E1", "title": "CANARY-title", "location": None, "notes": "CANARY-notes"}
    ]
    event = schema["properties"]["events"]["items"]
    event = schema["$defs"]["Event"] if "$ref" in event else event  # FastMCP resolves references itself.
    assert event["required"] == ["id", "title"]
    assert {"const": "[Event]", "type": "string"} in event["properties"]["title"]["anyOf"]


async def test_a_tool_overrides_the_structured_choice_of_its_shape(kind: str) -> None:
    """Channels: `structured` on the tool is closer than on the shape."""
    server = serve(kind, Shape(POLICY, encoder=Toon()), list_events, structured=True)
    assert (await ask(server, "list_events", day="2026-07-13")).structured is not None


async def test_descriptions_speak_the_words_of_the_format(kind: str) -> None:
    """A11, A12: the same docstring fits every format, and says what an empty answer means."""
    for encoder, words in ((Toon(), "entry"), (Markdown(), "row"), (Json(), "object")):
        server = serve(kind, Shape(POLICY, encoder=encoder), list_events, empty="No {entries}: the day is free {{:}}.")
        description = (await list_tools(server))["list_events"]["description"]
        plural = encoder.vocabulary.entries
        assert description == f"List the events of a day, one {words} per event.\n\nNo {plural}: the day is free {{:}}."


async def test_the_input_schema_is_the_one_of_the_function(kind: str) -> None:
    """The shape changes no parameter."""
    schema = (await list_tools(serve(kind, Shape(POLICY, encoder=Toon()), list_events)))["list_events"]["inputSchema"]
    assert schema["properties"]["day"]["format"] == "date"
    assert schema["properties"]["limit"]["default"] == 10
    assert schema["required"] == ["day"]


async def test_a_user_error_is_a_result_that_reads_as_an_error(kind: str) -> None:
    """A10, C6, rule 6: one block, `isError`, no structured part even where a schema is published."""
    server = serve(kind, Shape(POLICY, encoder=Json()), list_events)
    answer = await ask(server, "list_events", day="1999-01-01")
    assert answer.text == "Error: The calendar starts in 2000. Ask for a later day. Try again in 2.5 seconds."
    assert answer.is_error
    assert answer.structured is None


async def test_wrong_arguments_are_told_by_path_without_their_values(kind: str) -> None:
    """Rule 6: the model learns what is expected where; the rejected value is not repeated."""

    class Filter(BaseModel):
        words: list[int]

    def search(day: date, by: Filter) -> Public:
        return Public(id="x")

    server = serve(kind, Shape(encoder=Toon()), search)
    answer = await ask(server, "search", day="CANARY", by={"words": [1, "CANARY"]})
    assert answer.is_error
    assert "by.words[1]: Input should be a valid integer" in answer.text
    assert "day: Input should be a valid date" in answer.text
    assert answer.text.endswith("Correct the arguments and call again.")
    assert "CANARY" not in answer.text
    assert (await ask(server, "search", day="2026-01-01", by={"words": ["1"]})).text == "id: x"


async def test_a_crash_says_nothing_and_the_log_says_where(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    """Rule 6, D12: one fixed sentence with a reference; the log has the place and the types, and no value."""

    def fail(title: str) -> Public:
        try:
            raise ValueError(f"{title} is wrong")
        except ValueError as error:
            raise KeyError(title) from error

    with caplog.at_level(logging.INFO, logger="mcpshape"):
        answer = await ask(serve(kind, Shape(encoder=Toon()), fail), "fail", title="CANARY")
    assert answer.is_error
    assert "CANARY" not in answer.wire
    (record,) = [record for record in caplog.records if record.name == "mcpshape"]
    logged = record.getMessage()
    assert answer.text.split()[-1].rstrip(".") in logged
    assert "in fail\nbuiltins.ValueError\nwhich led to:" in logged
    assert logged.endswith("builtins.KeyError")
    assert "CANARY" not in logged
    assert record.exc_info is None


async def test_a_value_that_is_not_what_was_declared_is_a_crash(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    """Rules 2 and 6: a wrong type does not leave; the operator is told which."""

    def wrong() -> Public:
        return Event(id="CANARY", title="x")  # type: ignore[return-value]

    answer = await ask(serve(kind, Shape(encoder=Toon()), wrong), "wrong")
    assert answer.is_error
    assert "CANARY" not in answer.wire
    assert "tool wrong returned Event in place of Public" in caplog.text


async def test_registered_errors_show_their_text(kind: str) -> None:
    """A10: any type that the author names; a blank one still says something."""

    class StoreError(Exception):
        pass

    def fail(text: str) -> Public:
        raise StoreError(text)

    server = serve(kind, Shape(encoder=Toon(), user_errors=[StoreError]), fail)
    assert (await ask(server, "fail", text="The store is closed")).text == "Error: The store is closed."
    assert "for a reason of its own" in (await ask(server, "fail", text=" ")).text


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (None, "Error: The answer could not be written as TOON: it is broken. Tell the user; whoever runs "),
        ("{reason}, please retry.", "Error: it is broken, please retry."),
        ("Switch the format back in the settings.", "Error: Switch the format back in the settings."),
    ],
)
async def test_a_failed_encoding_is_worded_by_the_server(kind: str, words: str | None, text: str) -> None:
    """A9: a normal result with `isError`, never a protocol error."""
    options: dict[str, Any] = {"on_encoding_error": words} if words else {}
    answer = await ask(
        serve(kind, Shape(POLICY, encoder=BrokenEncoder(), **options), list_events), "list_events", day="2026-07-13"
    )
    assert answer.text.startswith(text)
    assert answer.is_error


async def test_an_empty_answer_is_the_same_dto(kind: str) -> None:
    """A12, C5, B03: an empty list is a value, and so is None."""

    def nothing() -> Event | None:
        return None

    def none_of_many() -> list[Event]:
        return []

    server = serve(kind, Shape(POLICY, encoder=Toon(), structured=True), list_events, nothing, none_of_many)
    answer = await ask(server, "list_events", day="2026-07-13", limit=0)
    assert answer.text == "date: 2026-07-13\ntotal: 0\nevents: []"
    assert answer.structured == {"date": "2026-07-13", "total": 0, "events": []}
    assert (await ask(server, "nothing")).structured == {"result": None}
    assert (await ask(server, "none_of_many")).text == "result: []"


async def test_async_tools_and_context_parameters_work(kind: str) -> None:
    """The framework fills its own parameters; they are not published and not checked."""
    context: Any = Context if kind == "MCPServer" else FastContext

    async def whoami(name: str, ctx: Any) -> Public:
        assert isinstance(ctx, context)
        if name == "nobody":
            raise UserError("There is nobody.")
        return Public(id=name)

    whoami.__annotations__["ctx"] = context
    server = serve(kind, Shape(encoder=Toon()), whoami)
    assert list((await list_tools(server))["whoami"]["inputSchema"]["properties"]) == ["name"]
    assert (await ask(server, "whoami", name="ada")).text == "id: ada"
    assert (await ask(server, "whoami", name="nobody")).text == "Error: There is nobody."


async def test_a_subclass_leaks_without_the_shape_and_not_with_it() -> None:
    """Rule 2: MCPServer alone sends a subclass's fields in both channels, the shape in neither."""

    def get() -> Public:
        return Private(id="x")

    alone = MCPServer("alone", log_level="CRITICAL")
    alone.tool()(get)
    leaky = await ask(alone, "get")
    assert "CANARY" in leaky.text
    assert "CANARY" in json.dumps(leaky.structured)

    shaped = await ask(serve("MCPServer", Shape(encoder=Json()), get), "get")
    assert shaped.structured == {"id": "x"}
    assert "CANARY" not in shaped.wire


async def test_what_belongs_to_the_protocol_passes_untouched() -> None:
    """Rule 6: a protocol error stays one, and a request for input is no answer to shape."""
    asked = InputRequiredResult(input_requests={}, request_state="state")

    def refuse() -> Public:
        raise MCPError(code=-32001, message="not now")

    async def refuse_later() -> Public:
        raise MCPError(code=-32001, message="not now")

    def need_input() -> Public | InputRequiredResult:
        return asked

    shape = Shape(encoder=Toon())
    with pytest.raises(MCPError):
        shape.tool()(refuse)()
    with pytest.raises(MCPError):
        await shape.tool()(refuse_later)()
    assert shape.tool()(need_input)() is asked


async def test_a_wrong_call_without_a_framework_is_a_result_too() -> None:
    """Rule 6: called by hand with the wrong names, a tool still answers."""
    served: Any = Shape(encoder=Toon()).tool()(find)
    result = served(unknown=1)
    assert isinstance(result, CallToolResult)
    assert result.is_error
    assert "name: this argument is missing." in str(result.content)


async def test_a_parameter_that_no_client_can_send_is_left_alone() -> None:
    """What only a framework or a caller in the same process can fill is neither published nor checked."""

    class Opaque:
        name = "ada"

    def tool(opaque: Any) -> Public:
        return Public(id=opaque.name)

    tool.__annotations__["opaque"] = Opaque
    result: Any = Shape(encoder=Toon()).tool()(tool)(opaque=Opaque())
    assert result.content[0].text == "id: ada"


def find(name: str) -> Public:
    return Public(id=name)


async def test_tools_defined_as_methods_are_bound_to_one_object() -> None:
    """`Shape.tools`: a class of tools is registered once and served for any object of it."""
    shape = Shape(POLICY, encoder=Toon())

    class Tools:
        def __init__(self, prefix: str) -> None:
            self.prefix = prefix

        @shape.tool()
        def get(self, name: str) -> Event:
            """Get one {entry}."""
            return Event(id=name, title=self.prefix + name)

    server = make_server("MCPServer")
    opened = shape.using(grant=POLICY.grant("open"), encoder=Markdown(), structured=True)
    for tool in opened.tools.values():
        server.add_tool(tool.bind(Tools("a ")))
    answer = await ask(server, "get", name="E1")
    assert answer.structured == {"id": "E1", "title": "a E1", "location": None, "notes": None}
    assert (await list_tools(server))["get"]["description"] == "Get one row."
    assert shape.grant == POLICY.grant("strict")
    assert shape.tools["get"].output_schema is None


def test_a_shape_renders_without_any_server() -> None:
    """Rule 11: a shape is a value; nothing needs to be running to see what it lets out."""
    shape = Shape(POLICY, encoder=Toon())
    event = Secretive(id="E1", title="a", notes="b")
    assert shape.render(event, declared=Event).text == 'id: E1\ntitle: "[Event]"'
    assert (
        shape.render(Event(id="E1", title="a"), grant=POLICY.grant("open")).text
        == "id: E1\ntitle: a\nlocation: null\nnotes: null"
    )
    assert shape.view([event], declared=list[Event]).data == {"result": [{"id": "E1", "title": "[Event]"}]}
    assert shape.fail(UserError("No.")) == Shaped("Error: No.", is_error=True)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (UserError("Gone"), "Error: Gone."),
        (UserError("  "), "Error: The call failed."),
        (UserError("Is it?", hint="No"), "Error: Is it? No."),
        (UserError("a\ud800b"), "Error: a\ufffdb."),
        (UserError("Wait.", retry_after=30), "Error: Wait. Try again in 30 seconds."),
    ],
)
def test_an_error_text_is_a_sentence(error: UserError, text: str) -> None:
    """Rule 6: never blank, cause first, then what to do."""
    assert Shape(encoder=Json()).fail(error).text == text


def test_a_long_error_text_stays_below_what_hosts_cut() -> None:
    """Under 8,000 characters, and the cut is marked."""
    text = Shape(encoder=Json()).fail(UserError("x" * 9000, hint="y" * 9000)).text
    assert len(text) < 8000
    assert text.count("…") == 2


def test_a_shape_without_policy_needs_no_rules() -> None:
    """B8: without levels, every declared field leaves, and nothing else."""
    assert Shape(encoder=Json()).render(Private(id="x"), declared=Public).structured == {"id": "x"}
