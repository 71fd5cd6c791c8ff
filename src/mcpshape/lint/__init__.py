"""Finds in a shape what works and is still a mistake: in descriptions, DTOs, examples and the policy."""

from dataclasses import replace

from mcpshape.errors import DefinitionError, Problem
from mcpshape.lint._config import LintConfig, config_problems, find_project, read_config
from mcpshape.lint._finding import Finding, make_finding
from mcpshape.lint._inspected import inspect_shape
from mcpshape.lint._rules import RULES
from mcpshape.lint._servers import is_server, list_unshaped
from mcpshape.shape import Shape

__all__ = ["Finding", "LintConfig", "find_project", "is_server", "lint_shape", "list_rules", "read_config"]

_EVERYTHING = LintConfig()
_TOLD_ONCE = {rule.name for rule in RULES if rule.is_told_once}


def list_rules() -> tuple[str, ...]:
    """The names of all rules, which stay the same."""
    return tuple(rule.name for rule in RULES)


def lint_shape(shape: Shape, *, server: object = None, config: LintConfig = _EVERYTHING) -> list[Finding]:
    """What is wrong with a shape, tool by tool, in the order in which these were registered.

    A mistake in a DTO class that several tools return is told of the first of them.

    Args:
        shape: The shape, with its tools. Their examples are made, and seen as hosts would see them.
        server: The server that serves them: `MCPServer`, the low-level `Server` or FastMCP. It is not started.
        config: What is meant and so ignored; its own `server` is not looked at.

    Raises:
        DefinitionError: There are no tools, the server is none, or the configuration names what there is not.
    """
    if not shape.tools:
        raise DefinitionError("lint", [Problem("tools", "the shape has none.", "Import the module with its tools.")])
    unshaped = tuple(list_unshaped(server, shape)) if server is not None else ()
    tools = tuple(dict.fromkeys([*shape.tools, *(name for name, _ in unshaped if name)]))
    if problems := list(config_problems(config, list_rules(), tools)):
        raise DefinitionError("lint", problems)
    inspected = inspect_shape(shape, unshaped)
    found = [make_finding(rule.name, tool, problem) for rule in RULES for tool, problem in rule.find(inspected)]
    order = {name: place for place, name in enumerate([*tools, ""])}
    kept = [each for each in sorted(found, key=lambda finding: order[finding.tool]) if not config.ignores(each)]
    told: dict[Finding, Finding] = {}
    for each in kept:
        told.setdefault(_sameness(each), each)
    return list(told.values())


def _sameness(finding: Finding) -> Finding:
    """What two findings have in common of which one is enough."""
    return replace(finding, tool="") if finding.rule in _TOLD_ONCE else finding
