"""Settings on a shape: what of it they change, and what of them it has no place for."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from mcpshape._budget import Chars, Tokens
from mcpshape._options import ShapeOptions, ToolOptions
from mcpshape._settings import Budget, CallerEntry, Format, Settings, ToolEntry
from mcpshape._tokens import Keyring
from mcpshape._tool import Tool
from mcpshape.encoders import Encoder, find_encoder
from mcpshape.errors import DefinitionError, Problem
from mcpshape.policy import Grant, Policy
from mcpshape.shape import Shape

Steps = tuple[str, ...]


@dataclass(slots=True)
class Application:
    """One application of settings to a shape; `problems` fills up on the way, by the place of each."""

    shape: Shape
    settings: Settings
    folder: Path
    name: Callable[[Steps], str]
    problems: list[Problem] = field(default_factory=list)

    def run(self) -> Shape:
        """The shape under the settings.

        Raises:
            DefinitionError: They name what is not there, or what they ask for cannot hold.
        """
        options = self._options()
        if self.problems:
            raise DefinitionError("settings", self.problems)
        return self.shape.using(**options)

    def _options(self) -> ShapeOptions:
        given, code = self.settings, self.shape.decisions.entries
        return ShapeOptions(
            grant=self._setting(),
            encoder=self._encoder(("format",), given.format),
            structured=given.structured,
            keyring=self._keyring(),
            principals=self._callers("principals", given.principals, code.principals),
            scopes=self._callers("scopes", given.scopes, code.scopes),
            clients=self._callers("clients", given.clients, code.clients),
            tools=self._tools(),
        )

    def _setting(self) -> Grant | None:
        """The widest that any call gets: a level sets the toggles, then each can be flipped."""
        level, toggles, policy, usual = self.settings.level, self.settings.toggles, self.shape.policy, self.shape.grant
        if not self._has_levels((), level, toggles) or policy is None or usual is None:
            return None
        if level is None:
            flipped = usual.toggles ^ policy.grant(usual.level).toggles
            toggles = {**{name: name in usual.toggles for name in flipped}, **toggles}
        return self._grant((), policy, usual.level if level is None else level, toggles)

    def _callers(
        self, kind: str, entries: Mapping[str, CallerEntry], code: Mapping[str, Grant]
    ) -> Mapping[str, Grant] | None:
        """What callers are granted: an entry only takes away, and what the code has of them as well."""
        met = dict(code)
        for who, entry in entries.items():
            grant = self._caller((kind, who), entry)
            if grant is not None:
                met[who] = grant & code[who] if who in code else grant
        return met

    def _caller(self, place: Steps, entry: CallerEntry) -> Grant | None:
        policy = self.shape.policy
        if not self._has_levels(place, entry.level, entry.toggles) or policy is None:
            return None
        level = policy.levels[-1] if entry.level is None else entry.level
        if self._grant(place, policy, level, entry.toggles) is None:
            return None
        return policy.widest(level, without=[name for name, is_on in entry.toggles.items() if not is_on])

    def _has_levels(self, place: Steps, level: str | None, toggles: Collection[str]) -> bool:
        """Whether anything of a grant is set, or has to be, on a shape that has levels."""
        is_meant = bool(place) or level is not None or bool(toggles)
        if is_meant and self.shape.policy is None:
            self._note(place or ("level",), "this server has no levels.", "Leave it out.")
        return is_meant

    def _grant(self, place: Steps, policy: Policy, level: str, toggles: Mapping[str, bool]) -> Grant | None:
        try:
            return policy.grant(level, toggles=_flips(policy, level, toggles))
        except DefinitionError as error:
            for problem in error.problems:
                # A policy names an unknown toggle by its kind only.
                unknown = [name for name in toggles if f"{name!r}" in problem.message]
                path = ".".join(["toggles", *unknown]) if problem.path == "toggle" else problem.path
                self._note((*place, *path.split(".", 1)), problem.message, problem.remedy)
            return None

    def _tools(self) -> dict[str, ToolOptions]:
        known = self.shape.tools
        for name in [name for name in self.settings.tools if name not in known]:
            self._note(("tools", name), f"there is no tool {name!r}.", f"Choose from: {', '.join(known) or 'none'}.")
        none = ToolEntry.model_validate({})
        return {
            name: self._tool(("tools", name), tool, self.settings.tools.get(name, none)) for name, tool in known.items()
        }

    def _tool(self, place: Steps, tool: Tool, entry: ToolEntry) -> ToolOptions:
        """The options of a tool: its own entry, else its code, else what is set for the server."""
        usual, settings = tool.options, self.settings
        if entry.limit is not None and usual.page is None:
            self._note((*place, "limit"), "this tool answers with no list in pages.", "Leave it out.")
        limit = entry.limit or usual.limit or (settings.limit if usual.page else None)
        budget = self._budget((*place, "budget"), entry.budget) or usual.budget
        return ToolOptions(
            encoder=self._encoder((*place, "format"), entry.format, usual.encoder) or usual.encoder,
            structured=usual.structured if entry.structured is None else entry.structured,
            privacy=self._cap(place, entry.level, usual.privacy),
            limit=limit,
            budget=budget or self._budget(("budget",), settings.budget),
        )

    def _cap(self, place: Steps, level: str | None, usual: str | None) -> str | None:
        """The narrower of two levels for a tool."""
        policy = self.shape.policy
        if level is None or not self._has_levels(place, level, ()) or policy is None:
            return usual
        if self._grant(place, policy, level, {}) is None or usual is None:
            return level
        return min(level, usual, key=policy.rank)

    def _encoder(self, place: Steps, written: str | Format | None, own: Encoder | None = None) -> Encoder | None:
        if written is None:
            return None
        chosen = Format(name=written) if isinstance(written, str) else written
        options = chosen.model_extra or {}
        try:
            return find_encoder(chosen.name, **options) if options else self.shape.decisions.pick(chosen.name, own)
        except DefinitionError as error:
            for problem in error.problems:
                step = (problem.path,) if problem.path in options else ()
                self._note((*place, *step), problem.message, problem.remedy)
            return None

    def _budget(self, place: Steps, budget: Budget | None) -> Chars | Tokens | None:
        if budget is None:
            return None
        if budget.chars is not None and budget.tokens is None:
            return Chars(budget.chars)
        if budget.tokens is not None and budget.chars is None:
            return Tokens(budget.tokens)
        self._note(place, "it is not one of chars and tokens.", "Write { chars = 8000 } or { tokens = 2000 }.")
        return None

    def _keyring(self) -> Keyring | None:
        secret, file = self.settings.secret, self.settings.secret_file
        if secret is not None and file is not None:
            self._note(("secret_file",), "there is a secret as well.", "Leave out one of them.")
            return None
        if secret is not None:
            return self._made(("secret",), secret.get_secret_value().encode())
        if file is None:
            return None
        try:
            content = (self.folder / file).expanduser().read_bytes()
        except OSError as error:
            self._note(("secret_file",), f"it cannot be read ({type(error).__name__}).", "Name a file that can be.")
            return None
        return self._made(("secret_file",), content.rstrip(b"\r\n"))

    def _made(self, place: Steps, secret: bytes) -> Keyring | None:
        try:
            return replace(self.shape.decisions.keyring, secret=secret, is_ephemeral=False)
        except DefinitionError as error:
            for problem in error.problems:
                self._note(place, problem.message, problem.remedy)
            return None

    def _note(self, place: Steps, message: str, remedy: str) -> None:
        problem = Problem(self.name(place), message, remedy)
        if problem not in self.problems:
            self.problems.append(problem)


def _flips(policy: Policy, level: str, toggles: Mapping[str, bool]) -> dict[str, bool]:
    """Toggles but for those that are off anyway at the level, which else could not be lowered with them in the file."""
    offered = policy.widest(level).toggles if level in policy.levels else policy.toggles.keys()
    return {name: is_on for name, is_on in toggles.items() if is_on or name in offered or name not in policy.toggles}
