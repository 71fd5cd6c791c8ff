"""Hints for encoders that the data of a view does not tell by itself."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from mcpshape._nodes import Choice, Converted, Declared, Keyed, Listing, Node, Nullable, Record, Reference, Root


@dataclass(frozen=True, slots=True)
class Layout:
    """Where prose stands, key by key; `*` is any entry of an array and any key of an object whose keys are data."""

    is_prose: bool = False
    fields: Mapping[str, "Layout"] = field(default_factory=dict)

    def at(self, key: str) -> "Layout":
        """The hints for one key."""
        return self.fields.get(key) or self.fields.get("*") or NO_HINTS


NO_HINTS = Layout()


def make_layout(tree: Declared, prose: Collection[tuple[str, str]]) -> Layout:
    """The hints for a whole type, where `prose` names the fields that hold prose by record key and field name."""
    if not prose:
        return NO_HINTS
    made: dict[str, dict[str, Layout]] = {key: {} for key in tree.records}
    for record in tree.records.values():
        made[record.key].update(_fields(record, made, prose))
    return _node(tree.root, made)


def _fields(
    record: Record, made: Mapping[str, Mapping[str, Layout]], prose: Collection[tuple[str, str]]
) -> dict[str, Layout]:
    return {
        each.key: Layout(is_prose=True) if (record.key, each.name) in prose else _node(each.node, made)
        for each in record.fields
    }


def _node(node: Node, made: Mapping[str, Mapping[str, Layout]]) -> Layout:
    match node:
        case Reference(key):
            # The same dict that is still being filled: this is what lets a type contain itself.
            return Layout(fields=made[key])
        case Nullable(inner) | Root(_, inner) | Converted(_, inner):
            return _node(inner, made)
        case Listing(inner) | Keyed(_, inner):
            return Layout(fields={"*": _node(inner, made)})
        case Choice(options):
            fields = [_node(option, made).fields for option in options]
            return Layout(fields={key: hints for each in fields for key, hints in each.items()})
        case _:
            return NO_HINTS
