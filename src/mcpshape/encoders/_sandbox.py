"""The Jinja environment of all templates: it escapes by position, counts, and reaches data only."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import CodeType
from typing import Any

from jinja2 import BaseLoader, StrictUndefined, TemplateSyntaxError, Undefined, nodes
from jinja2.environment import TemplateModule
from jinja2.exceptions import SecurityError
from jinja2.runtime import BlockReference, Context, LoopContext, Macro, TemplateReference
from jinja2.sandbox import SandboxedEnvironment, safe_range
from jinja2.utils import Cycler, Joiner, Namespace
from jinja2.visitor import NodeTransformer
from typing_extensions import override

from mcpshape.encoders._escaping import Written, anywhere
from mcpshape.encoders._filters import TESTS, make_filters, present
from mcpshape.encoders._meter import bounded, spend

# What is at a place of its own in a line, be it after the mark of a list, a quote or a heading.
_AT_START = re.compile(r"^[ \t]*(?:(?:[-*+>]|#{1,6}|\d{1,9}[.)]?)[ \t]*)*$")
# Where a value would be an address, or a part of a tag.
_AN_ADDRESS = re.compile(r"\]\([^)]*$|^[ \t]*\[[^\]]*\]:[^\n]*$|<[^>\s]*$|<[A-Za-z/!?][^>]*$")
# What makes nothing of a mark before it, other than of a backslash.
_HARMLESS = frozenset(")].,;|}* \n\t")
_LINE_END, _ANYTHING = frozenset({"\n"}), frozenset({""})
_REFUSED: Mapping[type[nodes.Node], tuple[str, str]] = {
    nodes.FilterBlock: ("a filter block changes text that is escaped already", "Filter the values inside of it."),
    nodes.AssignBlock: ("a set block holds text that would be escaped again", "Use a macro, and call it."),
    nodes.EvalContextModifier: ("values are escaped for Markdown, not for HTML", "Remove the autoescape block."),
}


class Sandbox(SandboxedEnvironment):
    """Jinja's sandbox, in which a value is escaped unless it is finished text, and attributes are keys of the data."""

    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def __init__(self, loader: BaseLoader | None = None, *, raw_prose: bool = False) -> None:
        super().__init__(
            loader=loader,
            undefined=StrictUndefined,
            autoescape=False,
            finalize=finish,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
            cache_size=-1,
        )
        self.filters = make_filters(raw_prose=raw_prose)
        self.tests = dict(TESTS)
        self.globals = {"range": safe_range, "cycler": Cycler, "joiner": Joiner, "namespace": Namespace}

    @override
    def compile(  # type: ignore[override]
        self, source: str | nodes.Template, name: str | None = None, filename: str | None = None, **options: Any
    ) -> CodeType:
        tree = self.parse(source, name, filename) if isinstance(source, str) else source
        for refusal in refusals(tree):
            raise TemplateSyntaxError(refusal.message, refusal.line, name, filename)
        written = _Rewriter(self).visit(tree)
        code: CodeType = super().compile(written.set_environment(self), name, filename, **options)
        return code

    @override
    def getattr(self, obj: Any, attribute: str) -> Any:
        if isinstance(obj, Mapping) or attribute in _fields(obj):
            return self.getitem(obj, attribute)
        if isinstance(obj, LoopContext | Namespace | TemplateModule | Cycler | TemplateReference | Undefined):
            return super().getattr(obj, attribute)
        if isinstance(obj, BlockReference) and attribute == "super":
            return obj.super
        return self.undefined(obj=obj, name=attribute)

    @override
    def getitem(self, obj: Any, argument: Any) -> Any:
        if argument in _fields(obj):
            return obj[_fields(obj).index(argument)]
        if isinstance(obj, Mapping | list | tuple | str | range | TemplateReference):
            try:
                return obj[argument]
            except (TypeError, LookupError):
                return self.undefined(obj=obj, name=argument)
        return super().getattr(obj, argument) if isinstance(obj, Undefined) else self.undefined(obj=obj, name=argument)

    @override
    def call(self, context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        spend()
        is_text = isinstance(obj, Macro | BlockReference | LoopContext)
        if "caller" in kwargs and not isinstance(obj, Macro):
            raise SecurityError("only a macro takes a caller")
        result = super().call(context, obj, *args, **kwargs)
        return Written(result) if is_text and isinstance(result, str) else result

    @override
    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        bounded(operator, left, right)
        return super().call_binop(context, operator, left, right)


def _fields(obj: Any) -> tuple[str, ...]:
    """The names in the tuples that `groupby` makes."""
    return getattr(type(obj), "_fields", ()) if isinstance(obj, tuple) else ()


def finish(value: Any) -> str:
    """What an expression puts into the text."""
    text = anywhere(present(value))
    spend(len(text))
    return text


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a template must not do: where, why, and what to do in place of it."""

    line: int
    message: str
    remedy: str


def refusals(tree: nodes.Template) -> Iterator[Refusal]:
    """The constructs of a template whose text could not be told from values."""
    for kind, (message, remedy) in _REFUSED.items():
        yield from (Refusal(node.lineno, message, remedy) for node in tree.find_all(kind))
    for node in tree.find_all((nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)):
        if constant_names(node) is None:
            yield Refusal(node.lineno, "it names another template by a value", "Write the name as a constant text.")
    for node in tree.find_all(nodes.Output):
        for before, child in _prefixes(node):
            if not isinstance(child, nodes.TemplateData) and _AN_ADDRESS.search(before):
                remedy = "Write {{ text | link(url) }}; HTML has no place for values."
                yield Refusal(child.lineno, "a value stands in an address or a tag", remedy)


def constant_names(node: Any) -> list[str] | None:
    """The names in an include, import or extends, if they are written there."""
    template = node.template
    found = template.items if isinstance(template, nodes.List | nodes.Tuple) else [template]
    names = [each.value for each in found if isinstance(each, nodes.Const) and isinstance(each.value, str)]
    return names if len(names) == len(found) else None


def _prefixes(node: nodes.Output) -> Iterator[tuple[str, nodes.Expr]]:
    """The parts of a text, each with what is before it on its line as far as that is known."""
    before = ""
    for child in node.nodes:
        yield before, child
        before = (before + child.data if isinstance(child, nodes.TemplateData) else f"{before}x").rpartition("\n")[2]


class _Rewriter(NodeTransformer):
    """Puts our own filters where values are written, joined, repeated and gathered."""

    def __init__(self, environment: Sandbox) -> None:
        self.environment = environment
        self.following: dict[int, frozenset[str]] = {}

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
        placed = zip(_prefixes(node), following, strict=True)
        node.nodes = [_put(child, before, after) for (before, child), after in placed]
        return node

    def visit_For(self, node: nodes.For) -> nodes.For:  # noqa: N802
        self.generic_visit(node)
        node.iter = _filter(node.iter, " counted")
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


def _beginning(node: nodes.Node) -> frozenset[str]:
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
        if not isinstance(node, nodes.Assign | nodes.Macro):
            return _ANYTHING
    return after


def _put(child: nodes.Expr, before: str, after: frozenset[str]) -> nodes.Expr:
    if isinstance(child, nodes.TemplateData):
        return _filter(nodes.Const(child.data, lineno=child.lineno), " text")
    position = "^" if _AT_START.match(before) else ""
    if not all(each.isspace() for each in after):
        position += "." if after <= _HARMLESS else "$"
    position += "|" if "|" in before else ""
    if isinstance(child, nodes.Filter) and child.name in {"inline", "cell"} and child.node and not child.args:
        position += "!|0" if child.name == "cell" else "!"
        child = child.node
    return _filter(child, " put", nodes.Const(position, lineno=child.lineno))


def _filter(node: Any, name: str, *args: nodes.Expr) -> nodes.Filter:
    return nodes.Filter(node, name, list(args), [], None, None, lineno=node.lineno)
