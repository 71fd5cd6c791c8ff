"""The templates behind a loader, parsed, with what can be said against each of them by itself."""

from collections.abc import Iterator
from typing import Any

from jinja2 import TemplateNotFound, TemplateSyntaxError, nodes

from mcpshape.encoders._filters import INTERNAL
from mcpshape.encoders._sandbox import Sandbox, refusals
from mcpshape.errors import Problem


class Sources:
    """Reads each template once, and keeps its problems."""

    def __init__(self, environment: Sandbox) -> None:
        self.environment = environment
        self.globals = frozenset(environment.globals)
        self.problems: list[Problem] = []
        self._trees: dict[str, nodes.Template | None] = {}

    def tree(self, name: str, *, may_be_missing: bool = False) -> nodes.Template | None:
        """The parsed template, if it is there and in order."""
        if name not in self._trees:
            self._trees[name] = self._parse(name, may_be_missing=may_be_missing)
        return self._trees[name]

    def _parse(self, name: str, *, may_be_missing: bool) -> nodes.Template | None:
        loader = self.environment.loader
        try:
            source = loader.get_source(self.environment, name)[0] if loader else ""
            tree = self.environment.parse(source, name)
            if found := list(self._against(tree, name)):
                self.problems += found
                return None
            # Compiled and kept, so that what was checked is what will be rendered.
            self.environment.get_template(name)
        except TemplateNotFound:
            missing = Problem(f"template {name}", "the loader has none of that name.", "Mend the name, or add it.")
            self.problems += [] if may_be_missing else [missing]
            return None
        except (OSError, UnicodeError) as error:
            message = f"it cannot be read: {type(error).__name__}."
            self.problems.append(Problem(f"template {name}", message, "Save it as a file in UTF-8."))
            return None
        except TemplateSyntaxError as error:
            message = f"it cannot be read: {str(error.message).rstrip('.')}."
            self.problems.append(Problem(f"template {name}, line {error.lineno}", message, "Mend the syntax."))
            return None
        return tree

    def _against(self, tree: nodes.Template, name: str) -> Iterator[Problem]:
        for each in refusals(tree):
            yield Problem(f"template {name}, line {each.line}", f"{each.message}.", each.remedy)
        known: Any
        for kind, what, known in (
            (nodes.Filter, "filter", self.environment.filters.keys() - INTERNAL.keys()),
            (nodes.Test, "test", self.environment.tests),
        ):
            for node in tree.find_all(kind):
                for used in (node.name, *_named(node, what)):
                    if used not in known:
                        remedy = f"There are: {', '.join(sorted(name for name in known if name.isidentifier()))}."
                        yield Problem(f"template {name}, line {node.lineno}", f"there is no {what} {used!r}.", remedy)


def _named(node: Any, what: str) -> list[str]:
    """The filter that a `map` names."""
    first = node.args[0] if node.args else None
    is_name = what == "filter" and node.name == "map" and isinstance(first, nodes.Const)
    return [str(first.value)] if is_name and first is not None else []
