"""Rules about the fields of DTOs and the arguments of tools: what is declared, and what examples hold in it."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import regex

from mcpshape._guards import decide
from mcpshape._nodes import Field, Node, Record, Scalar, parts
from mcpshape._problems import actions_of
from mcpshape.errors import Problem
from mcpshape.lint._inspected import Names, Subject, cells
from mcpshape.rules import Mask

_PLACEHOLDERS = frozenset({"-", "--", "---", "–", "—", "n/a", "none", "null", "nil", "tbd", "(none)", "not set"})
# Signs such as © belong to what people write.
_PICTURE = r"[[\p{Extended_Pictographic}\p{Regional_Indicator}\p{Block=Dingbats}\p{Block=Geometric_Shapes}]--[©®™]]"
_PICTURED = regex.compile(rf"(?V1)\A\s*{_PICTURE}|{_PICTURE}[\ufe0f\u200d\U0001f3fb-\U0001f3ff]*\s*\Z")
_NOTES = {"title", "description", "default", "examples", "deprecated"}


def find_decoration(subject: Subject) -> Iterator[Problem]:
    """Texts that say how a value looks, or that there is none, in place of a value or of null."""
    declared: set[str] = set()
    for record, field in _fields(subject):
        constants, masks = set(_constants(field.node)), set(_masks(subject, record, field))
        declared |= constants | masks
        yield from _decorated(_place(record, field), constants, masks)
    for place, texts in _examples(subject):
        held = [text for text in texts if text not in declared]
        if empty := [text for text in held if _is_placeholder(text)]:
            yield _placeholder(place, empty[0])
        elif held and all(map(_is_pictured, texts)):
            message = "all that its example holds begins or ends with a picture."
            yield Problem(place, message, "Return the value, such as a word of a Literal, and leave pictures to hosts.")


def _decorated(place: str, constants: Iterable[str], masks: Iterable[str]) -> Iterator[Problem]:
    """What is declared with a picture, or to read as if there were nothing."""
    for each in sorted(filter(_is_pictured, constants)):
        yield Problem(place, f"it declares {_quoted(each)}, which has a picture.", "Declare a plain word.")
    for each in sorted(filter(_is_placeholder, masks)):
        remedy = 'Use one that says what stands there, such as Mask("[Event]").'
        yield Problem(place, f"its mask {_quoted(each)} reads as if there were nothing.", remedy)


def _placeholder(place: str, text: str) -> Problem:
    remedy = "Declare it with | None and return None, which is written as null."
    return Problem(place, f"its example holds {_quoted(text)} where there is nothing.", remedy)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def find_always_masked(subject: Subject) -> Iterator[Problem]:
    """Fields that say the same in every answer, whoever asks."""
    for record, field in _fields(subject):
        decided = [decide(subject.tool.plan, record, field, grant) for grant in subject.grants]
        if all(isinstance(action, Mask) for action in decided):
            message = "it is masked at every level that the tool answers at."
            remedy = "Leave the field out, or let a level show it."
            yield Problem(_place(record, field), message, remedy)


def find_untyped_values(subject: Subject) -> Iterator[Problem]:
    """Arguments that take anything, and texts that hold data of their own."""
    function, parameters = subject.tool.function, subject.tool.parameters
    signature = parameters.signature.parameters
    for name, each in signature.items():
        if name in parameters.adapters and name not in parameters.added:
            if _takes_anything(parameters.adapters[name].json_schema()):
                yield Problem(f"argument {name}", "it takes any value.", "Declare what it holds.")
        elif each.annotation is each.empty and not (name == "self" and "." in function.__qualname__):
            yield Problem(f"argument {name}", "it has no type.", "Annotate it.")
    for place, texts in _examples(subject):
        if all(map(_is_data, texts)):
            yield Problem(place, "its example is JSON inside of a text.", "Declare a model, a list or a dict[str, …].")


def _fields(subject: Subject) -> Iterator[tuple[Record, Field]]:
    for record in subject.tool.plan.declared.records.values():
        yield from ((record, field) for field in record.fields)


def _place(record: Record, field: Field) -> str:
    return f"{record.name}.{field.name}"


def _constants(node: Node) -> Iterator[str]:
    """The texts that a declared type enumerates."""
    if isinstance(node, Scalar):
        schema: Mapping[str, Any] = node.schema
        members = (getattr(each, "value", each) for each in (*schema.get("expected", ()), *schema.get("members", ())))
        yield from (each for each in members if isinstance(each, str))
    for inner in parts(node):
        yield from _constants(inner)


def _masks(subject: Subject, record: Record, field: Field) -> Iterator[str]:
    """The texts that stand in place of a field."""
    for action in actions_of(subject.tool.plan.guard(record, field)):
        if isinstance(action, Mask) and isinstance(action.value, str):
            yield action.value


def _examples(subject: Subject) -> Iterator[tuple[str, list[str]]]:
    """What the example tells at each level, by place, without prose."""
    names: Names = {(record.cls, field.key): _place(record, field) for record, field in _fields(subject)}
    for view in (answer.page.view for answer in subject.usual):
        found: dict[str, list[str]] = {}
        for place, text in cells(view.data, view.layout, names):
            found.setdefault(place, []).append(text)
        yield from found.items()


def _is_placeholder(text: str) -> bool:
    return not text.strip() or text.strip().casefold() in _PLACEHOLDERS


def _is_pictured(text: str) -> bool:
    return bool(_PICTURED.search(text))


def _is_data(text: str) -> bool:
    if not text.lstrip().startswith(("{", "[")):
        return False
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False


def _takes_anything(schema: Any) -> bool:
    """Whether a JSON Schema lets any value through at some place."""
    if schema is True or not schema.keys() - _NOTES:
        return True
    inner = [
        *([schema["items"]] if "items" in schema else ()),
        *(schema.get("anyOf", ())),
        *(schema.get("prefixItems", ())),
        *schema.get("properties", {}).values(),
        *schema.get("$defs", {}).values(),
    ]
    others = schema.get("additionalProperties", False)
    return (others is not False and _takes_anything(others)) or any(map(_takes_anything, inner))
