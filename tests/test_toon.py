"""TOON: three codecs, three delimiters, one text, and nothing lost on the way back."""

import importlib.metadata
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import toon
import toon_format
import toons
from hypothesis import given
from hypothesis import strategies as st
from pydantic import create_model

from generated import Case, cases
from json_data import ODD_NUMBERS, ODD_TEXTS, has_exponent, is_same, objects
from mcpshape import DefinitionError, Shape, View
from mcpshape.encoders import Json, Toon
from mcpshape.encoders.toon import DELIMITERS, SPEC, Codec, Delimiter

CODECS: tuple[Codec, ...] = ("toons", "python-toon", "toon-format")
NAMES: tuple[Delimiter, ...] = ("comma", "tab", "pipe")
# Each reads with all the checks of strict mode.
DECODERS: dict[str, Callable[[str], Any]] = {
    "toons": toons.loads,
    "python-toon": toon.decode,
    "toon-format": toon_format.loads,
}
FIXTURES = sorted((Path(__file__).parents[2] / "shared" / "toon-spec" / "encode").glob("*.json"))
NOT_OFFERED = {"respects custom indent size option": "Toon always indents by two spaces"}


def encode(data: Any, codec: Codec = "toons", delimiter: Delimiter = "comma") -> str:
    return Toon(codec=codec, delimiter=delimiter).encode(View(data))


def check_everywhere(data: Any, delimiter: Delimiter = "comma") -> str:
    """The one text of all codecs, which every strict decoder reads back as the data."""
    written = [encode(data, codec, delimiter) for codec in CODECS]
    assert len(set(written)) == 1 or has_exponent(data)
    assert written[1] == written[2]
    for text in set(written):
        assert [name for name, read in DECODERS.items() if not is_same(read(text), data)] == []
    return written[1]


# Case, input, exact text where the case gives one.
TOON_CASES: tuple[tuple[str, Any, str | None], ...] = (
    (
        "A01",
        json.loads(
            '{"phone":"+4930123456","build":"0042","version":"1.10","rate":"1e5","odds":".622","flag":"true",'
            '"none":"null","blank":""}'
        ),
        (
            'phone: "+4930123456"\nbuild: "0042"\nversion: "1.10"\nrate: "1e5"\nodds: .622\n'
            'flag: "true"\nnone: "null"\nblank: ""'
        ),
    ),
    (
        "A03",
        json.loads('[{"id":1,"extra":{}},{"id":2,"extra":{}}]'),
        "[2]:\n  - id: 1\n    extra:\n  - id: 2\n    extra:",
    ),
    (
        "A05",
        json.loads(
            '{"days":[{"events":[{"id":1,"t":"A"},{"id":2,"t":"B"}],"date":"2026-03-02"},'
            '{"events":[],"date":"2026-03-03"}]}'
        ),
        (
            "days[2]:\n  - events[2]{id,t}:\n      1,A\n      2,B\n    date: 2026-03-02\n"
            "  - events: []\n    date: 2026-03-03"
        ),
    ),
    (
        "A06",
        json.loads('{"a":1e21,"b":-0.0,"c":1e-7,"d":1e-06,"e":1.0,"f":1e20,"g":5e-324,"h":12345678901234567890123}'),
        "a: 1e+21\nb: 0\nc: 1e-7\nd: 0.000001\ne: 1\nf: 100000000000000000000\ng: 5e-324\nh: 12345678901234567890123",
    ),
    (
        "A10",
        json.loads(
            '{"orders":[{"id":1,"customer":{"name":"A","country":null}},{"id":2,"customer":{"name":"B","country":"DE"}}],'
            '"broken":[{"id":1,"customer":{"name":"A"}},{"id":2,"customer":null}]}'
        ),
        (
            "orders[2]{id,customer{name,country}}:\n  1,A,null\n  2,B,DE\n"
            "broken[2]:\n  - id: 1\n    customer:\n      name: A\n  - id: 2\n    customer: null"
        ),
    ),
    (
        "A11",
        json.loads('{"items":[],"obj":{},"nested":{"events":[]}}'),
        "items: []\nobj:\nnested:\n  events: []",
    ),
    ("A11", [], "[]"),
    ("A11", {}, "# nothing to show"),
    (
        "A12",
        json.loads(
            '{"Größe®":[{"w":"a","h":2}],"":3,"a:b":4,"a\\"b:c":"v","k\\\\n":1,"x-y":6,"2x":5}',
        ),
        '"Größe®"[1]{w,h}:\n  a,2\n"": 3\n"a:b": 4\n"a\\"b:c": v\n"k\\\\n": 1\n"x-y": 6\n"2x": 5',
    ),
)


@pytest.mark.parametrize("delimiter", NAMES)
@pytest.mark.parametrize(("case", "data", "text"), TOON_CASES, ids=[case for case, *_ in TOON_CASES])
def test_toon_follows_the_cases(case: str, data: Any, text: str, delimiter: Delimiter) -> None:
    """A01, A03, A05, A06, A10, A11, A12: the case's input, its exact text, and an exact way back for each reader."""
    assert check_everywhere(data, delimiter)
    assert check_everywhere(data) == text, case


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_an_odd_text_is_itself_wherever_it_stands(text: str) -> None:
    """A01, A12: as a value, a key, a cell, a column, an entry of a list, of a list in a list and of a keyed table."""
    for delimiter in NAMES:
        check_everywhere({"value": text, text: 1}, delimiter)
        check_everywhere({"rows": [{"a": text, text: "x"}, {text: text, "a": None}], text: [{"b": 1}]}, delimiter)
        check_everywhere({"list": [text, 1], "lists": [[text], [text, text], []], text: [text]}, delimiter)
        check_everywhere({"mixed": [{text: {}}, text, [text], {text: [text]}], text: {}}, delimiter)
        check_everywhere({"keyed": {text: {"a": text}, "other": {"a": None}}, text: {text: {text: []}}}, delimiter)


def test_a_legacy_empty_array_still_reads_as_one() -> None:
    """A11: `items[0]:` of older writers, and `[]` and `{}` stay apart."""
    assert [read("items[0]:") for read in DECODERS.values()] == [{"items": []}] * 3
    assert [read("[]") for read in DECODERS.values()] == [[]] * 3
    assert encode({"a": []}) != encode({"a": {}}) != encode({"a": None})


# What a column may hold and still be one; each mix makes a list of the table.
@pytest.mark.parametrize(
    ("rows", "is_table"),
    [
        ([{"a": 1, "b": None}, {"b": "x", "a": None}], True),
        ([{"a": {"b": None}}, {"a": {"b": 1}}], True),
        ([{"a": {"b": {"c": 1}}}, {"a": {"b": {"c": 2}}}], True),
        ([{"a": {"b": 1}}, {"a": None}], False),
        ([{"a": None}, {"a": {"b": 1}}], False),
        ([{"a": {"b": None}}, {"a": {}}], False),
        ([{"a": {"b": 1}}, {"a": {"c": 1}}], False),
        ([{"a": {}}, {"a": {}}], False),
        ([{"a": []}, {"a": []}], False),
        ([{"a": [1]}, {"a": None}], False),
        ([{"a": 1}, {"b": 1}], False),
        ([{"a": 1}, {}], False),
        ([{}, {}], False),
        ([{"a": 1}, 1], False),
        ([{"a": 1}, None], False),
    ],
)
def test_rows_are_a_table_only_where_every_cell_is_told_apart(rows: list[Any], is_table: bool) -> None:
    """A03, A10, B13: null, an object of nulls, an empty object and no key at all never merge."""
    text = check_everywhere({"rows": rows})
    assert text.startswith("rows[2]{") is is_table


@pytest.mark.parametrize(
    "first", [[], [1], [[1], []], [{"b": 1}], [{"b": {}}], {}, {"b": 1}, {"x": {"b": 1}, "y": {"b": 2}}]
)
@pytest.mark.parametrize("second", [[], {}, None, [{"c": {"d": 1}}, {"c": {"d": 2}}]])
def test_any_first_field_of_a_list_item_keeps_its_siblings_apart(first: Any, second: Any) -> None:
    """A05: whatever the first field is, rows stand two levels below the hyphen and siblings one."""
    for delimiter in NAMES:
        check_everywhere({"items": [{"first": first, "second": second}, {"first": first}, [first, second]]}, delimiter)


@pytest.mark.parametrize("number", [*ODD_NUMBERS, *(-number for number in ODD_NUMBERS)])
def test_a_number_is_spelled_one_way_and_reads_back(number: float) -> None:
    """A06: all digits and no exponent between 1e-6 and 1e21, even where a codec by itself would round from 2^53 on."""
    text = check_everywhere({"number": number, "rows": [{"a": number}, {"a": 1}], "list": [number, "a"]})
    if not has_exponent(number):
        assert re.fullmatch(r"number: (0|-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?)", text.split("\n", maxsplit=1)[0])


@given(st.floats(2.0**53, 1e21, exclude_max=True))
def test_a_codec_that_rounds_is_given_no_float_to_round(number: float) -> None:
    """A06: toons 0.9 by itself writes 46308044732821136.0 as 46308044732821140; in any view it has all digits."""
    dto = create_model("Dto", value=(float, ...))(value=number)
    for codec in CODECS:
        assert Shape(encoder=Toon(codec=codec)).render(dto).text == f"value: {int(number)}"
        assert encode({"value": -number}, codec) == f"value: {-int(number)}"
    assert Shape(encoder=Json()).render(dto).structured == {"value": number}


@given(objects, st.sampled_from(NAMES))
def test_all_codecs_write_the_same_text_and_all_decoders_read_it(data: dict[str, Any], delimiter: Delimiter) -> None:
    """The codec is a matter of speed: any JSON has one text, which each strict decoder reads back as the data."""
    check_everywhere(data, delimiter)


@given(cases(), st.sampled_from(NAMES))
def test_views_of_generated_classes_have_one_text(case: Case, delimiter: Delimiter) -> None:
    """As above, for what leaves through the door."""
    for grant in case.grants():
        view = Shape(case.policy, encoder=Toon()).view(case.value, grant=grant, declared=case.spec.cls)
        check_everywhere(view.data, delimiter)


@pytest.mark.parametrize("depth", [10, 100, 200])
def test_deep_nesting_has_one_text(depth: int) -> None:
    """200 levels of objects, lists or both are no trouble for any codec."""
    for wrap in (lambda data, _: {"a": data}, lambda data, _: [data], lambda data, n: [data] if n % 2 else {"a": data}):
        data: Any = 1
        for level in range(depth):
            data = wrap(data, level)  # type: ignore[no-untyped-call]
        check_everywhere({"root": data})


def fixtures() -> Iterator[Any]:
    for path in FIXTURES:
        for case in json.loads(path.read_text(encoding="utf-8"))["tests"]:
            mark = [pytest.mark.skip(NOT_OFFERED[case["name"]])] if case["name"] in NOT_OFFERED else []
            yield pytest.param(case, id=f"{path.stem}: {case['name']}", marks=mark)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("case", [*fixtures()] or [pytest.param(None, marks=pytest.mark.skip("no fixtures here"))])
def test_toon_passes_the_official_encoder_fixtures(case: dict[str, Any], codec: Codec) -> None:
    """The encoder fixtures of the TOON specification 4.0, with their options."""
    options = dict(case.get("options", {}))
    names: dict[str, Delimiter] = {sign: name for name, sign in DELIMITERS.items()}
    delimiter = names[options.pop("delimiter", ",")]
    assert not options
    assert not case.get("shouldError")
    assert encode(case["input"], codec, delimiter) == (case["expected"] or "# nothing to show")


@pytest.mark.skipif(not FIXTURES, reason="no fixtures here")
def test_no_fixture_is_left_out_in_silence() -> None:
    """Every exception names a fixture that is there, and nothing else is skipped."""
    skipped = [param.values[0]["name"] for param in fixtures() if param.marks]
    assert sorted(skipped) == sorted(NOT_OFFERED)
    assert len([*fixtures()]) > 170


def test_each_codec_follows_the_version_that_the_table_states() -> None:
    """By what it says of itself, and by what only that version asks for."""
    said = re.search(r"toon-spec: ([0-9.]+)", importlib.metadata.metadata("python-toon")["Description"])
    assert said
    assert {"toons": toons.__toon_spec__, "python-toon": said[1], "toon-format": toon_format.__toon_spec__} == SPEC
    for codec in CODECS:
        assert Toon(codec=codec).spec == SPEC[codec]
        # 3.1 empty arrays; 4.0 nested groups, keyed tables, quotes for what could be a comment or a signed number.
        assert encode({"a": []}, codec) == "a: []"
        assert encode([{"a": {"b": 1}}], codec) == "[1]{a{b}}:\n  1"
        assert encode({"x": {"a": 1}, "y": {"a": 2}}, codec) == "[2:]{a}:\n  x: 1\n  y: 2"
        assert encode({"a": "#", "b": "+1"}, codec) == 'a: "#"\nb: "+1"'
        # After 4.1 a text at the root that begins like a byte order mark is quoted; no view has a text there.
        assert encode("\ufeffa", codec) == ('"\ufeffa"' if SPEC[codec] > "4.1" else "\ufeffa")


def test_the_page_on_values_states_the_versions() -> None:
    """docs/reference/values.md names each codec with its release and the version that it follows."""
    page = (Path(__file__).parents[1] / "docs" / "reference" / "values.md").read_text(encoding="utf-8")
    for codec, spec in SPEC.items():
        release = ".".join(importlib.metadata.version(codec).split(".")[:2])
        assert f"| `{codec}` {release} | {spec} |" in page


def test_toon_names_the_codec_that_it_chose() -> None:
    """The choice is made once, when the encoder is made, and can be read off it."""
    assert repr(Toon()) == "Toon(codec='toons', delimiter='comma', spec='4.1')"
    assert repr(Toon(codec="toon-format", delimiter="tab")) == "Toon(codec='toon-format', delimiter='tab', spec='4.4')"


@pytest.mark.parametrize("codec", CODECS)
def test_a_delimiter_stands_between_the_values(codec: Codec) -> None:
    """Section 11 of the specification: the header declares it, and only values that hold it are quoted."""
    data = {"rows": [{"a": "x,y", "b": "x|y"}, {"a": "x\ty", "b": None}]}
    assert encode(data, codec, "comma") == 'rows[2]{a,b}:\n  "x,y",x|y\n  "x\\ty",null'
    assert encode(data, codec, "tab") == 'rows[2\t]{a\tb}:\n  x,y\tx|y\n  "x\\ty"\tnull'
    assert encode(data, codec, "pipe") == 'rows[2|]{a|b}:\n  x,y|"x|y"\n  "x\\ty"|null'


@pytest.mark.parametrize("delimiter", [",", "\t", "semicolon", "", None])
def test_an_unknown_delimiter_is_refused(delimiter: Any) -> None:
    """Rule 7: the choices are named, and so is every other mistake."""
    with pytest.raises(DefinitionError, match="delimiter: .* is no delimiter. Choose one of: comma, tab, pipe."):
        Toon(delimiter=delimiter)
    with pytest.raises(DefinitionError, match="(?s)codec: 'xml' is unknown.*delimiter: "):
        Toon(codec="xml", delimiter=delimiter)  # type: ignore[arg-type]
