"""The proof kit: it passes sound servers and fails broken ones, naming tool, level, channel and path."""

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, RootModel
from typing_extensions import TypedDict

from generated import Case, cases
from mcpshape import (
    Always,
    Clip,
    Coarsen,
    Count,
    DefinitionError,
    Handle,
    Mask,
    Never,
    Policy,
    Prose,
    RowCap,
    Shape,
    Shaped,
    Since,
    Toggle,
    UserError,
    When,
)
from mcpshape._plan import compile_plan
from mcpshape.encoders import Encoder, Json, Markdown, Toon
from mcpshape.testing import (
    Secret,
    assert_matches_schema,
    assert_no_leak,
    assert_noninterference,
    canaries,
    decode,
)
from mcpshape.testing._noninterference import pairs
from value_table import ROWS

POLICY = Policy(
    levels=("strict", "minimal", "open"),
    toggles={
        "notes": Toggle(on_since="open", offered_since="minimal"),
        "more_notes": Toggle(on_since="open", offered_since="minimal", requires="notes"),
    },
)
LOG = logging.getLogger("a broken server")


class Event(BaseModel):
    id: Annotated[str, Handle("event")]
    title: Annotated[str, Since("minimal", below=Mask("[Event]"))]
    notes: Annotated[str | None, When("notes")] = None
    day: Annotated[date, Coarsen("month")] = date(2026, 7, 13)


class Answer(BaseModel):
    events: list[Event]
    total: Annotated[int, Count("events")] = 0
    extra: Annotated[str | None, Always()] = None


class Secretive(Event):
    secret: str = "CANARY-subclass"


STORED = [Secretive(id="CANARY-uid", title="CANARY-title", notes="CANARY-notes")]
SECRETS = [
    Secret("id", "CANARY-uid", Never()),
    Secret("title", "CANARY-title", Since("minimal")),
    Secret("notes", "CANARY-notes", When("notes")),
    Secret("secret", "CANARY-subclass", Never()),
]


def sound(_: Shape) -> Answer:
    return Answer(events=list(STORED), total=7)


def summary_sentence(_: Shape) -> Answer:
    return Answer(events=list(STORED), extra=f"Next: {STORED[0].title}")


def title_in_an_error(_: Shape) -> Answer:
    raise UserError(f"{STORED[0].title} cannot be moved.")


def value_in_a_log_line(_: Shape) -> Answer:
    LOG.warning("listing %s", STORED[0].title)
    return Answer(events=[])


def value_in_a_traceback(_: Shape) -> Answer:
    try:
        raise ValueError(STORED[0].title)
    except ValueError:
        LOG.exception("it failed")
    return Answer(events=[])


def id_that_embeds_data(_: Shape) -> Answer:
    return Answer(events=[], extra=f"cursor:{STORED[0].id}")


def subclass_field(_: Shape) -> Answer:
    return Answer(events=[], extra=STORED[0].secret)


def unfiltered_count(_: Shape) -> Answer:
    return Answer(events=[], extra=json.dumps({"CANARY-notes": len(STORED)}))


BROKEN: list[tuple[Callable[[Shape], Answer], str]] = [
    (summary_sentence, "list_events at strict: title is in the text"),
    (summary_sentence, "list_events at strict: title is in the structured part"),
    (title_in_an_error, "list_events at strict: title is in the error"),
    (value_in_a_log_line, "list_events at strict: title is in the log"),
    (value_in_a_traceback, "list_events at strict: title is in the log"),
    (id_that_embeds_data, "list_events at open: id is in the text"),
    (subclass_field, "list_events at open: secret is in the text"),
    (unfiltered_count, "list_events at minimal: notes is in the text"),
]


def make_shape(body: Callable[[Shape], Answer], doc: str = "List events.") -> Shape:
    shape = Shape(POLICY, encoder=Toon())

    def list_events(day: date) -> Answer:
        return body(shape)

    list_events.__doc__ = doc
    shape.tool()(list_events)
    return shape


CALLS: dict[str, list[dict[str, Any]]] = {"list_events": [{"day": "2026-07-13"}, {"day": "CANARY-title"}]}


def test_a_sound_server_passes() -> None:
    """D01, D12: text, structured part, schema, description, errors, records and log."""
    assert_no_leak(make_shape(sound), calls=CALLS, secrets=SECRETS)


@pytest.mark.parametrize(("body", "line"), BROKEN, ids=lambda each: getattr(each, "__name__", ""))
def test_a_broken_server_fails_and_is_told_where(body: Callable[[Shape], Answer], line: str) -> None:
    """D08, D12: each kind of leak, named by tool, level, channel and path."""
    with pytest.raises(AssertionError) as caught:
        assert_no_leak(make_shape(body), calls=CALLS, secrets=SECRETS)
    assert line in str(caught.value).splitlines()


def test_a_leak_in_a_description_is_found() -> None:
    """D01: nor in tools/list."""
    with pytest.raises(AssertionError, match="list_events at strict: title is in the description"):
        assert_no_leak(make_shape(sound, "Such as CANARY-title."), calls=CALLS, secrets=SECRETS)


def test_without_calls_every_declared_dto_is_filled_with_canaries() -> None:
    """D01: a registry test that walks all tools; it fails for a shape whose encoder goes around the view."""
    assert_no_leak(make_shape(sound))
    assert_no_leak(Shape(encoder=Toon()))
    broken = make_shape(sound)
    original = Shape.answer

    class Leaky(Shape):
        def answer(self, tool: str, value: Any, **options: Any) -> Shaped:
            shaped = original(self, tool, value, **options)
            return Shaped(f"{shaped.text} {[vars(event) for event in value.events]}", shaped.structured)

        def using(self, **options: Any) -> Shape:
            changed = Leaky(POLICY, encoder=options["encoder"], grant=options["grant"], structured=True)
            changed.tools = broken.using(**options).tools
            return changed

    leaky = Leaky(POLICY, encoder=Toon())
    leaky.tools = broken.tools
    with pytest.raises(AssertionError) as caught:
        assert_no_leak(leaky)
    assert "list_events at strict: Event.title is in the text" in str(caught.value).splitlines()
    assert "list_events at open: secret_of_a_subclass is in the text" in str(caught.value).splitlines()


def test_a_tool_without_calls_is_not_forgotten() -> None:
    """A check that skips a tool proves nothing."""
    with pytest.raises(AssertionError, match="no calls for list_events"):
        assert_no_leak(make_shape(sound), calls={"list_events": []}, secrets=SECRETS)


def test_a_search_that_could_find_nothing_is_told() -> None:
    """A tool that only fails, and a secret that is told nowhere: a wrong argument or a misspelt value, as a rule."""
    wrong = {"list_events": [{"day": "someday"}, {}, {"date": "2026-07-13"}]}
    with pytest.raises(AssertionError, match="^list_events never answered: each of its calls failed"):
        assert_no_leak(make_shape(sound), calls=wrong)
    assert_no_leak(make_shape(sound), calls=wrong, may_fail={"list_events"})
    misspelt = [*SECRETS, Secret("title", "CANARY-titel", Since("minimal")), Secret("id", "CANARY-nowhere", Never())]
    with pytest.raises(AssertionError, match="^title is told nowhere, not even where its rule allows it") as caught:
        assert_no_leak(make_shape(sound), calls=CALLS, secrets=misspelt)
    assert len(str(caught.value).splitlines()) == 1


class Row(BaseModel):
    text: Annotated[str, Always()]


class Rows(BaseModel):
    rows: list[Row]


def make_pages(texts: Sequence[str]) -> Shape:
    shape = Shape(POLICY, encoder=Toon())

    @shape.tool(page="rows", limit=1)
    def list_rows() -> Rows:
        return Rows(rows=[Row(text=text) for text in texts])

    return shape


def test_every_page_is_searched() -> None:
    """What leaves on a later page leaves as well."""
    secret = [Secret("title", "CANARY-title", Since("minimal"))]
    with pytest.raises(AssertionError, match="list_rows at strict: title is in the text"):
        assert_no_leak(make_pages(["one", "two", "CANARY-title"]), calls={"list_rows": [{}]}, secrets=secret)
    with pytest.raises(AssertionError, match="list_rows has more than 1000 pages for {}; give it fewer rows"):
        assert_no_leak(make_pages(["one"] * 1_001), calls={"list_rows": [{}]})


def test_methods_async_tools_and_shapes_without_levels_are_called_too() -> None:
    """Whatever a shape serves."""
    shape = Shape(encoder=Json())

    class Named(BaseModel):
        name: str

    class Tools:
        @shape.tool()
        async def get(self) -> Named:
            return Named(name="CANARY")

    assert_no_leak(shape, calls={"get": [{}]}, secrets=[Secret("name", "CANARY", Always())], owner=Tools())
    with pytest.raises(AssertionError, match="get at no level: name is in the text"):
        assert_no_leak(shape, calls={"get": [{}]}, secrets=[Secret("name", "CANARY", Since("x"))], owner=Tools())


class Guest(BaseModel):
    name: Annotated[str, Since("minimal")]


@dataclass
class Room:
    name: Annotated[str, Since("open")]


class Extra(TypedDict):
    key: Annotated[str, Since("open")]


class Rich(BaseModel):
    title: Annotated[str, Since("minimal", below=Mask("[x]"))]
    notes: Annotated[str | None, When("notes"), Clip(9)]
    guests: list[Guest]
    total: Annotated[int, Count("guests")]
    room: Room | None
    extra: Extra
    either: Guest | Room
    by_name: Annotated[dict[str, str], Since("open")]
    held: Annotated[str | None, RowCap()]
    start: Annotated[date, Coarsen("month")]
    id: Annotated[str, Handle("x")]
    children: list["Rich"]
    pair: Annotated[tuple[int, float], Since("open")]
    tags: Annotated[set[str], Since("open")]


@pytest.mark.parametrize("level", POLICY.levels)
def test_what_a_level_hides_makes_no_difference(level: str) -> None:
    """Noninterference: answers about DTOs that agree on what is shown are the same, byte for byte."""
    assert_noninterference(Shape(POLICY, encoder=Toon()), Rich, level, examples=40)


@given(cases(), st.data())
def test_noninterference_holds_for_generated_classes(case: Case, data: st.DataObject) -> None:
    """Noninterference over generated classes and policies; HYPOTHESIS_PROFILE=long draws thousands of pairs."""
    plan = compile_plan(case.spec.cls, case.policy, "tool")
    grant = data.draw(st.sampled_from(list(case.grants())))
    pair = data.draw(pairs(plan, grant))
    for encoder in (Toon(), Markdown(), Json()):
        shape = Shape(case.policy, encoder=encoder, structured=True)
        one, other = (shape.render(value, grant=grant, declared=case.spec.cls) for value in pair)
        assert one == other


def test_interference_is_noticed() -> None:
    """A check that cannot fail proves nothing: here the mask depends on what it hides."""

    class Leaky(BaseModel):
        title: Annotated[str, Never()]
        length: Annotated[str, Always()] = ""

        def model_post_init(self, _: Any) -> None:
            self.length = self.title

    class LeakyShape(Shape):
        def render(self, value: Any, **options: Any) -> Shaped:
            return Shaped(str(value.title))

        def using(self, **_: Any) -> Shape:
            return self

    with pytest.raises(AssertionError, match="tells two values apart"):
        assert_noninterference(LeakyShape(POLICY, encoder=Toon()), Leaky, "strict")


@pytest.mark.parametrize("dto", [each.dto() for row in ROWS.values() for each in row.examples], ids=lambda _: "")
def test_canaries_can_be_made_of_any_declared_type(dto: BaseModel) -> None:
    """`canaries`: every row of the table of values."""

    @given(canaries(type(dto)))
    def check(dto: Any) -> None:
        assert dto is not None

    check()


def test_every_leaf_gets_a_canary_of_its_own() -> None:
    """`canaries`: recognisable by path, and different from leaf to leaf."""
    seen = set()

    @given(canaries(Answer))
    def check(answer: Any) -> None:
        for event in answer.events:
            assert event.title.startswith("CANARY-Event.title-")
            seen.add("secret_of_a_subclass" in vars(event))
            assert len({event.id, event.title, event.notes}) == 3

    check()
    assert seen == {True, False}
    with pytest.raises(DefinitionError, match="untyped"):
        canaries(dict)


@pytest.mark.parametrize("encoder", [Toon(), Json(), Markdown()])
@given(data=st.data())
def test_decode_brings_back_the_data_of_any_format(encoder: Encoder, data: st.DataObject) -> None:
    """`decode`: from text alone, whatever the format."""

    class Note(BaseModel):
        text: Annotated[str, Prose()]
        title: str
        tags: list[str]
        rows: list[Guest2]
        groups: list["Group"]
        mixed: list[str | Guest2]
        nothing: None = None
        by_key: dict[str, str | None]
        inner: Guest2 | None
        flag: bool

    class Group(BaseModel):
        name: str
        rows: list[Guest2]

    Note.model_rebuild(_types_namespace={"Group": Group})
    dto = data.draw(canaries(Note))
    text = Shape(encoder=encoder, structured=False).render(dto, declared=Note)
    told = Shape(encoder=Json()).view(dto, declared=Note).data
    assert decode(text) == told
    assert decode(Shape(encoder=encoder, structured=True).render(dto, declared=Note)) == told


class Guest2(BaseModel):
    name: str
    age: int | None


def test_decode_of_markdown_knows_what_is_escaped() -> None:
    """`decode`: values full of marks come back as they were."""

    class Dto(BaseModel):
        value: str
        rows: list[dict[str, str]]
        empty: dict[str, str] = {}

    value = "a | b * c: d\\ `e` <f>\n# g &lt; <br>"
    dto = Dto(value=value, rows=[{"k: |": value}])
    assert decode(Shape(encoder=Markdown()).render(dto)) == {"value": value, "rows": [{"k: |": value}], "empty": {}}
    assert decode(Shape(encoder=Markdown()).render(RootModel[list[str]](["- x", "3 pm", "true story"]))) == {
        "result": ["- x", "3 pm", "true story"]
    }
    with pytest.raises(ValueError, match="no key"):
        decode(Shaped("- x"))


def test_decode_reads_what_a_client_received() -> None:
    """`decode`: a `CallToolResult`, with or without a structured part."""
    for encoder in (Toon(), Markdown(), Json()):
        served = make_shape(sound).using(encoder=encoder, structured=False).tools["list_events"].served
        assert decode(served(day="2026-07-13"))["total"] == 1


def test_a_structured_part_without_any_key_is_one() -> None:
    """`assert_matches_schema`: where nothing may be told, `{}` is there and fits."""

    class Dto(BaseModel):
        title: Annotated[str, Since("open")]

    shape = Shape(Policy(levels=("strict", "open")), encoder=Json())

    @shape.tool()
    def get() -> Dto:
        return Dto(title="x")

    tool = shape.tools["get"]
    assert tool.served().structured_content == {}
    assert_matches_schema(tool.served(), tool)
    assert_matches_schema(shape.answer("get", Dto(title="x")), tool)


def test_a_result_is_held_against_the_schema_of_its_tool() -> None:
    """`assert_matches_schema`: formats, missing parts and failures."""
    shape = make_shape(sound).using(structured=True, encoder=Json())
    tool = shape.tools["list_events"]
    assert_matches_schema(tool.served(day="2026-07-13"), tool)
    assert_matches_schema(tool.served(day="x"), tool)
    good = tool.served(day="2026-07-13").structured_content
    for wrong, message in (
        (Shaped("x"), "there is no structured part"),
        (Shaped("x", {**good, "total": "many"}), r"\$.total: 'many' is not of type 'integer'"),
        (Shaped("x", good, is_error=True), "beside a failure"),
    ):
        with pytest.raises(AssertionError, match=message):
            assert_matches_schema(wrong, tool)
    plain = make_shape(sound).tools["list_events"]
    assert_matches_schema(plain.served(day="2026-07-13"), plain)
