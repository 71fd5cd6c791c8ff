"""Checks the templates of DTO classes against all that a type can look like."""

from collections.abc import Iterator, Mapping, Sequence

from mcpshape._layout import Layout
from mcpshape.encoders._findings import Findings
from mcpshape.encoders._reading import Reader
from mcpshape.encoders._sandbox import Sandbox
from mcpshape.encoders._sources import Sources
from mcpshape.errors import Problem


def find_problems(
    environment: Sandbox, templates: Mapping[type, str], layouts: Sequence[tuple[str, Layout]]
) -> list[Problem]:
    """All that is wrong with the templates that a type uses, under any of its layouts."""
    sources, unions = Sources(environment), dict[type, None]()
    found: dict[type | None, Findings] = {dto: Findings(dto) for dto in templates}
    for grant, layout in layouts:
        for place in _places(layout, templates, set()):
            unions |= dict.fromkeys(sorted(place.mixed & templates.keys(), key=str))
            findings = found.get(place.dto)
            if findings and place.fields:
                findings.grant = grant
                findings.layouts.append(place)
                Reader(sources, findings, templates[findings.dto]).read(place)
    problems = [problem for findings in found.values() for problem in findings.problems()]
    return [*sources.problems, *map(_union_problem, unions), *problems]


def _places(
    layout: Layout, templates: Mapping[type, str], seen: set[int], *, is_inside: bool = False
) -> Iterator[Layout]:
    """Where templates may be used; inside of such a place, too, as a choice of fields goes around its template."""
    has_own = layout.dto in templates
    if has_own or (layout.mixed & templates.keys() and not is_inside):
        yield layout
    for each in layout.fields.values() if id(layout.fields) not in seen else ():
        seen.add(id(layout.fields))
        yield from _places(each, templates, seen, is_inside=is_inside or has_own)


def _union_problem(dto: type) -> Problem:
    message = "it stands in a union, where the data does not tell its class."
    return Problem(f"templates[{dto.__name__}]", message, "Name a template for the class that holds the union.")
