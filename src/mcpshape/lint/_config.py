"""What a project says about lint: which rules are ignored, everywhere or for one tool, and where its server is."""

import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcpshape.errors import DefinitionError, Problem
from mcpshape.lint._finding import Finding

_TABLE = "tool.mcpshape.lint"


@dataclass(frozen=True, slots=True, kw_only=True)
class LintConfig:
    """What is ignored, and where the server is, as `module:name`.

    Args:
        ignore: Rules that are ignored everywhere.
        tools: Rules that are ignored for one tool, by its name.
        server: A server, or a function that builds one.
    """

    ignore: frozenset[str] = frozenset()
    tools: Mapping[str, frozenset[str]] = field(default_factory=dict)
    server: str | None = None

    def ignores(self, finding: Finding) -> bool:
        """Whether a finding is meant."""
        return finding.rule in self.ignore | self.tools.get(finding.tool, frozenset())

    def with_more(self, other: "LintConfig") -> "LintConfig":
        """Both: what either ignores, and the other's server, if it has one."""
        names = {*self.tools, *other.tools}
        tools = {
            each: frozenset[str]().union(*(config.tools.get(each, ()) for config in (self, other))) for each in names
        }
        return LintConfig(ignore=self.ignore | other.ignore, tools=tools, server=other.server or self.server)


def find_project(folder: Path) -> Path | None:
    """The nearest `pyproject.toml`, from a folder upwards, that has a table for lint.

    Raises:
        DefinitionError: One on the way is no TOML, or cannot be read.
    """
    paths = (each / "pyproject.toml" for each in (folder, *folder.parents))
    return next((path for path in paths if _table(path) is not None), None)


def read_config(path: Path, place: str) -> LintConfig:
    """What a `pyproject.toml` says for the shape at a place, written `module:name`.

    Raises:
        DefinitionError: It is no TOML, or its table holds something else than it should.
    """
    table = _mapping(_table(path), _TABLE)
    usual = _read(table, _TABLE, {"ignore", "server", "shapes", "tools"})
    shapes = _mapping(table.get("shapes", {}), f"{_TABLE}.shapes")
    own = {name: _read(each, f"{_TABLE}.shapes.{name}") for name, each in shapes.items()}
    return usual.with_more(own.get(place, LintConfig()))


def config_problems(config: LintConfig, rules: tuple[str, ...], tools: tuple[str, ...]) -> Iterator[Problem]:
    """Rules and tools in a configuration that there are not."""
    for name in sorted(config.ignore.union(*config.tools.values()) - {*rules}):
        yield Problem("ignore", f"there is no rule {name!r}.", f"Rules: {', '.join(rules)}.")
    for name in sorted(config.tools.keys() - {*tools}):
        yield Problem("tools", f"there is no tool {name!r}.", f"Tools: {', '.join(tools)}.")


def _table(path: Path) -> Any:
    """The table of a file, or `None` where either is not there."""
    try:
        found: Any = tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _wrong(str(path), f"it cannot be read: {error.strerror}.", "Make it readable.") from error
    except (ValueError, RecursionError) as error:
        raise _wrong(str(path), f"it is no TOML: {error}.", "Mend it.") from error
    for key in _TABLE.split("."):
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _read(found: Any, where: str, keys: Collection[str] = ("ignore", "server", "tools")) -> LintConfig:
    table = _mapping(found, where, keys)
    server = table.get("server")
    if not isinstance(server, str | None):
        raise _wrong(f"{where}.server", "it is no text.", "Write module:name.")
    tools = _mapping(table.get("tools", {}), f"{where}.tools")
    ignored = {
        name: _ignored(_mapping(each, f"{where}.tools.{name}", {"ignore"}), f"{where}.tools.{name}")
        for name, each in tools.items()
    }
    return LintConfig(ignore=_ignored(table, where), tools=ignored, server=server)


def _ignored(table: Mapping[str, Any], where: str) -> frozenset[str]:
    names = table.get("ignore", [])
    if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
        raise _wrong(f"{where}.ignore", "it is no list of rules.", 'Write it as in ["no-example"].')
    return frozenset(names)


def _mapping(found: Any, where: str, keys: Collection[str] | None = None) -> Mapping[str, Any]:
    """A table that has no other keys, where these are given."""
    if not isinstance(found, dict):
        raise _wrong(where, "it is no table.", "Write it as one.")
    if unknown := sorted(found.keys() - set(keys)) if keys else []:
        raise _wrong(where, f"there is no key {unknown[0]!r}.", f"Keys: {', '.join(sorted(keys or ()))}.")
    return found


def _wrong(where: str, message: str, remedy: str) -> DefinitionError:
    return DefinitionError("lint", [Problem(where, message, remedy)])
