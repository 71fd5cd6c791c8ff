"""The four properties that carry the product, over generated DTO classes."""

import json
import re
from typing import Any

from hypothesis import given
from jsonschema import Draft202012Validator

from clients import decode
from generated import Case, cases
from mcpshape import Shape
from mcpshape._plan import compile_plan
from mcpshape._schema import publish_schema
from mcpshape.encoders import Encoder, Json, Markdown, Toon

ENCODERS: tuple[Encoder, ...] = (Toon(), Toon(codec="python-toon"), Toon(codec="toon-format"), Json(), Markdown())


def shape_of(case: Case, encoder: Encoder) -> Shape:
    return Shape(case.policy, encoder=encoder, structured=True)


def told(value: Any) -> set[str]:
    """Every text in a value, keys included."""
    if isinstance(value, dict):
        return set(value).union(*(told(each) for each in value.values()))
    if isinstance(value, list):
        return set[str]().union(*(told(each) for each in value))
    return {str(value)}


def found(text: str) -> set[str]:
    return set(re.findall(r"CANARY-[A-Za-z0-9-]+", text))


@given(cases())
def test_a_view_is_exactly_what_the_rules_say(case: Case) -> None:
    """B1 to B4, rules 1, 2 and 4: the projection agrees with an independent, plain reading of the rules."""
    for grant in case.grants():
        view = shape_of(case, Json()).view(case.value, grant=grant, declared=case.spec.cls)
        assert view.data == case.expected(grant)


@given(cases())
def test_no_canary_escapes_by_any_channel(case: Case) -> None:
    """B5, D01, rules 1 and 2: what a grant withholds is in no text, no structured part and no schema."""
    assert not found(json.dumps(publish_schema(compile_plan(case.spec.cls, case.policy, "tool"))))
    for encoder in ENCODERS:
        for grant in case.grants():
            shaped = shape_of(case, encoder).render(case.value, grant=grant, declared=case.spec.cls)
            assert found(shaped.text + json.dumps(shaped.structured)) <= told(case.expected(grant))


@given(cases())
def test_both_channels_tell_the_same_facts(case: Case) -> None:
    """C1, rule 5: text decodes to the structured part, in every format that can be decoded."""
    for grant in case.grants():
        for encoder in ENCODERS[:4]:
            shaped = shape_of(case, encoder).render(case.value, grant=grant, declared=case.spec.cls)
            decoded = json.loads(shaped.text) if isinstance(encoder, Json) else decode(shaped.text)
            assert decoded == shaped.structured
        markdown = shape_of(case, Markdown()).render(case.value, grant=grant, declared=case.spec.cls)
        assert markdown.structured is not None
        assert all(text.strip('"') in markdown.text.replace("\\", "") for text in told(markdown.structured) - {"None"})


@given(cases())
def test_data_fits_its_own_schema(case: Case) -> None:
    """B01, B13, rule 3: every view is valid under the published schema, whose root is an object without a `$ref`."""
    schema = publish_schema(compile_plan(case.spec.cls, case.policy, "tool"))
    assert schema["type"] == "object"
    assert "$ref" not in schema
    validator = Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
    for grant in case.grants():
        validator.validate(shape_of(case, Json()).view(case.value, grant=grant, declared=case.spec.cls).data)


@given(cases())
def test_every_encoder_takes_every_view(case: Case) -> None:
    """A5, rule 9: no view fails to encode, and no text is blank."""
    for encoder in ENCODERS:
        for grant in case.grants():
            shaped = shape_of(case, encoder).render(case.value, grant=grant, declared=case.spec.cls)
            assert not shaped.is_error
            assert shaped.text.strip()
