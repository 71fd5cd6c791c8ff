"""Rule 8, the table of values: each row is true in schema, structured part, JSON text, TOON and Markdown."""

import json
import math
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import toon
import toon_format
import toons
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from markdown_it import MarkdownIt
from pydantic import create_model

from json_data import ODD_NUMBERS, is_same
from mcpshape import DefinitionError, Shape
from mcpshape._plan import compile_plan
from mcpshape._schema import publish_schema
from mcpshape.encoders import Json, Markdown, Toon
from mcpshape.encoders.toon import Codec
from value_table import POLICY, REFUSED, ROWS, WRAPPED, Example

PAGE = (Path(__file__).parents[1] / "docs" / "reference" / "values.md").read_text(encoding="utf-8")
CODECS: tuple[Codec, ...] = ("toons", "python-toon", "toon-format")
EXAMPLES = [(name, example) for name, row in ROWS.items() for example in row.examples]
IDS = [f"{name[:20]} {place}" for place, (name, _) in enumerate(EXAMPLES)]
FORMATS = Draft202012Validator.FORMAT_CHECKER
NODE = shutil.which("node")


def needs_policy(annotation: Any) -> bool:
    return "Since(" in str(annotation)


def render(example: Example, encoder: Any) -> Any:
    shape = Shape(POLICY if needs_policy(example.annotation) else None, encoder=encoder, structured=True)
    shaped = shape.render(example.dto())
    assert not shaped.is_error
    return shaped


def schema_of(annotation: Any) -> dict[str, Any]:
    policy = POLICY if needs_policy(annotation) else None
    return publish_schema(compile_plan(create_model("Dto", value=(annotation, ...)), policy, "tool"))


def documented(heading: str) -> list[list[str]]:
    """The cells of the first table below a heading of the page, without its head."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.split("\n") if line.startswith("|")]
    return [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[2:]]


def test_the_page_and_the_examples_have_the_same_rows() -> None:
    """Every row of the tables is proved, and whatever is proved is documented."""
    rows = [cells[0] for cells in documented("The table")]
    assert rows == [*ROWS, "a root that is no object"]
    assert [cells[0] for cells in documented("What is refused")] == list(REFUSED)
    assert all(row.examples for row in ROWS.values())


def test_the_validator_checks_the_formats_that_are_promised() -> None:
    """B07: without these the tests below would prove nothing about formats."""
    assert {"date-time", "date", "uuid", "uri"} <= set(FORMATS.checkers)
    with pytest.raises(Exception, match="is not a 'date-time'"):
        Draft202012Validator({"format": "date-time"}, format_checker=FORMATS).validate("2026-03-02T09:00:00")


@pytest.mark.parametrize("name", ROWS)
def test_the_schema_of_a_row_is_what_the_page_says(name: str) -> None:
    """Rule 8, B07: the schema of the first example of each row, whole."""
    row = ROWS[name]
    assert schema_of(row.examples[0].annotation)["properties"]["value"] == row.schema


@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=IDS)
def test_a_value_fits_its_schema(name: str, example: Example) -> None:
    """Rule 8, B01, B05, B07, B13: the structured part is what is told, and valid with all format checks."""
    assert name
    structured = render(example, Json()).structured
    assert repr(structured) == repr({"value": example.told})
    schema = schema_of(example.annotation)
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema, format_checker=FORMATS).validate(structured)
    assert schema == json.loads(json.dumps(schema), parse_constant=pytest.fail)


@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=IDS)
def test_a_value_is_the_same_in_every_text(name: str, example: Example) -> None:
    """Rule 8, A01, A06, B12: JSON and TOON decode to what is told, in strict readers, whichever codec wrote it."""
    assert name
    told = {"value": example.told}
    assert is_same(json.loads(render(example, Json()).text, parse_constant=pytest.fail), told) or big(example.told)
    for codec in CODECS:
        text = render(example, Toon(codec=codec)).text
        assert all(is_same(read(text), told) for read in (toons.loads, toon.decode, toon_format.loads))


def big(value: Any) -> bool:
    return isinstance(value, int) and abs(value) > 2**53


@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=IDS)
def test_a_value_is_shown_in_markdown(name: str, example: Example) -> None:
    """Rule 8, E09: the text itself for what is more than a line; else the line, as a Markdown reader shows it."""
    assert name
    text = render(example, Markdown()).text
    if example.markdown is not None:
        assert text == example.markdown
        return
    (shown,) = re.fullmatch(r"<ul>\n<li>(.*)</li>\n</ul>\n", html(text)).groups()  # type: ignore[union-attr]
    assert unescape(re.sub("^value: <em>none</em>$", "value: null", shown)) == f"value: {spelled(example.told)}"
    assert "<" not in shown.replace("<em>none</em>", "")


def html(text: str) -> str:
    return str(MarkdownIt("gfm-like", {"linkify": False}).render(text))


def spelled(told: Any) -> str:
    """A scalar in a line of Markdown, apart from escapes."""
    if isinstance(told, str):
        return told or '""'
    if isinstance(told, float):
        return repr(told).replace("e-0", "e-")
    return json.dumps(told)


@pytest.mark.parametrize(("declared", "value", "told"), WRAPPED, ids=str)
def test_a_root_that_is_no_object_stands_under_result(declared: Any, value: Any, told: Any) -> None:
    """B03, C2: one text and one structured part that say the value, under a schema that fits."""
    schema = publish_schema(compile_plan(declared, None, "tool"))
    assert (schema["type"], schema["required"], list(schema["properties"])) == ("object", ["result"], ["result"])
    for encoder in (Json(), Toon(), Markdown()):
        shaped = Shape(encoder=encoder, structured=True).render(value, declared=declared)
        assert shaped.structured == {"result": told}
        Draft202012Validator(schema, format_checker=FORMATS).validate(shaped.structured)
        assert "result" in shaped.text
    assert toon.decode(Shape(encoder=Toon()).render(value, declared=declared).text) == {"result": told}


def _alike(each: Any) -> str:
    """What every process calls it, without an address."""
    return re.sub(r" at 0x\w+", "", str(each))


@pytest.mark.parametrize(
    ("name", "annotation"), [(name, each) for name, refused in REFUSED.items() for each in refused], ids=_alike
)
def test_a_type_that_cannot_be_told_is_refused_at_registration(name: str, annotation: Any) -> None:
    """Rule 7: with the path of the field and a remedy, and never in a call."""
    assert name
    with pytest.raises(DefinitionError, match=r"\n  Dto\.value[^:]*: .+\. [A-Z].+\.$"):
        schema_of(annotation)


@pytest.mark.skipif(NODE is None, reason="node is not installed, so there is no JavaScript reader here")
def test_a_javascript_reader_keeps_every_value() -> None:
    """Rule 8: what `JSON.parse` makes of the JSON text and of the structured part is what was told, digit by digit."""
    numbers = [Example(type(number), number, number) for each in ODD_NUMBERS for number in (each, -each)]
    examples = [example for _, example in EXAMPLES] + numbers
    shaped = [render(example, Json()) for example in examples]
    texts = [text for each in shaped for text in (each.text, json.dumps(each.structured))]
    script = (
        "const read = JSON.parse(require('fs').readFileSync(0)).map((text) => JSON.parse(text));"
        "process.stdout.write(JSON.stringify(read));"
    )
    ran = subprocess.run([str(NODE), "-e", script], input=json.dumps(texts), capture_output=True, text=True, check=True)
    told = [each.structured for each in shaped for _ in range(2)]
    assert [
        after for before, after in zip(told, json.loads(ran.stdout), strict=True) if not is_kept(before, after)
    ] == []


def is_kept(before: Any, after: Any) -> bool:
    """Whether a value is the same after JavaScript, whose only number is a double."""
    if isinstance(before, dict | list):
        pairs = [(before[key], after[key]) for key in (before if isinstance(before, dict) else range(len(before)))]
        return type(before) is type(after) and len(before) == len(after) and all(is_kept(*pair) for pair in pairs)
    if isinstance(before, int | float) and not isinstance(before, bool):
        return isinstance(after, int | float) and float(before) == float(after) and float(before) == before
    return type(before) is type(after) and before == after


@given(st.lists(st.floats() | st.none()))
def test_nan_never_breaks_a_schema(values: list[float | None]) -> None:
    """B05: a strict parser reads the text, and the data is valid, whatever the floats are."""
    example = Example(list[float | None], values, None)
    shaped = render(example, Json())
    assert json.loads(shaped.text, parse_constant=pytest.fail) == shaped.structured
    Draft202012Validator(schema_of(example.annotation)).validate(shaped.structured)
    assert [each is None for each in shaped.structured["value"]] == [
        each is None or not math.isfinite(each) for each in values
    ]
