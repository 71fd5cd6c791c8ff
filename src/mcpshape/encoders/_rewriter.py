"""Rewrites a template, so that our own filters stand where values are written, joined, repeated and gathered."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from jinja2 import Environment, nodes
from jinja2.visitor import NodeTransformer
from typing_extensions import override

from mcpshape.encoders._filters import BLOCKS

# What is at a place of its own in a line, be it after the mark of a list, a quote or a heading.
_AT_START = re.compile(r"^[ \t]*(?:(?:[-*+>]|#{1,6}|\d{1,9}[.)]?)[ \t]*)*$")
# What makes nothing of a mark before it, other than of a backslash.
_HARMLESS = frozenset(")].,;|}* \n\t")
_LINE_END, _ANYTHING = frozenset({"\n"}), frozenset({""})


class Rewriter(NodeTransformer):
    """Puts our own filters where values are written, joined, repeated and gathered."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.following: dict[int, frozenset[str]] = {}
        self.looped: frozenset[str] = frozenset()
        self.made: frozenset[str] = frozenset({"", "loop", "self", "super", "caller"})

    def rewrite(self, tree: nodes.Template) -> nodes.Template:
        """The same template with our filters."""
        targets = [name for loop in tree.find_all(nodes.For) for name in _names_in(loop.target)]
        self.looped = frozenset(name.name for name in targets)
        stored = [
            name
            for name in tree.find_all(nodes.Name)
            if name.ctx != "load" and not any(name is each for each in targets)
        ]
        self.made |= {name.name for name in stored} | {node.target for node in tree.find_all(nodes.Import)}
        self.visit(tree)
        tree.set_environment(self.environment)
        return tree

    def is_value(self, node: nodes.Expr) -> bool:
        """Whether an expression is a value of the view, and not one that the template made."""
        return _root(node) not in self.made

    def is_line(self, node: nodes.Expr) -> bool:
        """Whether it is one that stands on a line for sure."""
        return self.is_value(node) and not (isinstance(node, nodes.Name) and node.name in self.looped)

    @override
    def generic_visit(self, node: nodes.Node, *args: Any, **kwargs: Any) -> nodes.Node:
        self.follow(node)
        return super().generic_visit(node, *args, **kwargs)

    def follow(self, node: nodes.Node) -> None:
        """Note what may be written right behind each statement inside of a node."""
        after = _LINE_END if isinstance(node, nodes.Template) else self.following.get(id(node), _ANYTHING)
        if isinstance(node, nodes.For):
            after |= _beginnings(node.body, _ANYTHING)
        elif not isinstance(node, nodes.Template | nodes.If):
            after = _ANYTHING
        for name in ("body", "else_"):
            body = getattr(node, name, None) or []
            self.following |= {id(each): _beginnings(body[place + 1 :], after) for place, each in enumerate(body)}
        self.following |= {id(each): after for each in getattr(node, "elif_", ())}

    def visit_Output(self, node: nodes.Output) -> nodes.Output:  # noqa: N802
        self.generic_visit(node)
        following = [_beginning(each) for each in node.nodes[1:]] + [self.following.get(id(node), _ANYTHING)]
        placed = zip(prefixes(node, self.is_line), following, strict=True)
        node.nodes = [self.put(child, before, after) for (before, child), after in placed]
        return node

    def visit_For(self, node: nodes.For) -> nodes.For:  # noqa: N802
        self.generic_visit(node)
        node.iter = _filter(node.iter, " counted")
        return node

    def visit_CondExpr(self, node: nodes.CondExpr) -> nodes.CondExpr:  # noqa: N802
        self.generic_visit(node)
        node.expr2 = node.expr2 or nodes.Const("", lineno=node.lineno)
        return node

    def visit_Operand(self, node: nodes.Operand) -> nodes.Operand:  # noqa: N802
        self.generic_visit(node)
        if node.op in {"in", "notin"}:
            node.expr = _filter(node.expr, " searched")
        elif not isinstance(node.expr, nodes.Const):
            node.expr = _filter(node.expr, " compared")
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Filter:  # noqa: N802
        self.generic_visit(node)
        return _filter(nodes.List(node.nodes, lineno=node.lineno), " joined")

    def visit_List(self, node: nodes.List) -> nodes.Filter:  # noqa: N802
        self.generic_visit(node)
        return _filter(node, " weighed")

    def visit_Dict(self, node: nodes.Dict) -> nodes.Filter:  # noqa: N802
        self.generic_visit(node)
        return _filter(node, " weighed")

    def visit_Tuple(self, node: nodes.Tuple) -> nodes.Expr:  # noqa: N802
        self.generic_visit(node)
        return _filter(node, " weighed") if node.ctx == "load" else node

    def visit_Include(self, node: nodes.Include) -> list[nodes.Stmt]:  # noqa: N802
        # It is counted before, and ends its line behind, where a value could go on with its last one.
        before, behind = (
            nodes.Output([_filter(nodes.Const(text, lineno=node.lineno), " text")], lineno=node.lineno)
            for text in ("", "\n")
        )
        return [before, node, behind]

    def visit_Import(self, node: nodes.Import) -> nodes.Import:  # noqa: N802
        return node

    visit_FromImport = visit_Extends = visit_Import  # noqa: N815

    def put(self, child: nodes.Expr, before: str, after: frozenset[str]) -> nodes.Expr:
        if isinstance(child, nodes.TemplateData):
            return _filter(nodes.Const(child.data, lineno=child.lineno), " text")
        position = "^" if _AT_START.match(before) else ""
        if not all(each.isspace() for each in after):
            position += "." if after <= _HARMLESS else "$"
        position += "|" if "|" in before else ""
        if isinstance(child, nodes.Filter) and child.name in {"inline", "cell"} and child.node and not child.args:
            position += "!|0" if child.name == "cell" else "!"
            child = child.node
        position += "" if self.is_value(child) else "-"
        return _filter(child, " put", nodes.Const(position, lineno=child.lineno))


def _names_in(node: nodes.Node) -> list[nodes.Name]:
    return [node] if isinstance(node, nodes.Name) else list(node.find_all(nodes.Name))


def _beginning(node: nodes.Node) -> frozenset[str]:
    if isinstance(node, nodes.Filter) and node.name in BLOCKS:
        return _LINE_END
    return frozenset({node.data[:1]}) if isinstance(node, nodes.TemplateData) else _ANYTHING


def _beginnings(body: list[Any], after: frozenset[str]) -> frozenset[str]:
    """The first characters that statements may write, before what comes after them."""
    for place, node in enumerate(body):
        if isinstance(node, nodes.Output):
            return _beginning(node.nodes[0])
        if isinstance(node, nodes.If):
            rest = _beginnings(body[place + 1 :], after)
            parts = [node.body, *(each.body for each in node.elif_), node.else_]
            return frozenset().union(*(_beginnings(part, rest) for part in parts))
        if isinstance(node, nodes.For):
            rest = _beginnings(body[place + 1 :], after)
            return rest | _beginnings(node.body, rest) | _beginnings(node.else_, rest)
        if not isinstance(node, nodes.Assign | nodes.Macro):
            return _ANYTHING
    return after


def _filter(node: Any, name: str, *args: nodes.Expr) -> nodes.Filter:
    return nodes.Filter(node, name, list(args), [], None, None, lineno=node.lineno)


def prefixes(node: nodes.Output, is_line: Callable[[nodes.Expr], bool]) -> Iterator[tuple[str, nodes.Expr]]:
    """The parts of a text, each with what is before it on its line as far as that is known."""
    before = ""
    for child in node.nodes:
        yield before, child
        text = child.data if isinstance(child, nodes.TemplateData) else "x" if is_line(child) else ""
        before = (before + text).rpartition("\n")[2]


def _root(node: nodes.Expr) -> str:
    """The name that a path begins with; none for what is no path."""
    if isinstance(node, nodes.Name):
        return str(node.name)
    return _root(node.node) if isinstance(node, nodes.Getattr | nodes.Getitem) else ""
