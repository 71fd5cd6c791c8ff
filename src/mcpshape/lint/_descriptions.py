"""Rules about what a model reads before it calls: words of other formats, withheld names, emptiness."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict

from mcpshape._describe import NEUTRAL, Vocabulary
from mcpshape._guards import WHOLE, Plan
from mcpshape._nodes import Field, Listing, Node, Nullable, Reference, Root, references
from mcpshape._paths import list_paths
from mcpshape.encoders import Encoder, Json, Markdown, Toon, name_formats
from mcpshape.errors import Problem
from mcpshape.lint._formats import named_formats
from mcpshape.lint._inspected import Found, Inspected, Subject, Text
from mcpshape.policy import Grant
from mcpshape.rules import Count, Handle, Rule

# Words that are true in every format, and what the protocol calls the parts of an object.
_EVERYWHERE = {*asdict(NEUTRAL).values(), "key", "keys"}
# Formats that no encoder need write, and that answers are often said to be in all the same.
_OTHER_FORMATS = ("CSV", "HTML", "TSV", "XML", "YAML")
_IDENTITIES = frozenset({"id", "uid", "uuid"})
_SLOTS = ("entry", "entries", "field", "fields", "listing")
_QUOTED = re.compile(r"``.*?``|`[^`]*`|\{[^{}]*\}", re.DOTALL)
_KEYS = re.compile(r"\{keys[^{}]*\}")
_CALLED = r"(?:\b(?:keys?|fields?|columns?)|\{fields?\})\s+"
_AND = r"(?:,\s+(?:(?:and|or)\s+)?|\s+(?:and|or)\s+)"
_DISTINCT = re.compile(r"[\W\d_]|[a-z][A-Z]")
_ABSENCE = rf"\b(?:without|no)\s+(?:(?:an?|the)\s+)?(?:{_CALLED})?(?:[`\"\w]+(?:,\s+|\s+or\s+))*[`\"]?"


def find_foreign_words(subject: Subject) -> Iterator[Problem]:
    """Words of one format in what is read beside another, and names of formats that the answer is not in."""
    words, names = _foreign_words(subject), _format_names(subject)
    for text in subject.texts:
        bare = _QUOTED.sub(" ", text.text)
        for word, (format_name, slot) in words.items():
            if re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", bare, re.IGNORECASE):
                yield _foreign(text, word, format_name, slot, subject.vocabulary)
        if text.is_filled:
            yield from _foreign_formats(subject, text.place, named_formats(bare, names))


def _foreign(text: Text, word: str, format_name: str, slot: str, own: Vocabulary) -> Problem:
    own_word = getattr(own, slot)
    remedy = f"Write {{{slot}}}, which becomes {own_word}." if text.is_filled else f"Write {own_word}."
    return Problem(text.place, f'"{word}" is a word of {format_name}.', remedy)


def _foreign_words(subject: Subject) -> dict[str, tuple[str, str]]:
    """Each word that only other formats use, with the name of one of them and the placeholder for the word.

    What the tool itself is about, as its names say, is no word of a format.
    """
    known = _known(subject)
    usual = {*_words(subject.vocabulary), *_EVERYWHERE, *_topics(subject)}
    return {
        word: (encoder.name, slot)
        for encoder in known.values()
        for word, slot in _words(encoder.vocabulary).items()
        if word and word not in usual
    }


def _known(subject: Subject) -> dict[str, Encoder]:
    return {**name_formats(subject.tool.encoder, (Toon(), Markdown(), Json())), **subject.formats}


def _format_names(subject: Subject) -> list[str]:
    """The formats that a text could say its answer is in, but for what the tool itself is about."""
    about = {*_topics(subject), *(["markdown"] if _has_prose(subject) else [])}
    names = dict.fromkeys([*(each.name for each in _known(subject).values()), *_OTHER_FORMATS])
    return [each for each in names if each.lower() not in about]


def _has_prose(subject: Subject) -> bool:
    """Whether the answer holds what people wrote in Markdown, whatever format is around it."""
    return any(guard.is_prose for guard in subject.tool.plan.guards.values())


def _foreign_formats(subject: Subject, place: str, told: Iterable[tuple[str, ...]]) -> Iterator[Problem]:
    """Names of formats that the answer is not in; where callers choose, one alone is as wrong as a foreign one."""
    offered, asks = {each.name for each in subject.formats.values()}, len(subject.formats) > 1
    foreign = (name for names in told for name in names if name not in offered or (asks and len(names) == 1))
    actual = "callers choose its format" if asks else f"it is {subject.tool.encoder.name}"
    for name in dict.fromkeys(foreign):
        yield Problem(place, f"it says that the answer is {name}, but {actual}.", "Leave the name of the format out.")


def _words(vocabulary: Vocabulary) -> dict[str, str]:
    """The words of a format by what they stand for; the word for a list in the plural as well."""
    words = {getattr(vocabulary, slot): slot for slot in _SLOTS}
    nulls = dict.fromkeys(vocabulary.null.split(" or "), "null")
    return {**words, f"{vocabulary.listing}s": "listing", **nulls}


def _topics(subject: Subject) -> Iterator[str]:
    """The words in the names that a model reads, of the tool, its arguments and its fields, in singular and plural."""
    for name in (subject.name, *subject.arguments, *subject.keys):
        for part in re.findall(r"[A-Z]?[a-z]+", name):
            stem = part.lower().removesuffix("s")
            yield from (stem, f"{stem}s")


def find_withheld_names(inspected: Inspected) -> Iterator[Found]:
    """Fields that a description promises and that a level withholds."""
    taken = {name for each in inspected.subjects for name in (each.name, *each.arguments)}
    for subject in inspected.subjects:
        for name in sorted(subject.keys - {*taken, ""}):
            hiding = [each for each in subject.grants if name not in _told(subject, each)]
            is_never_told = len(hiding) == len(subject.grants)
            for text in subject.texts if hiding else ():
                if name in text.text and _promises(text.text, name, subject.keys, allows_absence=not is_never_told):
                    yield subject.name, _promise(text, name, _when(hiding, is_never_told=is_never_told))


def _promise(text: Text, name: str, when: str) -> Problem:
    remedy = f'Write {{keys}}, which names what is told, or "without a key {name}" and what that means.'
    return Problem(text.place, f"it names {name}, which is withheld {when}.", remedy)


def _promises(text: str, name: str, keys: Collection[str], *, allows_absence: bool) -> bool:
    """Whether a text names a field otherwise than to say what its absence means.

    A name that could be any word counts where it is quoted, called a key or a field, or enumerated with other fields.
    """
    word = rf"(?<!\w){re.escape(name)}(?!\w)"
    text = _KEYS.sub(" ", text)
    if allows_absence:
        text = re.sub(f"{_ABSENCE}{word}", " ", text, flags=re.IGNORECASE)
    if _DISTINCT.search(name):
        return bool(re.search(word, text))
    other = "|".join(re.escape(key) for key in keys if key != name) or "(?!)"
    named = (rf"[`\"]{word}[`\"]", f"{_CALLED}{word}", rf"\b(?:{other}){_AND}{word}", rf"{word}{_AND}(?:{other})\b")
    return any(re.search(pattern, text) for pattern in named)


def _when(hiding: list[Grant | None], *, is_never_told: bool) -> str:
    """The grants under which a field is withheld, in words."""
    grants = [each for each in hiding if each]
    if is_never_told:
        return "at every level" if grants else "always"
    levels = [each.level for each in grants if each == each.policy.widest(each.level)]
    return f"at {', '.join(levels)}" if levels else "where its toggle is off"


def _told(subject: Subject, grant: Grant | None) -> set[str]:
    paths = list_paths(subject.tool.plan, grant)
    return {path.rpartition(".")[2] for path in (*paths.disclosed, *paths.masked)}


def find_silent_emptiness(subject: Subject) -> Iterator[Problem]:
    """Answers that can be an empty list, of which the description does not say what that means."""
    empty = _emptied(subject.tool.plan)
    if empty and not subject.tool.options.empty:
        remedy = 'Pass empty=, as in empty="No {entries} means that the day is free."'
        yield Problem(empty, "nothing says what it means when this list is empty.", remedy)


def _emptied(plan: Plan) -> str | None:
    """The list without which an answer is empty.

    A DTO with an id of its own is one thing, which is there whatever lists it has.
    """
    root = _bare(plan.declared.root)
    if isinstance(root, Listing):
        return WHOLE.key
    record = plan.declared.records.get(root.key) if isinstance(root, Reference) else None
    if record is None or any(_is_identity(plan.guard(record, each).rule, each) for each in record.fields):
        return None
    told = [each for each in record.fields if not plan.guard(record, each).is_notice]
    lists = [each for each in told if isinstance(_bare(each.node), Listing)]
    others = [each for each in told if each not in lists and not isinstance(plan.guard(record, each).rule, Count)]
    emptied = (each for each in lists if not others or any(references(each.node)))
    return next((f"{record.name}.{each.name}" for each in emptied), None)


def _is_identity(rule: Rule, field: Field) -> bool:
    return isinstance(rule, Handle) or field.key.lower() in _IDENTITIES


def _bare(node: Node) -> Node:
    return _bare(node.inner) if isinstance(node, Nullable | Root) else node
