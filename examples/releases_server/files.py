"""One text file of a metadata folder, read with care: what is no text stays apart, and secrets stay where they are."""

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from stat import S_ISREG
from typing import Literal

Trouble = Literal["not_utf8", "too_large", "not_a_file", "forbidden", "leads_outside"]
"""Why a file that is there cannot be read."""

SECRETS = frozenset({"review_information", "trade_representative_contact_information"})
"""The folders with the password of the demo account and the addresses of people. Nothing in them is ever opened."""
_LARGEST = 256 * 1024
# What Ruby's `strip` takes off, and no more: deliver uploads the rest.
_STRIPPED = " \t\n\v\f\r\0"


class UnreadableError(Exception):
    """A file is there, and its text is not to be had."""

    def __init__(self, trouble: Trouble) -> None:
        super().__init__(trouble)
        self.trouble: Trouble = trouble


@dataclass(frozen=True)
class Metadata:
    """A metadata folder. What its files lead to by links counts only inside it."""

    folder: Path = field(repr=False)

    @cached_property
    def _real(self) -> Path:
        return Path(os.path.realpath(self.folder))

    @cached_property
    def _secrets(self) -> frozenset[tuple[int, int]]:
        """The files in folders with secrets, by number, since links give them other names as well."""
        found = set()
        for each in self._real.iterdir():
            if each.name.casefold() in SECRETS:
                paths = (Path(root, name) for root, _, names in os.walk(each) for name in names)
                found |= {_number(path.stat()) for path in paths if path.exists()}
        return frozenset(found)

    def read(self, *names: str) -> str | None:
        """The text of a file, as deliver uploads it: without space around it, lines ended by line feeds.

        Returns:
            `None` where there is no file, an empty text where it holds nothing.

        Raises:
            UnreadableError: It is there and cannot be read.
        """
        path = Path(self.folder, *names)
        try:
            if not path.exists():
                return None
        except OSError as error:
            raise UnreadableError("forbidden") from error
        real = Path(os.path.realpath(path))
        self._require_inside(real)
        try:
            opened = os.open(real, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        except OSError as error:
            raise UnreadableError("not_a_file" if real.is_dir() else "forbidden") from error
        try:
            return _text(self._bytes(opened))
        finally:
            os.close(opened)

    def is_same(self, folder: str, name: str, other: str) -> bool:
        """Whether two names in a folder are of one file, as in file systems that do not tell the case of letters."""
        try:
            return Path(self.folder, folder, name).samefile(Path(self.folder, folder, other))
        except OSError:
            return False

    def _require_inside(self, real: Path) -> None:
        if not real.is_relative_to(self._real):
            raise UnreadableError("leads_outside")
        if SECRETS & {part.casefold() for part in real.relative_to(self._real).parts}:
            raise UnreadableError("leads_outside")

    def _bytes(self, opened: int) -> bytes:
        seen = os.fstat(opened)
        if not S_ISREG(seen.st_mode):
            raise UnreadableError("not_a_file")
        if seen.st_size > _LARGEST:
            raise UnreadableError("too_large")
        if _number(seen) in self._secrets:
            raise UnreadableError("leads_outside")
        try:
            with os.fdopen(opened, "rb", closefd=False) as file:
                return file.read(_LARGEST)
        except OSError as error:
            raise UnreadableError("forbidden") from error


def _number(seen: os.stat_result) -> tuple[int, int]:
    return seen.st_dev, seen.st_ino


def _text(raw: bytes) -> str:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableError("not_utf8") from error
    return plain(text)


def plain(text: str) -> str:
    """A text without space around it, with line feeds alone between its lines."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip(_STRIPPED)
