"""Calls inside of calls, rows inside of rows, choices inside of choices: nothing gets wider on the way."""

import asyncio
import logging
from typing import Annotated, Any, NotRequired

import pytest
from jinja2 import DictLoader
from jsonschema import Draft202012Validator
from pydantic import BaseModel
from typing_extensions import TypedDict

from mcpshape import (
    Always,
    Count,
    DefinitionError,
    Derived,
    Keyring,
    Mask,
    Never,
    Policy,
    RowCap,
    Rows,
    Shape,
    Since,
    Until,
    UserError,
)
from mcpshape.encoders import Json, Markdown
from mcpshape.testing import assert_noninterference, decode

POLICY = Policy(levels=("strict", "minimal", "open"))
SECRET = b"0123456789abcdef0123456789abcdef"


class Note(BaseModel):
    a: Annotated[str, Since("open")] = "CANARY"
    b: Annotated[str, Always()] = "b"


class Guest(BaseModel):
    name: Annotated[str, Since("open")]
    is_vip: Annotated[bool, Since("open")] = False


class Event(BaseModel):
    id: Annotated[int, Always()]
    title: Annotated[str, Since("minimal", below=Mask("[Event]"))] = "t"
    place: Annotated[str | None, Since("open")] = None
    guests: Annotated[list[Guest], Since("minimal"), Rows(visible_since="open", when="is_vip")] = []
    held_at: Annotated[str | None, RowCap()] = None
    key: Annotated[str, Never()] = "CANARY"


class Events(BaseModel):
    total: Annotated[int, Count("events")] = 0
    guests: Annotated[int, Count("events.guests")] = 0
    summary: Annotated[str, Derived("events")] = ""
    events: list[Event]


def at(level: str, **options: Any) -> Shape:
    return Shape(POLICY, **{"encoder": Json(), "keyring": Keyring(SECRET), "grant": POLICY.grant(level), **options})


def test_a_count_over_held_rows_counts_what_they_show() -> None:
    """Rule 5, D03, D05: inside of a held row only what its own level shows is counted."""
    guests = [Guest(name="a"), Guest(name="b", is_vip=True)]
    events = [Event(id=1, guests=guests, held_at="strict"), Event(id=2, guests=guests, held_at="minimal")]
    data = at("open").view(Events(events=[*events, Event(id=3, guests=guests)])).data
    assert [len(event["guests"] or ()) for event in data["events"]] == [0, 1, 2]
    assert (data["total"], data["guests"]) == (3, 3)


@pytest.mark.parametrize("level", POLICY.levels)
def test_what_held_rows_hold_makes_no_difference(level: str) -> None:
    """B5, D03: two answers whose held rows differ in what these hide are the same, counts included."""
    assert_noninterference(at(level), Events, level, examples=150)


class Slot(BaseModel):
    time: Annotated[str, Since("minimal")]
    start: Annotated[str, Until("minimal", then="time")]
    place: Annotated[str, Since("minimal")]
    held_at: Annotated[str | None, RowCap()] = None


class Slots(BaseModel):
    slots: list[Slot]


def test_a_held_row_tells_in_the_words_of_the_wider_level_what_its_own_level_tells() -> None:
    """D03: `time` stands for `start`, which the level of the row shows; `place` stands for nothing and is null."""
    time = {"time": "9-10", "start": "9:00", "place": "Room A"}
    value = Slots(slots=[Slot(**time, held_at="strict"), Slot(**time)])
    held = {"time": "9-10", "place": None, "held_at": "strict"}
    assert at("open").view(value).data["slots"] == [held, {"time": "9-10", "place": "Room A", "held_at": None}]
    assert at("strict").view(value).data["slots"] == [{"start": "9:00"}, {"start": "9:00"}]


def test_what_is_derived_from_rows_that_can_be_held_is_told_where_none_can_be() -> None:
    """Rule 5: above the narrowest level a row may be held, and the derived text would tell of it."""
    value = Events(events=[Event(id=1)], summary="s")
    assert "summary" not in at("open").view(value).data
    assert "summary" not in at("minimal").view(value).data


def test_a_shape_inside_the_call_of_a_wider_one_stays_as_narrow_as_it_is() -> None:
    """Rule 4: the call around it only narrows."""
    wide = at("open")
    narrow = wide.using(grant=POLICY.grant("strict"))
    said: list[str] = []

    @wide.tool
    def get_note() -> Note:
        said.extend([narrow.render(Note()).text, narrow.say("{note.a}", note=Note()), str(narrow.view(Note()).data)])
        said.append(narrow.fail(UserError("{note.a}", about={"note": Note()})).text)
        return Note()

    assert "CANARY" in wide.tools["get_note"].served().content[0].text
    assert not [text for text in said if "CANARY" in text]


def test_the_shape_of_a_module_speaks_for_the_one_that_was_made_of_it() -> None:
    """Rule 1: tools that are written with a module's shape answer as the server that serves them does."""
    module = at("strict")

    @module.tool
    def get_note() -> Note:
        return Note(b=module.say("{note.a}", note=Note()))

    opened = module.using(grant=POLICY.grant("open"))
    assert decode(opened.tools["get_note"].served())["b"] == "CANARY"
    assert "CANARY" not in module.tools["get_note"].served().content[0].text


def test_a_tool_called_by_a_tool_answers_no_wider_than_the_call() -> None:
    """Rule 4: what a call asks for holds for all that is called by it."""
    shape = at("open")
    seen: list[str] = []

    @shape.tool
    def inner() -> Note:
        return Note()

    @shape.tool(ask={"privacy"})
    async def outer() -> Note:
        seen.append(shape.tools["inner"].served().content[0].text)
        return Note()

    asyncio.run(shape.tools["outer"].served(privacy="strict"))
    asyncio.run(shape.tools["outer"].served())
    assert ["CANARY" in text for text in seen] == [False, True]


def test_a_tool_called_by_a_tool_keeps_to_its_own_level() -> None:
    """Rule 4: the cap of the inner one holds, whatever the call around it is granted."""
    shape = at("open")

    @shape.tool(privacy="minimal")
    def inner() -> Note:
        return Note()

    @shape.tool
    def outer() -> Note:
        return Note(b=shape.tools["inner"].served().content[0].text)

    answered = decode(shape.tools["outer"].served())
    assert (answered["a"], answered["b"]) == ("CANARY", '{"b":"b"}')


def test_an_answer_for_a_tool_keeps_to_the_level_of_the_tool() -> None:
    """Rule 4: `Shape.answer` gives what the tool would, whatever grant it is asked with."""
    shape = at("open")

    @shape.tool(privacy="strict")
    def get_note() -> Note:
        return Note()

    texts = [shape.answer("get_note", Note(), grant=grant).text for grant in (None, POLICY.grant("open"))]
    assert texts == [shape.tools["get_note"].served().content[0].text] * 2
    assert "CANARY" not in texts[0]


def test_a_choice_of_fields_keeps_what_says_that_a_row_is_held() -> None:
    """Rule 3: a held row's null must not read as "has none"."""
    shape = at("open")

    @shape.tool(ask={"fields"})
    def list_events() -> Events:
        return Events(events=[Event(id=1, place="p", held_at="strict"), Event(id=2)])

    chosen = decode(shape.tools["list_events"].served(fields=["events.place"]))
    assert chosen == {"events": [{"held_at": "strict", "place": None}, {"held_at": None, "place": None}]}


def test_a_field_that_nobody_is_told_is_no_field_to_choose() -> None:
    """Default deny: a choice does not tell which fields there are."""
    shape = at("open")

    @shape.tool(ask={"fields"})
    def list_events() -> Events:
        return Events(events=[Event(id=1)])

    known, unknown = (
        shape.tools["list_events"].served(fields=[f"events.{name}"]).content[0].text for name in ("key", "kex")
    )
    assert known.replace("key", "kex") == unknown


class Keyed(BaseModel):
    by: Annotated[dict[str, Note], Always()]


def test_fields_inside_of_a_dict_are_those_of_its_values() -> None:
    """`fields` names fields, never the keys of data."""
    shape = at("open")

    @shape.tool(ask={"fields"})
    def get_keyed() -> Keyed:
        return Keyed(by={"b": Note(), "x": Note()})

    served = shape.tools["get_keyed"].served
    assert decode(served(fields=["by.b"])) == {"by": {"b": {"b": "b"}, "x": {"b": "b"}}}
    assert decode(served(fields=["by"])) == decode(served())
    assert served(fields=["by.x"]).is_error


def test_a_template_that_loops_over_what_was_chosen_in_part_is_not_used() -> None:
    """Rule 9: a class of which some fields are missing, however deep, is written by the built-in rendering."""
    sources = {"events": "{% for event in events %}{{ event.id }} {{ event.title }}{% endfor %}"}
    shape = at("open", encoder=Markdown(templates={Events: "events"}, loader=DictLoader(sources)))

    @shape.tool(ask={"fields"})
    def list_events() -> Events:
        return Events(events=[Event(id=1)])

    assert (
        shape.tools["list_events"].served(fields=["events.id"]).content[0].text == "## events\n\n| id |\n| --- |\n| 1 |"
    )
    assert shape.tools["list_events"].served().content[0].text == "1 t"


def test_keys_of_what_the_setting_withholds_are_not_named() -> None:
    """B5: a description names no key inside of a field that is not told."""

    class Hidden(BaseModel):
        notes: Annotated[list[Note], Since("open")]

    def list_notes() -> Hidden:
        """Notes with {keys:notes}."""
        return Hidden(notes=[])

    at("open").tool(list_notes)
    with pytest.raises(DefinitionError, match="{keys:notes} names nothing with keys"):
        at("strict").tool(list_notes)


class Partial(TypedDict):
    name: Annotated[str, Always()]
    rows: NotRequired[Annotated[list[int], Always()]]


def test_a_list_that_may_be_missing_needs_no_page() -> None:
    """B01: the answer without it fits the published schema."""
    shape = at("open")

    @shape.tool(page="rows", limit=2)
    def get_partial(rows: list[int] | None = None) -> Partial:
        return Partial(name="x") if rows is None else Partial(name="x", rows=rows)

    for rows in (None, [1, 2, 3]):
        structured = shape.tools["get_partial"].served(rows=rows).structured_content
        Draft202012Validator(shape.tools["get_partial"].output_schema or {}).validate(structured)


def test_arguments_nested_too_deep_for_a_cursor_are_a_user_error() -> None:
    """C6: bad input is never a failure of the tool."""
    shape = at("open")
    deep: list[Any] = []
    for _ in range(400):
        deep = [deep]

    class Numbers(BaseModel):
        numbers: Annotated[list[int], Always()] = [1]

    @shape.tool(page="numbers", limit=1)
    def list_numbers(query: Any) -> Numbers:
        return Numbers()

    assert "The arguments are nested too deep" in shape.tools["list_numbers"].served(query=deep).content[0].text


class Broken(logging.Handler):
    """A log on a full disk."""

    def emit(self, record: logging.LogRecord) -> None:
        raise OSError(28, "No space left on device")


class Full:
    """A sink on a full disk."""

    def write(self, record: Any) -> None:
        raise OSError(28, "No space left on device")


def test_a_full_disk_changes_no_answer() -> None:
    """Rule 6: neither a log nor a sink that cannot be written makes another answer of one."""
    log, handler = logging.getLogger("mcpshape"), Broken()
    shape = at("open", sinks=[Full()])

    @shape.tool
    def get_note(fails: bool = False) -> Note:
        if fails:
            raise ValueError("CANARY")
        return Note()

    log.addHandler(handler)
    try:
        answered, failed = (shape.tools["get_note"].served(fails=fails) for fails in (False, True))
    finally:
        log.removeHandler(handler)
    assert not answered.is_error
    assert "finds the reason in its log under reference" in failed.content[0].text


def test_a_record_tells_what_was_chosen() -> None:
    """B6: what a choice of fields leaves out was not disclosed."""
    records: list[Any] = []

    class Kept:
        def write(self, record: Any) -> None:
            records.append(record)

    shape = at("open", sinks=[Kept()])

    @shape.tool(ask={"fields"})
    def list_events() -> Events:
        return Events(events=[Event(id=1)])

    @shape.tool(ask={"fields"})
    def list_notes() -> list[Note]:
        return [Note()]

    @shape.tool(ask={"fields"})
    def get_keyed() -> Keyed:
        return Keyed(by={"x": Note()})

    shape.tools["list_events"].served(fields=["events.id", "total"])
    shape.tools["list_notes"].served(fields=["result.a"])
    shape.tools["get_keyed"].served(fields=["by.b"])
    shape.tools["get_keyed"].served(fields=["by"])
    assert [record.disclosed for record in records] == [
        ("events", "events.held_at", "events.id", "total"),
        ("a",),
        ("by", "by.b"),
        ("by", "by.a", "by.b"),
    ]
