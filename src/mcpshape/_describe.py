"""Tool descriptions and instructions for the server, in the words of the output format."""

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

from mcpshape.errors import DefinitionError, Problem

_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([a-z_]+)(?::([\w.-]+))?\}")
_ABSENT = "A key that is not there was not told, which says nothing about whether there is a value."
_ROUNDED = "Some times and numbers are rounded down."
_PAGES = "Where page.next holds a cursor, more is left: call the same tool with the same arguments and that cursor."


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """What a format calls the parts of an answer; `{entry}` in a docstring becomes `entry`, and so on.

    `null` is how it writes that there is no value. `reading` says how the format is read, for models that may not know.
    """

    entry: str
    entries: str
    field: str
    fields: str
    listing: str
    null: str = "null"
    reading: str = ""


NEUTRAL = Vocabulary(
    entry="entry", entries="entries", field="field", fields="fields", listing="list", null="null or *none*"
)
"""Words that are true in every format, for a tool whose caller chooses one."""

FindKeys = Callable[[str], Sequence[str]]


def describe(
    doc: str | None,
    vocabulary: Vocabulary,
    *,
    empty: str | None = None,
    where: str,
    find_keys: FindKeys = lambda _: (),
) -> str:
    """The description of a tool: its docstring and what an empty answer means, in the format's words.

    `{keys}` becomes the keys of the answer, `{keys:events}` those of an entry in `events`, as `find_keys` knows them by
    their path. A brace that is meant as one is written twice.

    Raises:
        DefinitionError: A placeholder is not one of the words, or names no part of the answer.
    """
    words = {name: word for name, word in asdict(vocabulary).items() if name != "reading"}
    text = "\n\n".join(inspect.cleandoc(part) for part in (doc, empty) if part)
    if problems := list(_problems(text, words, find_keys)):
        raise DefinitionError(where, problems)

    def fill(found: re.Match[str]) -> str:
        name, path = found[1], found[2] or ""
        if name == "keys":
            return ", ".join(find_keys(path))
        return words[name] if name else found[0][0]

    return _PLACEHOLDER.sub(fill, text)


def _problems(text: str, words: dict[str, str], find_keys: FindKeys) -> Iterator[Problem]:
    for found in _PLACEHOLDER.finditer(text):
        name, path = found[1], found[2]
        if name == "keys":
            if not find_keys(path or ""):
                remedy = f"Name a part of the answer: {', '.join(find_keys('')) or 'only a tool has one'}."
                yield Problem("description", f"{found[0]} names nothing with keys.", remedy)
        elif name and (name not in words or path):
            remedy = f"Use one of {', '.join(words)}, keys, or double the braces."
            yield Problem("description", f"there is no word {found[0]}.", remedy)


def instruct(vocabularies: Sequence[Vocabulary], *, may_withhold: bool, may_round: bool, has_pages: bool) -> str:
    """What a model has to know to read the answers of a server, in as few words as possible."""
    readings = dict.fromkeys(each.reading for each in vocabularies if each.reading)
    nulls = dict.fromkeys(each.null for each in vocabularies)
    told = [
        *readings,
        f"{' or '.join(nulls)} means that there is none.",
        _ABSENT if may_withhold else "",
        _ROUNDED if may_round else "",
        _PAGES if has_pages else "",
    ]
    return " ".join(part for part in told if part)
