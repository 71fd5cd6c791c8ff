"""How many instructions of the processor small answers take, against a baseline that is kept: no clock, so no noise.

python benchmarks/instructions.py [--write]

It needs valgrind. Each workload is run many times by an interpreter under callgrind; what the same interpreter takes
without them is subtracted. The figure is the part of a yardstick, which is counted likewise and has no mcpshape in it,
so that another build of the interpreter changes it little.
"""

import argparse
import gc
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel

from data import LEVEL, policy, row, rows
from mcpshape import Shape
from mcpshape.encoders import Json, Markdown, Toon
from results import installed

BASELINE = Path(__file__).with_name("instructions.json")
SLOWER = 0.10
"""How much more than the baseline is too much."""

YARDSTICK, IDLE = "model_dump and toons, 20 rows", "nothing"
# So many that the differences between two runs of an interpreter, about 1 in 1,000, are less than 1 in 100 of it.
_ROUNDS = {YARDSTICK: 1000, "TOON, 20 rows": 500, "Markdown, 20 rows": 40, "JSON and structured, 1 record": 1000}
_COUNTED = re.compile(r"Collected : (\d+)")
_PACKAGES = ("pydantic-core", "toons")


class Baseline(BaseModel):
    """What was counted, and with what."""

    python: str
    versions: Mapping[str, str]
    parts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Change:
    """A workload, as parts of the yardstick now and in the baseline."""

    name: str
    now: float
    before: float

    @property
    def is_slower(self) -> bool:
        """Whether it takes too much more."""
        return self.now > self.before * (1 + SLOWER)

    def __str__(self) -> str:
        verdict = "SLOWER" if self.is_slower else "ok"
        change = self.now / self.before - 1
        return f"{self.name:32} {self.now:7.2f} of the yardstick, was {self.before:.2f}: {change:+.1%} {verdict}"


def main() -> int:
    """Count and compare; 1 where a workload takes too much more, or where the baseline is of other packages."""
    parser = argparse.ArgumentParser(description="Compare instruction counts with the baseline.")
    parser.add_argument("--write", action="store_true", help="keep what is counted as the new baseline")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        run(given.run)
        return 0
    if shutil.which("valgrind") is None:
        print("valgrind is not installed, so nothing was counted")
        return 0
    found = count()
    if given.write:
        BASELINE.write_text(f"{found.model_dump_json(indent=1)}\n", encoding="utf-8")
    return compare(found, Baseline.model_validate_json(BASELINE.read_text(encoding="utf-8")))


def compare(now: Baseline, before: Baseline) -> int:
    """Print each change; the exit code."""
    if now.python != before.python:
        print(f"the baseline is of Python {before.python} and this is {now.python}, so nothing is compared")
        return 0
    if now.versions != before.versions:
        print(f"the baseline is of {before.versions} and this is {now.versions}: make it anew with --write")
        return 1
    changes = [Change(name, now.parts[name], part) for name, part in before.parts.items()]
    print("\n".join(map(str, changes)))
    return int(any(change.is_slower for change in changes))


def count() -> Baseline:
    """Run all under callgrind, as many at once as there are cores."""
    names = [IDLE, *_ROUNDS]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counted = dict(zip(names, pool.map(_count, names), strict=True))
    each = {name: (counted[name] - counted[IDLE]) / rounds for name, rounds in _ROUNDS.items()}
    parts = {name: round(each[name] / each[YARDSTICK], 3) for name in _ROUNDS if name != YARDSTICK}
    versions = {name: version for name, version in installed().items() if name in _PACKAGES}
    return Baseline(python=".".join(platform.python_version_tuple()[:2]), versions=versions, parts=parts)


def _count(name: str) -> int:
    line = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable, __file__, "--run", name]
    # The same hashes each time, so that sets and dicts are laid out alike.
    environment = os.environ | {"PYTHONHASHSEED": "0"}
    said = subprocess.run(line, capture_output=True, text=True, check=True, env=environment).stderr  # noqa: S603 # It is ours.
    found = _COUNTED.search(said)
    if found is None:
        raise SystemExit(f"callgrind counted nothing:\n{said}")
    return int(found[1])


def run(name: str) -> None:
    """Each job once, and one of them as often as it is counted."""
    jobs = make_jobs()
    for job in jobs.values():
        job()
    gc.collect()
    gc.disable()
    for _ in range(_ROUNDS.get(name, 0)):
        jobs[name]()


def make_jobs() -> Mapping[str, Callable[[], object]]:
    """The yardstick and the three workloads."""
    import toons

    table, record, grant = rows(20), row(20), policy.grant(LEVEL)
    toon, markdown, structured = (
        Shape(policy, encoder=each, grant=grant) for each in (Toon(codec="toons"), Markdown(), Json())
    )
    jobs: list[Callable[[], object]] = [
        lambda: toons.dumps(table.model_dump(mode="json")),
        lambda: toon.render(table),
        lambda: markdown.render(table),
        lambda: structured.render(record),
    ]
    return dict(zip(_ROUNDS, jobs, strict=True))


if __name__ == "__main__":
    sys.exit(main())
