"""What holds for every text and every question of the search: by Hypothesis, on the parts and on the index."""

from collections.abc import Iterator
from pathlib import Path
from unicodedata import normalize

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from mcpshape import UserError
from search_server.decoding import BinaryError, decode
from search_server.drafts import draft
from search_server.excerpts import LENGTH, excerpt
from search_server.extracts import MOST_HEADINGS
from search_server.folders import File, Folder, files
from search_server.index import Index
from search_server.markdown import read_markdown
from search_server.markup import read_html
from search_server.passages import MOST, cut
from search_server.query import Query, parse
from search_server.words import LONGEST, words_of

pytestmark = pytest.mark.no_cover

Texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=400)
Anything = st.text(max_size=300) | st.text(st.sampled_from('"*-|()^:{}+ANDORTNEa\0\ud800漢é \n'), max_size=60)
SOURCE = """# Wörter

Die Straße führt über die Brücke; l'été n’est pas fini. 全文検索エンジン, 검색 엔진, ค้นหา, поиск, हिन्दी, 🚀.
snake_case, C++, don't, e-mail, 3.14, x² and ﬁne İstanbul.
"""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("docs")
    (folder / "words.md").write_text(SOURCE)
    (folder / "other.txt").write_text("nothing of it")
    with_all = Index()
    with_all.write([draft(file) for file in found(folder)])
    yield with_all
    with_all.close()


def found(folder: Path) -> list[File]:
    return list(files(Folder("docs", folder), lambda _identity, _reason: None))


def ask(index: Index, text: str) -> set[str]:
    return {each.path for each in index.search(parse(text), 10).best}


@given(text=Anything)
@example(text='" OR NEAR(a b) {title}: ^a + "b')
@example(text="a " * 500)
@example(text="a OR " * 250)
@example(text="-a b " * 200)
@example(text="漢" * 1000)
@example(text="a* " * 333)
def test_no_question_breaks_the_search(index: Index, text: str) -> None:
    """Bad input: whatever is asked is answered, or is an error that says what to ask; SQLite never sees it."""
    try:
        query = parse(text)
    except UserError:
        return
    matches = index.search(query, 5)
    assert matches.total >= len(matches.best)


@given(data=st.data())
def test_what_a_document_has_finds_it(index: Index, data: st.DataObject) -> None:
    """Any stretch of a document between its words, quoted or not, finds the document."""
    pieces = SOURCE.split()
    start = data.draw(st.integers(0, len(pieces) - 1))
    stretch = " ".join(pieces[start : data.draw(st.integers(start + 1, len(pieces)))])
    assume(words_of(stretch))
    assert "docs/words.md" in ask(index, f'"{stretch}"')
    word = data.draw(st.sampled_from([piece for piece in pieces if words_of(piece)]))
    for form in (word.upper(), word.lower(), normalize("NFD", word), normalize("NFKC", word)):
        assert "docs/words.md" in ask(index, f'"{form}"')


@pytest.mark.parametrize(
    "query", ["strasse", "BRUCKE", "ete", "検索", "エンジン", "검색", "หา", "ПОИСК", "🚀", "fine", "istan*", "x2"]
)
def test_words_are_found_as_people_type_them(index: Index, query: str) -> None:
    """Without accents and case, in scripts without spaces, and by their beginning."""
    assert ask(index, query) == {"docs/words.md"}


@pytest.mark.parametrize(
    ("query", "is_found"),
    [
        ("die brücke", True),
        ("brücke die", True),
        ('"die brücke"', True),
        ('"brücke die"', False),
        ("die submarine", False),
        ("submarine OR brücke", True),
        ("die submarine OR brücke", True),
        ("die AND brücke", True),
        ("die -brücke", False),
        ("die -submarine", True),
        ("die NOT brücke", False),
        ('die -"brücke die"', True),
        ("e-mail", True),
        ("mail-e", False),
        ("snake_case", True),
        ("“die Brücke”", True),
        ('3.14" die', True),
        ("索検", False),
        ("br*", True),
        ("(die) (OR) brücke", True),
        ("title:die", False),
        ("OR brücke OR", True),
    ],
)
def test_the_language_of_questions(index: Index, query: str, *, is_found: bool) -> None:
    """All words, phrases, alternatives, prefixes and exclusions, and how models and people spell them."""
    assert (ask(index, query) == {"docs/words.md"}) == is_found


@given(text=Texts, times=st.integers(1, 60), starts=st.lists(st.integers(0, 20_000)))
@example(text="x", times=60_000, starts=[])
@example(text="e\u0301\u0302" * 50, times=40, starts=[])
@example(text="👨‍👩‍👧‍👦", times=900, starts=[])
def test_passages_put_together_are_the_text(text: str, times: int, starts: list[int]) -> None:
    """Nothing is lost and nothing is there twice, whatever is cut where; each passage fits into an answer."""
    whole = text * times
    spans = list(cut(whole, sorted(starts)))
    assert "".join(whole[begin:end] for begin, end in spans) == whole
    assert all(0 < end - begin <= MOST for begin, end in spans)


def test_passages_do_not_divide_what_belongs_together() -> None:
    """Between paragraphs, else lines, else words, else characters as a person counts them."""
    family = "👨‍👩‍👧‍👦"
    ends = [end for _, end in cut(family * 900)]
    assert all(end % len(family) == 0 for end in ends)
    text = "word, another; " * 1000
    assert all(text[end - 1] == " " for _, end in list(cut(text))[:-1])
    assert [text[begin:end][-1] for begin, end in cut("a,b;" * 2000) if (text := "a,b;" * 2000)]


@given(text=Texts)
def test_a_word_is_cut_where_documents_and_questions_agree(text: str) -> None:
    """No word is longer than the longest, and words of words are the same words."""
    words = words_of(text)
    assert all(len(word) <= LONGEST and " " not in word for word in words)
    assert words_of(text.upper()) == words_of(text.upper().lower())


@given(text=Texts, question=Texts)
def test_an_excerpt_is_short_and_of_the_text(text: str, question: str) -> None:
    """A1: it is what stands there, without marks; white space apart."""
    try:
        query: Query | None = parse(question)
    except UserError:
        query = None
    piece = excerpt(text, query)
    assert piece is None or " ".join(text.split()).find(" ".join(piece.split())) >= 0
    assert piece is None or len(piece) <= LENGTH * 8


def test_an_excerpt_shows_the_place_with_most_words() -> None:
    """Not the first place where one of them stands."""
    text = "tide " + "and nothing else " * 50 + "the flood gate at high tide" + " or so" * 50
    piece = excerpt(text, parse("flood gate tide"))
    assert piece is not None
    assert "flood gate at high tide" in piece


@given(data=st.binary(max_size=400), is_html=st.booleans())
@example(data=b"\xff\xfe\x00\xd8", is_html=False)
@example(data=b"<meta charset=rot13>x", is_html=True)
@example(data=b"<meta charset=hex>\xff", is_html=True)
@example(data=b"<meta charset=idna>x..\xff", is_html=True)
@example(data=b"<meta charset=utf-7>+2AA-", is_html=True)
@example(data=b"<meta charset=unicode_escape>\\ud800 \\x", is_html=True)
def test_any_bytes_are_text_or_are_said_not_to_be(data: bytes, *, is_html: bool) -> None:
    """Bad input: bytes in any encoding, declared or not, make text that can be stored, or a BinaryError."""
    try:
        decoded = decode(data, is_html=is_html)
    except BinaryError:
        return
    decoded.text.encode("utf-8")
    assert decoded.undecodable >= 0


@given(text=Texts | st.text(st.sampled_from("<>/ab!-&;\"'= h1pretilscx"), max_size=200))
@example(text="<div>" * 100_000 + "keel")
@example(text="<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]><p>&b;")
def test_any_html_gives_a_text(text: str) -> None:
    """Bad input: nothing that is written into a page stops it from being read, and headings stand where they say."""
    extract = read_html(text)
    assert all(extract.text[each.at :].strip() for each in extract.headings)


@given(text=st.text(st.sampled_from("#`~-=+ \tab\n|:\"'title"), max_size=300))
def test_headings_of_markdown_stand_where_they_say(text: str) -> None:
    """The text is as it was written, and passages can begin at its headings."""
    extract = read_markdown(text)
    assert extract.text == text
    places = [each.at for each in extract.headings]
    assert places == sorted(set(places))
    assert all(each.text in text[each.at :] for each in extract.headings)


def test_a_document_of_nothing_but_headings_is_read_without_them() -> None:
    """Bad input: millions of headings are no more than text."""
    many = MOST_HEADINGS + 1
    for extract in (read_markdown("# a\n" * many), read_html("<h1>a" * many)):
        assert (extract.title, extract.headings) == ("a", [])


def test_titles_and_headings_of_markdown() -> None:
    """CommonMark 4.2, 4.3 and 4.5; front matter goes first."""
    text = "---\ntitle: 'Plan'\n---\n# One ##\n```\n# no\n```\nTwo\n---\n~~~\n```\n# no\n~~~\n## C#\n#hash\n"
    extract = read_markdown(text)
    assert extract.title == "Plan"
    assert [each.text for each in extract.headings] == ["One", "Two", "C#"]
    assert read_markdown("no heading").title is None
