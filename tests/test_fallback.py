"""Several encoders in a row, and views that were made by hand."""

import json
import logging
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import DictLoader
from pydantic import BaseModel

from clients import decode
from json_data import is_same, objects, texts
from mcpshape import DefinitionError, EncodingError, Shape, View
from mcpshape._plain import make_plain
from mcpshape.encoders import Encoder, Fallback, Json, Markdown, Toon, Vocabulary
from mcpshape.encoders.toon import Codec
from mcpshape.testing import decode as read_back

CODECS: tuple[Codec, ...] = ("toons", "python-toon", "toon-format")


class Odd(BaseModel):
    value: str | int


class Broken:
    """An encoder that cannot write anything, in whichever way it is told to."""

    structured = True
    vocabulary = Vocabulary(entry="thing", entries="things", field="part", fields="parts", listing="heap")

    def __init__(self, failure: Exception | str, name: str = "XML") -> None:
        self.failure, self.name = failure, name

    def encode(self, view: View) -> str:
        if isinstance(self.failure, Exception):
            raise self.failure
        return self.failure


class Keys(BaseModel):
    by_name: dict[str, int]


class Dto(BaseModel):
    total: int = 1
    secret: str = "CANARY"


FAILURES: tuple[tuple[Exception | str, str], ...] = (
    (EncodingError("XML", "no such element"), "XML: no such element"),
    (ValueError("CANARY"), "XML: ValueError"),
    (RecursionError(), "XML: RecursionError"),
    (" \n", "XML: the encoder returned no text"),
)


@pytest.mark.parametrize(("failure", "reason"), FAILURES)
def test_the_next_encoder_writes_what_one_cannot(
    failure: Exception | str, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A9: the model reads which format follows, the operator why, and nobody a value in the log."""
    shaped = Shape(encoder=Fallback(Broken(failure), Json())).render(Dto())
    assert not shaped.is_error
    assert shaped.text == 'XML could not be used for this answer; JSON follows.\n{"total":1,"secret":"CANARY"}'
    assert shaped.structured == {"total": 1, "secret": "CANARY"}
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("mcpshape", logging.WARNING)
    assert record.getMessage() == f"JSON was used in place of what failed ({reason})"


def test_a_codec_that_fails_on_real_data_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """A9: through a shape whose first choice is TOON, with a codec that breaks."""
    first = Toon()

    def fail(_: Any) -> str:
        raise ValueError

    object.__setattr__(first, "_encode", fail)
    shape = Shape(encoder=Fallback(first, Markdown(), Json()))
    assert shape.render(Dto()).text == (
        "TOON could not be used for this answer; Markdown follows.\n- total: 1\n- secret: CANARY"
    )
    assert shape.render(Dto()).structured is None


def test_an_encoder_that_works_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """A9: the first text is the text, without a line before it and without a log entry."""
    assert Fallback(Toon(), Json()).encode(View({"a": 1})) == "a: 1"
    assert not caplog.records


@pytest.mark.parametrize("value", ["a\ud800", 10**5000], ids=["surrogate", "wide"])
@pytest.mark.parametrize("first", [Json(), *(Toon(codec=codec) for codec in CODECS)], ids=repr)
def test_what_no_encoder_can_write_is_put_right_before_another_one_is_tried(
    first: Encoder, value: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """The log does not name an encoder as failed that wrote the answer."""
    odd = Odd.model_construct(value=value)
    with caplog.at_level(logging.WARNING):
        told = Shape(encoder=Fallback(first, Markdown())).render(odd).text
    assert told == Shape(encoder=first).render(odd).text
    assert not caplog.records


def test_all_failing_is_one_error_that_names_all(caplog: pytest.LogCaptureFixture) -> None:
    """A9: an `EncodingError` of the first, through the shape as the usual failure."""
    fallback = Fallback(Broken(ValueError("CANARY")), Broken("", "YAML"))
    with pytest.raises(EncodingError) as caught:
        fallback.encode(View({}))
    reason = "no format could be used (XML: ValueError; YAML: the encoder returned no text)"
    assert (caught.value.encoder, caught.value.reason) == ("XML", reason)
    shaped = Shape(encoder=fallback).render(Dto())
    assert shaped.is_error
    assert reason in shaped.text
    assert "CANARY" not in shaped.text + caplog.text


def test_a_fallback_can_hold_a_fallback() -> None:
    """A9: it is an encoder like any other."""
    nested = Fallback(Broken("", "A"), Fallback(Broken("", "B"), Json()))
    assert nested.encode(View({"a": 1})) == (
        'A could not be used for this answer; B follows.\nB could not be used for this answer; JSON follows.\n{"a":1}'
    )


@pytest.mark.parametrize("encoder", [Toon(), Toon(delimiter="tab"), Toon(delimiter="pipe"), Json(), Markdown()])
def test_the_proof_kit_reads_what_a_fallback_wrote(encoder: Encoder) -> None:
    """A9: `mcpshape.testing.decode` skips the line, however many formats failed."""
    data = {"total": 1, "rows": [{"a": "x could not be used for this answer; y follows.", "b": 2}]}
    text = Fallback(Broken("", "A"), Broken("", "B"), encoder).encode(View(data))
    assert read_back(text) == read_back(encoder.encode(View(data))) == data


def test_a_fallback_speaks_as_its_first_encoder() -> None:
    """A9: what is published does not depend on which encoder will work."""
    first = Broken("")
    fallback: Encoder = Fallback(first, Toon())
    assert (fallback.name, fallback.vocabulary, fallback.structured) == (first.name, first.vocabulary, True)
    assert Fallback(Toon(), Json()) == Fallback(Toon(), Json())
    assert not Fallback(Toon(), Json()).structured


@pytest.mark.parametrize(
    ("encoders", "message"),
    [
        ((), "encoders: there is none to fall back to. Pass at least two"),
        ((Toon(),), "encoders: there is none to fall back to. Pass at least two"),
        (
            (Toon(), "json"),
            "encoders, number 2: it is no encoder: str has no name, vocabulary, structured. Pass an object",
        ),
        ((Toon, Json()), "encoders, number 1: it is no encoder but a class. Pass an object"),
    ],
)
def test_a_fallback_of_too_little_is_refused(encoders: Any, message: str) -> None:
    """Rule 7: fewer than two, or something that is no encoder."""
    with pytest.raises(DefinitionError, match=message):
        Fallback(*encoders)


def test_the_page_on_values_shows_the_line() -> None:
    """docs/reference/values.md, "When a codec fails": the text is the real one."""
    page = (Path(__file__).parents[1] / "docs" / "reference" / "values.md").read_text(encoding="utf-8")
    text = Fallback(Broken(ValueError(), "TOON"), Json()).encode(View({"total": 1}))
    assert f"```text\n{text}\n```" in page


def all_formats(data: dict[Any, Any]) -> Iterator[Any]:
    """What each format that can be decoded says of the data, strictly."""
    yield json.loads(Json().encode(View(data)), parse_constant=pytest.fail)
    for codec in CODECS:
        yield decode(Toon(codec=codec).encode(View(data)))


HANDMADE: tuple[tuple[dict[Any, Any], dict[str, Any]], ...] = (
    ({"a\ud800": "\udfffb"}, {"a\ufffd": "\ufffdb"}),
    ({"a\ud800": 1, "a\udfff": 2, "a\ufffd": 3}, {"a\ufffd": 1, "a\ufffd\ufffd": 2, "a\ufffd\ufffd\ufffd": 3}),
    ({"a": [math.nan, math.inf, {"b": -math.inf}]}, {"a": [None, None, {"b": None}]}),
    (
        {None: 1, True: 2, False: 3, 7: 4, 1.5: 5, "7": 6},
        {"null": 1, "true": 2, "false": 3, "7": 4, "1.5": 5, "7\ufffd": 6},
    ),
    ({"a": 10**5000, "b": -(10**4400) - 7}, {"a": "1" + "0" * 5000, "b": "-1" + "0" * 4399 + "7"}),
    ({"a": (1, (2,))}, {"a": [1, [2]]}),
    ({"a": 2.0**60, "b": 10**400}, {"a": 2.0**60, "b": 10**400}),
    ({"a": "\x00\x1b[0m\u202e\x7f"}, {"a": "\x00\x1b[0m\u202e\x7f"}),
)


@pytest.mark.parametrize(("data", "told"), HANDMADE, ids=range(len(HANDMADE)))
def test_a_view_made_by_hand_is_written_the_same_in_every_format(data: dict[Any, Any], told: dict[str, Any]) -> None:
    """Rule 8, the table of views made by hand: one policy for what cannot be written."""
    assert [*all_formats(data)] == [told] * 4
    assert Markdown().encode(View(data)) == Markdown().encode(View(told))


lone = st.text(st.characters() | st.characters(categories=["Cs"]), max_size=4)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | lone | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(lone, inner, max_size=3),
    max_leaves=15,
)


def replaced(value: Any) -> Any:
    """The policy for values, said in another way than the package says it."""
    if isinstance(value, dict):
        return [replaced(each) for each in value.values()]
    if isinstance(value, list):
        return [replaced(each) for each in value]
    if isinstance(value, str):
        return "".join("\ufffd" if 0xD800 <= ord(each) <= 0xDFFF else each for each in value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


@given(st.dictionaries(lone, anything, max_size=4))
def test_no_encoder_fails_on_data(data: dict[str, Any]) -> None:
    """A9, rule 8: any view of JSON types, surrogates included, in every format, and all formats say the same."""
    first, *others = all_formats(data)
    assert all(is_same(other, first) for other in others)
    assert replaced(first) == replaced(data)
    assert len(first) == len(data)
    assert Markdown().encode(View(data)).encode().strip()


@given(objects)
def test_what_can_be_written_is_left_as_it_is(data: dict[str, Any]) -> None:
    """Rule 8: the walk through a view made by hand changes nothing that need not change."""
    assert make_plain(data) == data
    assert repr(make_plain(json.loads(json.dumps(data)))) == repr(make_plain(data))


@pytest.mark.parametrize("encoder", [*(Toon(codec=codec) for codec in CODECS), Json(), Markdown()], ids=repr)
def test_what_is_no_json_is_an_encoding_error(encoder: Encoder) -> None:
    """A9: cycles, other types and other keys are refused by every format, without their values."""
    cyclic: dict[str, Any] = {}
    cyclic["CANARY"] = [cyclic]
    wrong: list[Any] = [cyclic, {"a": {"CANARY"}}, {"a": object()}, {("CANARY",): 1}]
    for data in wrong:
        with pytest.raises(EncodingError) as caught:
            encoder.encode(View(data))
        assert "CANARY" not in str(caught.value)


@pytest.mark.parametrize("encoder", [*(Toon(codec=codec) for codec in CODECS), Json()], ids=repr)
def test_what_an_encoder_fails_on_is_projected_with_more_care(encoder: Encoder) -> None:
    """A9: it is given the same once more, without what no encoder can write; no data of a shape is walked through."""
    shaped = Shape(encoder=encoder).render(Keys(by_name={"a\ud800": 1}))
    assert shaped.text == encoder.encode(View({"by_name": {"a\ufffd": 1}}))


@pytest.mark.parametrize(("encoder", "depth"), [(Toon(), 200), (Json(), 250), (Markdown(), 50)], ids=repr)
def test_a_format_goes_as_deep_as_the_page_says(encoder: Encoder, depth: int) -> None:
    """docs/reference/values.md, "Views made by hand": objects in objects, lists in lists."""
    nested: dict[str, Any] = {"a": 1}
    lists: list[Any] = [1]
    for _ in range(depth - 2):
        nested, lists = {"a": nested}, [lists]
    assert encoder.encode(View(nested))
    assert encoder.encode(View({"a": lists}))


def test_templates_behind_a_fallback_are_checked() -> None:
    """Rule 7: what an encoder can tell at registration is told, wherever it stands in the row."""
    fallback = Fallback(Toon(), Markdown(templates={Dto: "dto.md.j2"}, loader=DictLoader({"dto.md.j2": "{{ totl }}"})))
    with pytest.raises(DefinitionError, match="totl"):

        @Shape(encoder=fallback).tool
        def get_dto() -> Dto:
            return Dto()
