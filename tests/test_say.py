"""Sentences about DTOs."""

from typing import Annotated

import pytest
from pydantic import BaseModel, Field

from mcpshape import Always, DefinitionError, Mask, Policy, Shape, Since
from mcpshape.encoders import Toon

POLICY = Policy(levels=("strict", "open"))


class Place(BaseModel):
    name: Annotated[str, Since("open")]


class Event(BaseModel):
    title: Annotated[str, Since("open", below=Mask("[Event]"))]
    place: Place | None = None
    room: Annotated[str | None, Since("open")] = None
    seats: Annotated[int, Always(), Field(serialization_alias="seatCount")] = 3
    tags: Annotated[list[str], Always()] = []


EVENT = Event(title="CANARY", place=Place(name="Hall"))
STRICT = Shape(POLICY, encoder=Toon())
OPEN = Shape(POLICY, encoder=Toon(), grant=POLICY.grant("open"))


def test_a_sentence_tells_no_more_than_the_grant() -> None:
    """B5, D08: a masked value prints its mask, a withheld one a fixed phrase."""
    template = "Opened {event.title} in {event.place.name} ({event.room}), {event.seats} seats {{x}}."
    assert STRICT.say(template, event=EVENT) == "Opened [Event] in (not shown) ((not shown)), 3 seats {x}."
    assert OPEN.say(template, event=EVENT) == "Opened CANARY in Hall (none), 3 seats {x}."
    assert OPEN.say("{event.place.name}", event=Event(title="x")) == "none"


def test_a_sentence_in_a_tool_uses_the_grant_of_the_call() -> None:
    """Rule 1: the shape that serves decides, not the one that the module was written with."""
    shape = Shape(POLICY, encoder=Toon())

    class Said(BaseModel):
        sentence: Annotated[str, Always()]

    @shape.tool()
    def tool() -> Said:
        return Said(sentence=shape.say("{event.title}", event=EVENT))

    opened = shape.using(grant=POLICY.grant("open"))
    assert shape.tools["tool"].served().content[0].text == 'sentence: "[Event]"'
    assert opened.tools["tool"].served().content[0].text == "sentence: CANARY"
    assert shape.say("{event.title}", event=EVENT) == "[Event]"


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{event}", "names fields"),
        ("{event.title!r}", "names fields"),
        ("{event.title:>10}", "names fields"),
        ("{event[title]}", "names fields"),
        ("{event.title.upper()}", "names fields"),
        ("{}", "names fields"),
        ("{event.title", "its braces do not match"),
        ("{event.titel}", "there is no field 'titel'"),
        ("{event.__class__}", "there is no field '__class__'"),
        ("{event.title.x}", "there is no field 'x'"),
        ("{task.title}", "there is no 'task'"),
        ("{event.tags}", "it is not one value"),
    ],
)
def test_a_template_can_name_fields_and_nothing_else(template: str, message: str) -> None:
    """Rule 1: no calls, no indexing, no formats, no private names; mistakes are the author's to read."""
    with pytest.raises(DefinitionError, match=message):
        OPEN.say(template, event=EVENT)
