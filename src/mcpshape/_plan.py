"""Compiles a DTO type and a policy into a plan, and finds every mistake that can be seen without a value."""

from collections.abc import Mapping
from typing import Any

from mcpshape._declared import read_type
from mcpshape._guards import Guard, Plan, decide, is_shown, sources
from mcpshape._nodes import Field, Record, holds_values
from mcpshape._problems import actions_of, guard_problems
from mcpshape.errors import DefinitionError, Problem
from mcpshape.policy import Grant, Policy
from mcpshape.rules import (
    HINTS,
    RULES,
    Action,
    Always,
    Clip,
    Coarsen,
    Handle,
    Holds,
    Never,
    Notice,
    Prose,
    Rows,
    Rule,
    Until,
)


def compile_plan(declared: Any, policy: Policy | None, where: str) -> Plan:
    """Compile a declared type under a policy.

    Raises:
        DefinitionError: Something in the type is untyped, has no rule under the policy, or has a rule that cannot hold.
    """
    tree, problems = read_type(declared, where)
    foreign = policy.foreign if policy else {}
    guards: dict[tuple[str, str], Guard] = {}
    for record in tree.records.values():
        foreign_rules = foreign.get(record.cls, {})
        problems += _unknown_fields(record, foreign_rules)
        for each in record.fields:
            guard = _make_guard(each, foreign_rules.get(each.name), policy)
            guards[record.key, each.name] = guard if isinstance(guard, Guard) else Guard(Never())
            found = [guard] if isinstance(guard, Problem) else guard_problems(tree, record, each, guard, policy)
            problems += [Problem(f"{record.name}.{each.name}", found.message, found.remedy) for found in found]
    plan = Plan(where, tree, policy, guards)
    problems += [] if problems else _dependency_problems(plan)
    if policy and holds_values(tree.root):
        problems.append(Problem("the returned type", "it holds values without a rule.", "Return a DTO with rules."))
    if problems:
        raise DefinitionError(where, dict.fromkeys(problems))
    return plan


def _make_guard(field: Field, foreign: Rule | None, policy: Policy | None) -> Guard | Problem:
    """The guard of a field, or the one problem that keeps it from having one."""
    own: list[Rule | Rows] = [marker for marker in field.markers if isinstance(marker, RULES)]
    if named := [each for each in field.markers if isinstance(each, type) and issubclass(each, (*RULES, *HINTS))]:
        what = "hint" if issubclass(named[0], HINTS) else "rule"
        return Problem("", f"a {what} is named but not made.", "Write it with parentheses, as in Always().")
    if foreign is not None and not isinstance(foreign, RULES):
        return Problem("", "the policy has something for it that is no rule.", "Use a rule, such as Never().")
    if own and foreign is not None:
        return Problem("", "it has a rule of its own and one from the policy.", "Keep one of them.")
    found = [foreign] if foreign is not None else own
    rows = next((rule for rule in found if isinstance(rule, Rows)), None)
    rules = [rule for rule in found if not isinstance(rule, Rows)]
    clip = next((rule for rule in rules if isinstance(rule, Clip)), None) if len(rules) > 1 else None
    rules = [rule for rule in rules if rule is not clip]
    if len(rules) > 1:
        return Problem("", "it has more than one rule.", "Keep one; only a Clip or Rows may stand beside it.")
    if not rules and policy and holds_values(field.node):
        return Problem("", "it has no rule.", "Add Always(), Since(level), When(toggle) or Never().")
    default = Holds() if policy else Always()
    is_prose, is_notice = (any(isinstance(each, hint) for each in field.markers) for hint in (Prose, Notice))
    return Guard(rules[0] if rules else default, clip, rows, is_prose, is_notice)


def handle_kinds(plan: Plan) -> set[str]:
    """The kinds of handles that a plan gives out."""
    return {action.kind for action in _actions(plan) if isinstance(action, Handle)}


def may_round(plan: Plan) -> bool:
    """Whether some value can be let out coarser than it is."""
    return any(isinstance(action, Coarsen) for action in _actions(plan))


def _actions(plan: Plan) -> list[Action]:
    return [action for guard in plan.guards.values() for action in actions_of(guard)]


def _unknown_fields(record: Record, rules: Mapping[str, Rule]) -> list[Problem]:
    unknown = [name for name in rules if record.field(name) is None]
    return [
        Problem(f"{record.name}.{name}", "the policy has a rule for it, but no such field.", "Mend the name.")
        for name in unknown
    ]


def _dependency_problems(plan: Plan) -> list[Problem]:
    """Mistakes that need a sound plan to be seen: circles of sources, and an Until that nothing takes over from."""
    places = [(record, each) for record in plan.declared.records.values() for each in record.fields]
    circles = [place for place in places if _is_circular(plan, *place, ())]
    if circles:
        message, remedy = "it is derived from itself.", "Break the circle."
        return [Problem(f"{record.name}.{each.name}", message, remedy) for record, each in circles]
    message, remedy = "what takes over is not shown from that level on.", "Widen its rule."
    lost = [
        (record, each) for record, each in places if not _is_taken_over(plan, record, plan.guard(record, each).rule)
    ]
    return [Problem(f"{record.name}.{each.name}", message, remedy) for record, each in lost]


def _is_circular(plan: Plan, record: Record, field: Field, seen: tuple[Field, ...]) -> bool:
    found = sources(plan, record, plan.guard(record, field).rule)
    return field in seen or any(_is_circular(plan, *source, (*seen, field)) for source in found)


def _is_taken_over(plan: Plan, record: Record, rule: Rule) -> bool:
    successor = record.field(rule.then) if isinstance(rule, Until) else None
    if not isinstance(rule, Until) or successor is None or plan.policy is None:
        return True
    wider = plan.policy.levels[plan.policy.rank(rule.level) :]
    bare = (Grant(level, frozenset(), plan.policy) for level in wider)
    return all(is_shown(decide(plan, record, successor, grant)) for grant in bare)
