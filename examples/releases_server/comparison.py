"""What App Store Connect has against what the drafts say, field by field and line by line."""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import regex

from releases_server.drafts import Draft, Drafts
from releases_server.dtos import Kind, Line, Why
from releases_server.fields import FIELDS, Field
from releases_server.files import plain
from releases_server.lengths import Measure, measure
from releases_server.pulled import Texts

_AROUND = 2
_MOST_LINES = 1000
# Composing sorts the marks of a letter, in time that grows with the square; no language has so many (UAX #15).
_TOO_MANY_MARKS = regex.compile(r"\p{M}{31}")


@dataclass(frozen=True, slots=True)
class Row:
    """One field in one locale, on both sides."""

    locale: str | None
    field: Field
    pulled: str | None
    is_pulled: bool
    draft: Draft
    is_first: bool = False
    has_category: bool = True

    @property
    def text(self) -> str | None:
        """The text that counts: that of the draft if there is one, else the pulled one."""
        return self.draft.text or self.pulled

    @property
    def measure(self) -> Measure | None:
        """How long that is."""
        return None if self.text is None else measure(self.text)

    @property
    def is_dirty(self) -> bool:
        """Whether the draft reads differently from what was pulled."""
        return bool(self.draft.text) and self.is_pulled and self._spelled(self.draft.text) != self._spelled(self.pulled)

    @property
    def kind(self) -> Kind | None:
        """How an upload would change the field. deliver never takes a value away."""
        if not self.is_dirty or self.skipped:
            return None
        return "changed" if self.pulled else "added"

    @property
    def skipped(self) -> Why | None:
        """Why nothing is uploaded, though there is a file that could be thought to change something."""
        if self.draft.state == "unreadable":
            return "unreadable"
        if self.draft.state == "empty":
            return "empty_file"
        if self.draft.text and not self.is_pulled:
            return "not_pulled"
        if self.is_dirty and not self.has_category:
            return "no_category"
        if self.is_dirty and self.is_first and self.field.name == "release_notes":
            return "first_version"
        if self.draft.text and not self.is_dirty and self.draft.text != self.pulled:
            return "same_but_spelling"
        return None

    def _spelled(self, text: str | None) -> str:
        """A text without what nobody can see: how letters are composed, how lines end, and space around it."""
        composed = _composed(plain(text or ""))
        return composed.removeprefix("MZGenre.").casefold() if self.field.owner == "info" else composed


def compare(texts: Texts, drafts: Drafts, *, is_first: bool) -> list[Row]:
    """All fields that either side has, by locale; those that are not localized come last."""
    locales = sorted({*texts.locales, *drafts.locales})
    rows = [
        Row(
            locale,
            field,
            texts.of(locale, field),
            texts.knows(locale, field),
            drafts.of(locale, field.name),
            is_first,
            field.category is None or bool(drafts.of(None, field.category).text),
        )
        for locale in (*locales, None)
        for field in FIELDS
        if field.is_localized == (locale is not None)
    ]
    return [row for row in rows if row.pulled or row.draft.state != "absent"]


def from_difference(before: str, after: str) -> tuple[str, str]:
    """Both texts from the first line on that is not the same, so that a preview shows what changes."""
    old, new = _lines(before), _lines(after)
    place = next((place for place, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), None)
    place = min(len(old), len(new)) - 1 if place is None else place
    return "\n".join(old[place:]), "\n".join(new[place:])


def compare_lines(before: str, after: str) -> Iterator[Line]:
    """The lines that change, with two on either side of them."""
    old, new = (_lines(text)[:_MOST_LINES] for text in (before, after))
    groups = SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_AROUND)
    for place, group in enumerate(groups):
        if place:
            yield Line(op="left_out", text=None)
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from (Line(op="kept", text=each) for each in old[i1:i2])
            else:
                yield from (Line(op="removed", text=each) for each in old[i1:i2])
                yield from (Line(op="added", text=each) for each in new[j1:j2])


def _composed(text: str) -> str:
    return text if _TOO_MANY_MARKS.search(text) else unicodedata.normalize("NFC", text)


def _lines(text: str) -> Sequence[str]:
    return plain(text).split("\n")
