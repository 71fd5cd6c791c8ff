"""The markers that an author wrote on the fields of a DTO class: rules and hints."""

import typing
from collections.abc import Iterator
from typing import Annotated, Any, NotRequired, Required, get_args, get_origin

from typing_extensions import ReadOnly, TypeAliasType, get_type_hints

from mcpshape._nodes import Record
from mcpshape.errors import Problem
from mcpshape.rules import HINTS, RULES

# From Python 3.12 on, the one that the `type` statement makes is another class.
TypingAliasType = getattr(typing, "TypeAliasType", TypeAliasType)

Markers = tuple[Any, ...]


def field_markers(cls: type) -> dict[str, Markers]:
    """The markers of each stored field of a model, dataclass or TypedDict."""
    return {name: markers for name, (_, markers) in _declarations(cls).items()}


def computed_markers(cls: Any, name: str) -> Markers:
    """The markers of a computed field, which stand on its return type."""
    return split(cls.__pydantic_decorators__.computed_fields[name].info.return_type)[1]


def misplaced_rules(cls: Any) -> set[str]:
    """The fields that have a rule deeper inside their type, where nothing reads it."""
    stored = {name: annotation for name, (annotation, _) in _declarations(cls).items()}
    decorators = getattr(cls, "__pydantic_decorators__", None)
    computed = decorators.computed_fields if decorators else {}
    returned = {name: split(each.info.return_type)[0] for name, each in computed.items()}
    return {name for name, annotation in {**stored, **returned}.items() if hides_rule(annotation)}


def split(hint: Any) -> tuple[Any, Markers]:
    """An annotation without its markers, and the markers."""
    markers: Markers = ()
    while get_origin(hint) in {Annotated, NotRequired, Required, ReadOnly}:
        markers += get_args(hint)[1:]
        hint = get_args(hint)[0]
    return hint, markers


def hides_rule(annotation: Any, seen: tuple[Any, ...] = ()) -> bool:
    """Whether a rule stands inside an annotation, behind aliases and root models as well, which may hold themselves."""
    if any(annotation is each for each in seen):
        return False
    if isinstance(annotation, TypeAliasType | TypingAliasType):
        return _holds_rule(annotation.__value__, (*seen, annotation))
    if is_root_model(annotation):
        root = annotation.model_fields["root"]
        return any(map(_is_rule, root.metadata)) or hides_rule(root.annotation, (*seen, annotation))
    return any(_holds_rule(each, seen) for each in get_args(annotation))


def is_root_model(cls: Any) -> bool:
    """Whether something is a `RootModel` class."""
    # To import it makes pydantic look for plugins in whatever is installed.
    return isinstance(cls, type) and getattr(cls, "__pydantic_root_model__", False)


def _holds_rule(hint: Any, seen: tuple[Any, ...]) -> bool:
    bare, markers = split(hint)
    return any(map(_is_rule, markers)) or hides_rule(bare, seen)


def _is_rule(marker: Any) -> bool:
    read = (*RULES, *HINTS)
    return isinstance(marker, read) or (isinstance(marker, type) and issubclass(marker, read))


def _declarations(cls: type) -> dict[str, tuple[Any, Markers]]:
    # Inherited fields would be those of a parent class, which has markers of its own.
    infos = vars(cls).get("__pydantic_fields__")
    if infos is not None:
        return {name: (info.annotation, tuple(info.metadata)) for name, info in infos.items()}
    return {name: split(hint) for name, hint in get_type_hints(cls, include_extras=True).items()}


def record_problems(record: Record) -> Iterator[Problem]:
    """Rules that nothing reads, and fields that share one name on the wire."""
    for name in sorted(misplaced_rules(record.cls)):
        yield Problem(f"{record.name}.{name}", "a rule inside its type guards nothing.", "Put the rule on the field.")
    keys = [each.key for each in record.fields]
    for each in record.fields:
        if keys.count(each.key) > 1:
            yield Problem(f"{record.name}.{each.name}", f"another field is written as {each.key!r} too.", "Rename one.")
