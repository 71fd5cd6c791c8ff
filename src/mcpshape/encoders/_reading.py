"""Reads a template as it would run under a grant, with layouts in place of values, to find names that are not there."""

from typing import Any

from jinja2 import nodes

from mcpshape._layout import Layout
from mcpshape.encoders._findings import Findings
from mcpshape.encoders._places import (
    Callee,
    Lost,
    Module,
    Place,
    Scope,
    Value,
    bind,
    entry_of,
    filtered,
    inside,
    paths_in,
    spelled,
)
from mcpshape.encoders._sandbox import constant_names
from mcpshape.encoders._sources import Sources

# Names that Jinja knows in some place or other.
_JINJA_NAMES = frozenset({"loop", "self", "super", "caller", "varargs", "kwargs"})


class Reader:
    """Reads one template and what it includes, for one layout."""

    def __init__(self, sources: Sources, findings: Findings, name: str) -> None:
        self.sources, self.findings, self.name = sources, findings, name
        self.known = _JINJA_NAMES | sources.globals
        self.active: tuple[str, ...] = (name,)
        self.called: set[tuple[int, ...]] = set()
        self.blocks: dict[str, tuple[str, nodes.Block]] = {}

    def read(self, view: Layout) -> None:
        """Read the whole template for one view."""
        if tree := self.sources.tree(self.name):
            self.template(tree, Scope(view))

    def template(self, tree: nodes.Template, scope: Scope) -> None:
        parents = [node for node in tree.body if isinstance(node, nodes.Extends)]
        for node in tree.find_all(nodes.Block) if parents else ():
            self.blocks.setdefault(node.name, (self.name, node))
        silent = nodes.Output | nodes.Block if parents else nodes.Extends
        self.statements([node for node in tree.body if not isinstance(node, silent)], scope)

    def statements(self, body: list[nodes.Node], scope: Scope) -> None:
        for node in body:
            self.statement(node, scope)

    def statement(self, node: nodes.Node, scope: Scope) -> None:
        match node:
            case nodes.Output():
                for child in node.nodes:
                    self.value(child, scope)
            case nodes.If():
                self.branch(node, scope)
            case nodes.For():
                self.loop(node, scope)
            case nodes.Assign():
                scope.names.update(bind(node.target, self.value(node.node, scope)))
            case nodes.With():
                made = zip(node.targets, [self.value(each, scope) for each in node.values], strict=True)
                names = {name: value for target, each in made for name, value in bind(target, each).items()}
                self.statements(node.body, scope.inner(names))
            case nodes.Macro():
                scope.names[node.name] = callee = Callee(node, self.name, scope)
                self.macro(callee, [None] * len(node.args), [])
            case nodes.CallBlock():
                self.value(node.call, scope)
                self.statements(node.body, scope.inner(dict.fromkeys(arg.name for arg in node.args)))
            case nodes.Block():
                self.block(node, scope)
            case nodes.Include() | nodes.Extends():
                self.other(node, scope if getattr(node, "with_context", True) else Scope(Layout()))
            case _:
                self.imported(node, scope)

    def branch(self, node: nodes.If, scope: Scope) -> None:
        """Read what may be taken; keep the names that all of it agrees on."""
        before, ends = scope, list[Scope]()
        for each in (node, *node.elif_):
            outcome = self.condition(each.test, before)
            if outcome is not False:
                ends.append(end := before.knowing(self.proven(each.test, before, outcome=True)).inner())
                self.statements(each.body, end)
            if outcome:
                break
            before = before.knowing(self.proven(each.test, before, outcome=False))
        else:
            ends.append(end := before.inner())
            self.statements(node.else_, end)
        for name in {name for end in ends for name in end.names}:
            found = [end.names.get(name) for end in ends]
            scope.names[name] = found[0] if all(each is found[0] for each in found) else None

    def loop(self, node: nodes.For, scope: Scope) -> None:
        entries = self.value(node.iter, scope)
        if isinstance(entries, Place) and entries.layout.form == "value":
            self.findings.add(self.name, node.lineno, entries.path, "value")
        inner = scope.inner({"loop": None, **bind(node.target, entry_of(entries))})
        if node.test is None or self.condition(node.test, inner) is not False:
            proven = self.proven(node.test, inner, outcome=True) if node.test else frozenset[str]()
            self.statements(node.body, inner.knowing(proven))
        self.statements(node.else_, scope.inner())

    def macro(self, callee: Callee, args: list[Value], kwargs: list[tuple[str, Value]]) -> None:
        """Read the body of a macro, once for each kind of arguments."""
        names = [arg.name for arg in callee.node.args]
        defaults = zip(reversed(names), reversed(callee.node.defaults), strict=False)
        bound = {name: self.value(default, callee.scope) for name, default in defaults}
        bound |= dict.fromkeys(name for name in names if name not in bound)
        bound |= dict(zip(names, args, strict=False)) | dict(kwargs)
        layouts = [each.layout.fields if isinstance(each, Place) else None for each in bound.values()]
        kind = (id(callee.node), id(callee.scope.view.fields), *map(id, layouts))
        if kind not in self.called:
            self.called.add(kind)
            outside, self.name = self.name, callee.template
            self.statements(callee.node.body, callee.scope.inner(bound))
            self.name = outside

    def block(self, node: nodes.Block, scope: Scope) -> None:
        outside = self.name
        self.name, block = self.blocks.get(node.name, (self.name, node))
        self.statements(block.body, scope.inner())
        self.name = outside
        if block is not node and any(each.name == "super" for each in block.find_all(nodes.Name)):
            self.statements(node.body, scope.inner())

    def other(self, node: Any, scope: Scope) -> dict[str, Value]:
        """Read the templates that one names; the names that they make."""
        made: dict[str, Value] = {}
        names = constant_names(node) or []
        may_be_missing = len(names) > 1 or getattr(node, "ignore_missing", False)
        for name in names:
            if name in self.active or not (tree := self.sources.tree(name, may_be_missing=may_be_missing)):
                continue
            outside, self.name, self.active = (self.name, self.active), name, (*self.active, name)
            inner = scope.inner()
            self.template(tree, inner)
            made |= {key: value for key, value in inner.names.items() if key not in scope.names}
            self.name, self.active = outside
        return made

    def imported(self, node: Any, scope: Scope) -> None:
        made = self.other(node, scope.inner() if node.with_context else Scope(Layout()))
        if isinstance(node, nodes.Import):
            scope.names[node.target] = Module(made)
            return
        for each in node.names:
            name, alias = each if isinstance(each, tuple) else (each, each)
            scope.names[alias] = made.get(name)

    def value(self, node: nodes.Node | None, scope: Scope, *, is_handled: bool = False) -> Value:
        """What an expression stands for; a name in it that is not there is noted."""
        match node:
            case nodes.Name():
                found = scope.find(node.name, self.known)
            case nodes.Getattr():
                found = inside(self.value(node.node, scope), node.attr)
            case nodes.Getitem(arg=nodes.Const(value=key)):
                found = inside(self.value(node.node, scope), key)
            case nodes.Filter():
                return self.filter(node, scope)
            case nodes.Call():
                return self.call(node, scope)
            case nodes.CondExpr():
                return self.choice(node, scope)
            case nodes.And() | nodes.Or() | nodes.Not() | nodes.Test():
                self.condition(node, scope)
                return None
            case _:
                for child in node.iter_child_nodes() if node else ():
                    self.value(child, scope)
                return None
        return self.note(node, found, scope, is_handled=is_handled)

    def note(self, node: nodes.Node, found: Value, scope: Scope, *, is_handled: bool) -> Value:
        """Note that a name is there, or is not; unknown from here on if it is not."""
        if isinstance(found, Place):
            self.findings.reached.add(found.path)
        if isinstance(found, Place) and not is_handled and not _is_certain(found, scope):
            self.findings.add(self.name, node.lineno, found.path, "optional", spelled(node))
        elif isinstance(found, Lost):
            self.findings.add(self.name, node.lineno, found.path, "handled" if is_handled else "lost", spelled(node))
            return found if is_handled else None
        return found

    def choice(self, node: nodes.CondExpr, scope: Scope) -> Value:
        outcome = self.condition(node.test, scope)
        yes = no = None
        if outcome is not False:
            yes = self.value(node.expr1, scope.knowing(self.proven(node.test, scope, outcome=True)))
        if outcome is not True:
            no = self.value(node.expr2, scope.knowing(self.proven(node.test, scope, outcome=False)))
        return yes if outcome else no if outcome is False else None

    def call(self, node: nodes.Call, scope: Scope) -> Value:
        callee = self.value(node.node, scope)
        args = [self.value(arg, scope) for arg in node.args]
        kwargs = [(each.key, self.value(each.value, scope)) for each in node.kwargs]
        if isinstance(callee, Callee):
            self.macro(callee, args, kwargs)
        return None

    def condition(self, node: nodes.Node, scope: Scope) -> bool | None:
        """Whether a condition holds under the grant, where the layout alone decides it."""
        match node:
            case nodes.Const(value=bool() as value):
                return value
            case nodes.Not():
                outcome = self.condition(node.node, scope)
                return None if outcome is None else not outcome
            case nodes.And() | nodes.Or():
                ends = isinstance(node, nodes.Or)
                left = self.condition(node.left, scope)
                if left is ends:
                    return ends
                right = self.condition(node.right, scope.knowing(self.proven(node.left, scope, outcome=not ends)))
                return right if left is not None or right is ends else None
            case nodes.Test(name="defined" | "undefined"):
                found = self.value(node.node, scope, is_handled=True)
                is_there = False if isinstance(found, Lost) else _is_certain(found, scope)
                return is_there if is_there is None or node.name == "defined" else not is_there
            case nodes.Test():
                for child in node.iter_child_nodes():
                    self.value(child, scope)
                return None
            case _:
                self.value(node, scope)
                return None

    def proven(self, node: nodes.Node, scope: Scope, *, outcome: bool) -> frozenset[str]:
        """The paths that are there if a condition has this outcome."""
        match node:
            case nodes.Not():
                return self.proven(node.node, scope, outcome=not outcome)
            case nodes.And() if outcome:
                return self.proven(node.left, scope, outcome=True) | self.proven(node.right, scope, outcome=True)
            case nodes.Or() if not outcome:
                return self.proven(node.left, scope, outcome=False) | self.proven(node.right, scope, outcome=False)
            case nodes.Test(name="defined" | "undefined") if (node.name == "defined") is outcome:
                found = self.value(node.node, scope, is_handled=True)
                return frozenset({found.path}) if isinstance(found, Place) else frozenset()
            case _:
                return frozenset()

    def filter(self, node: nodes.Filter, scope: Scope) -> Value:
        has_default = node.name in {"default", "d"}
        source = self.value(node.node, scope, is_handled=has_default)
        for child in [*node.args, *node.kwargs]:
            self.value(child, scope)
        if has_default:
            return source if isinstance(source, Place) and not source.layout.is_optional else None
        entry = entry_of(source)
        for path, is_handled in paths_in(node):
            found = self.follow(node, entry, path, scope, is_handled=is_handled)
            if node.name == "map":
                return found.listing() if isinstance(found, Place) else None
        return filtered(node.name, source, entry)

    def follow(self, node: nodes.Node, entry: Value, path: str, scope: Scope, *, is_handled: bool) -> Value:
        """What stands under a dotted path that a filter takes."""
        for step in path.split("."):
            found = inside(entry, int(step) if step.isdigit() else step)
            entry = self.note(node, found, scope, is_handled=is_handled)
        return entry


def _is_certain(value: Value, scope: Scope) -> bool | None:
    if not isinstance(value, Place):
        return None
    return True if not value.layout.is_optional or value.path in scope.present else None
