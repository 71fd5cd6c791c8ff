"""Group B of the cases: DTOs that other servers stumbled over, through a real client of both server classes."""

import json
import logging
import subprocess
import sys
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from math import inf, nan
from typing import Annotated, Any, Literal

import pytest
from jsonschema import Draft202012Validator
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, RootModel, computed_field
from pydantic.alias_generators import to_camel
from pydantic.dataclasses import dataclass as pydantic_dataclass
from typing_extensions import TypeAliasType

from clients import KINDS, Answer, ask, decode, list_tools, make_server
from mcpshape import Always, DefinitionError, Policy, Shape, Since
from mcpshape._plan import compile_plan
from mcpshape._schema import publish_schema
from mcpshape.encoders import Encoder, Json, Markdown, Toon

pytestmark = pytest.mark.anyio
ENCODERS: tuple[Encoder, ...] = (Json(), Toon(), Markdown())
ORDERS = Policy(levels=("strict", "open"))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def answers(kind: str, function: Callable[[], Any], policy: Policy | None = None) -> list[Answer]:
    """What a tool answers as JSON, TOON and Markdown, each with a structured part that fits the published schema."""
    given = []
    for encoder in ENCODERS:
        server = make_server(kind)
        server.tool()(Shape(policy, encoder=encoder, structured=True).tool()(function))
        answer = await ask(server, function.__name__)
        schema = (await list_tools(server))[function.__name__]["outputSchema"]
        assert schema["type"] == "object"
        if not answer.is_error:
            checker = Draft202012Validator.FORMAT_CHECKER
            Draft202012Validator(schema, format_checker=checker).validate(answer.structured)
        assert answer.blocks == 1
        assert answer.text.strip()
        given.append(answer)
    if not given[0].is_error:
        assert json.loads(given[0].text, parse_constant=pytest.fail) == given[0].structured == decode(given[1].text)
        assert all(answer.structured == given[0].structured for answer in given)
    return given


def texts(given: list[Answer]) -> list[str]:
    return [answer.text for answer in given]


class Ev(BaseModel):
    event_id: str = Field(validation_alias=AliasChoices("id", "eventId"), serialization_alias="eventId")
    start: int
    end: int

    @computed_field  # type: ignore[prop-decorator]
    @property
    def minutes(self) -> int:
        return self.end - self.start


async def test_b01_schema_and_data_use_the_serialized_names(kind: str) -> None:
    """B01: the four keys of the case in schema, structured part and every text."""

    def event() -> Ev:
        return Ev.model_validate({"id": "1", "start": 1, "end": 5})

    told = await answers(kind, event)
    assert told[0].structured == {"eventId": "1", "start": 1, "end": 5, "minutes": 4}
    schema = publish_schema(compile_plan(Ev, None, "tool"))
    assert list(schema["properties"]) == schema["required"] == ["eventId", "start", "end", "minutes"]
    assert texts(told) == [
        '{"eventId":"1","start":1,"end":5,"minutes":4}',
        'eventId: "1"\nstart: 1\nend: 5\nminutes: 4',
        "- eventId: 1\n- start: 1\n- end: 5\n- minutes: 4",
    ]


class Camel(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)
    start_time: int
    own_name: int = Field(default=2, alias="NAME")
    only_read: int = Field(default=3, validation_alias="readAs")
    inner: list["Camel"] = []

    @computed_field  # type: ignore[prop-decorator]
    @property
    def end_time(self) -> int:
        return self.start_time + 1

    @computed_field(alias="odd key: a.b")  # type: ignore[prop-decorator]
    @property
    def odd(self) -> int:
        return 0


@pydantic_dataclass
class Aliased:
    of_dataclass: int = Field(serialization_alias="ofDataclass")


class Holder(BaseModel):
    model_config = ConfigDict(serialize_by_alias=False)
    value: Aliased = Field(serialization_alias="theValue")


async def test_b01_every_way_to_name_a_field_is_the_same_in_schema_and_data(kind: str) -> None:
    """B01: generators, validation aliases, nested models, dataclasses, and computed fields with names of their own."""

    def camel() -> Camel:
        return Camel(start_time=1, inner=[Camel(start_time=5)])

    def holder() -> Holder:
        return Holder(value=Aliased(of_dataclass=1))

    inner = {"startTime": 5, "NAME": 2, "onlyRead": 3, "inner": [], "endTime": 6, "odd key: a.b": 0}
    assert (await answers(kind, camel))[0].structured == {
        "startTime": 1,
        "NAME": 2,
        "onlyRead": 3,
        "inner": [inner],
        "endTime": 2,
        "odd key: a.b": 0,
    }
    assert (await answers(kind, holder))[0].structured == {"theValue": {"ofDataclass": 1}}


def test_b01_two_fields_with_one_name_are_refused() -> None:
    """B01: else one of them would be lost in the data and be required in the schema."""

    class Twice(BaseModel):
        a: int = Field(default=1, serialization_alias="x")

        @computed_field(alias="x")  # type: ignore[prop-decorator]
        @property
        def b(self) -> int:
            return 2

    with pytest.raises(DefinitionError, match="Twice.a: another field is written as 'x' too"):
        compile_plan(Twice, None, "tool")


class Event(BaseModel):
    title: str


class Page(BaseModel):
    events: list[Event] = []


async def test_b03_an_empty_list_is_one_text_that_says_so(kind: str) -> None:
    """B03: never zero blocks, no error, and the structured part is the empty list under its name."""

    def events() -> list[Event]:
        return []

    told = await answers(kind, events)
    assert texts(told) == ['{"result":[]}', "result: []", "- result: *empty list*"]
    assert [(each.structured, each.is_error) for each in told] == [({"result": []}, False)] * 3

    def page() -> Page:
        return Page()

    assert texts(await answers(kind, page)) == ['{"events":[]}', "events: []", "- events: *empty list*"]


EMPTY: tuple[tuple[Any, Any, tuple[str, str, str]], ...] = (
    (Event | None, None, ('{"result":null}', "result: null", "- result: *none*")),
    (list[Event] | None, None, ('{"result":null}', "result: null", "- result: *none*")),
    (list[Event] | None, [], ('{"result":[]}', "result: []", "- result: *empty list*")),
    (list[Event | None], [None], ('{"result":[null]}', "result[1]: null", "- result:\n  - *none*")),
    (list[list[Event]], [[]], ('{"result":[[]]}', "result[1]:\n  - [0]:", "- result:\n  - *empty list*")),
    (set[str], set(), ('{"result":[]}', "result: []", "- result: *empty list*")),
    (str | None, "", ('{"result":null}', "result: null", "- result: *none*")),
    (str, "", ('{"result":""}', 'result: ""', '- result: ""')),
    (dict[str, int], {}, ("{}", "# nothing to show", "*nothing shown*")),
    (None, None, ('{"result":null}', "result: null", "- result: *none*")),
)


@pytest.mark.parametrize(("declared", "value", "expected"), EMPTY, ids=str)
async def test_b03_nothing_is_told_apart_from_none_and_from_empty(
    kind: str, declared: Any, value: Any, expected: tuple[str, str, str]
) -> None:
    """B03: `Optional` at the root, lists in lists, lists of none, empty texts and dicts."""

    def nothing() -> Any:
        return value

    nothing.__annotations__["return"] = declared
    told = await answers(kind, nothing)
    assert texts(told) == list(expected)
    assert not any(each.is_error for each in told)


class Stats(BaseModel):
    ratio: float
    peak: float | None = None


async def test_b05_nan_is_an_error_that_names_the_field_where_null_is_not_allowed(
    kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    """B05: the same in all formats; the model reads no value and no blame, the operator which field it was."""

    def stats() -> Stats:
        return Stats(ratio=float("nan"), peak=float("inf"))

    with caplog.at_level(logging.ERROR, "mcpshape"):
        told = await answers(kind, stats)
    assert all(each.is_error and each.structured is None for each in told)
    assert all("not because of the arguments" in each.text for each in told)
    assert not [each for each in told for word in ("NaN", "Infinity", "nan", "inf") if word in each.text.split()]
    assert caplog.text.count("Stats.ratio is NaN or infinite. Declare it nullable, or fill in a number.") == 3


@pytest.mark.parametrize("peak", [nan, inf, -inf])
async def test_b05_nan_is_null_where_null_is_allowed(kind: str, peak: float) -> None:
    """B05: never the bare words NaN or Infinity, and valid under the schema."""

    def stats() -> Stats:
        return Stats(ratio=0.5, peak=peak)

    assert texts(await answers(kind, stats)) == [
        '{"ratio":0.5,"peak":null}',
        "ratio: 0.5\npeak: null",
        "- ratio: 0.5\n- peak: *none*",
    ]


class When(BaseModel):
    when: datetime


class Times(BaseModel):
    when: datetime
    day: date
    at: time
    takes: timedelta
    costs: Decimal


async def test_b07_a_naive_datetime_gets_no_zone_and_no_format(kind: str) -> None:
    """B07: floating calendar times stay floating, and a validator with format checks takes the result."""

    def when() -> When:
        return When(when=datetime(2026, 3, 2, 9, 0))

    assert texts(await answers(kind, when)) == [
        '{"when":"2026-03-02T09:00:00"}',
        'when: "2026-03-02T09:00:00"',
        "- when: 2026-03-02T09:00:00",
    ]
    schema = publish_schema(compile_plan(When, None, "tool"))
    assert schema["properties"] == {"when": {"type": "string"}}

    def times() -> Times:
        return Times(
            when=datetime(2026, 3, 2, 9),
            day=date(2026, 3, 2),
            at=time(9),
            takes=timedelta(hours=-1.5),
            costs=Decimal("1.10"),
        )

    assert (await answers(kind, times))[0].structured == {
        "when": "2026-03-02T09:00:00",
        "day": "2026-03-02",
        "at": "09:00:00",
        "takes": "-PT1H30M",
        "costs": "1.10",
    }


class Task(BaseModel):
    id: str
    subtasks: list["Task"] = []


class Folder(BaseModel):
    name: str
    files: list["File"] = []


class File(BaseModel):
    name: str
    folder: Folder | None = None


class Boxed(RootModel[Task]):
    pass


def find_references(schema: Any) -> list[str]:
    if isinstance(schema, list):
        return [ref for each in schema for ref in find_references(each)]
    if not isinstance(schema, dict):
        return []
    own = [schema["$ref"]] if isinstance(schema.get("$ref"), str) else []
    return own + [ref for each in schema.values() for ref in find_references(each)]


async def test_b09_a_recursive_dto_is_an_object_at_the_root(kind: str) -> None:
    """B09: TOON falls back to lists for the recursive column, and every format tells the same."""

    def task() -> Task:
        return Task(id="1", subtasks=[Task(id="2")])

    told = await answers(kind, task)
    assert told[0].text == '{"id":"1","subtasks":[{"id":"2","subtasks":[]}]}'
    assert told[1].text == 'id: "1"\nsubtasks[1]:\n  - id: "2"\n    subtasks: []'


@pytest.mark.parametrize(
    "declared", [Task, Boxed, RootModel[Task], Folder, File, list[Task], Task | None, dict[str, Task]], ids=str
)
def test_b09_no_schema_is_a_bare_reference(declared: Any) -> None:
    """B09: models, root models and mutually recursive models; every `$ref` resolves inside of the schema."""
    schema = publish_schema(compile_plan(declared, None, "tool"))
    assert schema["type"] == "object"
    assert "$ref" not in schema
    found = find_references(schema)
    assert found
    assert {ref.removeprefix("#/$defs/") for ref in found} == set(schema["$defs"])


def test_b09_mutually_recursive_models_are_told_whole() -> None:
    """B09: a cycle of classes is no cycle of values."""
    folder = Folder(name="a", files=[File(name="b", folder=Folder(name="c"))])
    shaped = Shape(encoder=Toon(), structured=True).render(folder)
    assert shaped.structured == {"name": "a", "files": [{"name": "b", "folder": {"name": "c", "files": []}}]}
    assert shaped.text == "name: a\nfiles[1]:\n  - name: b\n    folder:\n      name: c\n      files: []"
    boxed = Shape(encoder=Toon()).render(Boxed(Task(id="1", subtasks=[Task(id="2")])))
    assert boxed.text == 'id: "1"\nsubtasks[1]:\n  - id: "2"\n    subtasks: []'


class Guarded(BaseModel):
    id: Annotated[str, Always()]
    secret: Annotated[str, Since("open")]
    subtasks: list["Guarded"] = []


async def test_b09_the_filter_recurses(kind: str) -> None:
    """B09: what a level withholds is withheld in every depth."""

    def guarded() -> Guarded:
        return Guarded(id="1", secret="CANARY", subtasks=[Guarded(id="2", secret="CANARY")])

    told = await answers(kind, guarded, ORDERS)
    assert told[0].structured == {"id": "1", "subtasks": [{"id": "2", "subtasks": []}]}
    assert not [each for each in told if "CANARY" in each.wire]


class Tree(RootModel[list["Tree"]]):
    pass


class Lookup(RootModel[dict[str, "Lookup | int"]]):
    pass


Nested = TypeAliasType("Nested", "list[Nested] | int")


@pytest.mark.parametrize("declared", [Tree, Lookup, list[Tree], Nested], ids=str)
def test_b09_what_holds_itself_without_a_model_is_refused(declared: Any) -> None:
    """B09, rule 7: a root model or an alias that is inside of itself is a mistake with a remedy, not a crash."""
    with pytest.raises(DefinitionError, match="a recursive alias has no place in a result. Declare a model"):
        compile_plan(declared, None, "tool")


def test_b09_a_value_that_holds_itself_is_a_failure_and_no_hang() -> None:
    """B09: a cycle of values cannot be told; the model learns that it is not to blame."""
    task = Task(id="CANARY")
    task.subtasks.append(task)
    for encoder in ENCODERS:
        shaped = Shape(encoder=encoder).render(task)
        assert shaped.is_error
        assert "CANARY" not in shaped.text


class Att(BaseModel):
    name: str
    data: bytes


@pytest.mark.parametrize(
    ("data", "written"),
    [
        (b"\x89PNG\xff", "iVBOR_8="),
        (b"text", "dGV4dA=="),
        (b"", ""),
        (bytes(range(256)), None),
        (b"\xed\xa0\x80", "7aCA"),
    ],
)
async def test_b12_bytes_are_base64_everywhere(kind: str, data: bytes, written: str | None) -> None:
    """B12: bytes that are UTF-8 and bytes that are not, in one alphabet that the schema declares."""
    from base64 import urlsafe_b64encode

    def attachment() -> Att:
        return Att(name="a.png", data=data)

    told = await answers(kind, attachment)
    expected = urlsafe_b64encode(data).decode() if written is None else written
    assert told[0].structured == {"name": "a.png", "data": expected}
    schema = publish_schema(compile_plan(Att, None, "tool"))
    assert schema["properties"]["data"] == {"type": "string", "contentEncoding": "base64url"}


def test_b12_a_listing_can_leave_attachments_out() -> None:
    """B12: a rule keeps a megabyte out of a listing, and the text says the size that the author declares."""

    class Listed(BaseModel):
        name: Annotated[str, Always()]
        data: Annotated[bytes, Since("open")]

        @computed_field  # type: ignore[prop-decorator]
        @property
        def size(self) -> Annotated[int, Always()]:
            return len(self.data)

    shaped = Shape(ORDERS, encoder=Toon()).render(Listed(name="a.png", data=bytes(1_000_000)))
    assert shaped.text == "name: a.png\nsize: 1000000"


class Optional(BaseModel):
    title: str
    location: str | None = None
    tags: list[str] | None = None


async def test_b13_optional_fields_are_null_in_schema_and_data(kind: str) -> None:
    """B13: one policy, and TOON keeps its table because the keys stay."""

    def events() -> list[Optional]:
        return [Optional(title="a"), Optional(title="b", location="Room")]

    told = await answers(kind, events)
    assert told[0].structured == {
        "result": [{"title": "a", "location": None, "tags": None}, {"title": "b", "location": "Room", "tags": None}]
    }
    assert texts(told)[1:] == [
        "result[2]{title,location,tags}:\n  a,null,null\n  b,Room,null",
        "## result\n\n| title | location | tags |\n| --- | --- | --- |\n| a |  |  |\n| b | Room |  |",
    ]


class Withheld(BaseModel):
    title: Annotated[str, Always()]
    location: Annotated[str | None, Since("open")] = None
    place: Annotated[str | None, Always()] = None


async def test_b13_a_withheld_field_is_absent_and_not_required(kind: str) -> None:
    """B13, rule 3: null means "has none", an absent key "not told"."""

    def event() -> Withheld:
        return Withheld(title="a", location="CANARY")

    told = await answers(kind, event, ORDERS)
    assert told[0].structured == {"title": "a", "place": None}
    schema = publish_schema(compile_plan(Withheld, ORDERS, "tool"))
    assert schema["required"] == ["title", "place"]
    assert "location" in schema["properties"]


class Circle(BaseModel):
    kind: Literal["circle"] = "circle"
    radius: float | None


class Square(BaseModel):
    kind: Literal["square"] = "square"
    side: int
    tags: list[str] | None = None


async def test_b13_a_discriminated_union_with_optional_fields_fits_its_schema(kind: str) -> None:
    """B13: unequal key sets are a list in TOON, and every null is allowed by the branch that it stands in."""

    def shapes() -> list[Annotated[Circle | Square, Field(discriminator="kind")]]:
        return [Circle(radius=None), Square(side=2), Square(side=3, tags=[])]

    told = await answers(kind, shapes)
    assert told[1].text == (
        "result[3]:\n  - kind: circle\n    radius: null\n  - kind: square\n    side: 2\n    tags: null\n"
        "  - kind: square\n    side: 3\n    tags: []"
    )


SERVER = """
import sys
sys.path[:0] = {path!r}
from pydantic import BaseModel
from clients import make_server
from mcpshape import Shape
from mcpshape.encoders import {encoder}
server = make_server({kind!r})

class Optional(BaseModel):
    title: str
    location: str | None = None
    tags: list[str] | None = None

def events() -> list[Optional]:
    return [Optional(title="a")]

server.tool()(Shape(encoder={encoder}(), structured={structured}).tool()(events))
server.run(**{options!r})
"""


def nulls(message: Any, path: str = "") -> list[str]:
    """Where a message is null, apart from the data."""
    if path.endswith(".structuredContent"):
        return []
    if isinstance(message, dict):
        return [found for key, each in message.items() for found in nulls(each, f"{path}.{key}")]
    if isinstance(message, list):
        return [found for each in message for found in nulls(each, f"{path}[]")]
    return [path] if message is None else []


@pytest.mark.parametrize("structured", [True, False])
def test_b13_the_envelope_has_no_null_members(kind: str, structured: bool) -> None:
    """B13: the bytes on standard output, read without a client: no `annotations: null`, no `_meta: null`."""
    options = {} if kind == "MCPServer" else {"show_banner": False}
    code = SERVER.format(path=sys.path, encoder="Toon", kind=kind, structured=structured, options=options)
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
    calls: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": client},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
        {"id": 3, "method": "tools/call", "params": {"name": "events", "arguments": {}}},
    ]
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ) as process:  # fmt: skip
        assert process.stdin
        assert process.stdout
        received = {}
        for call in calls:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **call}) + "\n")
            process.stdin.flush()
            while "id" in call and call["id"] not in received:
                message = json.loads(process.stdout.readline())
                received[message.get("id")] = message
        process.stdin.close()
        process.wait(10)
    result = received[3]["result"]
    assert result["content"] == [{"type": "text", "text": "result[1]{title,location,tags}:\n  a,null,null"}]
    assert ("structuredContent" in result) is structured
    assert nulls(received[3]) == nulls(received[2]) == []
