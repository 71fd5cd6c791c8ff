"""A choice of fields, by dotted paths: it only ever leaves out."""

from collections.abc import Mapping, Sequence
from typing import Any

from mcpshape._guards import WHOLE, Plan, steps_by_key
from mcpshape.errors import UserError

Chosen = Mapping[str, "Chosen"]


def choose_fields(plan: Plan, paths: Sequence[str]) -> Chosen:
    """The tree of the chosen paths.

    Raises:
        UserError: A path names no field of the answer.
    """
    chosen: dict[str, Any] = {}
    for path in paths:
        if not _leads_somewhere(plan, path):
            raise UserError(
                f"There is no field {path!r}.", code="invalid_arguments", hint="Use paths such as events.title."
            )
        level = chosen
        for key in path.split("."):
            level = level.setdefault(key, {})
    return chosen


def _leads_somewhere(plan: Plan, path: str) -> bool:
    if not plan.is_wrapped:
        return steps_by_key(plan.declared, path)
    root, _, inner = path.partition(".")
    return root == WHOLE.key and (inner == "" or steps_by_key(plan.declared, inner))


def keep_chosen(data: Any, chosen: Chosen) -> Any:
    """The data without what was not chosen; an empty choice keeps everything below it."""
    if not chosen:
        return data
    if isinstance(data, list):
        return [keep_chosen(each, chosen) for each in data]
    if isinstance(data, dict):
        return {key: keep_chosen(data[key], inner) for key, inner in chosen.items() if key in data}
    return data
