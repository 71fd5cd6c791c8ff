"""Tool descriptions in the words of the output format."""

import inspect
import re
from dataclasses import asdict, dataclass

from mcpshape.errors import DefinitionError, Problem

_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([a-z_]+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """What a format calls the parts of an answer; `{entry}` in a docstring becomes `entry`, and so on."""

    entry: str
    entries: str
    field: str
    fields: str
    listing: str


NEUTRAL = Vocabulary(entry="entry", entries="entries", field="field", fields="fields", listing="list")
"""Words that are true in every format, for a tool whose caller chooses one."""


def describe(doc: str | None, vocabulary: Vocabulary, *, empty: str | None = None, where: str) -> str:
    """The description of a tool: its docstring and what an empty answer means, in the format's words.

    A brace that is meant as one is written twice.

    Raises:
        DefinitionError: A placeholder is not one of the words.
    """
    parts = [inspect.cleandoc(text) for text in (doc, empty) if text]
    return _fill("\n\n".join(parts), asdict(vocabulary), where)


def _fill(text: str, words: dict[str, str], where: str) -> str:
    unknown = [name for name in _PLACEHOLDER.findall(text) if name and name not in words]
    if unknown:
        remedy = f"Use one of {', '.join(words)}, or double the braces."
        raise DefinitionError(
            where, [Problem("description", f"there is no word {{{name}}}.", remedy) for name in unknown]
        )
    return _PLACEHOLDER.sub(lambda found: words[found[1]] if found[1] else found[0][0], text)
