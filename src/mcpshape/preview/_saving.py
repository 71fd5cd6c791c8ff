"""A choice as a setting: what would newly leave with it, and how it comes into the settings file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.container import Container
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AbstractTable

from mcpshape._example import answer_example, make_example, open_example, still
from mcpshape._file import parse, see
from mcpshape._settings import Settings
from mcpshape._tool import Tool
from mcpshape._whole_file import replacing
from mcpshape.errors import DefinitionError, Problem
from mcpshape.policy import Grant
from mcpshape.preview._choice import Choice
from mcpshape.preview._contrast import Change, find_first, list_changes
from mcpshape.settings import follow
from mcpshape.shape import Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class Widened:
    """A key that would leave, or leave with more, of one tool, and the first value that its example has there."""

    tool: str
    change: Change
    example: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What saving a choice would do; `seen` tells the content of the file that this was found with."""

    level: str | None
    toggles: Sequence[str]
    format: str | None
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
        return self._under(shape, self.path if self.path.exists() else None)

    def own_keys(self) -> list[str]:
        """The keys at the top that are no settings."""
        written = parse(self.path, see(self.path)) if self.path.exists() else {}
        return sorted(written.keys() - Settings.model_fields.keys())

    def review(self, shape: Shape, choice: Choice) -> Review:
        """What saving a choice would do to the answers of all tools.

        Raises:
            DefinitionError: The settings of now cannot hold, or an example cannot be made.
        """
        before = self.apply(shape)
        after = before.using(grant=choice.grant, **_formatted(before, choice))
        changes = [(name, change) for name in after.tools for change in _changes(name, before, after)]
        return Review(
            level=choice.grant.level if choice.grant else None,
            toggles=sorted(choice.grant.toggles) if choice.grant else (),
            format=choice.format,
            widened=[_widened(still(after), name, change) for name, change in changes if change.is_wider],
            narrowed=[(name, change) for name, change in changes if not change.is_wider],
            newly_structured=[
                name
                for name, tool in after.tools.items()
                if tool.output_schema and not before.tools[name].output_schema
            ],
            seen=self._seen(),
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
        if self._seen() != seen:
            raise self._refused("it has changed since you looked.", "Look at the list again, then save.")
        document = self._read()
        _revise(document, self.apply(shape).tools[choice.tool], choice)
        with replacing(self.path, tomlkit.dumps(document).encode()) as candidate:
            now = self._under(shape, candidate)
            if now.grant != choice.grant or choice.format not in {None, now.tools[choice.tool].encoder.name.lower()}:
                remedy = f"Change what begins with {self.prefix} there."
                raise self._refused("the environment goes before it.", remedy)

    def _read(self) -> tomlkit.TOMLDocument:
        try:
            written = self.path.read_text(encoding="utf-8-sig") if self.path.exists() else ""
            return tomlkit.parse(written)
        except (OSError, UnicodeDecodeError, TOMLKitError) as error:
            raise self._refused(f"it cannot be read ({type(error).__name__}).", "Mend it.") from error

    def _under(self, shape: Shape, path: Path | None) -> Shape:
        return follow(shape, path, prefix=self.prefix, others=self.own_keys()).current()

    def _seen(self) -> str:
        try:
            return sha256(self.path.read_bytes()).hexdigest()
        except OSError:
            return ""

    def _refused(self, message: str, remedy: str) -> DefinitionError:
        return DefinitionError(f"settings {self.path}", [Problem("file", message, remedy)])


def _revise(document: tomlkit.TOMLDocument, tool: Tool, choice: Choice) -> None:
    """Put a choice in the place of what was set; a format with options of its own stays where it is the same."""
    if choice.grant:
        document["level"] = choice.grant.level
        _set_toggles(document, _flips(choice.grant))
    if choice.format and choice.format != tool.encoder.name.lower():
        _put(document, ("tools", tool.name, "format") if tool.options.encoder else ("format",), choice.format)


def _formatted(shape: Shape, choice: Choice) -> dict[str, Any]:
    """The format of a choice as an option: that of the tool, if it has one of its own, else that of the server."""
    if choice.format is None:
        return {}
    if shape.tools[choice.tool].options.encoder:
        return {"tools": {choice.tool: {"encoder": choice.format}}}
    return {"encoder": choice.format}


def _changes(name: str, before: Shape, after: Shape) -> list[Change]:
    """What happens to the keys of a tool that hold values; those that hold others follow from these."""
    tool = after.tools[name]
    cap = tool.options.cap(after.policy)
    here, there = (each.grant & cap if each.grant and cap else each.grant for each in (after, before))
    changes = list_changes(tool.plan, here, there)
    holders = {change.path.rpartition(".")[0] for change in changes}
    return [change for change in changes if change.path not in holders]


def _widened(shape: Shape, name: str, change: Change) -> Widened:
    tool = shape.tools[name]
    if tool.options.example is None:
        return Widened(tool=name, change=change, example=None)
    data = answer_example(open_example(shape, tool, grant=shape.grant), tool, make_example(tool)).view.data
    return Widened(
        tool=name,
        change=change,
        example=find_first(data, f"result.{change.path}" if tool.plan.is_wrapped else change.path),
    )


def _flips(grant: Grant) -> dict[str, bool]:
    """The toggles that are not as the level usually has them."""
    usual, offered = grant.policy.grant(grant.level).toggles, grant.policy.widest(grant.level).toggles
    return {name: name in grant.toggles for name in grant.policy.toggles if name in offered & (usual ^ grant.toggles)}


def _set_toggles(document: tomlkit.TOMLDocument, flips: Mapping[str, bool]) -> None:
    if not flips:
        document.pop("toggles", None)
        return
    table = document.setdefault("toggles", tomlkit.inline_table())
    for name in [name for name in table if name not in flips]:
        del table[name]
    table.update(flips)


def _put(document: Container | AbstractTable | Any, place: Sequence[str], value: str) -> None:
    key, *rest = place
    if rest:
        _put(document.setdefault(key, tomlkit.table()), rest, value)
    else:
        document[key] = value
