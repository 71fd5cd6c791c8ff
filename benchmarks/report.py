"""The page of the documentation on speed and cost, from the JSON of a run.

python benchmarks/report.py writes docs/reference/speed.md from benchmarks/results.json.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from pathlib import Path

from data import EXAMPLES
from results import Figure, Results, Size, Timed
from sizes import COMPACT, MARKDOWN, PRETTY, TOON
from subjects import ALONE, BY_LEVEL, NATIVE, STRUCTURED
from targets import TARGETS

RESULTS = Path(__file__).with_name("results.json")
PAGE = Path(__file__).parents[1] / "docs" / "reference" / "speed.md"
FORMATS = (TOON, MARKDOWN, COMPACT, PRETTY)
_WIDE = ("standard", "detailed", None)


def main() -> None:
    """Write the page."""
    PAGE.write_text(write_page(read_results()), encoding="utf-8")


def read_results() -> Results:
    """The figures that are kept."""
    return Results.model_validate_json(RESULTS.read_text(encoding="utf-8"))


def write_page(results: Results) -> str:
    """The page, with every figure and verdict from the results."""
    parts = (_opening, _targets, _times, _codecs, _scrubber, _tokens, _levels, _hosts)
    return "\n\n".join("\n".join(part(results)) for part in parts) + "\n"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A table; all but its first column are figures."""
    yield f"| {' | '.join(head)} |"
    yield f"| --- |{' ---: |' * (len(head) - 1)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)


def _opening(results: Results) -> Iterator[str]:
    met = sum(target.is_met(results.targets[target.name]) for target in TARGETS)
    yield "# Speed and cost"
    yield ""
    yield "What an answer costs with mcpshape, and with what people would use instead: time, characters and tokens. All of"
    yield f"it comes from one run, of {results.date}; {met} of its {len(TARGETS)} targets hold. This page is made from its figures"
    yield "by a script. To see your own:"
    yield ""
    yield "```sh\nmake bench\n```"
    yield ""
    versions = ", ".join(f"{name} {version}" for name, version in results.versions.items())
    yield f"{results.python} on {results.system} with {results.cores} cores. {versions}."
    if results.left_out:
        yield f"Left out: {'; '.join(results.left_out)}."
    yield ""
    yield "Times are those of the processor. Subjects take turns in one process, and what counts is the **ratio** within a"
    yield "round; a figure is the median of all rounds, with the quarters around it where two stand in parentheses. Before a"
    yield "subject is timed, its answer is decoded and compared with the data."


def _targets(results: Results) -> Iterator[str]:
    yield "## Targets"
    yield ""
    rows = []
    for target in TARGETS:
        found = results.targets[target.name]
        spread = f"{target.written(found.low)} to {target.written(found.high)}"
        verdict = "yes" if target.is_met(found) else "**no**"
        rows.append(
            [f"{target.name}: {target.claim}", target.written(target.most), target.written(found.figure), spread, verdict]
        )
    yield from table(["target", "at most", "measured", "quarters", "holds"], rows)


def _times(results: Results) -> Iterator[str]:
    yield "## Time of one answer"
    yield ""
    yield "From the call of a tool to the bytes of its result, without a transport, as parts of what MCPServer takes alone with"
    yield "the same model, which it writes as indented JSON and as a structured part. Below 1 is faster. Subjects without a"
    yield "level let out everything; so does mcpshape here, at a level that shows all fields, but for the rows that name"
    yield "another one."
    yield ""
    workloads = list(dict.fromkeys(each.workload for each in results.times))
    own, examples = workloads[: -len(EXAMPLES)], workloads[-len(EXAMPLES) :]
    yield from _grid(results.times, own)
    yield ""
    yield "The real answers of the example servers to one of their tools, likewise:"
    yield ""
    yield from _grid(results.times, examples)
    yield ""
    small = [each for each in results.times if each.subject == NATIVE and each.ratio.figure > 1]
    if small:
        names = ", ".join(each.workload for each in small)
        yield f"**Where `{NATIVE}` is slower than MCPServer alone:** {names}. A call has a fixed price, for the call itself,"
        yield "its grant and its arguments, which pays only where there is much to write."
        yield ""
    yield "In milliseconds of that machine:"
    yield ""
    named = (ALONE, "FastMCP alone", NATIVE, STRUCTURED, "mcpshape, TOON, python-toon", "mcpshape, Markdown", "mcpshape, JSON")
    yield from _grid([each for each in results.times if each.subject in named], own, milliseconds=True)


def _grid(times: Sequence[Timed], workloads: Sequence[str], *, milliseconds: bool = False) -> Iterator[str]:
    found = {(each.subject, each.workload): each for each in times if each.workload in workloads}
    subjects = dict.fromkeys(subject for subject, _ in found)
    rows = [
        [subject, *(_cell(found.get((subject, workload)), milliseconds=milliseconds) for workload in workloads)]
        for subject in subjects
    ]
    yield from table(["", *workloads], rows)


def _cell(timed: Timed | None, *, milliseconds: bool) -> str:
    if timed is None:
        return ""
    return f"{timed.ms.figure:.3g}" if milliseconds else f"{timed.ratio.figure:.2f}"


def _codecs(results: Results) -> Iterator[str]:
    yield "## Codecs alone"
    yield ""
    yield "1,000 rows that are plain data already, encoded as TOON. The reference encoder is a program of another language"
    yield "and of another process; it is measured there, in the same rounds."
    yield ""
    rows = [[each.subject, f"{each.ms.figure:.3g}", _spread(each.ratio)] for each in results.codecs]
    yield from table(["codec", "ms", "times the first"], rows)


def _scrubber(results: Results) -> Iterator[str]:
    yield "## A scrubber does another job"
    yield ""
    if not results.scrubber:
        yield "It was not installed in this run."
        return
    name, level = "FastMCP and pii-mcp", BY_LEVEL.format("strict")
    ratios = {each.subject: each.ratio.figure for each in results.times if each.workload == "1,000 rows"}
    yield "A middleware that replaces what looks like personal data finds no titles, places or names of persons; patterns"
    yield f"cannot. It takes {ratios[name]:.1f} times what MCPServer takes with 1,000 rows; mcpshape at `strict`, which keeps all"
    yield f"of these back, {ratios[level]:.2f} times. Different values that strict keeps back, and that the scrubber left whole"
    yield "(it does replace the address inside of a note, and leaves the rest of the note):"
    yield ""
    yield from table(["field", "left whole"], [[key, left] for key, left in results.scrubber.items()])


def _tokens(results: Results) -> Iterator[str]:
    yield "## Tokens"
    yield ""
    yield f"Tokens of `o200k_base` by splintr-rs {results.versions.get('splintr-rs', '')}; no two models count alike. Every answer with all of its fields."
    yield "`pretty JSON` is the text of MCPServer alone, `compact JSON` that of FastMCP and of most hosts that show a"
    yield "structured part. Where a format takes more than compact JSON, the figure is **bold**."
    yield ""
    rows = [[workload, *_token_cells(found)] for workload, found in _widest(results.sizes).items()]
    yield from table(["", *FORMATS, "TOON saves", "calls until it pays"], [_paying(row, results) for row in rows])
    yield ""
    yield f"A server tells a model once how to read TOON, in its instructions: {results.instructions} tokens for a server with"
    yield "levels. The last column is the number of such answers until they are worth it against compact JSON."
    yield ""
    yield "The same in characters and bytes:"
    yield ""
    sizes = [
        [workload, *(f"{found[name].characters:,} / {found[name].size:,}" for name in FORMATS)]
        for workload, found in _widest(results.sizes).items()
    ]
    yield from table(["", *FORMATS], sizes)


def _widest(sizes: Sequence[Size]) -> dict[str, Mapping[str, Size]]:
    found: dict[str, dict[str, Size]] = {}
    for each in sizes:
        if each.level in _WIDE:
            found.setdefault(each.workload, {})[each.format] = each
    return dict(found)


def _token_cells(found: Mapping[str, Size]) -> list[str]:
    least = found[COMPACT].tokens
    return [f"**{found[name].tokens:,}**" if found[name].tokens > least else f"{found[name].tokens:,}" for name in FORMATS]


def _paying(row: Sequence[str], results: Results) -> list[str]:
    found = _widest(results.sizes)[row[0]]
    saved = found[COMPACT].tokens - found[TOON].tokens
    pays = f"{ceil(results.instructions / saved):,}" if saved > 0 else "never"
    return [*row, f"{saved / found[COMPACT].tokens:.0%}", pays]


def _levels(results: Results) -> Iterator[str]:
    yield "## Tokens by level"
    yield ""
    levels = [level for level in dict.fromkeys(each.level for each in results.sizes) if level]
    found = {(each.workload, each.level): each.tokens for each in results.sizes if each.format == TOON}
    names = [name for name in dict.fromkeys(each.workload for each in results.sizes) if (name, levels[0]) in found]
    yield "As TOON. What is withheld is not paid for; a level can take more than a wider one where it says in several columns"
    yield "what that one says in few, as the calendar's narrowest does."
    yield ""
    yield from table(["", *levels], [[name, *(f"{found[name, level]:,}" for level in levels)] for name in names])


def _hosts(results: Results) -> Iterator[str]:
    yield "## What each host reads"
    yield ""
    yield "Tokens that the model of a host reads of one answer with 20 rows, by [what is known of hosts](../explanation/hosts.md)."
    yield f"`+ instructions` adds the {results.instructions} tokens that a server tells once, as if this were the only answer."
    yield ""
    ways = list(results.hosts[0].tokens)
    head = ["host", ways[0], "+ instructions", *ways[1:]]
    rows = [
        [each.host, *(f"{number:,}" for number in _with_instructions(list(each.tokens.values()), results))]
        for each in results.hosts
    ]
    yield from table(head, rows)


def _with_instructions(tokens: list[int], results: Results) -> list[int]:
    return [tokens[0], tokens[0] + results.instructions, *tokens[1:]]


def _spread(figure: Figure) -> str:
    return f"{figure.figure:.2f} ({figure.low:.2f} to {figure.high:.2f})"


if __name__ == "__main__":
    main()
