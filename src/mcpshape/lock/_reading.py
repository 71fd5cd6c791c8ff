"""Reads a lock; whatever is wrong with it is told with its line."""

import json
import re
from dataclasses import dataclass, field
from typing import Any

from mcpshape.errors import DefinitionError, Problem
from mcpshape.lock._lock import BARE, FORMAT, HEADER, NO_LEVEL, Kind, Lock, Setting, Step
from mcpshape.lock._outcome import Outcome
from mcpshape.policy import Policy, Toggle
from mcpshape.rules import Action, Clip, Coarsen, Drop, Handle, Mask, Show

_WORD = re.compile(r'(?:"(?:[^"\\]|\\.)*"|[^\s"])+')
_LENGTH = re.compile(r"[1-9]\d{0,17}")
_NUMBER = re.compile(r"\d{1,300}(?:\.\d{1,300})?(?:e[+-]?\d{1,3})?")
_STEP = re.compile(r"[1-9]\d?min|hour|day|week|month")
_REMEDY = "Restore it, or make it anew and have that reviewed."


def read_lock(text: str) -> Lock:
    """The lock of a text.

    Raises:
        DefinitionError: It is no lock, one of a newer format, or broken.
    """
    require_format(text)
    reader = _Reader()
    for number, line in enumerate(text.split("\n")[1:], 2):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            reader.read(line)
        except _BrokenLineError as error:
            raise _refusal(f"line {number}", f"{error}.") from None
    return reader.finish()


class _BrokenLineError(Exception):
    """A line cannot be read; the text says why, without what it holds."""


def require_format(text: str) -> None:
    """See that a text begins as a lock does that can be read here.

    Raises:
        DefinitionError: It is something else, or of a newer format.
    """
    header, _, version = text.partition("\n")[0].strip().partition(" ")
    if header != HEADER or not _LENGTH.fullmatch(version):
        raise _refusal("line 1", f"it is no lock, which begins with {HEADER} {FORMAT}.")
    if int(version) > FORMAT:
        problem = Problem(
            "line 1", f"it is of format {version}, and this mcpshape reads {FORMAT}.", "Install a newer mcpshape."
        )
        raise DefinitionError("lock", [problem])


def _refusal(place: str, message: str) -> DefinitionError:
    return DefinitionError("lock", [Problem(place, message, _REMEDY)])


@dataclass(slots=True)
class _Reader:
    """What the lines so far have said."""

    levels: tuple[str, ...] = ()
    setting: Setting | None = None
    toggles: dict[str, Toggle] = field(default_factory=dict)
    steps: dict[tuple[Any, ...], Step] = field(default_factory=dict)

    def read(self, line: str) -> None:
        match _words(line):
            case ["levels", *names] if names and not self.levels:
                self.levels = tuple(map(_name, names))
            case ["setting", level, *toggles] if not self.setting:
                self.setting = Setting(_name(level), frozenset(map(_name, toggles)))
            case ["toggle", name, "on", on, "offered", offered, *needs] if _name(name) not in self.toggles:
                self.toggles[_name(name)] = Toggle(
                    on_since=_name(on), offered_since=_name(offered), requires=_required(needs)
                )
            case ["tool" | "resource" as kind, name, path, level, *rest]:
                self._add(kind, _name(name), path, None if level == NO_LEVEL else _name(level), rest)
            case _:
                raise _BrokenLineError("a lock has no such line there")

    def _add(self, kind: Kind, name: str, path: str, level: str | None, words: list[str]) -> None:
        outcome, toggles = _outcome(words)
        if (level is None) != (not self.levels) or (level is not None and level not in self.levels):
            raise _BrokenLineError("its level is not among the levels of the lock")
        if not toggles <= self.toggles.keys():
            raise _BrokenLineError("its toggle is not among the toggles of the lock")
        place = (kind, name, path, level, toggles)
        if place in self.steps:
            raise _BrokenLineError("an earlier line is about the same")
        self.steps[place] = Step(kind, name, path, level, outcome, toggles)

    def finish(self) -> Lock:
        if bool(self.levels) != bool(self.setting) or (self.toggles and not self.levels):
            raise _refusal("the policy", "its levels or its setting are missing.")
        if self.setting:
            try:
                Policy(levels=self.levels, toggles=self.toggles, default=self.setting.level)
            except DefinitionError as error:
                raise _refusal("the policy", f"it does not hold together ({error.problems[0].path}).") from None
            if not self.setting.toggles <= self.toggles.keys():
                raise _refusal("setting", "its toggle is not among the toggles of the lock.")
        return Lock(
            levels=self.levels, toggles=self.toggles, setting=self.setting, steps=frozenset(self.steps.values())
        )


def _words(line: str) -> list[str]:
    found, rest = [], line.strip()
    while match := _WORD.match(rest):
        found.append(match[0])
        rest = rest[match.end() :].lstrip()
    if rest:
        raise _BrokenLineError("it has a quote without an end")
    return found


def _name(token: str) -> str:
    name = _json(token) if token.startswith('"') else token
    if not isinstance(name, str) or (name is token and not BARE.fullmatch(token)):
        raise _BrokenLineError("it has a name that is none")
    return name


def _json(token: str) -> Any:
    try:
        return json.loads(token)
    except (ValueError, RecursionError):
        raise _BrokenLineError("it has a value that is no JSON") from None


def _required(words: list[str]) -> str | None:
    match words:
        case []:
            return None
        case ["requires", name]:
            return _name(name)
        case _:
            raise _BrokenLineError("it has words too many")


def _outcome(words: list[str]) -> tuple[Outcome, frozenset[str]]:
    action, rest = _action(words)
    qualified: dict[str, str] = {}
    for qualifier in ("without", "capped"):
        match rest:
            case [first, name, *others] if first == qualifier:
                qualified[qualifier], rest = _name(name), others
            case _:
                pass
    match rest:
        case []:
            return Outcome(action, **qualified), frozenset()
        case ["when", *toggles] if toggles:
            return Outcome(action, **qualified), frozenset(map(_name, toggles))
        case _:
            raise _BrokenLineError("it has words too many")


def _action(words: list[str]) -> tuple[Action, list[str]]:
    match words:
        case ["show", *rest]:
            return Show(), rest
        case ["drop", *rest]:
            return Drop(), rest
        case ["mask", value, *rest] if not isinstance(mask := _json(value), list | dict):
            return Mask(mask), rest
        case ["clip", length, *rest] if _LENGTH.fullmatch(length):
            return Clip(int(length)), rest
        case ["coarsen", step, *rest] if _STEP.fullmatch(step):
            return Coarsen(step), rest
        case ["coarsen", step, *rest] if _NUMBER.fullmatch(step):
            return Coarsen(_json(step)), rest
        case ["handle", kind, *rest]:
            return Handle(_name(kind)), rest
        case _:
            raise _BrokenLineError("it has no action that a lock can have")
