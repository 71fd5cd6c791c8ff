"""Sentences about DTOs, made from views: a template can name fields and nothing else."""

import re
from collections.abc import Iterator, Mapping
from string import Formatter
from typing import Any

from pydantic_core import to_json

from mcpshape._guards import Plan
from mcpshape._nodes import Record, Reference
from mcpshape._project import View
from mcpshape.errors import DefinitionError, Problem

NOT_SHOWN = "(not shown)"
NONE = "none"

_PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")


def say(template: str, subjects: Mapping[str, tuple[Plan, View]]) -> str:
    """Fill `{event.title}` from views. A masked value prints its mask, a withheld one `(not shown)`, null `none`.

    Raises:
        DefinitionError: The template names something that is no field, or asks for more than a field.
    """
    return "".join(literal + (_fill(path, subjects) if path is not None else "") for literal, path in _parts(template))


def _parts(template: str) -> Iterator[tuple[str, str | None]]:
    try:
        parsed = list(Formatter().parse(template))
    except ValueError:
        raise _mistake(template, "its braces do not match.") from None
    for literal, path, spec, conversion in parsed:
        if path is not None and (spec or conversion or not _PATH.fullmatch(path)):
            raise _mistake(f"{{{path}}}", "a template names fields, as in {event.title}, and nothing else.")
        yield literal, path


def _fill(path: str, subjects: Mapping[str, tuple[Plan, View]]) -> str:
    subject, *names = path.split(".")
    if subject not in subjects:
        raise _mistake(f"{{{path}}}", f"there is no {subject!r}.")
    plan, view = subjects[subject]
    node, data, layout = plan.declared.root, view.data, view.layout
    for name in names:
        record: Record | None = plan.declared.records[node.key] if isinstance(node, Reference) else None
        field = record.field(name) if record else None
        if field is None:
            raise _mistake(f"{{{path}}}", f"there is no field {name!r}.")
        if data is None or field.key not in data:
            return NONE if data is None or field.key in layout.fields else NOT_SHOWN
        node, data, layout = getattr(field.node, "inner", field.node), data[field.key], layout.at(field.key)
    return _word(path, data)


def _word(path: str, value: Any) -> str:
    if isinstance(value, list | Mapping):
        raise _mistake(f"{{{path}}}", "it is not one value.")
    if value is None:
        return NONE
    return value if isinstance(value, str) else to_json(value).decode()


def _mistake(path: str, message: str) -> DefinitionError:
    return DefinitionError("say", [Problem(path, message, "Name a field of a DTO that is passed in.")])
