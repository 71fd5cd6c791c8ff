"""A choice of fields, by dotted paths: it only ever leaves out."""

from collections.abc import Mapping, Sequence
from typing import Any

from mcpshape._guards import WHOLE, Plan, steps_by_key
from mcpshape._paths import keys_at
from mcpshape.errors import UserError
from mcpshape.policy import Grant

Chosen = Mapping[str, "Chosen"]
_NOTHING = object()


def choose_fields(plan: Plan, paths: Sequence[str], grant: Grant | None) -> Chosen:
    """The tree of the chosen paths.

    Raises:
        UserError: A path names no field of the answer; those that the grant lets out are named.
    """
    chosen: dict[str, Any] = {}
    for path in paths:
        if not _leads_somewhere(plan, path):
            raise UserError(
                f"There is no field {path!r}.", code="invalid_arguments", hint=_there_are(plan, path, grant)
            )
        level = chosen
        for key in path.split("."):
            level = level.setdefault(key, {})
    return chosen


def _there_are(plan: Plan, path: str, grant: Grant | None) -> str:
    """The fields at the first place of a path that has none of its next name."""
    known = path.split(".")
    while known and not (keys := keys_at(plan, grant, ".".join(known[:-1]))):
        known.pop()
    holder = ".".join(known[:-1])
    return f"There are: {', '.join(f'{holder}.{key}' if holder else key for key in keys)}."


def _leads_somewhere(plan: Plan, path: str) -> bool:
    if not plan.is_wrapped:
        return steps_by_key(plan.declared, path)
    root, _, inner = path.partition(".")
    return root == WHOLE.key and (inner == "" or steps_by_key(plan.declared, inner))


def keep_chosen(data: Mapping[str, Any], chosen: Chosen) -> Mapping[str, Any]:
    """The data without what was not chosen; an empty choice keeps everything below it.

    Where nothing that was chosen inside of a field is told, that field is left out as well.
    """
    kept = _keep(data, chosen)
    return {} if kept is _NOTHING else kept


def _keep(data: Any, chosen: Chosen) -> Any:
    if not chosen:
        return data
    if isinstance(data, list):
        kept = [_keep(each, chosen) for each in data]
        is_told = not data or any(each is not _NOTHING for each in kept)
        return [{} if each is _NOTHING else each for each in kept] if is_told else _NOTHING
    if isinstance(data, Mapping):
        found = {key: _keep(data[key], inner) for key, inner in chosen.items() if key in data}
        return {key: value for key, value in found.items() if value is not _NOTHING} or _NOTHING
    return data
