"""The page of the documentation on speed and cost, made of the figures of a run.

python benchmarks/report.py writes docs/reference/speed.md from benchmarks/results.json and speed.md.j2.
"""

from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from data import EXAMPLES
from results import Results, Size, Timed
from sizes import COMPACT, MARKDOWN, PRETTY, TOON, VOCABULARY
from subjects import ALONE, BY_LEVEL, NATIVE, SCRUBBED, SCRUBBED_ROWS, STRUCTURED
from targets import TARGETS

RESULTS, TEMPLATE = Path(__file__).with_name("results.json"), Path(__file__).with_name("speed.md.j2")
PAGE = Path(__file__).parents[1] / "docs" / "reference" / "speed.md"
FORMATS = (TOON, MARKDOWN, COMPACT, PRETTY)
_IN_MILLISECONDS = (
    ALONE,
    "FastMCP alone",
    NATIVE,
    STRUCTURED,
    "mcpshape, TOON, python-toon",
    "mcpshape, Markdown",
    "mcpshape, JSON",
)
# The levels at which every field is told; without a policy there is none.
_WIDE = ("standard", None)


def main() -> None:
    """Write the page."""
    PAGE.write_text(write_page(read_results()), encoding="utf-8")


def read_results() -> Results:
    """The figures that are kept."""
    return Results.model_validate_json(RESULTS.read_text(encoding="utf-8"))


def write_page(results: Results) -> str:
    """The page, with every figure and verdict from the results."""
    workloads = list(dict.fromkeys(each.workload for each in results.times))
    own, examples = workloads[: -len(EXAMPLES)], workloads[-len(EXAMPLES) :]
    ratios = {each.subject: each.ratio.figure for each in results.times if each.workload == SCRUBBED_ROWS}
    environment = Environment(undefined=StrictUndefined, keep_trailing_newline=True)  # noqa: S701 # It writes no HTML.
    template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
    return template.render(
        results=results,
        versions=", ".join(f"{name} {version}" for name, version in results.versions.items()),
        met=sum(target.is_met(results.targets[target.name]) for target in TARGETS),
        all_targets=len(TARGETS),
        targets=_targets(results),
        times_own=_times(results.times, own),
        times_examples=_times(results.times, examples),
        milliseconds=_times(
            [each for each in results.times if each.subject in _IN_MILLISECONDS], own, in_milliseconds=True
        ),
        native=NATIVE,
        slower=[each.workload for each in results.times if each.subject == NATIVE and each.ratio.figure > 1],
        codecs=_codecs(results),
        scrubbed=f"{ratios.get(SCRUBBED, 0):.1f}",
        strict=f"{ratios[BY_LEVEL.format('strict')]:.2f}",
        scrubber=table(["field", "left whole"], list(map(list, results.scrubber.items()))),
        vocabulary=VOCABULARY,
        tokens=_tokens(results),
        sizes=_sizes(results),
        levels=_levels(results),
        hosts=_hosts(results),
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; all but its first column are figures."""
    lines = [f"| {' | '.join(head)} |", f"| --- |{' ---: |' * (len(head) - 1)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def _targets(results: Results) -> str:
    rows = []
    for target in TARGETS:
        found = results.targets[target.name]
        most, middle, low, high = map(target.written, (target.most, found.figure, found.low, found.high))
        verdict = "pass" if target.is_met(found) else "**FAIL**"
        floor = target.written(results.targets[target.floor].figure) if target.has_floor else ""
        rows.append([f"{target.name}. {target.claim}", most, middle, f"{low} to {high}", floor, verdict])
    return table(["", "at most", "median", "half of the rounds", "by hand", ""], rows)


def _times(times: Sequence[Timed], workloads: Sequence[str], *, in_milliseconds: bool = False) -> str:
    found = {(each.subject, each.workload): each for each in times if each.workload in workloads}

    def cell(subject: str, workload: str) -> str:
        timed = found.get((subject, workload))
        if timed is None:
            return ""
        return f"{float(f'{timed.ms.figure:.3g}'):,g}" if in_milliseconds else f"{timed.ratio.figure:.2f}"

    subjects = list(dict.fromkeys(subject for subject, _ in found))
    return table(["", *workloads], [[each, *(cell(each, workload) for workload in workloads)] for each in subjects])


def _codecs(results: Results) -> str:
    rows = [[each.subject, f"{each.ms.figure:.3g}", f"{each.ratio.figure:.2f}"] for each in results.codecs]
    return table(["codec", "ms", f"times {results.codecs[0].subject}"], rows)


def _widest(sizes: Sequence[Size]) -> Mapping[str, Mapping[str, Size]]:
    """The texts with all fields, by workload and format: at a wide level, or else at the widest one measured."""
    found: dict[str, dict[str, Size]] = {}
    for each in sizes:
        if each.level in _WIDE:
            found.setdefault(each.workload, {})[each.format] = each
    return found


def _tokens(results: Results) -> str:
    rows = []
    for workload, found in _widest(results.sizes).items():
        least = found[COMPACT].tokens
        cells = [f"{found[name].tokens:,}" for name in FORMATS]
        marked = [
            f"**{cell}**" if found[name].tokens > least else cell for name, cell in zip(FORMATS, cells, strict=True)
        ]
        saved = least - found[TOON].tokens
        pays = f"{ceil(results.instructions / saved):,}" if saved > 0 else "never"
        rows.append([workload, *marked, f"{saved / least:.0%}", pays])
    return table(["", *FORMATS, "TOON saves", "answers until it pays"], rows)


def _sizes(results: Results) -> str:
    rows = [
        [workload, *(f"{found[name].characters:,} / {found[name].size:,}" for name in FORMATS)]
        for workload, found in _widest(results.sizes).items()
    ]
    return table(["", *FORMATS], rows)


def _levels(results: Results) -> str:
    found = {(each.workload, each.level): each.tokens for each in results.sizes if each.format == TOON and each.level}
    levels = list(dict.fromkeys(level for _, level in found))
    workloads = [workload for workload, level in found if level == levels[0]]
    return table(["", *levels], [[each, *(f"{found[each, level]:,}" for level in levels)] for each in workloads])


def _hosts(results: Results) -> str:
    ways = list(results.hosts[0].tokens)
    rows = []
    for each in results.hosts:
        first, *others = each.tokens.values()
        rows.append([each.host, *(f"{number:,}" for number in (first, first + results.instructions, *others))])
    return table(["host", ways[0], "+ instructions", *ways[1:]], rows)


if __name__ == "__main__":
    main()
