"""Who is told how much: tools, callers and single calls, which only narrow; handles; errors about DTOs."""

import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import pytest
from fastmcp.tools import Tool as FastTool
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client
from mcp.server.mcpserver import MCPServer
from mcp.types import Implementation
from pydantic import BaseModel

from clients import ask, list_tools, make_server
from mcpshape import (
    Always,
    DefinitionError,
    Handle,
    Keyring,
    Mask,
    Policy,
    Shape,
    Since,
    Toggle,
    UserError,
    When,
)
from mcpshape._caller import Caller, calling
from mcpshape._tokens import SHORTEST, WEEK, Handles
from mcpshape.encoders import Json, Toon
from mcpshape.mcpserver import attach

pytestmark = pytest.mark.anyio

POLICY = Policy(
    levels=("strict", "minimal", "open"),
    toggles={"notes": Toggle(on_since="open", offered_since="minimal")},
)
SECRET = b"0123456789abcdef0123456789abcdef"
IDS = ["meeting-1@example.com", "meeting-2@example.com", "meeting-3@example.com"]


class Event(BaseModel):
    id: Annotated[str, Handle("event")]
    title: Annotated[str, Since("minimal", below=Mask("[Event]"))]
    notes: Annotated[str | None, When("notes")] = None


class Events(BaseModel):
    events: list[Event]


class Named(BaseModel):
    name: Annotated[str, Always()]


class Choice(BaseModel):
    ids: list[Annotated[str, Handle("event", among=lambda: IDS)]]
    note: str = ""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def make_shape(**options: Any) -> Shape:
    defaults: dict[str, Any] = {"encoder": Json(), "keyring": Keyring(SECRET), "grant": POLICY.grant("open")}
    shape = Shape(POLICY, **{**defaults, **options})

    @shape.tool(ask={"privacy", "fields"})
    def list_events() -> Events:
        return Events(events=[Event(id=each, title=f"title of {each}", notes="n") for each in IDS])

    @shape.tool()
    def get_event(event_id: Annotated[str, Handle("event", among=lambda: IDS)]) -> Event:
        return Event(id=event_id, title=f"title of {event_id}")

    @shape.tool(privacy="minimal")
    def pick(choice: Choice) -> Events:
        return Events(events=[Event(id=each, title=f"title of {each}", notes="CANARY") for each in choice.ids])

    return shape


def call(shape: Shape, tool: str, **arguments: Any) -> Any:
    return shape.tools[tool].served(**arguments)


def structured(shape: Shape, tool: str, **arguments: Any) -> Any:
    result = call(shape, tool, **arguments)
    assert not result.is_error, result.content
    return result.structured_content


def handles_of(shape: Shape) -> list[str]:
    return [event["id"] for event in structured(shape, "list_events")["events"]]


def test_a_handle_is_short_and_holds_nothing_of_the_id() -> None:
    """B7, D13: 11 characters that need no quotes in TOON."""
    shape = make_shape(encoder=Toon(), structured=True)
    handles = handles_of(shape)
    assert len(set(handles)) == len(IDS)
    assert {len(handle) for handle in handles} == {SHORTEST}
    text = call(shape, "list_events").content[0].text
    assert all(f"  {handle}," in text for handle in handles)
    assert "example.com,"[:3] not in "".join(handles)


def test_a_handle_is_taken_back_in_lists_and_argument_models() -> None:
    """B7: the tool receives the real id; the published schema is that of a text."""
    shape = make_shape()
    handles = handles_of(shape)
    assert structured(shape, "get_event", event_id=handles[1])["title"] == f"title of {IDS[1]}"
    picked = structured(shape, "pick", choice={"ids": [handles[2], handles[0]]})
    assert [event["title"] for event in picked["events"]] == [f"title of {IDS[2]}", f"title of {IDS[0]}"]


async def test_a_handle_parameter_is_published_as_a_text() -> None:
    """The input schema shows a plain string."""
    server = make_server("MCPServer")
    for tool in make_shape().tools.values():
        server.add_tool(tool.served)
    tools = await list_tools(server)
    assert tools["get_event"]["inputSchema"]["properties"]["event_id"] == {"title": "Event Id", "type": "string"}


@pytest.mark.parametrize("handle", ["", "x", "abcdefghijk", IDS[0], "e" * 40, "\ud800" * 11])
def test_any_other_handle_is_one_and_the_same_error(handle: str) -> None:
    """B7: expired, foreign, edited or invented; nobody is told which."""
    shape = make_shape()
    foreign = make_shape(keyring=Keyring(b"another secret of some length"))
    expired = make_shape(keyring=Keyring(SECRET, clock=lambda: 0))
    texts = {
        call(shape, "get_event", event_id=each).content[0].text
        for each in (handle, handles_of(foreign)[0], handles_of(expired)[0], handles_of(shape)[0][:-1] + "!")
    }
    assert texts == {
        "Error: There is no event with this id. Ids change from time to time; take a new one from another answer."
    }


def test_a_handle_lives_for_its_period_and_the_next() -> None:
    """B7: the same id for a week, another one after it, and the old one accepted for one more."""
    now = 1000.0 * WEEK
    shape = make_shape(keyring=Keyring(SECRET, clock=lambda: now))
    first = handles_of(shape)
    now += WEEK - 1
    assert handles_of(shape) == first
    now += 1
    assert not set(handles_of(shape)) & set(first)
    assert structured(shape, "get_event", event_id=first[0])["title"] == f"title of {IDS[0]}"
    now += WEEK
    assert call(shape, "get_event", event_id=first[0]).is_error


def test_candidates_that_cannot_be_listed_are_a_crash_and_not_an_argument_error() -> None:
    """Rule 6: what a store says of itself is not for the model."""

    def broken() -> list[str]:
        raise ValueError("CANARY")

    def get(event_id: Annotated[str, Handle("event", among=broken)]) -> Named:
        return Named(name=event_id)

    result: Any = Shape(POLICY, encoder=Json()).tool()(get)(event_id="x")
    assert "for a reason of its own" in str(result.content)
    assert "CANARY" not in str(result.content)


def test_two_callers_get_different_handles_and_cannot_use_each_others() -> None:
    """B7: an id cannot be followed from one client to another."""
    shape = make_shape()
    with calling(Caller(principal="a")):
        mine = handles_of(shape)
        assert handles_of(shape) == mine
    with calling(Caller(principal="b")):
        assert not set(handles_of(shape)) & set(mine)
        assert call(shape, "get_event", event_id=mine[0]).is_error


def test_another_replica_resolves_a_handle() -> None:
    """B7: stateless; whoever holds the secret can take a handle back."""
    code = (
        "import sys, os; sys.path.insert(0, sys.argv[1]); from test_narrowing import make_shape, structured;"
        "print(structured(make_shape(), 'get_event', event_id=sys.argv[2])['title'])"
    )
    handle = handles_of(make_shape())[1]
    line = [sys.executable, "-c", code, str(Path(__file__).parent), handle]
    assert subprocess.run(line, capture_output=True, text=True, check=True).stdout.strip() == f"title of {IDS[1]}"


def test_a_collision_lengthens_the_handles_of_one_answer() -> None:
    """B7: two rows never share a handle; longer ones are taken back as well."""

    class Narrow(Keyring):
        def make(self, kind: str, real: str, principal: str, *, length: int = SHORTEST) -> str:
            whole = super().make(kind, real, principal, length=length)
            return whole if length > SHORTEST + 1 else "a" * length

    shape = make_shape(keyring=Narrow(SECRET))
    handles = handles_of(shape)
    assert {len(handle) for handle in handles} == {SHORTEST + 2}
    assert structured(shape, "get_event", event_id=handles[2])["title"] == f"title of {IDS[2]}"


@given(st.lists(st.text(), unique=True, min_size=1), st.text())
def test_a_handle_finds_its_id_among_any_others(ids: list[str], principal: str) -> None:
    """B7: for any ids and any caller."""
    keyring = Keyring(SECRET)
    made = Handles(keyring, principal)
    for real in ids:
        assert keyring.find("event", made.make("event", real), principal, ids) == real
        assert keyring.find("task", made.make("event", real), principal, ids) is None


def test_a_short_secret_is_refused() -> None:
    """Bad input: at start, with how to make one."""
    with pytest.raises(DefinitionError, match="less than 16 bytes. Make one with secrets.token_bytes"):
        Keyring(b"short")


def test_without_a_secret_handles_end_with_the_process() -> None:
    """No secret: a random one for each shape."""
    assert not set(handles_of(make_shape(keyring=None))) & set(handles_of(make_shape(keyring=None)))


def test_handles_that_nobody_takes_back_are_refused() -> None:
    """Bad input: a kind that no tool accepts."""
    shape = Shape(POLICY, encoder=Json())

    @shape.tool()
    def list_events() -> Events:
        return Events(events=[])

    with pytest.raises(DefinitionError, match="no tool takes back its handles of the kind 'event'"):
        attach(MCPServer("test", log_level="CRITICAL"), shape)
    make_shape().check_handles()


def test_a_tool_answers_no_wider_than_its_cap() -> None:
    """B7: a level per tool; what it withholds has no key."""
    shape = make_shape()
    (event,) = structured(shape, "pick", choice={"ids": handles_of(shape)[:1]})["events"]
    assert "notes" in event  # The toggle is on in the setting and offered at minimal.
    strict = make_shape(grant=POLICY.grant("strict"))
    (event,) = structured(strict, "pick", choice={"ids": handles_of(strict)[:1]})["events"]
    assert event["title"] == "[Event]"


def test_a_call_can_ask_for_less_and_never_for_more() -> None:
    """B7, rule 4: an argument lowers the level, and only lowers it."""
    shape = make_shape()
    assert set(structured(shape, "list_events", privacy="strict")["events"][0]) == {"id", "title"}
    narrow = make_shape(grant=POLICY.grant("strict"))
    assert structured(narrow, "list_events", privacy="open") == structured(narrow, "list_events")
    result = call(shape, "list_events", privacy="CANARY")
    assert result.is_error
    assert "'strict', 'minimal' or 'open'" in result.content[0].text
    assert "CANARY" not in result.content[0].text


@pytest.mark.parametrize("way", ["value", "error", "async error", "candidates"])
async def test_a_call_that_asks_for_less_narrows_all_that_the_tool_says(way: str) -> None:
    """Rule 4: sentences, errors about DTOs and errors about candidates, not only the answer."""
    shape = Shape(POLICY, encoder=Json(), grant=POLICY.grant("open"))
    event = Event(id=IDS[0], title="CANARY")

    def candidates() -> list[str]:
        raise UserError("{event.title} is not among them.", about={"event": event})

    @shape.tool(ask={"privacy"})
    def value() -> Named:
        return Named(name=shape.say("Opened {event.title}", event=event))

    @shape.tool(ask={"privacy"})
    def fail() -> Named:
        raise UserError("{event.title} is over.", about={"event": event})

    @shape.tool(ask={"privacy"})
    async def fail_async() -> Named:
        raise UserError("{event.title} is over.", about={"event": event})

    @shape.tool(ask={"privacy"})
    def find(event_id: Annotated[str, Handle("event", among=candidates)] = "") -> Named:
        return Named(name=event_id)

    tool, arguments = {
        "value": ("value", {}),
        "error": ("fail", {}),
        "async error": ("fail_async", {}),
        "candidates": ("find", {"event_id": "x" * SHORTEST}),
    }[way]
    server = make_server("MCPServer")
    server.add_tool(shape.tools[tool].served)
    assert "CANARY" in (await ask(server, tool, **arguments)).text
    narrow = await ask(server, tool, privacy="strict", **arguments)
    assert "[Event]" in narrow.text
    assert "CANARY" not in narrow.text
    assert "CANARY" in (await ask(server, tool, **arguments)).text


def test_a_call_can_ask_for_some_fields_only() -> None:
    """`fields` selects paths; an unknown one is told, and a withheld one stays withheld."""
    shape = make_shape()
    assert set(structured(shape, "list_events", fields=["events.title"])["events"][0]) == {"title"}
    assert structured(shape, "list_events", fields=["events"]) == structured(shape, "list_events")
    narrow = make_shape(grant=POLICY.grant("strict"))
    refused = call(narrow, "list_events", fields=["events.notes"])
    assert refused.is_error
    assert refused.content[0].text == (
        "Error: Nothing of what was chosen may be told. Choose other fields, or none for all that may be told."
    )
    hints = {
        "events.titel": "There are: events.id, events.title, events.notes.",
        "CANARY": "There are: events.",
        "events.title.x": "There are: events.id, events.title, events.notes.",
    }
    for path, hint in hints.items():
        assert hint in call(shape, "list_events", fields=[path]).content[0].text
    assert "There are: events.id, events.title." in call(narrow, "list_events", fields=["events.x"]).content[0].text


def test_fields_inside_of_what_is_not_there_are_null() -> None:
    """Rule 3: a chosen path through null stays null."""

    class Pair(BaseModel):
        left: Named | None = None
        right: Annotated[int, Always()] = 1

    shape = Shape(POLICY, encoder=Json())

    @shape.tool(ask={"fields"})
    def get() -> Pair:
        return Pair()

    assert call(shape, "get", fields=["left.name"]).structured_content == {"left": None}


async def test_the_arguments_that_narrow_are_published() -> None:
    """`ask`: optional arguments in the input schema, with the levels."""
    server = make_server("MCPServer")
    server.add_tool(make_shape().tools["list_events"].served)
    schema = (await list_tools(server))["list_events"]["inputSchema"]
    assert "required" not in schema
    assert {"enum": ["strict", "minimal", "open"], "type": "string"} in schema["properties"]["privacy"]["anyOf"]
    assert (await ask(server, "list_events", privacy="strict")).structured["events"][0]["title"] == "[Event]"
    fast = make_server("FastMCP")
    fast.add_tool(FastTool.from_function(make_shape().tools["list_events"].served))
    assert (await ask(fast, "list_events", privacy="strict")).structured["events"][0]["title"] == "[Event]"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ask": {"privacy", "colour"}}, "'colour' cannot be asked for"),
        ({"privacy": "wide"}, "there is no level 'wide'"),
    ],
)
def test_options_of_a_tool_that_cannot_hold_are_refused(options: dict[str, Any], message: str) -> None:
    """Rule 7: at registration."""
    with pytest.raises(DefinitionError, match=message):

        @Shape(POLICY, encoder=Json()).tool(**options)
        def tool() -> Events:
            return Events(events=[])


def test_added_arguments_do_not_collide() -> None:
    """Names are checked at registration; without a policy there is no privacy to ask for."""
    with pytest.raises(DefinitionError, match="fields: the tool has a parameter of that name already"):

        @Shape(POLICY, encoder=Json()).tool(ask={"fields"})
        def tool(fields: str) -> Events:
            return Events(events=[])

    with pytest.raises(DefinitionError, match="cannot be asked for without a policy"):

        @Shape(encoder=Json()).tool(ask={"privacy"})
        def other() -> Named:
            return Named(name="x")


def test_callers_are_narrowed_by_name_and_strangers_most() -> None:
    """B7: a grant per principal and per client; whoever is not authenticated, or has no name, gets the narrowest."""
    shape = make_shape(
        principals={"trusted": POLICY.grant("open"), "guest": POLICY.grant("minimal")},
        clients={"noisy": POLICY.grant("strict")},
    )
    trusted, unnamed, guest = (set(_as(Caller(who, "calm"), shape)["events"][0]) for who in ("trusted", "x", "guest"))
    assert trusted == unnamed == {"id", "title", "notes"}
    assert guest == {"id", "title"}
    assert _as(Caller("guest", "calm"), shape)["events"][0]["title"] != "[Event]"
    for caller in (Caller(None), Caller(None, "calm"), Caller("trusted"), Caller("trusted", "noisy")):
        assert _as(caller, shape)["events"][0]["title"] == "[Event]"


def _as(caller: Caller, shape: Shape) -> Any:
    with calling(caller):
        return structured(shape, "list_events")


async def test_the_adapter_records_who_is_calling() -> None:
    """`mcpserver.attach`: two clients of one server get different ids; each gets the same ones again."""
    shape = make_shape()
    server = MCPServer("test", log_level="CRITICAL")
    for tool in shape.tools.values():
        server.add_tool(tool.served)
    attach(server, shape)
    seen: dict[str, Any] = {}
    for name in ("one", "two", "one\x1b[31m", "x" * 500):
        async with Client(server, client_info=Implementation(name=name, version="1")) as client:
            first = (await client.call_tool("list_events", {})).structured_content
            assert first is not None
            seen[name] = [event["id"] for event in first["events"]]
            again = await client.call_tool("get_event", {"event_id": seen[name][0]})
            assert not again.is_error
    assert seen["one"] != seen["two"]


async def test_missing_and_unknown_arguments_are_named_once_attached() -> None:
    """Rule 6: no value is repeated, and the model learns which arguments there are."""
    shape = make_shape()
    server = MCPServer("test", log_level="CRITICAL")
    for tool in shape.tools.values():
        server.add_tool(tool.served)
    server.add_tool(lambda: "x", name="other")
    attach(server, shape)
    answer = await ask(server, "get_event", evnt_id="CANARY")
    assert answer.is_error
    assert answer.text == (
        "Error: event_id: this argument is missing. There is no argument 'evnt_id'; there are: event_id. "
        "Correct the arguments and call again."
    )
    assert "there are: fields, privacy" in (await ask(server, "list_events", x=1)).text
    assert (await ask(server, "other")).text == "x"
    assert not (await ask(server, "list_events")).is_error


def test_a_grant_explains_who_narrowed_it() -> None:
    """`grant.explain()`: who asked for what, and what came out."""
    grant = POLICY.grant("open").narrowed("tool", POLICY.widest("minimal")).narrowed("call", POLICY.widest("open"))
    assert grant.explain().splitlines() == [
        "tool: asked for minimal, got minimal",
        "call: asked for open, got minimal, without level open",
        "level minimal (2 of 3)",
        "notes: on (usually off at minimal)",
    ]


@given(st.permutations(["strict", "minimal", "open"]), st.booleans())
def test_the_order_of_narrowing_does_not_matter(levels: list[str], has_notes: bool) -> None:
    """Rule 4: setting, tool, principal, client and call meet."""
    grant = POLICY.grant("open", toggles={"notes": has_notes})
    for level in levels:
        grant = grant.narrowed("somebody", POLICY.widest(level))
    assert grant == POLICY.grant("strict")


def test_an_error_about_a_dto_goes_through_the_door() -> None:
    """B5, D08: a title in an error is told no wider than anywhere else."""
    event = Event(id=IDS[0], title="CANARY")
    error = UserError("{event.title} cannot be moved.", hint="Try another.", about={"event": event})
    assert make_shape().fail(error).text == "Error: CANARY cannot be moved. Try another."
    assert make_shape(grant=POLICY.grant("strict")).fail(error).text == "Error: [Event] cannot be moved. Try another."


def test_a_mistake_in_the_words_of_an_error_shows_nothing() -> None:
    """Rule 6: a template that cannot be filled is a crash, and the log says why."""
    error = UserError("{event.titel} is wrong.", about={"event": Event(id="1", title="CANARY")})
    assert "for a reason of its own" in make_shape().fail(error).text


class Owned:
    def __init__(self, ids: list[str]) -> None:
        self.ids = ids


def test_a_method_takes_its_candidates_from_the_object_it_is_bound_to() -> None:
    """`among` of a tool that is a method."""
    shape = Shape(POLICY, encoder=Json(), keyring=Keyring(SECRET))

    class Tools(Owned):
        @shape.tool()
        def get(self, event_id: Annotated[str, Handle("event", among=lambda tools: tools.ids)]) -> Event:
            return Event(id=event_id, title="x")

    handle = handles_of(make_shape())[0]
    assert not shape.tools["get"].bind(Tools(IDS))(event_id=handle).is_error
    assert shape.tools["get"].bind(Tools([]))(event_id=handle).is_error


def test_a_handle_outside_of_a_call_is_left_as_it_is() -> None:
    """The marker resolves under a shape only; elsewhere the model is an ordinary one."""
    assert Choice(ids=["x"]).ids == ["x"]
