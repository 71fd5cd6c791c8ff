"""Rules about what a shape has and no tool of it uses: toggles, and handles that nobody takes back."""

from collections.abc import Iterator

from mcpshape._tool import handle_problems
from mcpshape.errors import Problem
from mcpshape.lint._inspected import Found, Inspected
from mcpshape.rules import When


def find_unused_toggles(inspected: Inspected) -> Iterator[Found]:
    """Toggles that no rule of any tool is under, and that no such toggle requires."""
    toggles = inspected.shape.policy.toggles if inspected.shape.policy else {}
    guards = [guard for each in inspected.subjects for guard in each.tool.plan.guards.values()]
    waiting = {guard.rule.toggle for guard in guards if isinstance(guard.rule, When)}
    used: set[str] = set()
    while waiting:
        used |= waiting
        waiting = {needed for each in waiting if (needed := toggles[each].requires)} - used
    for name in toggles:
        if name not in used:
            remedy = "Put When() with it on a field, or take it out of the policy."
            yield "", Problem(f"toggles.{name}", "no field of any tool is under it.", remedy)


def find_unaccepted_handles(inspected: Inspected) -> Iterator[Found]:
    """Handles that a tool gives out and none takes back."""
    for problem in handle_problems([each.tool for each in inspected.subjects]):
        yield problem.path.removeprefix("tool "), Problem("return", problem.message, problem.remedy)
