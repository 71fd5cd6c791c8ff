"""The words for what leaves and for what a lock has."""

from collections.abc import Iterable, Iterator, Sequence

from mcpshape._telling import name_form
from mcpshape.lock._index import Answer, Index
from mcpshape.lock._lock import Step, few_toggles, quoted, word
from mcpshape.lock._outcome import Outcome
from mcpshape.lock._tracing import ROOT
from mcpshape.rules import Drop, Mask

_NAMED = 3


def tell_path(locked: Index, step: Step, level: str | None, peer: str | None) -> str:
    """What a step lets out at a level, and what a lock has there and further on."""
    path = "the whole answer" if step.path == ROOT else step.path
    told = f"{path} {_present(step.outcome)}{_at(level)}{_while(step.toggles)}"
    answer: Answer = (step.kind, step.name)
    if step.path not in locked.answers[answer]:
        return f"{told}; the lock does not have it."
    there = "" if peer is None else " there" if peer == level else f" at {word(peer)}"
    has = _past(locked.outcome(answer, step.path, peer, step.toggles))
    return f"{told}; the lock has it {has}{there}{_elsewhere(locked, step, peer)}."


def tell_answer(kind: str, paths: Sequence[str], level: str | None) -> str:
    """What a tool or resource lets out that a lock does not have at all."""
    more = [f"{len(paths) - _NAMED} more"] if len(paths) > _NAMED else []
    leave = "leaves" if len(paths) == 1 else "leave"
    return f"the lock does not have this {kind}, of which {_enumerated([*paths[:_NAMED], *more])} {leave}{_at(level)}."


def listed(names: Iterable[str]) -> str:
    """Names as a person lists them, in quotes where they hold more than a name does."""
    return _enumerated([word(name) for name in names])


def _enumerated(words: Sequence[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _elsewhere(locked: Index, step: Step, peer: str | None) -> str:
    """Where the lock has as much: with more toggles at the same level, or from a wider level on."""
    answer: Answer = (step.kind, step.name)
    here = [each for each in locked.steps(answer, step.path, peer) if step.outcome.tells_no_more_than(each.outcome)]
    if here:
        needed = sorted(min(here, key=few_toggles).toggles - step.toggles)
        return f" unless {listed(needed)} {_are(needed)} on"
    for level in locked.lock.levels[locked.lock.rank(peer) + 1 :]:
        for each in sorted(locked.steps(answer, step.path, level), key=few_toggles):
            if step.outcome.tells_no_more_than(each.outcome):
                return f" and {_past(each.outcome)} from {word(level)} on{_while(each.toggles)}"
    return ""


def _present(outcome: Outcome) -> str:
    match outcome.action:
        case Mask(value):
            told = f"is now masked as {quoted(value)}"
        case _:
            told = f"now leaves {name_form(outcome.action)}".rstrip()
    return " ".join((told, *_rows(outcome)))


def _past(outcome: Outcome) -> str:
    match outcome.action:
        case Drop():
            told = "withheld"
        case Mask():
            told = "masked"
        case _:
            told = name_form(outcome.action) or "shown"
    return " ".join((told, *_rows(outcome)))


def _rows(outcome: Outcome) -> Iterator[str]:
    if outcome.without is not None:
        yield f"without the rows marked {word(outcome.without)}"
    if outcome.capped is not None:
        yield f"with rows capped by {word(outcome.capped)}"


def _at(level: str | None) -> str:
    return "" if level is None else f" at {word(level)}"


def _while(toggles: frozenset[str]) -> str:
    return f" while {listed(sorted(toggles))} {_are(toggles)} on" if toggles else ""


def _are(names: Iterable[str]) -> str:
    return "is" if len(list(names)) == 1 else "are"
