"""What leaves now and does not leave by a lock, a sentence for each difference."""

from collections.abc import Iterator
from dataclasses import dataclass

from mcpshape.lock._index import Answer, Index, index
from mcpshape.lock._lock import Lock, Setting, few_toggles, word
from mcpshape.lock._outcome import WITHHELD
from mcpshape.lock._sentences import listed, tell_answer, tell_path
from mcpshape.lock._tracing import ROOT
from mcpshape.policy import Policy

_POLICY = "policy"


@dataclass(frozen=True, slots=True)
class Widening:
    """Something that leaves now and not by a lock.

    Args:
        where: A tool or a resource, or `policy`.
        path: The path of the field, the name of the toggle, or `levels` or `setting`.
        level: The narrowest level at which it is so; `None` where there are no levels.
        message: The same in words.
    """

    where: str
    path: str
    level: str | None
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


def compare(locked: Lock, now: Lock) -> list[Widening]:
    """All that leaves now and is wider than a lock has it: paths under any choice of toggles, toggles, the setting.

    A level that the lock does not know is held against its narrower neighbour there.
    """
    before, after = index(locked), index(now)
    found = [*_levels(before, now), *_setting(before, now), *_toggles(before, now)]
    for answer in sorted(after.answers):
        found += _paths(before, after, answer) if answer in before.answers else _new_answer(after, answer)
    return found


def _levels(before: Index, now: Lock) -> Iterator[Widening]:
    locked = before.lock
    if not locked.levels:
        return
    if not now.levels:
        yield Widening(_POLICY, "levels", None, f"there are no levels any more; the lock has {listed(locked.levels)}.")
        return
    order = [each for each in now.levels if each in locked.levels]
    if order != [each for each in locked.levels if each in now.levels]:
        message = f"the levels are in another order, {listed(now.levels)}; the lock has {listed(locked.levels)}."
        yield Widening(_POLICY, "levels", now.levels[0], message)
    elif now.levels[0] in locked.levels[1:]:
        message = f"the narrowest level is now {word(now.levels[0])}; the lock has {word(locked.levels[0])}."
        yield Widening(_POLICY, "levels", now.levels[0], message)


def _setting(before: Index, now: Lock) -> Iterator[Widening]:
    locked = before.lock
    if locked.setting is None or now.setting is None:
        return
    more = now.setting.toggles & locked.toggles.keys() - locked.setting.toggles
    if more or _is_wider(before, now, locked.setting, now.setting):
        message = f"the setting is now {_told(now.setting)}; the lock has {_told(locked.setting)}."
        yield Widening(_POLICY, "setting", now.setting.level, message)


def _is_wider(before: Index, now: Lock, was: Setting, setting: Setting) -> bool:
    if was.level in now.levels:
        return now.rank(setting.level) > now.rank(was.level)
    return before.lock.rank(before.peer(now, setting.level)) > before.lock.rank(was.level)


def _told(setting: Setting) -> str:
    return word(setting.level) + (f" with {listed(sorted(setting.toggles))}" if setting.toggles else "")


def _toggles(before: Index, now: Lock) -> Iterator[Widening]:
    was, policy = before.lock.policy, now.policy
    if was is None or policy is None:
        return
    for name in sorted(was.toggles.keys() & policy.toggles.keys()):
        needed = was.toggles[name].requires
        if needed is not None and needed not in _required(policy, name):
            message = f"the toggle {word(name)} no longer requires {word(needed)}, as the lock has it."
            yield Widening(_POLICY, name, policy.toggles[name].offered_since, message)
        yield from _earlier(before, now, name, (was, policy))


def _earlier(before: Index, now: Lock, name: str, policies: tuple[Policy, Policy]) -> Iterator[Widening]:
    """The narrowest level at which a toggle is on, or offered, and was not."""
    was, policy = policies
    old = was.toggles[name]
    for level in policy.levels:
        peer = before.peer(now, level) or ""
        is_on = name in policy.grant(level).toggles - was.grant(peer).toggles
        if is_on or name in policy.widest(level).toggles - was.widest(peer).toggles:
            what, since = ("on", old.on_since) if is_on else ("offered", old.offered_since)
            told = f"the toggle {word(name)} is now {what} at {word(level)}"
            yield Widening(_POLICY, name, level, f"{told}; the lock has it {what} from {word(since)} on.")
            return


def _required(policy: Policy, name: str) -> Iterator[str]:
    """What a toggle requires, and what that requires."""
    needed = policy.toggles[name].requires
    while needed is not None:
        yield needed
        needed = policy.toggles[needed].requires


def _new_answer(after: Index, answer: Answer) -> Iterator[Widening]:
    for level in after.levels:
        paths = [
            path
            for path in sorted(after.answers[answer].keys() - {ROOT})
            if any(step.outcome != WITHHELD for step in after.steps(answer, path, level))
        ]
        if paths:
            yield Widening(_name(answer), ROOT, level, tell_answer(answer[0], paths, level))
            return


def _paths(before: Index, after: Index, answer: Answer) -> Iterator[Widening]:
    for path in sorted(after.answers[answer]):
        yield from _first(before, after, answer, path)


def _first(before: Index, after: Index, answer: Answer, path: str) -> Iterator[Widening]:
    """The widening of a path at the narrowest level that has one."""
    for level in after.levels:
        peer = before.peer(after.lock, level)
        for step in sorted(after.steps(answer, path, level), key=few_toggles):
            if not step.outcome.tells_no_more_than(before.outcome(answer, path, peer, step.toggles)):
                yield Widening(_name(answer), path, level, tell_path(before, step, level, peer))
                return


def _name(answer: Answer) -> str:
    kind, name = answer
    return word(name) if kind == "tool" else f"{kind} {word(name)}"
