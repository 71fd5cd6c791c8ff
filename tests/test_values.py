"""What the door makes of values that the table has no row for: wrong ones, excluded ones, other names."""

import json
from dataclasses import InitVar
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Self

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    create_model,
    field_serializer,
    model_serializer,
    model_validator,
)
from pydantic.dataclasses import dataclass as pydantic_dataclass

from clients import decode
from mcpshape import Policy, Shape, Since, Until
from mcpshape._plan import compile_plan
from mcpshape._schema import publish_schema
from mcpshape.encoders import Json, Markdown, Toon
from mcpshape.encoders.toon import Codec
from mcpshape.errors import ProjectionError
from value_table import Cat, Dog, Partial, Point, Words


def dto_of(annotation: Any) -> type[BaseModel]:
    return create_model("Dto", value=(annotation, ...))


def render(dto: BaseModel, encoder: Any = None) -> Any:
    return Shape(encoder=encoder or Json(), structured=True).render(dto)


@given(st.text() | st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_any_scalar_survives_in_both_channels(value: Any) -> None:
    """Rule 8: what is told is told the same way everywhere, for any text and number."""
    annotation = type(value)
    shaped = render(dto_of(annotation)(value=value), Toon(codec="python-toon"))
    assert not shaped.is_error
    assert decode(shaped.text) == shaped.structured


@pytest.mark.parametrize("number", [1e21, 1e300, 1e-7, 5e-324, -1e25])
def test_very_large_and_very_small_numbers_decode_to_themselves(number: float) -> None:
    """A06: their spelling differs between codecs, their value does not."""
    codecs: tuple[Codec, ...] = ("toons", "python-toon", "toon-format")
    for codec in codecs:
        text = render(dto_of(float)(value=number), Toon(codec=codec)).text
        assert float(decode(text)["value"]) == number


@pytest.mark.parametrize(
    ("annotation", "value"), [(float, float("nan")), (float, float("inf")), (Decimal, Decimal("sNaN"))]
)
def test_a_number_that_json_cannot_hold_is_an_error_where_null_is_not_allowed(annotation: Any, value: Any) -> None:
    """B05: the error names the field, and no value."""
    dto = create_model("Stats", ratio=(annotation, ...)).model_construct(ratio=value)
    with pytest.raises(ProjectionError, match="Stats.ratio is NaN or infinite. Declare it nullable"):
        Shape(encoder=Json()).view(dto)


def test_a_field_that_pydantic_excludes_never_leaves() -> None:
    """Rule 2: `exclude=True` is kept, and so are init-only values of dataclasses."""

    @pydantic_dataclass
    class Part:
        kept: int
        used: InitVar[int]

    class Dto(BaseModel):
        part: Part
        hidden: str = Field(default="CANARY", exclude=True)

    assert render(Dto(part=Part(kept=1, used=2))).structured == {"part": {"kept": 1}}


def test_validators_of_the_author_are_no_obstacle() -> None:
    """Rule 2: a model with validators of its own is read like any other."""

    class Dto(BaseModel):
        value: int

        @model_validator(mode="before")
        @classmethod
        def wrap(cls, value: Any) -> Any:
            return value

        @model_validator(mode="after")
        def check(self) -> Self:
            return self

    assert render(Dto(value=1)).structured == {"value": 1}


def test_an_until_is_in_the_schema_and_not_required() -> None:
    """Rule 3: what some level does not tell is optional in the schema that all levels share."""

    class Dto(BaseModel):
        exact: Annotated[int, Until("open", then="rough")]
        rough: Annotated[int, Since("open")]

    policy = Policy(levels=("strict", "open"))
    assert publish_schema(compile_plan(Dto, policy, "tool")).get("required") is None
    assert [
        Shape(policy, encoder=Json()).view(Dto(exact=1, rough=2), grant=policy.grant(level)).data
        for level in policy.levels
    ] == [
        {"exact": 1},
        {"rough": 2},
    ]


@pytest.mark.parametrize(
    "annotation", [int, float, bool, date, str | None, int | None, list[int], Cat, Cat | Dog, bool | None]
)
def test_values_that_do_not_fit_their_type_are_refused_without_being_shown(annotation: Any) -> None:
    """Rule 2: nothing is written by guessing its type."""
    for value in (Point(1), ["CANARY"], {"CANARY": 1}, b"CANARY"):
        shaped = Shape(encoder=Json()).render(dto_of(annotation).model_construct(value=value))
        assert shaped.is_error
        assert "CANARY" not in shaped.text


@pytest.mark.parametrize("encoder", [Toon(), Markdown(), Json()])
@pytest.mark.parametrize("structured", [True, False])
def test_a_lone_surrogate_leaves_by_no_channel(encoder: Any, structured: bool) -> None:
    """Rule 8: every channel can be sent as UTF-8, and all of them say the same."""
    dto = dto_of(str)(value="a\ud800b")
    shaped = Shape(encoder=encoder, structured=structured).render(dto)
    assert "a\ufffdb" in shaped.text
    assert shaped.structured in (None, {"value": "a\ufffdb"})
    assert Shape(encoder=encoder).view(dto).data == {"value": "a\ufffdb"}


def test_an_object_of_another_class_is_refused() -> None:
    """Rule 2: the declared class decides, and the value has to be one of it."""
    with pytest.raises(ProjectionError, match="returned Cat in place of Dog"):
        Shape(encoder=Json()).view(Cat(lives=9), declared=Dog)
    with pytest.raises(ProjectionError, match="returned list in place of Words"):
        Shape(encoder=Json()).view([], declared=Words)
    with pytest.raises(ProjectionError, match="returned Cat in place of dict"):
        Shape(encoder=Json()).view(Cat(lives=9), declared=Partial)


def test_keys_that_become_the_same_text_are_an_error() -> None:
    """Rule 8: no entry is lost in silence."""
    dto = dto_of(dict[str, int])(value={"a\ud800": 1, "a\udfff": 2})
    with pytest.raises(ProjectionError, match="become the same text"):
        Shape(encoder=Json()).view(dto)


def test_the_schema_holds_no_defaults_and_no_examples() -> None:
    """D01: what an author wrote as a default or an example may be data; a field of that name stays."""

    class Dto(BaseModel):
        model_config = ConfigDict(json_schema_extra={"examples": [{"default": "CANARY"}]})
        default: str = Field(default="CANARY", examples=["CANARY"], description="Its name is default.")

    schema = publish_schema(compile_plan(Dto, None, "tool"))
    assert "CANARY" not in json.dumps(schema)
    assert schema["properties"]["default"]["description"] == "Its name is default."
    assert schema["required"] == ["default"]


def test_a_class_is_described_by_its_docstring() -> None:
    """C1: what the author says of a DTO reaches the schema."""

    class Dto(BaseModel):
        """One thing."""

    assert publish_schema(compile_plan(Dto, None, "tool")) == {
        "description": "One thing.",
        "properties": {},
        "title": "Dto",
        "type": "object",
    }


def test_serializers_of_the_author_are_kept() -> None:
    """Rule 2: a field or model that serializes itself leaves in the form that it declares."""

    class Celsius(BaseModel):
        degrees: float

        @model_serializer
        def write(self) -> str:
            return f"{self.degrees} °C"

    class Reading(BaseModel):
        value: Celsius
        at: datetime

        @field_serializer("at")
        def write_at(self, at: datetime) -> str:
            return f"{at:%H:%M}"

    assert render(Reading(value=Celsius(degrees=21.5), at=datetime(2026, 1, 1, 9, 5))).structured == {
        "value": "21.5 °C",
        "at": "09:05",
    }
