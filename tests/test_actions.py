"""Actions and row rules: what stands in place of a value, and which rows are told at all."""

from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel, create_model
from typing_extensions import TypedDict

from mcpshape import (
    Always,
    Clip,
    Coarsen,
    Count,
    DefinitionError,
    Drop,
    Handle,
    Ladder,
    Mask,
    Policy,
    RowCap,
    Rows,
    Shape,
    Show,
    Since,
    Toggle,
    When,
)
from mcpshape._plan import compile_plan
from mcpshape._schema import publish_schema
from mcpshape.encoders import Json, Markdown, Toon

POLICY = Policy(
    levels=("strict", "minimal", "open"),
    toggles={"notes": Toggle(on_since="open", offered_since="minimal")},
)
ZONE = timezone(timedelta(hours=2))
MOMENT = datetime(2026, 7, 15, 10, 47, 31, 5, ZONE)


class Level(Enum):
    STRICT = "strict"
    OTHER = "confidential"


class Guest(BaseModel):
    name: Annotated[str, Since("minimal")]


class Event(BaseModel):
    id: Annotated[str, Always()]
    title: Annotated[str, Since("minimal", below=Mask("[Event]"))]
    place: Annotated[str | None, Since("minimal")] = None
    notes: Annotated[str | None, When("notes")] = None
    guests: list[Guest] = []
    held_at: Annotated[str | Level | None, RowCap()] = None
    is_draft: Annotated[bool, Since("open")] = False


class Day(BaseModel):
    total: Annotated[int, Count("events")] = 0
    events: Annotated[list[Event], Always(), Rows(visible_since="open", when="is_draft")]


def view(dto: BaseModel, level: str) -> Any:
    return Shape(POLICY, encoder=Json()).view(dto, grant=POLICY.grant(level)).data


def coarse(annotation: Any, value: Any, step: Any) -> Any:
    dto = create_model("Dto", value=(cast(Any, Annotated[annotation, Coarsen(step)]), ...))
    return Shape(encoder=Json()).view(dto(value=value)).data["value"]


@pytest.mark.parametrize(
    ("annotation", "value", "step", "expected"),
    [
        (datetime, MOMENT, "30min", "2026-07-15T10:30:00+02:00"),
        (datetime, MOMENT, "hour", "2026-07-15T10:00:00+02:00"),
        (datetime, MOMENT, "day", "2026-07-15T00:00:00+02:00"),
        (datetime, MOMENT, "week", "2026-07-13T00:00:00+02:00"),
        (datetime, MOMENT, "month", "2026-07-01T00:00:00+02:00"),
        (datetime | date, date(2026, 7, 15), "month", "2026-07-01"),
        (date, date(2026, 7, 15), "week", "2026-07-13"),
        (date, date(2026, 7, 15), "day", "2026-07-15"),
        (time, time(10, 47), "15min", "10:45:00"),
        (time, time(10, 47), "hour", "10:00:00"),
        (datetime | None, None, "day", None),
        (int, 47, 10, 40),
        (int, -1, 10, -10),
        (float, 0.77, 0.5, 0.5),
        (float | None, float("nan"), 0.5, None),
        (Decimal, Decimal("1.77"), 0.5, "1.5"),
        (Decimal, Decimal("-0.2"), 0.5, "-0.5"),
    ],
)
def test_a_coarser_value_is_rounded_down_in_its_own_zone(annotation: Any, value: Any, step: Any, expected: Any) -> None:
    """`Coarsen` keeps the type and the zone of a value."""
    assert coarse(annotation, value, step) == expected


@given(st.datetimes(timezones=st.just(UTC)), st.sampled_from(["5min", "30min", "hour", "day", "week", "month"]))
def test_coarser_moments_are_never_later_and_stay_when_rounded_again(moment: datetime, step: str) -> None:
    """Rounding down is idempotent and monotone."""
    once = datetime.fromisoformat(coarse(datetime, moment, step))
    assert once <= moment
    assert datetime.fromisoformat(coarse(datetime, once, step)) == once


@pytest.mark.parametrize(
    ("annotation", "step"),
    [(str, "day"), (int, "day"), (date, "hour"), (time, "day"), (datetime, 5), (datetime, "7min"), (datetime, "year"),
     (int, 0), (int, 0.5), (list[int], 5), (datetime | str, "day")],
)  # fmt: skip
def test_a_step_that_does_not_fit_is_refused(annotation: Any, step: Any) -> None:
    """Rule 7: with the steps that there are."""
    dto = create_model("Dto", value=(cast(Any, Annotated[annotation, Coarsen(step)]), ...))
    with pytest.raises(DefinitionError, match="cannot be rounded to"):
        compile_plan(dto, None, "tool")


def test_a_ladder_takes_one_action_a_level() -> None:
    """Several steps on one field; below the narrowest named level there is no key."""

    class Dto(BaseModel):
        start: Annotated[datetime, Ladder({"minimal": Coarsen("day"), "open": Show()})]
        title: Annotated[str, Ladder({"strict": Mask("x"), "minimal": Drop(), "open": Show()})] = "CANARY"

    dto = Dto(start=MOMENT)
    assert view(dto, "strict") == {"title": "x"}
    assert view(dto, "minimal") == {"start": "2026-07-15T00:00:00+02:00"}
    assert view(dto, "open") == {"start": "2026-07-15T10:47:31.000005+02:00", "title": "CANARY"}
    schema = publish_schema(compile_plan(Dto, POLICY, "tool"))
    assert "required" not in schema


def held() -> Day:
    return Day(
        events=[
            Event(id="1", title="open", place="Hall", notes="n", guests=[Guest(name="a")]),
            Event(
                id="2", title="CANARY", place="CANARY", notes="CANARY", guests=[Guest(name="CANARY")], held_at="strict"
            ),
            Event(id="3", title="told", place=None, notes="CANARY", held_at="minimal"),
            Event(id="4", title="CANARY", place="CANARY", held_at=Level.OTHER),
            Event(id="5", title="as others", held_at="open"),
        ]
    )


def test_a_held_row_keeps_the_columns_and_says_at_which_level_it_is_held() -> None:
    grant = POLICY.grant("open", toggles={"notes": False})
    rows = Shape(POLICY, encoder=Json(), grant=grant).view(held()).data["events"]
    keys = ("id", "title", "place", "guests", "held_at", "is_draft")
    assert [tuple(row.values()) for row in rows] == [
        ("1", "open", "Hall", [{"name": "a"}], None, False),
        ("2", "[Event]", None, None, "strict", None),
        ("3", "told", None, [], "minimal", None),
        ("4", "[Event]", None, None, "strict", None),
        ("5", "as others", None, [], None, False),
    ]
    assert {tuple(row) for row in rows} == {keys}


@pytest.mark.parametrize("encoder", [Toon(), Json(), Markdown()])
@pytest.mark.parametrize("level", POLICY.levels)
def test_a_held_row_tells_nothing_wider_in_any_format(encoder: Any, level: str) -> None:
    """D03: a private row inside a detailed answer."""
    shaped = Shape(POLICY, encoder=encoder, structured=True, grant=POLICY.grant(level)).render(held())
    assert "CANARY" not in f"{shaped.text}{shaped.structured}"
    Draft202012Validator(publish_schema(compile_plan(Day, POLICY, "tool"))).validate(shaped.structured)


def test_at_the_narrowest_level_nobody_learns_that_a_row_is_held() -> None:
    """D05: that an event is private is a fact about it, and `strict` does not tell it."""
    rows = view(held(), "strict")["events"]
    assert [set(row) for row in rows] == [{"id", "title"}] * 5


def test_whether_rows_are_held_is_told_by_each_answer_and_by_no_other_field() -> None:
    """D03: the column is there where a row is held, whatever the answer before was and what else has its name."""

    class Row(BaseModel):
        id: Annotated[str, Always()]
        level: Annotated[str | None, RowCap()] = None

    class Lift(BaseModel):
        level: Annotated[str, Always()]

    class House(BaseModel):
        rows: list[Row]
        lift: Lift

    shape, lift = Shape(POLICY, encoder=Json(), grant=POLICY.grant("open")), Lift(level="strict")
    free, some = ([Row(id="a"), Row(id="b", level=level)] for level in (None, "strict"))
    for rows in (free, some, free, free, some, some, []):
        told = [{"id": row.id, "level": row.level} if rows is some else {"id": row.id} for row in rows]
        assert shape.view(House(rows=rows, lift=lift)).data == {"rows": told, "lift": {"level": "strict"}}


def test_a_table_stays_a_table_with_held_rows() -> None:
    """A3, rule 3: equal keys in every row."""

    class Row(TypedDict):
        id: Annotated[str, Always()]
        place: Annotated[str | None, Since("open")]
        level: Annotated[Literal["strict"] | None, RowCap()]

    class Table(BaseModel):
        rows: list[Row]

    dto = Table(rows=[{"id": "a", "place": "x", "level": None}, {"id": "b", "place": "CANARY", "level": "strict"}])
    shape = Shape(POLICY, encoder=Toon(), grant=POLICY.grant("open"))
    assert shape.render(dto).text == "rows[2]{id,place,level}:\n  a,x,null\n  b,null,strict"


def test_hidden_rows_are_gone_before_anything_is_counted() -> None:
    """B5, B7: counts follow what is visible."""
    day = Day(events=[Event(id="1", title="a"), Event(id="2", title="CANARY", is_draft=True)])
    assert view(day, "minimal")["total"] == 1
    assert [row["id"] for row in view(day, "minimal")["events"]] == ["1"]
    assert view(day, "open")["total"] == 2


def test_counts_go_through_nested_lists_and_follow_their_source() -> None:
    """B7: a count over groups; where rows are not told, be it because they are held, neither is their number."""

    class Week(BaseModel):
        total: Annotated[int, Count("days.events")] = 0
        guests: Annotated[int, Count("days.events.guests")] = 0
        days: list[Day]

    week = Week(days=[held(), Day(events=[Event(id="6", title="x", is_draft=True)])])
    assert view(week, "open")["total"] == 6
    assert view(week, "minimal")["total"] == 5
    assert view(week, "minimal")["guests"] == view(week, "open")["guests"] == 1
    assert set(view(week, "strict")) == {"total", "days"}


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        (Annotated[list[Event], Rows(visible_since="wide", when="is_draft")], "there is no level 'wide'"),
        (Annotated[list[Event], Rows(visible_since="open", when="draft")], "its rows have no field 'draft'"),
        (Annotated[list[str], Always(), Rows(visible_since="open", when="x")], "its rows have no field 'x'"),
        (Annotated[str, Ladder({"wide": Show()})], "there is no level 'wide'"),
        (Annotated[str, Ladder({"open": Mask(3)})], "its mask does not fit"),
        (Annotated[str, Since("open", below=Coarsen("day"))], "cannot be rounded to 'day'"),
        (Annotated[int, RowCap()], "a RowCap holds the name of a level"),
        (Annotated[Literal["secret"], RowCap()], "'secret' is no level"),
        (Annotated[int, Handle("x")], "a Handle stands for one id"),
        (Annotated[int, Since("open", below=Clip(3))], "a Clip cuts one text"),
        (Annotated[int, Always(), Clip(3)], "a Clip cuts one text"),
        (Annotated[date, Clip(3)], "a Clip cuts one text"),
        (Annotated[str, Always], "a rule is named but not made"),
    ],
)
def test_a_row_rule_that_cannot_hold_is_refused(annotation: Any, message: str) -> None:
    """Rule 7: with path and remedy."""
    dto = create_model("Dto", field=(cast(Any, annotation), ...))
    with pytest.raises(DefinitionError, match=f"Dto.field: .*{message}"):
        compile_plan(dto, POLICY, "tool")


def test_row_rules_need_a_policy() -> None:
    """Rule 2: a forgotten policy does not open everything."""
    with pytest.raises(DefinitionError, match="its rule needs levels"):
        compile_plan(create_model("Dto", field=(cast(Any, Annotated[str, RowCap()]), ...)), None, "tool")
