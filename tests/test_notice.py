"""Notices: fields that an answer has only where they hold something."""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from ipaddress import IPv4Address
from typing import Annotated, Any, Literal, NotRequired

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import DictLoader
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field, PlainSerializer, RootModel, computed_field, create_model
from typing_extensions import TypedDict

from clients import KINDS, ask, list_tools, make_server
from mcpshape import (
    Always,
    Chars,
    Clip,
    Coarsen,
    Count,
    DefinitionError,
    Handle,
    Mask,
    Never,
    Notice,
    Policy,
    Prose,
    RowCap,
    Rows,
    Shape,
    Since,
    Toggle,
    When,
)
from mcpshape.encoders import Encoder, Json, Markdown, Toon
from mcpshape.testing import assert_matches_schema, assert_no_leak, assert_noninterference, decode

POLICY = Policy(
    levels=("strict", "open"),
    toggles={"notes": Toggle(on_since="open", offered_since="open")},
)
OPEN = POLICY.grant("open")


class Outage(BaseModel):
    source: Annotated[str, Always()]
    reason: Annotated[str, Since("open")] = "no answer"


class Event(BaseModel):
    title: Annotated[str, Since("open", below=Mask("[Event]"))]
    place: Annotated[str | None, Since("open")] = None
    warning: Annotated[str | None, Always(), Notice()] = None


class Day(BaseModel):
    day: Annotated[str, Always()]
    events: list[Event]
    unavailable: Annotated[list[Outage], Notice()] = []


class Plain(BaseModel):
    """A day without notices, field for field."""

    class PlainEvent(BaseModel):
        title: Annotated[str, Since("open", below=Mask("[Event]"))]
        place: Annotated[str | None, Since("open")] = None

    day: Annotated[str, Always()]
    events: list[PlainEvent]


LUNCH = Event(title="Lunch", place="Canteen")
QUIET = Day(day="Monday", events=[LUNCH])
LOUD = Day(
    day="Monday",
    events=[LUNCH, Event(title="Talk", warning="overlaps")],
    unavailable=[Outage(source="Work"), Outage(source="Home", reason="no token")],
)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def make_shape(value: Day = LOUD, **options: Any) -> Shape:
    """A shape with a tool that answers with a day, under the options of a tool."""
    shape = Shape(POLICY, encoder=Json(), grant=OPEN)

    def show() -> Day:
        """The day, as {keys}, its events as {keys:events}."""
        return value

    shape.tool(**options)(show)
    return shape


def data_of(value: Any, shape: Shape | None = None, **options: Any) -> Any:
    return (shape or Shape(encoder=Json())).view(value, **options).data


@pytest.mark.anyio
@pytest.mark.parametrize("kind", KINDS)
async def test_an_answer_without_notices_is_the_one_without_their_fields(kind: str) -> None:
    """Byte for byte, through a real client; where there is something to say, the answer says it."""
    for encoder in (Json(), Toon(), Markdown()):
        shape = Shape(POLICY, encoder=encoder, grant=OPEN, structured=True)

        @shape.tool()
        def show(*, is_loud: bool) -> Day:
            """The day, as {keys}."""
            return LOUD if is_loud else QUIET

        plain = Plain.model_validate(QUIET.model_dump())
        server = make_server(kind)
        server.add_tool(shape.tools["show"].served)
        quiet, loud = [await ask(server, "show", is_loud=each) for each in (False, True)]
        assert quiet.text == shape.render(plain).text
        assert quiet.structured == shape.render(plain).structured
        assert quiet.structured.keys() == {"day", "events"}
        assert "no token" in loud.text
        assert [each["source"] for each in loud.structured["unavailable"]] == ["Work", "Home"]
        assert [each.get("warning") for each in loud.structured["events"]] == [None, "overlaps"]
        listed = (await list_tools(server))["show"]
        assert listed["description"] == "The day, as day, events, unavailable."
        assert listed["outputSchema"]["required"] == ["day", "events"]
        for answer in (quiet, loud):
            Draft202012Validator(listed["outputSchema"]).validate(answer.structured)


class Colour(Enum):
    NONE = None
    RED = "red"


class Texts(RootModel[list[str]]):
    pass


class Noted(TypedDict):
    note: NotRequired[int]


EMPTY_AND_NOT: list[tuple[Any, list[Any], Any]] = [
    (list[str], [[]], ["a"]),
    (Sequence[str], [[], (), deque()], ["a"]),
    (tuple[str, ...], [()], ("a",)),
    (set[str], [set()], {"a"}),
    (frozenset[str], [frozenset()], frozenset("a")),
    (deque[str], [deque()], deque("a")),
    (dict[str, int], [{}], {"a": 0}),
    (str, ["", "\u200b", "\x1b[0m"], " "),
    (bytes, [b""], b"\0"),
    (str | None, [None, ""], "a"),
    (bool | None, [None], False),
    (int | None, [None], 0),
    (float | None, [None, math.nan, math.inf], 0.0),
    (Decimal | None, [None, Decimal("NaN")], Decimal(0)),
    (Colour | None, [None, Colour.NONE], Colour.RED),
    (Literal["", "a"], [""], "a"),
    (Literal["a"] | None, [None], "a"),
    (list[str] | int, [[]], 0),
    (list[str] | None, [None, []], [""]),
    (Texts, [Texts([])], Texts(["a"])),
    (Texts | None, [None, Texts([])], Texts([""])),
    (Outage | None, [None], Outage(source="a")),
    (dict[str, Outage], [{}], {"a": Outage(source="a")}),
    (Annotated[str | None, PlainSerializer(str, str, when_used="unless-none")], [None], "a"),
]


@pytest.mark.parametrize(("declared", "empty", "held"), EMPTY_AND_NOT, ids=[str(each[0]) for each in EMPTY_AND_NOT])
def test_a_notice_that_holds_nothing_has_no_key(declared: Any, empty: list[Any], held: Any) -> None:
    """Null and empty of every kind; zero, false, blanks and a list of empty texts are something."""
    annotation: Any = (Annotated[declared, Always(), Notice()], ...)
    dto: Any = create_model("Dto", notice=annotation)
    shape = Shape(POLICY, encoder=Json(), grant=OPEN)
    for value in empty:
        assert data_of(dto.model_construct(notice=value), shape) == {}
    for value in (held, *empty):
        shaped = shape.render(dto.model_construct(notice=value))
        assert not shaped.is_error
        assert ("notice" in shaped.text) is (value is held)


@dataclass
class AsDataclass:
    day: str
    notes: Annotated[list[str], Notice()] = field(default_factory=list)


class AsTypedDict(TypedDict):
    day: str
    notes: NotRequired[Annotated[list[str], Notice()]]
    number: NotRequired[Annotated[int, Notice()]]


class AsComputed(BaseModel):
    day: str
    said: Annotated[list[str], Field(exclude=True)] = []

    @computed_field(alias="notes")
    def all_that_is_said(self) -> Annotated[list[str], Notice()]:
        return self.said


class AsAlias(BaseModel):
    day: str
    said: Annotated[list[str], Notice(), Field(serialization_alias="notes")] = []


@pytest.mark.parametrize(
    ("quiet", "loud"),
    [
        (AsDataclass("a"), AsDataclass("a", ["b"])),
        (AsTypedDict(day="a"), AsTypedDict(day="a", notes=["b"])),
        (AsTypedDict(day="a", notes=[]), AsTypedDict(day="a", notes=["b"])),
        (AsComputed(day="a"), AsComputed(day="a", said=["b"])),
        (AsAlias(day="a"), AsAlias(day="a", said=["b"])),
    ],
)
def test_every_form_of_a_class_has_notices(quiet: Any, loud: Any) -> None:
    """Model, dataclass, TypedDict, computed fields and aliases; the schema requires none."""
    declared: Any = AsTypedDict if isinstance(quiet, dict) else type(quiet)
    shape = Shape(encoder=Json())

    def tool() -> Any: ...

    tool.__annotations__["return"] = declared
    shape.tool()(tool)
    assert data_of(quiet, shape, declared=declared) == {"day": "a"}
    assert data_of(loud, shape, declared=declared) == {"day": "a", "notes": ["b"]}
    schema = shape.tools["tool"].output_schema
    assert schema
    assert schema["required"] == ["day"]
    for value in (quiet, loud):
        assert_matches_schema(shape.render(value, declared=declared), shape.tools["tool"])


def test_members_of_a_union_are_still_told_apart() -> None:
    """A key that is left out is no sign of another class."""

    class Short(BaseModel):
        notes: Annotated[list[str], Notice()] = []

    class Long(Short):
        own: int = 1

    class Both(BaseModel):
        rows: list[Short | Long]

    assert data_of(Both(rows=[Short(), Long(), Short(notes=["a"]), Long(notes=["b"])])) == {
        "rows": [{}, {"own": 1}, {"notes": ["a"]}, {"notes": ["b"], "own": 1}]
    }


def test_a_notice_that_tells_classes_apart_is_no_discriminator_of_the_schema() -> None:
    """Rule 5: a schema relies on no key that may be missing."""

    class Cat(BaseModel):
        kind: Annotated[Literal["", "cat"], Notice()] = ""

    class Dog(BaseModel):
        kind: Annotated[Literal["dog"], Always()] = "dog"

    class Pets(BaseModel):
        pets: list[Annotated[Cat | Dog, Field(discriminator="kind")]]

    shape = Shape(encoder=Json())

    @shape.tool()
    def tool() -> Pets:
        return Pets(pets=[Cat(), Cat(kind="cat"), Dog()])

    answered = shape.render(Pets(pets=[Cat(), Cat(kind="cat"), Dog()]))
    assert answered.structured == {"pets": [{}, {"kind": "cat"}, {"kind": "dog"}]}
    assert "discriminator" not in str(shape.tools["tool"].output_schema)
    assert_matches_schema(answered, shape.tools["tool"])


def test_a_rule_says_at_which_levels_a_notice_is_told() -> None:
    """Rule 3: where the grant lets it out, its absence says that there is nothing; where not, nothing is said."""

    class Dto(BaseModel):
        day: Annotated[str, Always()] = "Monday"
        since: Annotated[list[str], Since("open"), Notice()] = []
        note: Annotated[str, When("notes"), Notice()] = ""
        never: Annotated[str, Never(), Notice()] = "x"

    shape = Shape(POLICY, encoder=Json())
    loud = Dto(since=["a"], note="b")
    assert data_of(loud, shape, grant=OPEN) == {"day": "Monday", "since": ["a"], "note": "b"}
    assert data_of(loud, shape, grant=POLICY.grant("open", toggles={"notes": False})).keys() == {"day", "since"}
    assert data_of(loud, shape, grant=POLICY.grant("strict")) == {"day": "Monday"}
    assert data_of(Dto(), shape, grant=OPEN) == {"day": "Monday"}


def test_what_is_withheld_decides_over_no_key() -> None:
    """Rule 1: a mask stands whatever it hides, else its absence would tell; other actions judge what they act on."""

    class Dto(BaseModel):
        day: Annotated[str, Always()] = "Monday"
        masked: Annotated[str | None, Since("open", below=Mask("[note]")), Notice()] = None
        clipped: Annotated[str | None, Clip(3), Notice()] = None
        rounded: Annotated[int | None, Coarsen(10), Notice()] = None
        id: Annotated[str | None, Handle("note"), Notice()] = None

    shape = Shape(POLICY, encoder=Json())
    strict = POLICY.grant("strict")
    assert data_of(Dto(), shape, grant=strict) == {"day": "Monday", "masked": "[note]"}
    assert data_of(Dto(masked="a"), shape, grant=strict) == {"day": "Monday", "masked": "[note]"}
    assert data_of(Dto(), shape, grant=OPEN) == {"day": "Monday"}
    told = data_of(Dto(clipped="abcd", rounded=12, id="x"), shape, grant=OPEN)
    assert {**told, "id": ""} == {"day": "Monday", "clipped": "ab…", "rounded": 10, "id": ""}
    for level in POLICY.levels:
        assert_noninterference(shape, Dto, level, examples=30)


def test_rows_that_are_gone_are_nothing_to_say() -> None:
    """`Rows` come first: a notice whose rows are all gone would tell that there are some."""

    class Draft(BaseModel):
        text: Annotated[str, Always()]
        is_draft: Annotated[bool, Never()] = True

    class Dto(BaseModel):
        day: Annotated[str, Always()] = "Monday"
        drafts: Annotated[list[Draft] | None, Rows(visible_since="open", when="is_draft"), Notice()] = None
        number: Annotated[int, Count("drafts")] = 0

    shape = Shape(POLICY, encoder=Json())
    strict = POLICY.grant("strict")
    hidden, mixed = Dto(drafts=[Draft(text="a")]), Dto(drafts=[Draft(text="a"), Draft(text="b", is_draft=False)])
    assert data_of(Dto(), shape, grant=strict) == {"day": "Monday", "number": 0}
    assert data_of(hidden, shape, grant=strict) == {"day": "Monday", "number": 0}
    assert data_of(hidden, shape, grant=OPEN) == {"day": "Monday", "drafts": [{"text": "a"}], "number": 1}
    assert data_of(mixed, shape, grant=strict) == {"day": "Monday", "drafts": [{"text": "b"}], "number": 1}


class Held(BaseModel):
    title: Annotated[str, Since("open", below=Mask("[Event]"))]
    place: Annotated[str | None, Since("open")] = None
    told: Annotated[str | None, Always(), Notice()] = None
    withheld: Annotated[str | None, Since("open"), Notice()] = None
    held_at: Annotated[Literal["strict", "open"] | None, RowCap()] = None


class HeldRows(BaseModel):
    rows: list[Held]


def test_a_notice_is_never_null_in_a_held_row_either() -> None:
    """Rule 3: other cells of a held row are null; a notice that its level withholds has no key, as one without."""
    shape = Shape(POLICY, encoder=Json(), grant=OPEN)

    @shape.tool()
    def tool() -> HeldRows:
        return HeldRows(rows=[])

    loud = Held(title="a", told="b", withheld="c")
    rows = [loud, loud.model_copy(update={"held_at": "strict"}), Held(title="d", held_at="strict")]
    answer = shape.render(HeldRows(rows=rows))
    held: dict[str, Any] = {"title": "[Event]", "place": None, "held_at": "strict"}
    assert answer.structured == {
        "rows": [
            {"title": "a", "place": None, "told": "b", "withheld": "c", "held_at": None},
            {**held, "told": "b"},
            held,
        ]
    }
    assert_matches_schema(answer, shape.tools["tool"])
    table = shape.using(encoder=Toon()).render(HeldRows(rows=rows[2:])).text
    assert table == 'rows[1]{title,place,held_at}:\n  "[Event]",null,strict'
    for level in POLICY.levels:
        assert_noninterference(shape, HeldRows, level, examples=30)


def problems_of(annotation: Any, **others: Any) -> str:
    """What is said of a field `notice` with that annotation."""
    dto: Any = create_model("Dto", **{"rows": (Annotated[list[str], Always()], ...), **others, "notice": annotation})
    with pytest.raises(DefinitionError) as caught:
        Shape(POLICY, encoder=Json()).view(dto.model_construct(), grant=OPEN)
    return str(caught.value)


@pytest.mark.parametrize(
    "declared", [int, bool, float, Outage, Colour, Literal["a"], int | Outage, tuple[str, int], IPv4Address]
)
def test_a_notice_that_always_holds_something_is_refused(declared: Any) -> None:
    """Rule 7: with field and remedy."""
    said = problems_of((Annotated[declared, Always(), Notice()], ...))
    assert "Dto.notice: it always holds something. Declare a list, a dict, a text or | None for a Notice()." in said


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        (
            Annotated[list[str], PlainSerializer(",".join, str), Always(), Notice()],
            "Dto.notice: its serializer decides whether a notice holds something. Leave the serializer out, or declare",
        ),
        (Annotated[int | None, Count("rows"), Notice()], "Dto.notice: a notice holds what the tool says"),
        (Annotated[str | None, RowCap(), Notice()], "Dto.notice: a notice holds what the tool says"),
        (Annotated[list[str], Always(), Notice], "Dto.notice: a hint is named but not made."),
        (Annotated[str, Always(), Prose], "Dto.notice: a hint is named but not made."),
        (list[Annotated[str, Notice()]], "Dto.notice: a rule inside its type guards nothing."),
        (RootModel[Annotated[list[str], Notice()]], "Dto.notice: a rule inside its type guards nothing."),
        (list[Annotated[str, Notice]], "Dto.notice: a rule inside its type guards nothing."),
    ],
)
def test_a_notice_that_cannot_be_one_is_refused(annotation: Any, message: str) -> None:
    """Rule 7: where nothing would read it, or where something else decides what it holds."""
    assert message in problems_of((annotation, ...))


def test_an_optional_value_is_judged_before_its_serializer() -> None:
    """Rule 7: nobody can tell beforehand what a serializer makes of a value, but that it is not asked for none."""

    class Dto(BaseModel):
        notice: Annotated[list[str] | None, PlainSerializer(len, int, when_used="unless-none"), Notice()] = None

    assert data_of(Dto()) == {}
    assert data_of(Dto(notice=["a"])) == {"notice": 1}


def test_pydantics_own_way_stays_refused_and_names_this_one() -> None:
    """Rule 3: exclude_if may hide anything, on stored fields and on computed ones."""

    class Dto(BaseModel):
        stored: list[str] = Field(default=[], exclude_if=lambda value: not value)

        @computed_field(exclude_if=lambda value: not value)
        def computed(self) -> list[str]:
            return []

    with pytest.raises(DefinitionError) as caught:
        Shape(encoder=Json()).view(Dto())
    remedy = "exclude_if drops its key by value. Use Notice(), a rule, or let it be null."
    assert [str(each) for each in caught.value.problems] == [f"Dto.stored: {remedy}", f"Dto.computed: {remedy}"]


def test_a_choice_of_fields_keeps_the_notices_around_them() -> None:
    """A caller cannot choose not to be told that something is missing; the notices of other parts go with these."""
    served = make_shape(ask={"fields"}).tools["show"].served
    assert served(fields=["day"]).structured_content == {
        "day": "Monday",
        "unavailable": [{"source": "Work", "reason": "no answer"}, {"source": "Home", "reason": "no token"}],
    }
    told = served(fields=["events.title", "unavailable.source"]).structured_content
    assert told == {
        "events": [{"title": "Lunch"}, {"title": "Talk", "warning": "overlaps"}],
        "unavailable": [{"source": "Work"}, {"source": "Home"}],
    }
    assert served(fields=["unavailable"]).structured_content.keys() == {"unavailable"}
    tool = make_shape(QUIET, ask={"fields"}).tools["show"]
    assert tool.served(fields=["day"]).structured_content == {"day": "Monday"}
    assert_matches_schema(tool.served(fields=["day"]), tool)


def test_a_chosen_notice_that_holds_nothing_is_an_empty_answer() -> None:
    """It may be told, so that nothing of it is there says something; what is withheld stays an error."""

    class Dto(BaseModel):
        day: Annotated[str, Since("open")] = "Monday"
        rows: list[Event] = [LUNCH]
        note: Annotated[str, Always(), Notice()] = ""
        other: Annotated[str, Always(), Notice()] = "other"

    shape = Shape(POLICY, encoder=Json())

    @shape.tool(ask={"fields"})
    def tool(*, is_loud: bool) -> Dto:
        return Dto(note="note") if is_loud else Dto(other="")

    served = shape.tools["tool"].served
    assert served(is_loud=False, fields=["note"]).structured_content == {}
    assert served(is_loud=False, fields=["rows.warning"]).structured_content == {}
    assert served(is_loud=True, fields=["note"]).structured_content == {"note": "note", "other": "other"}
    for is_loud in (False, True):
        for withheld in (["day"], ["rows.place"], ["day", "rows.place"]):
            answer = served(is_loud=is_loud, fields=withheld)
            assert answer.is_error
            assert "Nothing of what was chosen may be told." in answer.content[0].text


def test_pages_keep_notices_and_count_them() -> None:
    """Rule 9: the budget is for the whole text; each page has the notices of the answer, whole."""

    def lengths(value: Day) -> tuple[int, int]:
        shape = make_shape(value, page="events", budget=Chars(300))
        answer = shape.tools["show"].served()
        assert ("unavailable" in answer.structured_content) is bool(value.unavailable)
        assert_matches_schema(answer, shape.tools["show"])
        text: str = answer.content[0].text
        assert len(text) <= 300
        return len(text), answer.structured_content["page"]["shown"]

    quiet = Day(day="Monday", events=[LUNCH] * 50)
    loud = quiet.model_copy(update={"unavailable": LOUD.unavailable})
    assert lengths(quiet)[1] > lengths(loud)[1] > 0


def test_a_list_in_pages_is_no_notice() -> None:
    """Rule 7: page.total would be of a list that is not there."""
    with pytest.raises(DefinitionError) as caught:
        make_shape(page="unavailable", limit=3)
    assert "page: 'unavailable' is a notice, which is told whole. Leave out Notice()." in str(caught.value)
    with pytest.raises(DefinitionError, match="Its lists are: events"):
        make_shape(page="lost", limit=3)


def test_a_template_says_what_to_do_without_a_notice() -> None:
    """Rule 7: found when the tool is registered, as for a key that a level withholds."""

    def registered(source: str) -> Shape:
        encoder = Markdown(templates={Day: "day"}, loader=DictLoader({"day": source}))
        shape = Shape(POLICY, encoder=encoder, grant=OPEN)

        @shape.tool()
        def show() -> Day:
            return QUIET

        return shape

    with pytest.raises(DefinitionError) as caught:
        registered("{{ day }}: {{ unavailable | length }}\n")
    assert "line 1: 'unavailable' is not in every answer. Put it inside {% if unavailable is defined %}" in str(
        caught.value
    )
    source = "{{ day }}{% if unavailable is defined %}, without {{ unavailable | join(', ', 'source') }}{% endif %}\n"
    shape = registered(source)
    assert shape.render(QUIET).text == "Monday"
    assert shape.render(LOUD).text == "Monday, without Work, Home"
    with pytest.raises(DefinitionError, match="'events.warning' is not in every answer"):
        registered("{% for event in events %}{{ event.warning }}{% endfor %}\n")


def test_a_masked_notice_is_in_every_answer_of_a_template() -> None:
    """Where a mask stands, nothing is missing."""

    class Dto(BaseModel):
        note: Annotated[str, Mask("[note]"), Notice()] = ""

    encoder = Markdown(templates={Dto: "dto"}, loader=DictLoader({"dto": "{{ note }}\n"}))
    assert Shape(POLICY, encoder=encoder).render(Dto()).text == "[note]"


def test_prose_can_be_a_notice() -> None:
    """Both are hints, and both are read."""

    class Dto(BaseModel):
        day: str = "Monday"
        note: Annotated[str, Prose(), Notice()] = ""

    shape = Shape(encoder=Markdown())
    assert shape.render(Dto()).text == "- day: Monday"
    assert shape.render(Dto(note="*late*")).text == "- day: Monday\n\n## note\n\n> *late*"


def test_a_sentence_says_of_a_notice_that_there_is_none() -> None:
    """Rule 3: `(not shown)` would say that a level withholds it."""

    class Dto(BaseModel):
        note: Annotated[str, Since("open"), Notice()] = ""

    shape = Shape(POLICY, encoder=Json())
    assert shape.using(grant=OPEN).say("{dto.note}", dto=Dto()) == "none"
    assert shape.using(grant=OPEN).say("{dto.note}", dto=Dto(note="late")) == "late"
    assert shape.say("{dto.note}", dto=Dto()) == "(not shown)"


def test_an_answer_of_notices_alone_may_be_empty() -> None:
    """Rule 6: it is an answer, in every format."""

    class Dto(BaseModel):
        notes: Annotated[list[str], Notice()] = []

    encoders: tuple[Encoder, ...] = (Json(), Toon(), Markdown())
    for encoder in encoders:
        shaped = Shape(encoder=encoder, structured=True).render(Dto())
        assert not shaped.is_error
        assert shaped.structured == {}
        assert shaped.text


def test_the_kit_knows_notices() -> None:
    """No canary escapes through them, pairs that agree give the same answers, and data decodes."""
    shape = make_shape()
    assert_no_leak(shape, calls={"show": [{}]})
    for level in POLICY.levels:
        assert_noninterference(shape, Day, level)
    assert decode(shape.tools["show"].served())["unavailable"][0]["source"] == "Work"


@given(st.lists(st.sampled_from([LUNCH, LOUD.events[1]])), st.lists(st.sampled_from(LOUD.unavailable)))
def test_both_channels_agree_on_notices(events: list[Event], unavailable: list[Outage]) -> None:
    """Rule 5: in each format that can be read back."""
    value = Day(day="Monday", events=events, unavailable=unavailable)
    encoders: tuple[Encoder, ...] = (Json(), Toon())
    for encoder in encoders:
        shape = make_shape(value).using(encoder=encoder, structured=True)
        answer = shape.render(value)
        assert decode(answer) == answer.structured
        assert_matches_schema(answer, shape.tools["show"])
