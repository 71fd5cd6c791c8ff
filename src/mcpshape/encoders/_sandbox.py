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
from jinja2.utils import Cycler, Joiner, Namespace, missing
from typing_extensions import override

from mcpshape.encoders._escaping import Written, anywhere
from mcpshape.encoders._filters import INTERNAL, make_filters, make_tests, present
from mcpshape.encoders._meter import bounded, entries_of, spend, timed
from mcpshape.encoders._rewriter import Rewriter, prefixes

# Where a value would be an address, or a part of a tag.
_AN_ADDRESS = re.compile(r"\]\([^)]*$|^[ \t]*\[[^\]]*\]:[^\n]*$|<[^>\s]*$|<[A-Za-z/!?][^>]*$")
_REFUSED: Mapping[type[nodes.Node], tuple[str, str]] = {
    nodes.FilterBlock: ("a filter block changes text that is escaped already", "Filter the values inside of it."),
    nodes.AssignBlock: ("a set block holds text that would be escaped again", "Use a macro, and call it."),
    nodes.EvalContextModifier: ("values are escaped for Markdown, not for HTML", "Remove the autoescape block."),
}


class Missing(StrictUndefined):
    """What is not there fails wherever it is used; a macro may ask whether it has a caller."""

    __slots__ = ()

    @override
    def __bool__(self) -> bool:  # type: ignore[override]
        if self._undefined_name == "caller" and self._undefined_obj is missing:
            return False
        return self._fail_with_undefined_error()


class Sandbox(SandboxedEnvironment):
    """Jinja's sandbox, in which a value is escaped unless it is finished text, and attributes are keys of the data."""

    intercepted_binops = frozenset({"+", "*", "**", "%", "//"})

    def __init__(self, loader: BaseLoader | None = None, *, raw_prose: bool = False) -> None:
        super().__init__(
            loader=loader,
            undefined=Missing,
            autoescape=False,
            finalize=finish,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
            cache_size=-1,
        )
        self.filters = make_filters(raw_prose=raw_prose)
        self.tests = make_tests()
        self.globals = {"range": safe_range, "cycler": Cycler, "joiner": Joiner, "namespace": Namespace}

    @override
    def compile(  # type: ignore[override]
        self, source: str | nodes.Template, name: str | None = None, filename: str | None = None, **options: Any
    ) -> CodeType:
        tree = self.parse(source, name, filename) if isinstance(source, str) else source
        for refusal in refusals(tree):
            raise TemplateSyntaxError(refusal.message, refusal.line, name, filename)
        code: CodeType = super().compile(Rewriter(self).rewrite(tree), name, filename, **options)
        return code

    @override
    def getattr(self, obj: Any, attribute: str) -> Any:
        if obj is None or isinstance(obj, Mapping) or attribute in _fields(obj):
            return self.getitem(obj, attribute)
        if isinstance(obj, LoopContext | Namespace | TemplateModule | Cycler | TemplateReference | Undefined):
            return super().getattr(obj, attribute)
        if isinstance(obj, BlockReference) and attribute == "super":
            return obj.super
        return self.undefined(obj=obj, name=attribute)

    @override
    def getitem(self, obj: Any, argument: Any) -> Any:
        spend()
        if obj is None:
            return None
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
        if isinstance(obj, LoopContext):
            args = (entries_of(args[0]), *args[1:])
        elif not is_text:
            timed(args)
        result = super().call(context, obj, *args, **kwargs)
        return Written(result) if is_text and isinstance(result, str) else result

    @override
    def call_filter(self, name: str, *args: Any, **kwargs: Any) -> Any:
        # This is how `map` finds the filter that it names.
        spend()
        if name in INTERNAL:
            raise SecurityError("it is not for templates")
        return super().call_filter(name, *args, **kwargs)

    @override
    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        bounded(operator, left, right)
        return super().call_binop(context, operator, left, right)


def _fields(obj: Any) -> tuple[str, ...]:
    """The names in the tuples that `groupby` makes."""
    return getattr(type(obj), "_fields", ()) if isinstance(obj, tuple) else ()


def finish(value: Any) -> str:
    """What an expression puts into the text."""
    text = value if isinstance(value, Written) else anywhere(present(value))
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
        for before, child in prefixes(node, lambda _: True):
            if not isinstance(child, nodes.TemplateData) and _AN_ADDRESS.search(before):
                remedy = "Write {{ text | link(url) }}; HTML has no place for values."
                yield Refusal(child.lineno, "a value stands in an address or a tag", remedy)
    for line in _open_escapes(tree):
        remedy = "Write two, which read as one."
        yield Refusal(line, "a backslash stands right before what is no text of the template", remedy)


def _open_escapes(tree: nodes.Template) -> Iterator[int]:
    """The lines on which a text ends with a backslash that would take away one that a value is escaped with."""
    for node in tree.find_all(nodes.Output):
        parts = list(prefixes(node, lambda _: True))
        following = [child for _, child in parts[1:]]
        is_end = node is tree.body[-1]
        for (before, child), after in zip(parts, [*following, nodes.TemplateData() if is_end else None], strict=True):
            if isinstance(child, nodes.TemplateData) and not isinstance(after, nodes.TemplateData):
                text = before + child.data
                if (len(text) - len(text.rstrip("\\"))) % 2:
                    yield child.lineno + child.data.count("\n")


def constant_names(node: Any) -> list[str] | None:
    """The names in an include, import or extends, if they are written there."""
    template = node.template
    found = template.items if isinstance(template, nodes.List | nodes.Tuple) else [template]
    names = [each.value for each in found if isinstance(each, nodes.Const) and isinstance(each.value, str)]
    return names if len(names) == len(found) else None
