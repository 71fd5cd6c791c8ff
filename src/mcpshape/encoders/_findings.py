"""What was found in the templates of a DTO class, over all grants, in words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from mcpshape._layout import Layout
from mcpshape._scope import PAGE
from mcpshape.errors import Problem

Kind = Literal["lost", "handled", "optional", "value"]
_MOST_GRANTS = 6


@dataclass(slots=True, eq=False)
class Findings:
    """Names that are not there, by place; `grant` says under which grant the templates are being read."""

    dto: type
    layouts: list[Layout] = field(default_factory=list)
    grant: str = ""
    reached: set[str] = field(default_factory=set)
    found: dict[tuple[str, int, str], dict[Kind, list[str]]] = field(default_factory=dict)
    spelled: dict[tuple[str, int, str], str] = field(default_factory=dict)

    def add(self, template: str, line: int, path: str, kind: Kind, spelled: str = "") -> None:
        """Note one, under the grant in force, as the template spells it."""
        self.spelled[template, line, path] = spelled
        grants = self.found.setdefault((template, line, path), {}).setdefault(kind, [])
        if self.grant not in grants:
            grants.append(self.grant)

    def problems(self) -> Iterator[Problem]:
        """One problem for each place and path, and one where a template keeps from the reader how an answer goes on."""
        is_paged = any(PAGE in layout.fields for layout in self.layouts)
        if is_paged and not self.reached & {PAGE, f"{PAGE}.next"}:
            message = "it does not tell page.next, without which nobody gets to the other rows."
            yield Problem(f"template of {self.dto.__name__}", message, "Write {{ page.next }}.")
        for (template, line, path), kinds in sorted(self.found.items()):
            handling = _handling(self.spelled[template, line, path])
            where, dto = f"template {template}, line {line}", self.dto.__name__
            is_field = any(_leads(layout, path.split(".")) for layout in self.layouts)
            is_wanted = "lost" in kinds or ("handled" in kinds and path != PAGE)
            if not is_field and is_wanted:
                remedy = "Mend the name; fields have the names that they have in JSON."
                yield Problem(where, f"{path!r} is no field of {dto}.", remedy)
            elif "lost" in kinds:
                yield Problem(where, f"{path!r} is withheld at {_words(kinds['lost'])}.", handling)
            elif "optional" in kinds:
                yield Problem(where, f"{path!r} is not in every answer.", handling)
            elif "value" in kinds:
                yield Problem(where, f"{path!r} is one value, and a loop takes an array.", "Write it without a loop.")


def _handling(spelled: str) -> str:
    if not spelled:
        return "Take only entries that have it, as in selectattr('name', 'defined'), or leave it out."
    return f"Put it inside {{% if {spelled} is defined %}}, or write {{{{ {spelled} | default('...') }}}}."


def _leads(layout: Layout, path: Sequence[str]) -> bool:
    """Whether a path leads to a field, through the entries of arrays."""
    while layout.form == "array":
        layout = layout.at("*")
    if not path or layout.form == "unknown":
        return True
    found = layout.fields.get(path[0]) or layout.fields.get("*")
    return found is not None and _leads(found, path[1:])


def _words(grants: Sequence[str]) -> str:
    """The grants without those that others among them cover: a level alone, or fewer toggles that are off."""
    parted = {each: each.partition(" without ") for each in grants}
    switched = {each: (level, set(off.split(", "))) for each, (level, _, off) in parted.items()}
    kept = [
        each
        for each, (level, off) in switched.items()
        if not any(each.startswith(f"{other} with") for other in grants)
        and not any(level == other and fewer < off for other, fewer in switched.values() if fewer != {""})
    ]
    return ", ".join(kept[:_MOST_GRANTS]) + (f" and {len(kept) - _MOST_GRANTS} more" if kept[_MOST_GRANTS:] else "")
