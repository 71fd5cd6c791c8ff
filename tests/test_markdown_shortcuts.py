"""The Markdown encoder looks at much at once: where it then does less, it writes what the full way writes."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpshape._tables import Array, obstacle
from mcpshape.encoders._escaping import cell, column, inline, leading
from mcpshape.encoders._prose import LINE_BREAK, is_tame, split_lines, tame, tame_block

MARKS = (
    *"\\*_`~[]()!<>&#=-+|:.$;'\" \t",
    "**",
    "__",
    "``",
    "```",
    "~~~",
    "![",
    "](",
    "]:",
    "\\\\",
    "\\[",
    "\\<",
    "--",
    "==",
)
CONSTRUCTS = (
    *("[a](https://example.com/a_b)", "](  mailto:a@example.com)", "](javascript:x)", "](", "]: https://example.com"),
    *("![a](https://example.com)", "\\![", "!!\\![", "<https://example.com>", "<b>", "</b>", "<!--", "<javascript:x>"),
    *("# ", "###### a", "####### a", "- # ", "1. ", "12) ", "> ", ">> ", "> ===", "===", "---", "- - -", "--  ", "=\t"),
    *("```sh", "- ```", "   ```", "$$", ":::", "www.example.com", "| a | b |", "|---|", "[ ] ", "&amp;", "&#33;"),
)
CHARACTERS = (
    *("\x00", "\x1b[31m", "\x7f", "\u200b", "\u202e", "\u200f", "\ufeff", "\ud800", "\udfff"),
    *("שלום", "مرحبا", "😀", "👩\u200d👩\u200d👧", "é", "語", "ß", "ſ", "K", "١", "1", "a", "a word", "snake_case"),
)
BREAKS = ("\n", "\r\n", "\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029", "\x1c", "\x1e")
PARTS = (*MARKS, *CONSTRUCTS, *CHARACTERS)
texts = st.lists(st.sampled_from((*PARTS, *BREAKS)) | st.text(), max_size=8).map("".join)
words = st.sampled_from(
    ("a", "snake_case", "two words", "語", "a-b", "(a)", "[a](https://example.com)", "# a", "--", "= a")
)
lines = st.lists(words | st.sampled_from(PARTS), max_size=5).map("".join)
numbers = st.booleans() | st.integers() | st.floats() | st.just(10**5000)
plain_texts = st.sampled_from(("a", "two words", "語", "a.b", "a(b)", "snake_case", "[a]"))
kinds: tuple[st.SearchStrategy[Any], ...] = (
    texts,
    numbers,
    plain_texts,
    plain_texts | st.none(),
    numbers | st.none(),
    plain_texts | numbers | st.none() | texts,
    plain_texts | st.lists(st.integers(), max_size=2) | st.dictionaries(plain_texts, plain_texts, max_size=2),
)
columns = st.sampled_from(kinds).flatmap(lambda kind: st.lists(kind, min_size=1, max_size=6))


class OwnText(str):
    __slots__ = ()


class OwnNumber(int):
    pass


class OwnArray(list[Any]):
    pass


class OwnObject(dict[str, Any]):
    pass


@given(columns)
def test_a_column_holds_the_cells_of_its_values(values: list[Any]) -> None:
    """E01: one look at a whole column leaves nothing unescaped that a look at a value would not."""
    assert list(column(values)) == [cell(each) for each in values]


@pytest.mark.parametrize("part", [*PARTS, *BREAKS])
def test_one_value_that_needs_care_is_seen_among_those_that_do_not(part: str) -> None:
    """E01: whatever it is, and wherever it stands in its value and its column."""
    for values in (["a", part, "a"], ["a", f"a{part}", "a"], ["a", f"{part}a", "a"], [None, f"a{part}a", None]):
        assert list(column(values)) == [cell(each) for each in values]
        assert split_lines("".join(map(str, values))) == LINE_BREAK.split("".join(map(str, values)))


@given(texts.filter(bool))
def test_a_value_that_needs_no_escape_is_escaped_to_itself(text: str) -> None:
    """E01, E07: what one look finds harmless is harmless for all that would be escaped; an asterisk makes it look."""
    assert inline(f"*{text}") == f"\\*{inline(text)}"
    assert leading(f"a{text}") == inline(f"a{text}")


@given(st.lists(lines.filter(str.strip), min_size=1, max_size=4), st.integers(1, 6))
def test_prose_that_looks_tame_is_not_changed_by_taming_it(block: list[str], depth: int) -> None:
    """E05, E11: one look at prose finds all that would be changed in it."""
    tamed = tame_block(block, depth)
    assert tamed == block or not is_tame(block)


@pytest.mark.parametrize("part", PARTS)
def test_one_line_that_needs_taming_is_seen_among_those_that_do_not(part: str) -> None:
    """E05, E11: whatever it is, and wherever it stands in its line and its prose."""
    for line in (part, f"a{part}", f"{part}a", f"{part}(a)", f"{part} a"):
        for block in ([line, "a"], ["a", line], ["a", "b", line, "a"]):
            assert not is_tame(block) or not all(map(str.strip, block)) or tame_block(block, 2) == block


@given(st.lists(lines, max_size=8), st.integers(1, 6))
def test_tame_prose_reads_the_same_beside_what_is_not(before: list[str], depth: int) -> None:
    """E05, E11: whether other parts of a prose need taming changes nothing of a part that does not."""
    tail = ["", "a word", "[a](https://example.com)", "", "<b>"]
    assert is_tame(tail[:-1])
    assert not is_tame(tail)
    has_fences = any(mark in line for line in before for mark in ("```", "~~~"))
    after = tame([*before, *tail], depth)
    assert has_fences or after == [*tame(before, depth), *tail[:-1], "&lt;b>"]


@given(texts)
def test_lines_end_where_any_line_break_is(text: str) -> None:
    """E01: the quick split knows the same line breaks."""
    assert split_lines(text) == LINE_BREAK.split(text)


@given(
    st.lists(
        st.dictionaries(st.sampled_from("abc"), st.integers() | plain_texts | st.none() | st.just([]) | st.just({}))
        | st.integers(),
        min_size=1,
        max_size=4,
    ),
    st.booleans(),
)
def test_types_of_ones_own_are_looked_at_like_those_they_extend(entries: list[Any], allows_groups: bool) -> None:
    """A7: what keeps an array from being a table is the same for data whose types are not the usual ones."""
    usual, own = (obstacle(Array("", each), allows_groups=allows_groups) for each in (entries, owned(entries)))
    assert usual == own


def owned(value: Any) -> Any:
    """The same data in types that extend the usual ones."""
    match value:
        case str():
            return OwnText(value)
        case int():
            return OwnNumber(value)
        case list():
            return OwnArray(map(owned, value))
        case dict():
            return OwnObject({key: owned(each) for key, each in value.items()})
        case _:
            return value
