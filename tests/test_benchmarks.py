"""The benchmarks: that they run, that they compare like with like, and that the page says what was measured."""

import ast
import asyncio
import re
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from content import check
from data import Workload, policy, rows, visible, workloads
from instructions import SLOWER, Baseline, compare
from mcpshape import Shape
from mcpshape.encoders import Json
from report import PAGE, read_results, write_page
from results import Results
from subjects import ALONE, subjects
from targets import NAMES, TARGETS, Target, lines
from timing import Race, race, repeated

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
QUICK = list(workloads(is_quick=True))
OWN = [each for each in QUICK if each.is_own]

pytestmark = pytest.mark.no_cover


def test_a_quick_run_measures_all_and_prints_each_target(tmp_path: Path) -> None:
    """Every subject answers with the data before it is timed; the times themselves are nothing to test."""
    line = [sys.executable, str(BENCHMARKS / "run.py"), "--quick", "--json", str(tmp_path / "new" / "run.json")]
    printed = subprocess.run(line, capture_output=True, text=True, check=False)
    assert printed.returncode == 0, printed.stderr
    results = Results.model_validate_json((tmp_path / "new" / "run.json").read_text(encoding="utf-8"))
    assert results.is_quick
    assert set(results.targets) == set(NAMES)
    assert all(line in printed.stdout for line in lines(results.targets))
    assert {each.workload for each in results.times} == {each.name for each in QUICK}
    assert write_page(results).startswith("# Speed and cost\n")


def test_the_page_is_what_the_script_makes_of_the_figures_that_are_kept() -> None:
    """No figure of the page is typed. To mend it: python benchmarks/report.py."""
    assert PAGE.read_text(encoding="utf-8") == write_page(read_results())


def test_the_figures_that_are_kept_are_of_a_whole_run() -> None:
    """They say when and with what, and nothing of whose machine it was."""
    results = read_results()
    assert not results.is_quick
    assert set(results.targets) == set(NAMES)
    assert re.fullmatch(r"\w+ \w+", results.system)
    assert re.fullmatch(r"\w+ [\w.]+", results.python)
    assert results.versions.keys() >= {"pydantic", "mcp", "fastmcp", "toons", "python-toon", "toon-format"}


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_whether_a_target_holds_is_worked_out_of_its_figure(target: Target) -> None:
    """A figure just within its limit passes and one just beyond fails, in what is printed and on the page."""
    results = read_results()
    for most, verdict in ((target.most, "pass"), (target.most * 1.001, "FAIL")):
        figure = results.targets[target.name].model_copy(update={"figure": most})
        changed = results.model_copy(update={"targets": {**results.targets, target.name: figure}})
        (printed,) = [line for line in lines(changed.targets) if line.split()[0] == target.name]
        assert printed.split()[1] == verdict
        (row,) = [line for line in write_page(changed).splitlines() if line.startswith(f"| {target.name}. ")]
        assert row.endswith(f"{verdict} |" if verdict == "pass" else f"**{verdict}** |")


@pytest.mark.parametrize("level", policy.levels)
@pytest.mark.parametrize("workload", OWN, ids=lambda workload: workload.name)
def test_what_a_level_shows_is_what_is_worked_out_by_hand(workload: Workload, level: str) -> None:
    """Subjects are checked against data that mcpshape had no part in."""
    shape = Shape(policy, encoder=Json())
    assert shape.view(workload.dto, grant=policy.grant(level)).data == visible(workload.plain, level)


def test_a_subject_that_answers_with_something_else_is_not_timed() -> None:
    """Its time would mean nothing."""
    asked, other = Workload("asked", rows(3)), Workload("other", rows(4))
    subject = subjects(other)[ALONE]
    result = asyncio.run(subject.result())
    check(ALONE, subject, other, result)
    with pytest.raises(SystemExit, match="MCPServer alone does not answer with asked"):
        check(ALONE, subject, asked, result)
    with pytest.raises(SystemExit):
        check(ALONE, replace(subject, holds="the level", level="strict"), other, result)


def test_a_ratio_is_taken_within_a_round() -> None:
    """A slow round slows both subjects, and so changes nothing."""
    timed = Race({"base": [1.0, 10.0, 1.0], "subject": [2.0, 20.0, 3.0]})
    assert timed.ratio("subject", "base").figure == 2
    assert timed.beyond("subject", "base").figure == 2


def test_subjects_take_turns_and_what_is_quick_is_done_several_times() -> None:
    """Every round has one measurement of each."""
    done = {"one": 0, "other": 0}

    def count(name: str) -> None:
        done[name] += 1

    timed = race({name: repeated(partial(count, name)) for name in done}, 3, least=0.0001)
    assert {name: len(times) for name, times in timed.times.items()} == {"one": 3, "other": 3}
    assert all(number > 3 for number in done.values())


def test_more_instructions_than_a_tenth_fail_and_other_packages_too() -> None:
    """What another Python takes is not compared; what other packages take has to be looked at."""
    before = Baseline(python="3.11", versions={"toons": "1"}, parts={"rows": 2.0})
    assert compare(before, before) == 0
    assert compare(before.model_copy(update={"parts": {"rows": 2 * (1 + SLOWER) - 0.001}}), before) == 0
    assert compare(before.model_copy(update={"parts": {"rows": 2 * (1 + SLOWER) + 0.001}}), before) == 1
    assert compare(before.model_copy(update={"versions": {"toons": "2"}}), before) == 1
    assert compare(before.model_copy(update={"python": "3.12", "parts": {"rows": 9.0}}), before) == 0


@pytest.mark.parametrize("path", sorted(BENCHMARKS.glob("*.py")), ids=lambda path: path.name)
def test_a_benchmark_is_short(path: Path) -> None:
    """Files have less than 300 lines, functions at most 40."""
    text = path.read_text(encoding="utf-8")
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    assert len(text.splitlines()) < 300
    assert not [each.name for each in functions if (each.end_lineno or 0) - each.body[0].lineno >= 40]
