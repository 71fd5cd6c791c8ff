"""One run of all that is measured: prints it, and keeps it as JSON.

python benchmarks/run.py [--quick] [--json FILE]
"""

import argparse
import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path

from codecs_alone import REFERENCE, codecs, reference, reference_versions
from content import check, left_over
from data import LARGE, Workload, rows, workloads
from measures import QUICK, Effort, measure
from results import Figure, Results, Timed, figure, installed, surroundings
from sizes import instructions, measure_hosts, measure_sizes
from subjects import ALONE, SCRUBBED, SCRUBBED_ROWS, subjects
from targets import TARGETS, lines
from timing import LEAST, Race, race

_ROUNDS = 21
# Rounds of the workload whose every round takes a quarter of a minute.
_FEW_ROUNDS = 3
_HOSTS_READ = "20 rows"


def main() -> None:
    """Run, print, and write the file where one is asked for."""
    parser = argparse.ArgumentParser(description="Measure mcpshape beside what people would use instead.")
    parser.add_argument("--quick", action="store_true", help="run everything once on little data; no figure counts")
    parser.add_argument("--json", type=Path, help="where the figures go")
    given = parser.parse_args()
    results = run(is_quick=given.quick)
    if given.json:
        given.json.parent.mkdir(parents=True, exist_ok=True)
        given.json.write_text(f"{results.model_dump_json(indent=1)}\n", encoding="utf-8")


def run(*, is_quick: bool) -> Results:
    """Everything, printed on the way."""
    where = surroundings()
    versions = installed() | reference_versions()
    print(f"{where['date']}, {where['python']}, {where['system']}, {where['cores']} cores")
    print(", ".join(f"{name} {version}" for name, version in versions.items()), flush=True)
    todo = list(workloads(is_quick=is_quick))
    timed = [each for workload in todo for each in _time(workload, is_quick=is_quick)]
    alone = list(_time_codecs(is_quick=is_quick))
    targets = _print_targets(is_quick=is_quick)
    return Results.model_validate(
        {
            **where,
            "is_quick": is_quick,
            "versions": versions,
            "targets": targets,
            "times": timed,
            "codecs": alone,
            "sizes": list(measure_sizes(todo)),
            "instructions": instructions(),
            "hosts": list(measure_hosts(next(each for each in todo if each.name == _HOSTS_READ))),
            "scrubber": _scrub(next(each for each in todo if each.name == SCRUBBED_ROWS)),
            "left_out": list(_left_out()),
        }
    )


def _time(workload: Workload, *, is_quick: bool) -> Iterator[Timed]:
    found = subjects(workload)
    rounds = 2 if is_quick else _FEW_ROUNDS if workload.name == LARGE else _ROUNDS
    with asyncio.Runner() as runner:
        for name, subject in found.items():
            check(name, subject, workload, runner.run(subject.result()))
        repeats = {name: subject.repeat(runner) for name, subject in found.items()}
        timed = race(repeats, rounds, least=0 if is_quick else LEAST)
    yield from _told(workload.name, timed, ALONE)


def _scrub(workload: Workload) -> dict[str, str]:
    """What a scrubber leaves of what `strict` keeps back."""
    return left_over(workload, asyncio.run(subjects(workload)[SCRUBBED].result()))


def _time_codecs(*, is_quick: bool) -> Iterator[Timed]:
    data = rows(20 if is_quick else 1000).model_dump(mode="json")
    with codecs(data) as found:
        timed = race(found, 2 if is_quick else _ROUNDS, least=0 if is_quick else LEAST)
    yield from _told("codecs alone, 1,000 rows", timed, next(iter(found)))


def _told(workload: str, timed: Race, base: str) -> Iterator[Timed]:
    print(f"\n{workload}: ms, and times {base}")
    for name in timed.times:
        ms, ratio = figure(timed.seconds(name) * 1000), figure(timed.ratio(name, base))
        print(f"  {name:42} {ms.figure:10.4g}  {ratio.figure:6.2f} ({ratio.low:.2f} to {ratio.high:.2f})", flush=True)
        yield Timed(workload=workload, subject=name, ms=ms, ratio=ratio)


def _print_targets(*, is_quick: bool) -> dict[str, Figure]:
    print("\nTargets: median, and the quarters around it", flush=True)
    found = dict(measure(QUICK if is_quick else Effort()))
    print("\n".join(lines(found)))
    met = sum(target.is_met(found[target.name]) for target in TARGETS)
    print(f"  {met} of {len(TARGETS)} hold{', but of little data, once: no figure counts' if is_quick else ''}")
    return found


def _left_out() -> Iterator[str]:
    if reference() is None:
        yield f"{REFERENCE}, since there is no node, no npm, or no way to install it"


if __name__ == "__main__":
    logging.disable()  # Servers log each call, which is no part of an answer.
    main()
