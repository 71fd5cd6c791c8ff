"""What is taken out of a document: its title, its text, and the headings in it."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

Format = Literal["markdown", "html", "text"]
FORMATS: dict[str, Format] = {
    "md": "markdown",
    "markdown": "markdown",
    "mdown": "markdown",
    "html": "html",
    "htm": "html",
    "xhtml": "html",
    "txt": "text",
    "text": "text",
    "rst": "text",
    "adoc": "text",
    "org": "text",
}
"""What is read, by the end of a file's name."""


MOST_HEADINGS = 100_000
"""A document with more of them is taken to have none: they would be half of its memory, and help nobody."""


class Heading(NamedTuple):
    """A heading, and where in the text it stands."""

    at: int
    text: str


@dataclass(frozen=True, slots=True)
class Extract:
    """The readable part of a document. Without a `title` of its own it goes by the name of its file.

    What stands before `body` is about the document, such as front matter.
    """

    title: str | None
    text: str
    headings: list[Heading]
    body: int = 0
