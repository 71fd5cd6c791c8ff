"""Settings from a TOML file and the environment, which hold from the next request on when they change."""

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcpshape._applied import Application
from mcpshape._file import Seen, parse, see
from mcpshape._live import Live
from mcpshape._settings import Settings, Sources, flatten, read_environment, require_apart
from mcpshape.errors import DefinitionError
from mcpshape.shape import Shape

__all__ = ["Live", "follow"]

_LOG = logging.getLogger("mcpshape")


def follow(
    shape: Shape,
    path: str | Path | None,
    *,
    prefix: str = "MCPSHAPE_",
    options: Mapping[str, Any] | None = None,
    others: Collection[str] = (),
) -> Live:
    """The shape under the settings in a file, which the next request obeys once the file has changed.

    Environment variables that begin with `prefix` go before the file, and `options` before both. What neither has is as
    the code says. Grants meet: tools, principals, scopes and clients only narrow what `level` and `toggles` let out.

    Args:
        shape: The shape, with its tools.
        path: A TOML file; `None` where only environment and options are read.
        prefix: How the names of environment variables begin; `__` stands between nested keys.
        options: Settings that go before all others, such as those of a command line.
        others: Keys at the top of the file that are the server's own. Nobody looks at what they hold, and they are no
            settings: neither the environment nor `options` can have them.

    Raises:
        DefinitionError: The file is missing or broken, or a setting cannot hold; all mistakes are named at once. Or one
            of `others` is a setting.
    """
    kept_apart = require_apart(others)
    return Live(shape, _File(None if path is None else Path(path), prefix, dict(options or {}), kept_apart))


@dataclass(slots=True)
class _File:
    """A settings file, the file of a secret that it names, and what was last read from them."""

    path: Path | None
    prefix: str
    options: Mapping[str, Any] = field(repr=False)
    others: frozenset[str]
    watched: list[Path] = field(default_factory=list)
    seen: list[Seen] | None = field(default=None, repr=False)
    good: tuple[Settings, Sources] | None = field(default=None, repr=False)
    secret: list[Seen] = field(default_factory=list, repr=False)
    count: int = 0

    def apply(self, shape: Shape) -> Shape | None:
        """The shape under the settings of now, or `None` where nothing changed."""
        try:
            changed = self._read(shape) if self._has_changed() else None
        except DefinitionError as error:
            if self.good is None:
                raise
            told = "; ".join(str(problem) for problem in error.problems)
            _LOG.warning("%s: the last good ones stay in force: %s", self._where(), told)
            changed = None
        if changed is None and self.good and len(shape.tools) != self.count:
            changed = self._apply(shape, *self.good)
        self.count = len(shape.tools)
        return changed

    def _has_changed(self) -> bool:
        """Whether a file holds something else than at the last look, which is at its time, size and number."""
        if self.seen is None:
            self.watched = [self.path] if self.path else []
        elif all(each.is_same(path) for each, path in zip(self.seen, self.watched, strict=True)):
            return False
        was, self.seen = self.seen, [see(path) for path in self.watched]
        return was is None or [each.content for each in was] != [each.content for each in self.seen]

    def _read(self, shape: Shape) -> Shape | None:
        """The shape under what the files hold now; `None` where all of it is as it was.

        Raises:
            DefinitionError: They are missing or broken, or hold what cannot be.
        """
        file = parse(self.path, self.seen[0]) if self.path and self.seen else {}
        file = {key: value for key, value in file.items() if key not in self.others}
        environment, problems = read_environment(self.prefix, self.others)
        sources = Sources(
            file=file, environment=environment, options=self.options, prefix=self.prefix, others=self.others
        )
        settings, mistakes = sources.read()
        self._watch(settings)
        secret = (self.seen or [])[1 if self.path else 0 :]
        has_other_secret = [each.content for each in secret] != [each.content for each in self.secret]
        if self.good and sources == self.good[1] and not (has_other_secret or problems):
            return None
        try:
            shape = self._apply(shape, settings, sources)
        except DefinitionError as error:
            mistakes += error.problems
        if problems or mistakes:
            raise DefinitionError(self._where(), dict.fromkeys([*problems, *mistakes]))
        if self.good is not None:
            self._tell(self.good[0], settings, has_other_secret=has_other_secret)
        self.good, self.secret = (settings, sources), secret
        return shape

    def _apply(self, shape: Shape, settings: Settings, sources: Sources) -> Shape:
        return Application(shape, settings, self._folder(), sources.name).run()

    def _where(self) -> str:
        return f"settings {self.path}" if self.path else "settings"

    def _folder(self) -> Path:
        return self.path.parent if self.path else Path()

    def _watch(self, settings: Settings) -> None:
        """Look at the file of a secret as well, before it is read."""
        secret = settings.secret_file
        main = [self.path] if self.path else []
        self.watched = [*main, *([(self._folder() / Path(secret).expanduser())] if secret else [])]
        self.seen = [*(self.seen or [])[: len(main)], *map(see, self.watched[len(main) :])]

    def _tell(self, before: Settings, now: Settings, *, has_other_secret: bool) -> None:
        """Say in the log what changed, by its keys."""
        was, has = flatten(before), flatten(now)
        keys = sorted(key for key in was.keys() | has.keys() if was.get(key) != has.get(key))
        if has_other_secret and "secret_file" not in keys:
            keys.append("what secret_file holds")
        _LOG.info("%s: changed %s", self._where(), ", ".join(keys) or "nothing")
