"""A choice as a setting: what would newly leave with it, and how it comes into the settings file."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic_core import to_json

from mcpshape._example import answer_example, make_example, open_example, still
from mcpshape._file import parse, see
from mcpshape._settings import Settings, read_environment
from mcpshape._whole_file import replacing
from mcpshape.errors import DefinitionError, Problem
from mcpshape.policy import Grant
from mcpshape.preview._choice import Choice, make_options
from mcpshape.preview._contrast import Change, collect_values, list_changes
from mcpshape.preview._revision import Edit, replace_format, revise
from mcpshape.settings import follow
from mcpshape.shape import Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class Widened:
    """A key that would leave, or leave with more, of one tool, and the first value in its example that is new there.

    `has_example` is false where there is no example to take it from.
    """

    tool: str
    change: Change
    example: Any
    has_example: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What saving a choice would do; `seen` tells the content of the file that this was found with.

    `format` is `None` where it stays, `format_of` names the one tool that it is set for; without it, it is for all.
    """

    level: str | None
    toggles: Sequence[str]
    format: str | None
    format_of: str | None
    widened: Sequence[Widened]
    narrowed: Sequence[tuple[str, Change]]
    newly_structured: Sequence[str]
    seen: str

    @property
    def widens(self) -> bool:
        """Whether anything would newly leave."""
        return bool(self.widened or self.newly_structured)


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """The file that a server's settings stand in, and how the environment variables begin that go before it.

    Keys at its top that are no settings are the server's own, and stay as they are.
    """

    path: Path
    prefix: str = "MCPSHAPE_"

    def apply(self, shape: Shape) -> Shape:
        """The shape under the settings of now; those of the environment alone while there is no file.

        Raises:
            DefinitionError: They cannot hold.
        """
        return self._under(shape, self.path if self._is_there() else None)

    def own_keys(self) -> list[str]:
        """The keys at the top that are no settings."""
        return sorted(self._written().keys() - Settings.model_fields.keys())

    def review(self, shape: Shape, choice: Choice) -> Review:
        """What saving a choice would do to the answers of all tools.

        Raises:
            DefinitionError: The settings of now cannot hold.
        """
        # Taken first: what changes after it is not written over, since it was not looked at.
        seen = self._seen()
        before = self.apply(shape)
        changed = make_options(before, choice, choice.grant)
        after = before.using(**changed)
        changes = {name: find_changes(name, before, after) for name in after.tools}
        return Review(
            level=choice.grant.level if choice.grant else None,
            toggles=sorted(choice.grant.toggles) if choice.grant else (),
            format=choice.format if {"encoder", "tools"} & changed.keys() else None,
            format_of=choice.tool if "tools" in changed else None,
            widened=[
                each
                for name, found in changes.items()
                for each in _widened(name, before, after, [change for change in found if change.is_wider])
            ],
            narrowed=[(name, change) for name, found in changes.items() for change in found if not change.is_wider],
            newly_structured=[
                name
                for name, tool in after.tools.items()
                if tool.output_schema and not before.tools[name].output_schema
            ],
            seen=seen,
        )

    def save(self, shape: Shape, choice: Choice, seen: str) -> None:
        """Write a choice into the file, as a whole, with everything else that stands there.

        Args:
            shape: The shape as its code has it.
            choice: Level, toggles and format; the rest of a choice is no setting.
            seen: What the review told of the file.

        Raises:
            DefinitionError: The file has changed since, is broken, cannot be written, or would not be in force.
        """
        before = self.apply(shape)
        self._require_unchanged(seen)
        edits = self._edits(before, choice)
        if not edits:
            return
        try:
            content = revise(self.path.read_bytes() if self._is_there() else b"", edits)
        except (OSError, ValueError) as error:
            by_hand = "; ".join(str(edit) for edit in edits if edit.value is not None)
            raise self._refused("this cannot be written into it.", f"Write it by hand: {by_hand}.") from error
        with replacing(self.path, content) as candidate:
            if not self._would_hold(shape, choice, candidate):
                remedy = f"Change what begins with {self.prefix} there."
                raise self._refused("the environment goes before it.", remedy)
            self._require_unchanged(seen)

    def _would_hold(self, shape: Shape, choice: Choice, candidate: Path) -> bool:
        """Whether a choice is in force with a file that holds it."""
        # The candidate lies where a link leads, but names are read from where the link is.
        secret = self._written().get("secret_file")
        options = {"secret_file": str(self.path.parent / secret)} if isinstance(secret, str) else {}
        try:
            now = self._under(shape, candidate, options)
        except DefinitionError:
            return False
        return now.grant == choice.grant and choice.format in {None, now.tools[choice.tool].encoder.name.lower()}

    def _environment(self) -> dict[str, Any]:
        return read_environment(self.prefix, frozenset())[0]

    def _edits(self, before: Shape, choice: Choice) -> list[Edit]:
        """What is to be written: nothing of what the environment has set and the choice leaves as it is."""
        written, edits = self._written(), list[Edit]()
        has_own = self._environment().keys() & {"level", "toggles"}
        if choice.grant and not (has_own and choice.grant == before.grant):
            edits.append(Edit(("level",), choice.grant.level))
            edits += _flips(choice.grant, written.get("toggles", {}))
        match make_options(before, choice, None):
            case {"tools": _}:
                edits += replace_format(written, ("tools", choice.tool, "format"), choice.format or "")
            case {"encoder": _}:
                edits += replace_format(written, ("format",), choice.format or "")
        return edits

    def _written(self) -> dict[str, Any]:
        return parse(self.path, see(self.path)) if self._is_there() else {}

    def _is_there(self) -> bool:
        """Whether something is at the path, be it nothing that can be read."""
        try:
            self.path.stat()
        except FileNotFoundError:
            return False
        except OSError:
            return True
        return True

    def _under(self, shape: Shape, path: Path | None, options: Mapping[str, Any] | None = None) -> Shape:
        return follow(shape, path, prefix=self.prefix, options=options, others=self.own_keys()).current()

    def _seen(self) -> str:
        try:
            return sha256(self.path.read_bytes()).hexdigest()
        except OSError as error:
            return type(error).__name__

    def _require_unchanged(self, seen: str) -> None:
        if self._seen() != seen:
            raise self._refused("it has changed since you looked.", "Look at the list again, then save.")

    def _refused(self, message: str, remedy: str) -> DefinitionError:
        return DefinitionError(f"settings {self.path}", [Problem("file", message, remedy)])


def _flips(grant: Grant, written: Mapping[str, Any]) -> Iterator[Edit]:
    """The toggles that are not as the level usually has them, and those that the file has, each as it is to be.

    None is taken out of the file, since what is said of it there would go as well.
    """
    usual = grant.policy.grant(grant.level).toggles
    for name in grant.policy.toggles:
        if name in written or name in usual ^ grant.toggles:
            yield Edit(("toggles", name), name in grant.toggles)


def find_changes(name: str, before: Shape, after: Shape) -> list[Change]:
    """What happens to the keys of a tool that hold values; those that hold nothing but others follow from these."""
    tool = after.tools[name]
    cap = tool.options.cap(after.policy)
    here, there = (each.grant & cap if each.grant and cap else each.grant for each in (after, before))
    changes = list_changes(tool.plan, here, there)
    holders = {change.path.rpartition(".")[0] for change in changes}
    return [change for change in changes if not change.holds_dtos or change.path not in holders]


def _widened(name: str, before: Shape, after: Shape, changes: Sequence[Change]) -> Iterator[Widened]:
    """The changes of one tool with what its example would tell of each that it does not tell now."""
    was, would_be = (_answer(shape, name) if changes else None for shape in (before, after))
    for change in changes:
        known, new = (_values(change, found or {}) for found in (was, would_be))
        told = {to_json(value) for value in known}
        first = next((each for each in new if each is not None), None)
        example = next((each for each in new if each is not None and to_json(each) not in told), first)
        yield Widened(tool=name, change=change, example=example, has_example=would_be is not None)


def _values(change: Change, found: Mapping[str, list[Any]]) -> list[Any]:
    values = found.get(change.path, [])
    return [row for rows in values if isinstance(rows, list) for row in rows] if change.is_of_rows else values


def _answer(shape: Shape, name: str) -> Mapping[str, list[Any]] | None:
    """The values that a tool answers its example with; `None` where there is no example, or none that works."""
    served = still(shape)
    tool = served.tools[name]
    try:
        call = open_example(served, tool, grant=served.grant)
        return collect_values(tool.plan, answer_example(call, tool, make_example(tool)).view.data)
    except DefinitionError:
        return None
