"""Takes the text out of HTML while it is parsed; no tree is built, so that neither depth nor length costs memory."""

import re
from collections.abc import Mapping

from lxml.etree import HTMLParser

from search_server.extracts import MOST_HEADINGS, Extract, Heading

_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_PARAGRAPHS = frozenset({"p", "blockquote", "pre", "table", "ul", "ol", "dl", "figure"}) | _HEADINGS
_LINES = frozenset(
    {"address", "article", "aside", "br", "dd", "details", "div", "dt", "fieldset", "figcaption", "footer", "form"}
    | {"header", "hr", "li", "main", "nav", "option", "section", "summary", "tbody", "tfoot", "thead", "tr"}
)
_CELLS = frozenset({"td", "th"})
_UNSEEN = frozenset(
    {"script", "style", "template", "noscript", "noframes", "noembed", "iframe", "object", "svg", "canvas"}
    | {"audio", "video", "datalist", "annotation", "annotation-xml"}
)
_PAGE = frozenset({"html", "body"})  # What hides all of a page is undone by a script.
_HIDING = re.compile(
    r"(?<![\w-])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)"
    r"|(?:opacity|font-size)\s*:\s*(?:0+(?:\.0*)?|\.0+)(?:[a-z]+|%)?\s*(?:;|!|$))",
    re.IGNORECASE,
)
_SPACE = re.compile(r"[ \t\n\r\f]+")
_AT_ONCE = 1 << 20


def read_html(text: str) -> Extract:
    """The text of an HTML document, one line a block, without scripts, styles, and what an element says to hide."""
    reading = _Reading()
    parser = HTMLParser(target=reading, encoding="utf-8", huge_tree=True, no_network=True)
    data = text.encode("utf-8", "replace")
    for start in range(0, len(data), _AT_ONCE):
        parser.feed(data[start : start + _AT_ONCE])
    if data:
        parser.close()
    return reading.extract()


class _Reading:
    """What a parser tells, put together."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._headings: list[Heading] = []
        self._title: list[str] = []
        self._heading: list[str] | None = None
        self._breaks, self._space = 0, False
        self._unseen, self._kept_as_is, self._in_title = 0, 0, False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        # How deep it is in what nobody sees: the parser tells the end of each element, also of one that was left open.
        self._unseen += self._unseen > 0 or _is_unseen(tag, attributes)
        self._kept_as_is += tag == "pre"
        self._in_title = tag == "title"
        self._break(tag)
        if tag in _HEADINGS:  # Which ends one that was left open.
            self._end_heading()
        if tag in _HEADINGS and not self._unseen and len(self._headings) <= MOST_HEADINGS:
            self._heading = []
        self._space = self._space or tag in _CELLS

    def end(self, tag: str) -> None:
        self._unseen -= self._unseen > 0
        self._kept_as_is -= tag == "pre"
        self._in_title = False
        if tag in _HEADINGS:
            self._end_heading()
        self._break(tag)

    def data(self, data: str) -> None:
        if self._unseen:
            return
        if self._in_title:
            self._title.append(data)
        elif self._kept_as_is:
            self._write(data)
        else:
            self._flow(data)

    def close(self) -> None:
        """Nothing is left to be told."""

    def extract(self) -> Extract:
        title = _SPACE.sub(" ", "".join(self._title)).strip()
        first = next((heading.text for heading in self._headings if heading.text), None)
        headings = self._headings if len(self._headings) <= MOST_HEADINGS else []
        return Extract(title or first, "".join(self._pieces), headings)

    def _break(self, tag: str) -> None:
        wanted = 2 if tag in _PARAGRAPHS else 1 if tag in _LINES else 0
        self._breaks = max(self._breaks, wanted)

    def _flow(self, data: str) -> None:
        """Text whose white space says no more than that words end."""
        words = _SPACE.sub(" ", data)
        self._space = self._space or words.startswith(" ")
        if bare := words.strip(" "):
            self._write(bare)
            self._space = words.endswith(" ")

    def _write(self, text: str) -> None:
        if self._breaks:
            self._put("\n" * self._breaks if self._length else "")
        elif self._space:
            self._put(" " if self._length else "")
        if self._heading is not None:
            if not self._heading:
                self._headings.append(Heading(self._length, ""))
            self._heading.append(f" {text}" if self._space else text)
        self._breaks, self._space = 0, False
        self._put(text)

    def _end_heading(self) -> None:
        if text := _SPACE.sub(" ", "".join(self._heading or ())).strip():
            self._headings[-1] = Heading(self._headings[-1].at, text)
        self._heading = None

    def _put(self, text: str) -> None:
        self._pieces.append(text)
        self._length += len(text)


def _is_unseen(tag: str, attributes: Mapping[str, str]) -> bool:
    """Whether a browser shows nothing of an element, as far as that is said by itself; style sheets are not read."""
    if tag in _UNSEEN or (tag == "dialog" and "open" not in attributes):
        return True
    if not attributes or tag in _PAGE:
        return False
    # What is hidden until it is found is there for whoever searches.
    is_hidden = attributes.get("hidden", "until-found").lower() != "until-found"
    return is_hidden or bool(_HIDING.search(attributes.get("style", "")))
