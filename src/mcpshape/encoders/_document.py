"""The built-in rendering of any view: a list of plain values, tables for what is one, a section for all else."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mcpshape._layout import Layout
from mcpshape._tables import Array, obstacle
from mcpshape.encoders._escaping import heading, inline, leading, prose, table

WriteOwn = Callable[[Any, Layout], str | None]
"""Writes an object, or an array of them, by the template of its class; `None` where there is none."""


@dataclass(frozen=True, slots=True)
class Document:
    """Writes plain JSON data at some depth of headings. What it writes has more blank lines than it needs.

    Args:
        write_own: What is asked first where an object or an array has a section.
        raw_prose: Leave prose exactly as it was written.
    """

    write_own: WriteOwn
    raw_prose: bool

    def record(self, data: Mapping[str, Any], layout: Layout, depth: int = 2) -> str:
        """An object: its plain values, and then its sections, each under a heading of this depth."""
        lines: list[str] = []
        sections: list[str] = []
        for key, value in data.items():
            place = layout.at(key)
            if _is_section(value, place):
                sections.append(f"{heading(key, depth)}\n{self.section(key, value, place, depth)}\n")
            else:
                lines.append(f"- {_ended(leading(key))}:{_listed(value, 1)}\n")
        return "".join(lines + sections)

    def section(self, key: str, value: Any, layout: Layout, depth: int) -> str:
        """What stands under a heading of this depth."""
        if isinstance(value, str):
            return f"{prose(value, depth, is_raw=self.raw_prose)}\n"
        if (own := self.write_own(value, layout)) is not None:
            return f"\n{own}\n\n"
        if isinstance(value, dict):
            return f"{self.record(value, layout, depth + 1)}\n"
        if obstacle(Array("", value, layout), allows_groups=False) is None:
            return f"{table(value)}\n"
        titles = (f"{key} {place} of {len(value)}" for place in range(1, len(value) + 1))
        return "".join(
            f"{heading(title, depth + 1)}\n{self.entry(key, entry, layout, depth + 1)}\n\n"
            for title, entry in zip(titles, value, strict=True)
        )

    def entry(self, key: str, value: Any, layout: Layout, depth: int) -> str:
        """One entry of an array that has this key and this layout, under a heading of this depth."""
        if _is_section(value, layout.at("*")):
            if isinstance(value, dict):
                return self.record(value, layout.at("*"), depth + 1)
            return self.section(key, value, layout.at("*"), depth)
        return self.record({key: value}, layout, depth + 1) if isinstance(value, list) and value else leading(value)


def _is_section(value: Any, layout: Layout) -> bool:
    """Whether a value needs a heading of its own: prose, an object, or an array that holds objects."""
    if isinstance(value, str):
        return layout.is_prose
    if isinstance(value, list):
        return not all(_is_listed(entry, layout.at("*")) for entry in value)
    return isinstance(value, dict) and bool(value)


def _is_listed(value: Any, layout: Layout) -> bool:
    return not isinstance(value, dict) and not _is_section(value, layout)


def _listed(value: Any, depth: int, *, is_entry: bool = False) -> str:
    """A plain value behind the mark of its line, or an array of such as a list below it."""
    if isinstance(value, list) and value:
        mark = f"\n{'  ' * depth}-"
        return "".join(f"{mark}{_listed(entry, depth + 1, is_entry=True)}" for entry in value)
    return f" {_ended(leading(value) if is_entry else inline(value))}"


def _ended(text: str) -> str:
    """Finished text, of which a last backtick opens nothing with what follows."""
    return f"{text} " if text.endswith("`") else text
