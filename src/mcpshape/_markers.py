"""The markers that an author wrote on the fields of a DTO class: rules and hints."""

from typing import Annotated, Any, NotRequired, Required, get_args, get_origin

from typing_extensions import ReadOnly, get_type_hints

from mcpshape.rules import RULES

Markers = tuple[Any, ...]


def field_markers(cls: type) -> dict[str, Markers]:
    """The markers of each stored field of a model, dataclass or TypedDict."""
    infos = getattr(cls, "__pydantic_fields__", None)
    if infos is not None:
        return {name: tuple(info.metadata) for name, info in infos.items()}
    return {name: _split(hint)[1] for name, hint in get_type_hints(cls, include_extras=True).items()}


def computed_markers(cls: Any, name: str) -> Markers:
    """The markers of a computed field, which stand on its return type."""
    return _split(cls.__pydantic_decorators__.computed_fields[name].info.return_type)[1]


def misplaced_rules(cls: type) -> set[str]:
    """The fields that have a rule deeper inside their type, where nothing reads it."""
    infos = getattr(cls, "__pydantic_fields__", None)
    if infos is not None:
        return {name for name, info in infos.items() if _holds_rule(info.annotation)}
    hints = get_type_hints(cls, include_extras=True)
    return {name for name, hint in hints.items() if _holds_rule(_split(hint)[0])}


def _split(hint: Any) -> tuple[Any, Markers]:
    markers: Markers = ()
    while get_origin(hint) in {Annotated, NotRequired, Required, ReadOnly}:
        markers += get_args(hint)[1:]
        hint = get_args(hint)[0]
    return hint, markers


def _holds_rule(hint: Any) -> bool:
    bare, markers = _split(hint)
    inner = (_holds_rule(each) for each in get_args(bare))
    return any(isinstance(marker, RULES) for marker in markers) or any(inner)
