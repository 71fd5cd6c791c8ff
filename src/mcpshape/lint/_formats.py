"""The formats that a text says an answer is written in, read off the words around their names."""

import re
from collections.abc import Collection, Iterator

# What a name beside one of these says is in which format a tool finds something, and not how it answers.
_STORED = r"files?|documents?|pages?|folders?|notes?|sources?|attachments?|schemas?"
_KEPT = r"given|kept|stored|saved|written"
_ANSWERED = r"\b(?:returns?|returned|answers?|answered|responds?|replies|outputs?|results?)\b"
_LOOKED_UP = r"^(?:gets?|lists?|shows?|gives?|fetch(?:es)?|finds?|reads?|describes?|tells?|summari[sz]es?)\b"
_FILLER = r"(?:\s+(?:an?|the|with|as|in|is|are|valid|plain|raw|pure|only|compact))*\s+"
_FORMS = r"texts?|strings?|tables?|lists?|blocks?|summary|overview|report"


def named_formats(text: str, names: Collection[str]) -> Iterator[tuple[str, ...]]:
    """The formats that sentences of a text say the answer is in; those of one enumeration come together.

    `names` are the formats to look for, in the spelling that they are told in.
    """
    spelled = {name.lower(): name for name in sorted(names, key=len, reverse=True)}
    name = "|".join(map(re.escape, spelled)) or "(?!)"
    more = rf"(?:,?\s+(?:(?:and|or)\s+)?(?:(?:as|in)\s+)?(?:{name}))*+"
    named = rf"(?<![\w-])(?P<names>(?:{name}){more})(?![\w-])(?!\s+(?:{_STORED})\b)"
    something = rf"(?<![\w-])(?!(?:{_KEPT})\b|(?:{_STORED}|texts?)\s+in\b)[\w-]+"
    patterns = (
        rf"{_ANSWERED}:?{_FILLER}{named}",
        rf"\b(?:formatted|rendered|serialized|encoded)\s+(?:as|in|to){_FILLER}{named}",
        rf"(?:{_LOOKED_UP}|{_ANSWERED}).{{0,300}}?{something},?\s+(?:as|in){_FILLER}{named}",
        rf"(?:{_LOOKED_UP}\s+|^)(?:an?|the)\s+(?P<names>{name})\s+(?:{_FORMS})\b",
    )
    for sentence in re.split(r"(?<=[.;!?])\s+|\n\s*\n", text):
        told = " ".join(sentence.split())
        for found in (found for pattern in patterns for found in re.finditer(pattern, told, re.IGNORECASE)):
            listed: list[str] = re.findall(name, found["names"], re.IGNORECASE)
            yield tuple(spelled.get(each.lower(), each) for each in listed)
