"""What an expression of a template can stand for, as far as the layout of a view tells."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from jinja2 import nodes

from mcpshape._layout import Layout

_KEEPING = frozenset({"sort", "list", "reverse", "unique", "select", "reject", "selectattr", "rejectattr"})
_PICKING = frozenset({"first", "last", "min", "max"})
# Where a filter takes the path of a field, by its place among the arguments; by name it is `attribute`.
_PATH_ARGUMENTS = {
    "selectattr": 0, "rejectattr": 0, "groupby": 0, "sum": 0, "join": 1, "unique": 1, "min": 1, "max": 1, "sort": 2,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Place:
    """A value of the view."""

    path: str
    layout: Layout

    def entry(self) -> "Place | None":
        """Any entry of an array, if it is one."""
        entries = self.layout.fields.get("*")
        return Place(self.path, entries) if entries and self.layout.form == "array" else None

    def listing(self) -> "Place":
        """An array of such values."""
        return Place(self.path, Layout(fields={"*": self.layout}, form="array"))


@dataclass(frozen=True, slots=True)
class Lost:
    """A name that the view does not have under this grant."""

    path: str


@dataclass(frozen=True, slots=True)
class Pairs:
    """An array of pairs, of which the second is known."""

    second: "Value"


@dataclass(frozen=True, slots=True)
class Pair:
    """One of them."""

    second: "Value"


@dataclass(frozen=True, slots=True, eq=False)
class Callee:
    """A macro, with the template and the names around it."""

    node: nodes.Macro
    template: str
    scope: "Scope"


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """An imported template."""

    names: Mapping[str, "Value"]


# None is what nothing is known of.
Value = Place | Lost | Pairs | Pair | Callee | Module | None


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """The names that a part of a template sees."""

    view: Layout
    names: dict[str, Value] = field(default_factory=dict)
    present: frozenset[str] = frozenset()

    def inner(self, names: Mapping[str, Value] | None = None) -> "Scope":
        """The same names and some more, apart from the ones outside."""
        return replace(self, names={**self.names, **(names or {})})

    def knowing(self, paths: frozenset[str]) -> "Scope":
        """The same, where these paths are known to be there."""
        return Scope(self.view, self.names, self.present | paths)

    def find(self, name: str, known: frozenset[str]) -> Value:
        """What a name stands for."""
        if name in self.names:
            return self.names[name]
        if name in self.view.fields:
            return Place(name, self.view.fields[name])
        return None if name in known else Lost(name)


def inside(value: Value, key: Any) -> Value:
    """What stands under a key or at a position of a value; `Lost` where nothing can."""
    match value:
        case Place(_, layout) if layout.form == "unknown":
            return None if key not in layout.fields else Place(f"{value.path}.{key}", layout.fields[key])
        case Place(_, layout) if layout.form == "array" and isinstance(key, int):
            return value.entry()
        case Place(path, layout) if layout.form == "object" and (found := layout.fields.get(key)):
            return Place(f"{path}.{key}", found)
        case Place(path, layout) if layout.form == "object" and (found := layout.fields.get("*")):
            return Place(f"{path}.{key}", replace(found, is_optional=True))
        case Place(path, layout):
            return None if layout.form == "value" and isinstance(key, int) else Lost(f"{path}.{key}")
        case Pair(second):
            return second if key in {1, "list"} else None
        case Module(names):
            return names.get(key)
        case _:
            return None


def entry_of(value: Value) -> Value:
    """What a loop over a value takes."""
    match value:
        case Place():
            return value.entry()
        case Pairs(second):
            return Pair(second)
        case _:
            return None


def bind(target: nodes.Node, value: Value) -> dict[str, Value]:
    """The names that an assignment makes."""
    if isinstance(target, nodes.Name):
        return {target.name: value}
    items = target.items if isinstance(target, nodes.Tuple) else []
    return {
        name: each
        for place, item in enumerate(items)
        for name, each in bind(item, value.second if isinstance(value, Pair) and place == 1 else None).items()
    }


def filtered(name: str, source: Value, entry: Value) -> Value:
    """What a filter makes of a value, where it passes values of the view on."""
    if name in _KEEPING:
        return source
    if name in _PICKING:
        return entry
    if name == "groupby":
        return Pairs(source)
    if name in {"items", "dictsort"} and isinstance(source, Place):
        entries = source.layout.fields.get("*")
        return Pairs(Place(f"{source.path}.*", entries) if entries else None)
    return None


def paths_in(node: nodes.Filter) -> Iterator[tuple[str, bool]]:
    """The constant paths among the arguments of a filter, and whether the filter does without what is not there."""
    named = [each.value for each in node.kwargs if each.key == "attribute"]
    place = _PATH_ARGUMENTS.get(node.name)
    given = node.args[place : place + 1] if place is not None else node.args if node.name == "table" else []
    tests = [each.value for each in node.args[1:2] if isinstance(each, nodes.Const)]
    does_without = any(each.key == "default" for each in node.kwargs) or node.name == "table"
    does_without = does_without or (node.name.endswith("attr") and tests[:1] in (["defined"], ["undefined"]))
    for each in [*given, *named]:
        if isinstance(each, nodes.Const) and isinstance(each.value, str):
            yield from ((path, does_without) for path in each.value.split(","))


def spelled(node: nodes.Node) -> str:
    """A path as a template writes it; nothing for what is no path."""
    match node:
        case nodes.Name():
            return str(node.name)
        case nodes.Getattr():
            return f"{spelled(node.node)}.{node.attr}"
        case nodes.Getitem(arg=nodes.Const(value=key)):
            return f"{spelled(node.node)}[{key!r}]"
        case _:
            return ""
