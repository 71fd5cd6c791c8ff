"""Records of what was disclosed."""

import json
import logging
from datetime import UTC, datetime
from typing import Annotated, Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import BaseModel

from mcpshape import Always, Mask, Policy, Shape, Since, Toggle, UserError, When
from mcpshape._caller import Caller, calling
from mcpshape.disclosure import CurrentSpan, JsonLines, Record
from mcpshape.encoders import Json, Toon

POLICY = Policy(levels=("strict", "open"), toggles={"notes": Toggle(on_since="open", offered_since="open")})


class Event(BaseModel):
    id: Annotated[str, Always()]
    title: Annotated[str, Since("open", below=Mask("[Event]"))]
    notes: Annotated[str | None, When("notes")] = None
    children: list["Event"] = []


class Kept:
    def __init__(self) -> None:
        self.records: list[Record] = []

    def write(self, record: Record) -> None:
        self.records.append(record)


class Broken:
    def write(self, record: Record) -> None:
        raise OSError("CANARY: the disk is full")


EVENT = Event(id="CANARY", title="CANARY", notes="CANARY", children=[Event(id="x", title="y")])


def make_shape(sink: Any, level: str = "strict") -> Shape:
    return Shape(POLICY, encoder=Json(), grant=POLICY.grant(level), sinks=[sink])


def test_a_record_tells_what_left_and_no_value() -> None:
    """One record per call: level, toggles, format, caller, paths, rows, bytes; D12: never a value."""
    kept = Kept()
    shape = make_shape(kept)

    @shape.tool()
    def get() -> Event:
        return EVENT

    before = datetime.now(UTC)
    with calling(Caller(principal="p", client="c")):
        result: Any = get()
    (record,) = kept.records
    assert before <= record.time <= datetime.now(UTC)
    told = record.to_dict()
    told.pop("time")
    assert told == {
        "tool": "get",
        "level": "strict",
        "toggles": (),
        "format": "JSON",
        "client": "c",
        "principal": "p",
        "narrowed_by": ("setting",),
        "disclosed": ("children", "id"),
        "masked": ("title",),
        "withheld": ("notes",),
        "rows": 1,
        "size": 2 * len(result.content[0].text),
        "error": None,
    }
    assert "CANARY" not in str(record)


def test_a_failure_has_a_record_with_its_code() -> None:
    """C6: user errors, wrong arguments and crashes are told apart."""
    kept = Kept()
    shape = make_shape(kept)

    @shape.tool()
    def get(kind: int) -> Event:
        if kind:
            raise UserError("CANARY", code="not_found")
        raise ValueError("CANARY")

    for kind in (1, 0, "x"):
        assert shape.tools["get"].served(kind=kind).is_error
    assert [record.error for record in kept.records] == ["not_found", "internal", "invalid_arguments"]
    assert "CANARY" not in str(kept.records)


def test_records_are_json_lines_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """`JsonLines`: one object a line."""
    with caplog.at_level(logging.INFO):
        shaped = make_shape(JsonLines(), "open").render(EVENT)
    (line,) = [record.getMessage() for record in caplog.records if record.name == "mcpshape.disclosure"]
    assert json.loads(line)["withheld"] == []
    assert json.loads(line)["toggles"] == ["notes"]
    assert shaped.record is not None
    assert json.loads(line)["size"] == shaped.record.size


def test_records_are_attributes_of_the_current_span() -> None:
    """`CurrentSpan`: attributes of the span that is open, and nothing else of the answer."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with provider.get_tracer("test").start_as_current_span("call"):
        make_shape(CurrentSpan()).render(EVENT)
    (span,) = exporter.get_finished_spans()
    attributes = dict(span.attributes or {})
    assert attributes["mcpshape.level"] == "strict"
    assert attributes["mcpshape.masked"] == ("title",)
    assert "mcpshape.time" not in attributes
    assert "CANARY" not in str(attributes)
    provider.shutdown()


def test_a_sink_that_fails_does_not_fail_the_answer(caplog: pytest.LogCaptureFixture) -> None:
    """A full disk: the answer leaves, the log says that the record did not, without its text."""
    assert not make_shape(Broken()).render(EVENT).is_error
    assert "a sink for disclosure records failed with OSError" in caplog.text
    assert "CANARY" not in caplog.text


def test_without_sinks_nothing_is_recorded() -> None:
    """Records cost nothing where nobody wants them."""

    class Plain(BaseModel):
        x: int

    assert Shape(encoder=Toon()).render(Plain(x=1)).record is None
    assert Shape(encoder=Toon(), sinks=[Kept()]).render(Plain(x=1)).record is not None
