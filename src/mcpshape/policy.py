"""Levels, toggles and grants: who may be told how much."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from mcpshape.errors import DefinitionError, Problem
from mcpshape.rules import Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Toggle:
    """A switch on top of the levels.

    Args:
        on_since: The level that turns it on unless somebody says otherwise.
        offered_since: The level from which it can be flipped; below it the switch does not exist.
        requires: Another toggle that has to be on.
        about: What it tells, in words for whoever decides about it; the preview shows them.
    """

    on_since: str
    offered_since: str
    requires: str | None = None
    about: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Somebody's part in a grant: who asked for which level, what came out, and what of it was refused."""

    who: str
    asked: str
    got: str
    refused: tuple[str, ...]
    has_narrowed: bool

    def __str__(self) -> str:
        outcome = f", without {', '.join(self.refused)}" if self.refused else ""
        return f"{self.who}: asked for {self.asked}, got {self.got}{outcome}"


@dataclass(frozen=True, slots=True)
class Grant:
    """The level and the toggles in force for one call. Made by `Policy.grant`; `a & b` allows what both allow."""

    level: str
    toggles: frozenset[str]
    policy: "Policy" = field(repr=False)
    reasons: tuple[Reason, ...] = field(default=(), repr=False, compare=False)

    @property
    def narrowed_by(self) -> tuple[str, ...]:
        """Who made it narrower, in that order: setting, tool, principal, scope, client or call."""
        return tuple(reason.who for reason in self.reasons if reason.has_narrowed)

    def reaches(self, level: str) -> bool:
        """Whether this grant is at `level` or wider."""
        return self.policy.rank(self.level) >= self.policy.rank(level)

    def __and__(self, other: "Grant") -> "Grant":
        """The meet: the narrower level, and the toggles that are on in both."""
        if other.policy is not self.policy:
            raise DefinitionError(
                "Grant", [Problem("&", "the two grants are of different policies.", "Use one policy.")]
            )
        narrower = min(self, other, key=lambda grant: self.policy.rank(grant.level))
        return Grant(narrower.level, self.toggles & other.toggles, self.policy, self.reasons + other.reasons)

    def narrowed(self, who: str, other: "Grant") -> "Grant":
        """The meet with what somebody asked for, and a reason for `explain` that says who and what came out."""
        met = self & other
        missing = sorted(other.toggles - met.toggles)
        refused = [] if met.level == other.level else [f"level {other.level}"]
        reason = Reason(
            who=who, asked=other.level, got=met.level, refused=(*refused, *missing), has_narrowed=met != self
        )
        return replace(met, reasons=(*self.reasons, reason))

    def joined(self, other: "Grant") -> "Grant":
        """What one of the two allows: the wider level, and the toggles that are on in either."""
        wider = max(self, other, key=lambda grant: self.policy.rank(grant.level))
        return Grant(wider.level, self.toggles | other.toggles, self.policy)

    def explain(self) -> str:
        """The grant in words: who narrowed it, the level, and each toggle."""
        place = f"{self.policy.rank(self.level) + 1} of {len(self.policy.levels)}"
        lines = [*map(str, self.reasons), f"level {self.level} ({place})"]
        return "\n".join(lines + [self._explain_toggle(name) for name in sorted(self.policy.toggles)])

    def _explain_toggle(self, name: str) -> str:
        toggle = self.policy.toggles[name]
        if not self.reaches(toggle.offered_since):
            return f"{name}: off (offered from {toggle.offered_since})"
        state = "on" if name in self.toggles else "off"
        usual = "on" if self.reaches(toggle.on_since) else "off"
        return f"{name}: {state}" if state == usual else f"{name}: {state} (usually {usual} at {self.level})"


@dataclass(frozen=True, slots=True, eq=False)
class Policy:
    """Ordered levels, narrow to wide, and the toggles on top of them.

    Args:
        levels: Level names, the narrowest first.
        toggles: The switches, by name.
        default: The level where nobody chose one; the first unless said.
        questions: The question that a level can answer, by level, for whoever decides about it; the preview shows it.

    Raises:
        DefinitionError: A level or toggle is named that does not exist, or toggles require one another in a circle.

    Examples:
        >>> policy = Policy(levels=("strict", "open"), toggles={"notes": Toggle(on_since="open", offered_since="open")})
        >>> policy.grant("open", toggles={"notes": False}).toggles
        frozenset()
    """

    levels: tuple[str, ...]
    toggles: Mapping[str, Toggle] = field(default_factory=dict)
    default: str = ""
    foreign: Mapping[type, Mapping[str, Rule]] = field(default_factory=dict, repr=False)
    questions: Mapping[str, str] = field(default_factory=dict, kw_only=True)

    def __post_init__(self) -> None:
        if isinstance(self.levels, str):
            problem = Problem("levels", "it is one text.", 'Give a tuple of names, as in ("strict", "open").')
            raise DefinitionError("Policy", [problem])
        object.__setattr__(self, "levels", tuple(self.levels))
        object.__setattr__(self, "toggles", MappingProxyType(dict(self.toggles)))
        problems = list(_level_problems(self.levels))
        if not problems:
            object.__setattr__(self, "default", self.default or self.levels[0])
            problems = [*_toggle_problems(self), *_question_problems(self)]
        if problems:
            raise DefinitionError("Policy", problems)

    def rank(self, level: str) -> int:
        """The place of `level`, 0 for the narrowest."""
        return self.levels.index(level)

    def rules(self, rules: Mapping[type, Mapping[str, Rule]]) -> "Policy":
        """The same policy with rules for DTO classes that you do not own, as `{Class: {"field": rule}}`."""
        return replace(self, foreign={**self.foreign, **rules})

    def widest(self, level: str, *, without: Collection[str] = ()) -> Grant:
        """The grant of `level` with every toggle on that can be on there, but for some and those that require them."""
        bare = Grant(level, frozenset(), self)
        possible = {name for name, each in self.toggles.items() if bare.reaches(each.offered_since)}
        return replace(bare, toggles=frozenset(name for name in possible if not {*_chain(self, name)} & {*without}))

    def grant(self, level: str | None = None, *, toggles: Mapping[str, bool] | None = None) -> Grant:
        """The grant of `level` with its usual toggles, some of them flipped.

        Turning a toggle off also turns off those that require it.

        Raises:
            DefinitionError: The level or a toggle is unknown, not offered at that level, or requires one that is off.
        """
        level = self.default if level is None else level
        flips = dict(toggles or {})
        if level not in self.levels:
            raise DefinitionError("Grant", [_unknown("level", level, self.levels)])
        bare = Grant(level, frozenset(), self)
        if problems := list(_flip_problems(self, bare, flips)):
            raise DefinitionError("Grant", problems)
        wanted = {name: flips.get(name, bare.reaches(toggle.on_since)) for name, toggle in self.toggles.items()}
        on = frozenset(name for name in self.toggles if all(wanted[needed] for needed in _chain(self, name)))
        return replace(bare, toggles=on)


def _chain(policy: Policy, name: str) -> list[str]:
    """`name` and all that it requires; ends at a circle or at an unknown name, which the checks report."""
    seen: list[str] = []
    following: str | None = name
    while following is not None and following in policy.toggles and following not in seen:
        seen.append(following)
        following = policy.toggles[following].requires
    return seen


def _unknown(what: str, name: str, known: Iterable[str], path: str = "") -> Problem:
    return Problem(path or what, f"there is no {what} {name!r}.", f"Choose one of: {', '.join(known) or 'none'}.")


def _level_problems(levels: tuple[str, ...]) -> Iterable[Problem]:
    if not levels:
        yield Problem("levels", "a policy needs at least one level.", "Name them from narrow to wide.")
    if len(set(levels)) < len(levels):
        yield Problem("levels", "a level is named twice.", "Name each level once.")


def _question_problems(policy: Policy) -> Iterable[Problem]:
    unknown = [level for level in policy.questions if level not in policy.levels]
    return (_unknown("level", level, policy.levels, f"questions.{level}") for level in unknown)


def _toggle_problems(policy: Policy) -> Iterable[Problem]:
    if policy.default not in policy.levels:
        yield _unknown("level", policy.default, policy.levels, "default")
    for name, toggle in policy.toggles.items():
        unknown = [level for level in (toggle.on_since, toggle.offered_since) if level not in policy.levels]
        yield from (_unknown("level", level, policy.levels, f"toggles.{name}") for level in unknown)
        if not unknown and policy.rank(toggle.on_since) < policy.rank(toggle.offered_since):
            yield Problem(
                f"toggles.{name}",
                f"it is on from {toggle.on_since} but offered only from {toggle.offered_since}.",
                "Offer it no later than it is on.",
            )
        yield from _requirement_problems(policy, name)


def _requirement_problems(policy: Policy, name: str) -> Iterable[Problem]:
    toggle = policy.toggles[name]
    if toggle.requires is None:
        return
    if toggle.requires not in policy.toggles:
        yield _unknown("toggle", toggle.requires, policy.toggles, f"toggles.{name}.requires")
    elif policy.toggles[_chain(policy, name)[-1]].requires is not None:
        yield Problem(f"toggles.{name}", "it requires itself in a circle.", "Break the circle of `requires`.")


def _flip_problems(policy: Policy, grant: Grant, flips: Mapping[str, bool]) -> Iterable[Problem]:
    for name, on in flips.items():
        if name not in policy.toggles:
            yield _unknown("toggle", name, policy.toggles)
            continue
        offered = policy.toggles[name].offered_since
        if not grant.reaches(offered):
            yield Problem(
                f"toggles.{name}", f"it is not offered at {grant.level}.", f"It is offered from {offered} on."
            )
        denied = [needed for needed in _chain(policy, name) if flips.get(needed) is False]
        if on and denied:
            yield Problem(f"toggles.{name}", f"it needs {denied[0]}, which is off.", f"Turn {denied[0]} on as well.")
