"""The language of questions, and what becomes of it in SQLite FTS5: nothing asked is ever part of its syntax."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import regex

from mcpshape import UserError
from search_server.words import words_of

LONGEST, MOST_TERMS, MOST_WORDS = 1000, 32, 100
"""Characters, terms and words of a question; a long document is compared with each of its terms."""
_QUOTES = str.maketrans(dict.fromkeys("“”„‟«»＂", '"'))
# A minus excludes only where a word may begin: full-text is a word with a hyphen.
_PIECE = regex.compile(r'(?P<minus>(?<![^\s(])-)?(?:"(?P<phrase>[^"]*)"|(?P<word>[^\s"()]+))')
_EXCLUDES, _OR = frozenset({"NOT"}), frozenset({"OR", "|", "||"})
_NOTHING = "The query has no word to search for."
_TOO_MANY = "The query has too many words."
_ONLY_EXCLUDED = "The query only says what to leave out."


@dataclass(frozen=True, slots=True)
class Term:
    """Words that stand next to each other; of a prefix, the last one only has to begin so."""

    words: tuple[str, ...]
    is_prefix: bool = False

    def __str__(self) -> str:
        return f'"{" ".join(self.words)}"{" *" if self.is_prefix else ""}'

    def holds(self, word: str) -> bool:
        """Whether a word of a document is one of this term."""
        return word in self.words or (self.is_prefix and word.startswith(self.words[-1]))


@dataclass(frozen=True, slots=True)
class Query:
    """What documents have to have: one term of each group, and none of what is excluded."""

    groups: tuple[tuple[Term, ...], ...]
    excluded: tuple[Term, ...] = ()

    @property
    def match(self) -> str:
        """The expression of FTS5 for it."""
        wanted = " AND ".join(f"({_either(group)})" for group in self.groups)
        return f"({wanted}) NOT ({_either(self.excluded)})" if self.excluded else wanted

    @property
    def spots(self) -> list[str]:
        """Expressions for the place to show, the best first: one with a word of each group, then one with any word."""
        every = " AND ".join(f"({_words(group)})" for group in self.groups)
        return [every, _words(term for group in self.groups for term in group)]

    def holds(self, word: str) -> bool:
        """Whether a word of a document is one that was asked for."""
        return any(term.holds(word) for group in self.groups for term in group)


def parse(text: str) -> Query:
    """What a question asks for.

    Raises:
        UserError: There is nothing in it that could be found, or too much.
    """
    groups: list[tuple[Term, ...]] = []
    excluded: list[Term] = []
    joins = False
    for sign, term in _pieces(text):
        if term is None:
            joins = sign == "or"
        elif sign == "-":
            excluded.append(term)
        elif joins and groups:
            groups[-1] = tuple(dict.fromkeys((*groups[-1], term)))
            joins = False
        else:
            groups.append((term,))
            joins = False
    if not groups:
        raise _nothing(_ONLY_EXCLUDED if excluded else _NOTHING)
    terms = {*excluded, *(term for group in groups for term in group)}
    if len(terms) > MOST_TERMS or sum(len(term.words) for term in terms) > MOST_WORDS:
        raise UserError(_TOO_MANY, code="long_query", hint=f"Ask for {MOST_TERMS} different words or less.")
    return Query(tuple(dict.fromkeys(groups)), tuple(dict.fromkeys(excluded)))


def _pieces(text: str) -> Iterator[tuple[str, Term | None]]:
    """The terms, each with the sign before it, and `or` where that stands between two."""
    excludes = False
    for found in _PIECE.finditer(_balanced(text.translate(_QUOTES))):
        word, minus = found["word"] or "", bool(found["minus"])
        if word in _OR:
            yield "or", None
        elif word in _EXCLUDES:
            excludes = True
        elif word != "AND":
            term = _term(word or found["phrase"] or "", is_prefix=word.endswith("*"))
            if term:
                yield "-" if minus or excludes else "", term
            excludes = False


def _balanced(text: str) -> str:
    """The text without the last quotation mark where that has no other half, as that of an inch."""
    if text.count('"') % 2 == 0:
        return text
    before, _, after = text.rpartition('"')
    return f"{before} {after}"


def _term(text: str, *, is_prefix: bool) -> Term | None:
    words = words_of(text)
    return Term(tuple(words), is_prefix) if words else None


def _either(terms: Iterable[Term]) -> str:
    return " OR ".join(map(str, terms))


def _words(terms: Iterable[Term]) -> str:
    """Any word of some terms; phrases have no meaning to an index that does not know where words stand."""
    return _either(each for term in terms for each in _single(term))


def _single(term: Term) -> Sequence[Term]:
    return [Term((word,), term.is_prefix and word == term.words[-1]) for word in term.words]


def _nothing(text: str) -> UserError:
    hint = 'Ask for words that a document should have, such as: budget "annual report" plan* -draft.'
    return UserError(text, code="empty_query", hint=hint)
