"""What counts as a name of a person or of a calendar."""

import re

# An address in brackets behind a name; each bracket is looked at once, however many there are.
_BRACKETED = re.compile(r"[(<\[][^()<>\[\]]*[@\uff20\ufe6b][^()<>\[\]]*[)>\]]")
_AT = re.compile(r"[@\uff20\ufe6b]|%40|&#64;|\(at\)|\[at\]", re.IGNORECASE)
_LONGEST = 100


def name_of(text: str) -> str | None:
    """A name without the quotes that some programs put into it; an address is none, nor what holds one."""
    name = " ".join(_BRACKETED.sub(" ", text.replace("\\", "")).split()).strip(" \"'`")
    return name if name and not _AT.search(name) else None


def label_of(*texts: str) -> str:
    """The first name among some texts, on one short line without what would steer a terminal."""
    lines = ("".join(each if each.isprintable() else " " for each in text) for text in texts)
    return next((name[:_LONGEST] for line in lines if (name := name_of(line))), "Calendar")
