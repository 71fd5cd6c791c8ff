"""Issue 8: what is done the short way gives what the long way gives."""

import functools
from dataclasses import dataclass, field
from decimal import Decimal
from enum import IntEnum, StrEnum
from typing import Annotated, Any
from uuid import UUID

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st
from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel, SerializerFunctionWrapHandler, WrapSerializer, create_model

from generated import Case, cases
from json_data import objects
from mcpshape import Clip, Shape, View
from mcpshape._cleaning import clean_text
from mcpshape._plan import compile_plan
from mcpshape._project import project
from mcpshape._result import make_result
from mcpshape._scan import Care, needed_care
from mcpshape._shaped import Shaped
from mcpshape._values import clipper
from mcpshape.encoders import Encoder, Json, Markdown, Toon, Vocabulary
from mcpshape.encoders._encoder import writes_all
from mcpshape.errors import ProjectionError

ODD = st.text(st.characters() | st.sampled_from('\\u"\n\t\x00\x85\xad\u200b\u202e\ud800\ufeff🏴\U000e0067'))

ENCODERS = (Json(), Toon(), Toon(codec="python-toon"), Toon(codec="toon-format"), Markdown())


class Note(BaseModel):
    text: str
    by_name: dict[str, str] = {}
    other: str | None = None


class Numbers(BaseModel):
    plain: int
    maybe: int | None
    many: list[int]
    by_name: dict[str, int]
    either: int | str
    text: str


class Size(IntEnum):
    SMALL = 1


class Digits(int):
    pass


class Colour(StrEnum):
    RED = "red"


class Word(str):
    __slots__ = ()


class Leaf(BaseModel):
    text: str | None


class Once(BaseModel):
    leaves: list[Leaf]


class Twice(Once):
    spare: Leaf | None = None


@dataclass(frozen=True)
class Modest:
    """Another encoder that does not say whether it writes all, and remembers what it was given."""

    other: Encoder
    given: list[View] = field(default_factory=list, repr=False)

    @property
    def name(self) -> str:
        return self.other.name

    @property
    def vocabulary(self) -> Vocabulary:
        return self.other.vocabulary

    @property
    def structured(self) -> bool:
        return True

    def encode(self, view: View) -> str:
        self.given.append(view)
        return self.other.encode(view)


class Brief(Toon):
    """An encoder that extends one which writes all, and leaves most of it out."""

    def encode(self, view: View) -> str:
        return f"{len(view.data)} fields"


@dataclass(frozen=True)
class Wrapping:
    """An encoder that hands on what another one says of itself."""

    other: Encoder

    def __getattr__(self, name: str) -> Any:
        return getattr(self.other, name)

    def encode(self, view: View) -> str:
        return f"{len(view.data)} fields"


def between(value: Any, write: SerializerFunctionWrapHandler) -> str:
    return f"<{write(value)!r}>"


class Wrapped(BaseModel):
    text: Annotated[str | None, WrapSerializer(between, return_type=str)] = ""
    other: str = ""


class Cut(BaseModel):
    text: Annotated[str, Clip(5)]
    other: str = ""


@given(cases())
def test_more_care_than_is_needed_changes_nothing(case: Case) -> None:
    """Rules 8 and 10: what is written natively is what the plain way would have written."""
    plan = compile_plan(case.spec.cls, case.policy, "test")
    for grant in case.grants():
        views = {care: project(plan, case.value, grant, care=care) for care in Care}
        needed = needed_care(views[Care.NATIVE].to_json())
        assert all(views[care].data == views[needed].data for care in Care if care >= needed)


@pytest.mark.parametrize("encoder", ENCODERS[:4])
@given(text=ODD, key=ODD)
def test_a_text_that_holds_all_is_looked_at_alone(encoder: Encoder, text: str, key: str) -> None:
    """Rules 5 and 10: the structured part is as clean as if it had been looked at itself."""
    note = Note.model_construct(text=text, by_name={key: text}, other=text)
    short, long = (Shape(encoder=each, structured=True).render(note) for each in (encoder, Modest(encoder)))
    assert short == long


@pytest.mark.parametrize("encoder", [Brief(), Wrapping(Json()), Wrapping(Brief())], ids=repr)
def test_only_the_class_that_encodes_says_that_it_writes_all(encoder: Encoder) -> None:
    """Rule 10: what extends or wraps an encoder may leave something out, which is then looked at all the same."""
    assert not writes_all(encoder)
    assert Shape(encoder=encoder, structured=True).render(Leaf(text="a\u200bb")).structured == {"text": "ab"}


def test_an_encoder_says_for_those_that_extend_it_that_it_writes_all() -> None:
    """Only an `encode` of its own takes the promise back."""
    nothing: Any = object()
    assert writes_all(type("Named", (Toon,), {})())
    assert not writes_all(nothing)


@pytest.mark.parametrize("other", ["", "a", "a\u200b", str(2**53)])
def test_a_wrapping_serializer_is_given_the_same_whatever_else_is_in_the_answer(other: str) -> None:
    """Rule 8: its result does not change with the values around it."""
    data = Shape(encoder=Json()).view(Wrapped(other=other)).data
    assert data == {"text": "<None>", "other": clean_text(other)}


@given(text=st.text(st.sampled_from("ab \n\u200b\x1c\x85\u202e\u115fé字👩\u200d💻"), max_size=12))
@example("abcde\u200b")
@example("abc\x1cdefgh")
def test_a_text_is_cut_alike_whatever_else_is_in_the_answer(text: str) -> None:
    """Rule 8: what nobody sees takes no room, even where a cut leaves nothing of it."""
    shape = Shape(encoder=Json())
    cut = [shape.render(Cut(text=text, other=each)).structured for each in ("", "\x00")]
    assert cut[0] == cut[1]


@given(ODD | st.integers().map(str), st.integers(0, 40), st.sampled_from(["a", "ä", "字"]))
def test_a_long_text_is_looked_at_whole(text: str, shift: int, filling: str) -> None:
    """Rules 8 and 10: an escape, a character or a wide integer is found wherever it stands."""
    long, short = f"{filling * ((1 << 18) - shift)} {text} {filling}", f" {text} {filling}"
    assert needed_care(long) is needed_care(short)
    if needed_care(text) < Care.CLEAN:
        assert clean_text(text) == text


INTEGERS = st.integers() | st.integers(-10, 10).map(lambda near: 2**53 + near) | st.just(10**5000)


@pytest.mark.parametrize("encoder", [*ENCODERS, *(Modest(each) for each in ENCODERS)], ids=repr)
@given(numbers=st.lists(INTEGERS, min_size=1), text=ODD | INTEGERS.map(lambda number: f"no {number % 10**40}"))
def test_a_wide_integer_is_text_whatever_writes_it(encoder: Encoder, numbers: list[int], text: str) -> None:
    """Rules 5 and 8: an integer that not every reader keeps exact is its digits in both channels, and no other is."""
    last = numbers[-1]
    dto = Numbers.model_construct(
        plain=last, maybe=last, many=numbers, by_name={"a": last}, either=last, text=clean_text(text)
    )
    many = [exact(each) for each in numbers]
    shaped = Shape(encoder=encoder, structured=True).render(dto)
    assert shaped.structured == {
        "plain": many[-1],
        "maybe": many[-1],
        "many": many,
        "by_name": {"a": many[-1]},
        "either": many[-1],
        "text": clean_text(text),
    }
    assert str(many[-1]) in shaped.text.replace("\\", "")


def exact(number: int) -> int | str:
    return number if abs(number) < 2**53 else f"{Decimal(number)}"


ODDITIES = (True, Size.SMALL, Digits(7), None, "1", Colour.RED, Word("a"), 1.0, b"1", Decimal(1), UUID(int=1), ["1"])


@pytest.mark.parametrize("odd", ODDITIES, ids=repr)
@pytest.mark.parametrize(
    "declared", [int, int | None, list[int], str | None, list[str | None], int | str, int | str | None, int | bool]
)
def test_a_value_of_another_type_is_written_alike_or_refused_alike(declared: Any, odd: Any) -> None:
    """Rule 8: a DTO that was made without validation."""
    dto = create_model("Odd", value=(declared, ...))
    plan = compile_plan(dto, None, "test")

    def written(care: Care) -> str:
        try:
            return repr(project(plan, dto.model_construct(value=odd), None, care=care).data)
        except ProjectionError as error:
            return str(error)

    assert len({written(care) for care in Care}) == 1


def test_where_texts_were_empty_once_the_next_answer_begins_with_care() -> None:
    """Empty texts cost one answer twice, and no second one."""
    encoder = Modest(Json())
    shape = Shape(encoder=encoder, structured=False)
    for _ in range(3):
        assert shape.render(Note(text="", other="")).text == '{"text":"","by_name":{},"other":null}'
    assert len(encoder.given) == 4


@given(objects)
def test_a_structured_part_is_handed_on_as_it_would_be_dumped(data: dict[str, Any]) -> None:
    """Rule 5: a client gets what pydantic would make of the result, and whoever dumps it otherwise as well."""
    made = make_result(Shaped("text", data))
    plain = CallToolResult(content=[TextContent(type="text", text="text")], structured_content=data)
    assert made.model_dump(by_alias=True, mode="json", exclude_none=True) == plain.model_dump(
        by_alias=True, mode="json", exclude_none=True
    )
    assert made.model_dump() == plain.model_dump()
    assert made.model_dump(exclude_unset=True).keys() == {"content", "structured_content", "is_error"}
    assert made == plain == made
    assert made.model_dump_json() == plain.model_dump_json()


def test_a_dump_does_not_hand_out_the_result_itself() -> None:
    """Whoever changes what was dumped does not change the result."""
    made = make_result(Shaped("text", {"a": 1}))
    made.model_dump(by_alias=True, mode="json", exclude_none=True)["structuredContent"]["b"] = 2
    assert made.structured_content == {"a": 1}


def test_a_class_is_written_alike_wherever_it_is_held() -> None:
    """A DTO class that is held in one place is written there, and by reference where there are more."""
    leaves = [Leaf(text="a"), Leaf(text=""), Leaf(text=None)]
    once, twice = (Shape(encoder=Json()).view(cls(leaves=leaves)).data for cls in (Once, Twice))
    assert twice == {**once, "spare": None}
    assert once == {"leaves": [{"text": "a"}, {"text": None}, {"text": None}]}


def test_the_schema_of_arguments_is_made_once() -> None:
    """A server without schemas of its own lists its tools often."""
    shape = Shape(encoder=Json())

    @shape.tool
    def find(text: str, limit: int = 5) -> Note:
        return Note(text=text * limit)

    parameters = shape.tools["find"].parameters
    assert parameters.input_schema("find") is parameters.input_schema("find")
    assert parameters.input_schema("find")["required"] == ["text"]
    assert parameters.input_schema("other")["title"] == "otherArguments"


@given(
    st.text(st.sampled_from("aä \t\n\r\u00ad\u00a9\u0300\u0301\u200d\ufe0f👩🏽💻한\u1100\u1161\u11a8")),
    st.integers(1, 8),
)
def test_a_text_is_cut_between_what_a_reader_sees_as_characters(text: str, length: int) -> None:
    """Rule 9: one without joined characters is cut at once, and not by a pattern."""
    clusters = regex.findall(r"\X", text)
    cut = f"{''.join(clusters[: length - 1]).rstrip()}…" if len(clusters) > length else text
    assert clipper(length, str)(text) == cut


@pytest.mark.parametrize("encoder", ENCODERS, ids=repr)
def test_a_text_of_which_nothing_is_left_is_as_unset_as_an_empty_one(encoder: Encoder) -> None:
    """Rules 3 and 10: what nobody sees is no value."""
    shaped = Shape(encoder=encoder, structured=True).render(Note(text="\u200b", other="\u200b\x1b[0m"))
    assert shaped.structured == {"text": "", "by_name": {}, "other": None}


def test_arguments_that_are_passed_by_place_are_passed_on_by_place() -> None:
    """As when the author's function is called itself; a server passes them by name."""

    def note(text: str, other: str = "b") -> Note:
        return Note(text=text, other=other)

    @functools.wraps(note)
    def placed(*args: str) -> Note:
        return note(*args)

    shape = Shape(encoder=Json())
    shape.tool(placed)
    assert shape.tools["note"].served("a", "c").content[0].text == '{"text":"a","by_name":{},"other":"c"}'
