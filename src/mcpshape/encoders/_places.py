"""What an expression of a template can stand for, as far as the layout of a view tells."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from jinja2 import nodes
from typing_extensions import override

from mcpshape._layout import Layout

_KEEPING = frozenset({"sort", "list", "reverse", "unique", "select", "reject", "selectattr", "rejectattr"})
_PICKING = frozenset({"first", "last", "min", "max"})
# Where a filter takes the path of a field, by its place among the arguments; by name it is `attribute`.
_PATH_ARGUMENTS = {
    "selectattr": 0, "rejectattr": 0, "groupby": 0, "sum": 0, "join": 1, "unique": 1, "min": 1, "max": 1, "sort": 2,
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A value of the view; `proven` are the paths inside that it has, or that all of its entries have."""

    path: str
    layout: Layout
    proven: frozenset[str] = frozenset()

    @property
    def kind(self) -> tuple[Any, ...]:
        """What is inside of it, for a comparison of layouts that may contain themselves."""
        layout, depth = self.layout, 0
        while layout.form == "array" and "*" in layout.fields:
            layout, depth = layout.fields["*"], depth + 1
        return depth, id(layout.fields), layout.form, self.layout.is_optional, self.proven

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and (self.path, self.kind) == (other.path, other.kind)

    @override
    def __hash__(self) -> int:
        return hash((self.path, self.kind))

    def entry(self) -> "Place | None":
        """Any entry of an array, if it is one."""
        entries = self.layout.fields.get("*")
        return Place(self.path, entries, self.proven) if entries and self.layout.form == "array" else None

    def under(self, key: Any, layout: Layout) -> "Place":
        """What stands under a key."""
        parts = [each.partition(".") for each in self.proven]
        proven = frozenset(rest for step, _, rest in parts if step == str(key))
        found = replace(layout, is_optional=False) if proven else layout
        return Place(f"{self.path}.{key}", found, proven - {""})

    def listing(self) -> "Place":
        """An array of such values."""
        return Place(self.path, Layout(fields={"*": self.layout}, form="array"))


@dataclass(frozen=True, slots=True)
class Lost:
    """A name that the view does not have under this grant, or that is out of sight of a template without context."""

    path: str
    is_apart: bool = False


@dataclass(frozen=True, slots=True)
class Empty:
    """An array without entries under this grant."""


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


# What a template sees of the page where it is taken in without context.
APART = Layout()
# None is what nothing is known of.
Value = Place | Lost | Empty | Pairs | Pair | Callee | Module | None


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """The names that a part of a template sees."""

    view: Layout
    names: dict[str, Value] = field(default_factory=dict)
    present: frozenset[str] = frozenset()
    bound: frozenset[str] = frozenset()

    def inner(self, names: Mapping[str, Value] | None = None) -> "Scope":
        """The same names and some more that are bound here, apart from the ones outside."""
        return replace(self, names={**self.names, **(names or {})}, bound=self.bound.union(names or ()))

    def outside(self) -> "Scope":
        """The names that a block sees: not those of the loops around it."""
        return replace(self, names={name: each for name, each in self.names.items() if name not in self.bound})

    def knowing(self, paths: frozenset[str]) -> "Scope":
        """The same, where these paths are known to be there."""
        return replace(self, present=self.present | paths)

    def is_certain(self, value: Value) -> bool | None:
        """True for a place that every answer has; none where that is not known."""
        is_there = isinstance(value, Place) and (not value.layout.is_optional or value.path in self.present)
        return is_there or None

    def find(self, name: str, known: frozenset[str]) -> Value:
        """What a name stands for."""
        if name in self.names:
            return self.names[name]
        if name in self.view.fields:
            return Place(name, self.view.fields[name])
        return None if name in known else Lost(name, is_apart=self.view is APART)


def loop_in(node: nodes.For) -> dict[str, Value]:
    """The name `loop`, which Jinja makes if the body writes it, and not for what the body includes."""
    inner = (name.name for each in node.body for name in each.find_all(nodes.Name))
    return {"loop": None} if node.recursive or "loop" in inner else {}


def key_of(step: str) -> int | str:
    """A step of a path that a filter takes."""
    return int(step) if step.isdigit() else step


def inside(value: Value, key: Any) -> Value:
    """What stands under a key or at a position of a value; `Lost` where nothing can."""
    match value:
        case Place(_, layout) if layout.form == "unknown":
            return None if key not in layout.fields else value.under(key, layout.fields[key])
        case Place(_, layout) if layout.form == "array" and isinstance(key, int):
            return value.entry()
        case Place(_, layout) if layout.form == "object" and (found := layout.fields.get(key)):
            return value.under(key, found)
        case Place(_, layout) if layout.form == "object" and (found := layout.fields.get("*")):
            return value.under(key, replace(found, is_optional=True))
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
        case Empty():
            return value
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
    if isinstance(source, Empty):
        return source if name in {"map", "groupby"} else None
    if name in _PICKING:
        return entry
    if name == "groupby":
        return Pairs(source)
    if name in {"items", "dictsort"} and isinstance(source, Place):
        entries = source.layout.fields.get("*")
        return Pairs(Place(f"{source.path}.*", entries) if entries else None)
    return None


def sifted(node: nodes.Filter, source: Value, path: str, found: Value) -> Value:
    """What a filter for entries that have a field, or have it not, leaves of an array."""
    has_it = node.name == "selectattr" if _test_in(node) == "defined" else node.name == "rejectattr"
    is_there = False if isinstance(found, Lost) else (isinstance(found, Place) and not found.layout.is_optional) or None
    if is_there is not None and is_there is not has_it:
        return Empty()
    return replace(source, proven=source.proven | {path}) if has_it and isinstance(source, Place) else source


def _test_in(node: nodes.Filter) -> str:
    """The test for being there that a filter for entries names, if it does."""
    test = node.args[1] if node.name in {"selectattr", "rejectattr"} and len(node.args) > 1 else None
    return test.value if isinstance(test, nodes.Const) and test.value in {"defined", "undefined"} else ""


def is_sifting(node: nodes.Filter) -> bool:
    """Whether a filter keeps the entries that have a field, or those that do not."""
    return bool(_test_in(node))


def paths_in(node: nodes.Filter) -> Iterator[tuple[str, bool]]:
    """The constant paths among the arguments of a filter, and whether the filter does without what is not there."""
    named = [each.value for each in node.kwargs if each.key == "attribute"]
    place = _PATH_ARGUMENTS.get(node.name)
    given = node.args[place : place + 1] if place is not None else node.args if node.name == "table" else []
    does_without = any(each.key == "default" for each in node.kwargs) or node.name == "table" or is_sifting(node)
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
