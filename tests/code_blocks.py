"""The blocks of code on a page, and what is printed where a reader does what they say, one after the other."""

import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from markdown_it import MarkdownIt

PROGRAMS = ("python", *(f"mcpshape{name}" for name in ("", "-calendar", "-tasks", "-releases", "-search")))
"""What a block of `sh` may call. Whatever else a page shows is named, with the reason, in `NOT_RUN` of test_docs.py."""


@dataclass(frozen=True, slots=True)
class Block:
    """A fence: its language, the file that it is, if it has a title, and the line of the page that it begins on."""

    language: str
    title: str | None
    text: str
    line: int


def read_blocks(page: Path) -> list[Block]:
    """All fences of a page, those inside of lists and quotes as well."""
    tokens = MarkdownIt().parse(page.read_text(encoding="utf-8"))
    return [_read_block(token.info, token.content, (token.map or [0])[0] + 1) for token in tokens if _is_code(token)]


def _is_code(token: Any) -> bool:
    return token.type in {"fence", "code_block"}


def _read_block(info: str, text: str, line: int) -> Block:
    language, _, options = info.partition(" ")
    title = re.search(r'title="([^"]+)"', options)
    return Block(language, title and title[1], text, line)


def read_commands(block: Block) -> list[list[str]]:
    """The commands of a block of `sh` as their words, without comments; a quoted word may go over several lines."""
    found, begun = [], ""
    for line in block.text.replace("\\\n", " ").splitlines():
        try:
            words = shlex.split(begun + line, comments=True)
        except ValueError:
            begun += f"{line}\n"
            continue
        found.append(words)
        begun = ""
    assert not begun, f"there is a quote without an end: {begun}"
    return [words for words in found if words]


@dataclass(slots=True)
class Follower:
    """Does what a page says, in a folder, and holds what is printed against what is shown.

    A block of Python runs in the process, after those before it. One with a title is a file, as is one of any other
    language; a `diff` with a title changes it. Whatever a block prints stands in the `text` or `json` after it.
    """

    folder: Path
    not_run: tuple[str, ...] = ()
    shown_elsewhere: tuple[str, ...] = ()
    namespace: dict[str, Any] = field(default_factory=dict)
    printed: str = ""

    def follow(self, page: Path) -> None:
        """Do all of it.

        Raises:
            AssertionError: Something else is printed than is shown, or nothing is known to do with a block.
        """
        for block in read_blocks(page):
            with _said_of(f"{page.name}, line {block.line}"):
                self._do(block)
        assert not self.printed, f"{page.name}: no block shows what the last one prints:\n{self.printed}"

    def _do(self, block: Block) -> None:
        match block.language, block.title:
            case "text", None:
                self._compare(block.text)
            case "json", None if self.printed:
                assert json.loads(block.text) == json.loads(self.printed)
                self.printed = ""
            case "python", None:
                self._print(self._run(block.text))
            case "sh", None:
                self._print("".join(map(self._call, read_commands(block))))
            case "diff", str(title):
                path = self.folder / title
                path.write_text(patched(path.read_text(encoding="utf-8"), block.text), encoding="utf-8")
            case language, title:
                _parse(language, block.text, is_file=title is not None)
                if title is not None:
                    self._write(self.folder / title, block.text)

    def _write(self, path: Path, text: str) -> None:
        """Make a file. One that is there already is shown as it has become."""
        assert not path.exists() or path.read_text(encoding="utf-8") == text, f"{path.name} is not what became of it"
        path.write_text(text, encoding="utf-8")

    def _print(self, printed: str) -> None:
        assert not self.printed, f"no block shows what was printed before:\n{self.printed}"
        self.printed = plain(printed)

    def _compare(self, shown: str) -> None:
        if not self.printed and shown.startswith(self.shown_elsewhere):
            return
        assert self.printed == plain(shown), f"printed is:\n{self.printed}"
        self.printed = ""

    def _run(self, code: str) -> str:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.chdir(self.folder), importing_from(self.folder):
            exec(compile(code, "page", "exec"), self.namespace)
        return out.getvalue()

    def _call(self, words: list[str]) -> str:
        """What a command prints, errors included. Ending with 1 or 2 is what commands do that have found something."""
        if has_begun(words, self.not_run):
            return ""
        is_ours = words[0] in PROGRAMS and words[1:3] != ["-m", "pip"]
        assert is_ours, f"nobody runs `{shlex.join(words)}`: name it in NOT_RUN, with the reason"
        program = str(Path(sys.executable).with_name(words[0]))
        own = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
        ended = subprocess.run(
            [program, *words[1:]], cwd=self.folder, env=own, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert ended.returncode in {0, 1, 2}, ended.stdout
        return ended.stdout


def has_begun(words: list[str], starts: Iterable[str]) -> bool:
    """Whether a command begins with one of these texts."""
    return " ".join(words).startswith(tuple(starts))


@contextlib.contextmanager
def importing_from(folder: Path) -> Iterator[None]:
    """The files of a page can be imported; no other page finds them."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None) or "").startswith(str(folder)):
                del sys.modules[name]


@contextlib.contextmanager
def _said_of(place: str) -> Iterator[None]:
    """Whatever goes wrong there, said with the place."""
    try:
        yield
    except Exception as error:
        raise AssertionError(f"{place}: {type(error).__name__}: {error}") from error


def _parse(language: str, text: str, *, is_file: bool) -> None:
    """See that data can be read; other files are used by what comes after them."""
    match language:
        case "toml":
            tomllib.loads(text)
        case "json":
            json.loads(text)
        case "yaml":
            yaml.safe_load(text)
        case "python":
            compile(text, "page", "exec")
        case _:
            assert is_file, f"nobody reads a block of {language or 'no language'}: give it a title, if it is a file"


def patched(text: str, diff: str) -> str:
    """A text after a change that is written as lines to take out (`-`), to put in (`+`) and to find the place by.

    A line `...` stands between two places. Each is where its lines stand, and they stand there once.
    """
    for hunk in re.split(r"^\.\.\.\n", diff, flags=re.MULTILINE):
        lines = [line.removesuffix("\n") for line in hunk.splitlines()]
        before = "".join(f"{line[1:]}\n" for line in lines if line[:1] != "+")
        after = "".join(f"{line[1:]}\n" for line in lines if line[:1] != "-")
        assert text.count(before) == 1, f"these lines stand there {text.count(before)} times:\n{before}"
        text = text.replace(before, after)
    return text


def plain(text: str) -> str:
    """The text without spaces at the ends of lines, and without the times that work takes."""
    lines = "\n".join(line.rstrip() for line in text.splitlines())
    return re.sub(r"\bin \d+\.\d+s\b", "in 0.00s", lines).strip("\n")
