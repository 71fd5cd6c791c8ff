"""What Markdown says of itself: its title, and where its headings are. The text stays as it was written."""

import re
from collections.abc import Iterator
from itertools import islice

from search_server.extracts import MOST_HEADINGS, Extract, Heading

_FRONT = re.compile(r"\A(---|\+\+\+)[ \t]*\n(.{0,20000}?)^\1[ \t]*$\n?", re.DOTALL | re.MULTILINE)
_TITLE = re.compile(r"^title[ \t]*[:=][ \t]*(\S[^\n]*)$", re.MULTILINE | re.IGNORECASE)
# CommonMark 4.2 (ATX headings), 4.5 (fences) and 4.3 (setext headings), line by line.
_LINE = re.compile(
    r"^ {0,3}(?:(?P<hashes>#{1,6})(?:[ \t]+(?P<atx>[^\n]*))?|(?P<fence>`{3,}|~{3,})[^\n]*"
    r"|(?P<setext>[^\s>|#*+`~-][^\n]*)\n {0,3}(?:=+|--+)[ \t]*)$",
    re.MULTILINE,
)


def read_markdown(text: str) -> Extract:
    """A Markdown document, front matter and all."""
    front = _FRONT.match(text)
    body = front.end() if front else 0
    headings = list(islice(_headings(text, body), MOST_HEADINGS + 1))
    said = _TITLE.search(front[2]) if front else None
    title = said[1].strip().strip("\"'").strip() if said else ""
    title = title or next((each.text for each in headings if each.text), "")
    return Extract(title or None, text, headings if len(headings) <= MOST_HEADINGS else [], body)


def _headings(text: str, start: int) -> Iterator[Heading]:
    fence = ""
    for line in _LINE.finditer(text, start):
        mark = line["fence"] or ""
        if fence:
            # A fence is closed by one of the same sign that is no shorter.
            fence = "" if mark.startswith(fence) and not line[0].strip().strip(fence[0]) else fence
        elif mark:
            fence = mark
        else:
            yield Heading(line.start(), _plain(line))


def _plain(line: re.Match[str]) -> str:
    if line["setext"] is not None:
        return line["setext"].strip()
    words = (line["atx"] or "").strip()
    bare = words.rstrip("#")
    return bare.rstrip() if not bare or bare[-1] in " \t" else words
