"""Makes text of bytes: by their mark, by what HTML says of itself, else as UTF-8."""

import codecs
import re
from typing import NamedTuple

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # Before UTF-16, whose mark is its beginning.
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LOOKED_AT = 1024  # As browsers do (HTML, 13.2.3.2).
_BINARY_WITHIN = 8192
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE)
# Labels mean what they mean to browsers (Encoding Standard, 4.2).
_MEANT = {"iso-8859-1": "cp1252", "latin1": "cp1252", "ascii": "cp1252", "us-ascii": "cp1252", "utf-16": "utf-8"}


class Decoded(NamedTuple):
    """A text, and how many of its bytes could not be read and stand as U+FFFD."""

    text: str
    undecodable: int = 0


class BinaryError(ValueError):
    """These bytes are no text."""


def decode(data: bytes, *, is_html: bool = False, fallback: str | None = None) -> Decoded:
    """The text of a document, with one kind of line ends.

    Args:
        data: The bytes.
        is_html: Whether to look for what HTML says of its encoding.
        fallback: How to read what is not UTF-8; without it, what cannot be read is replaced and counted.

    Raises:
        BinaryError: They are no text.
    """
    encoding, body = _encoding(data, is_html=is_html)
    if encoding is None:
        if b"\0" in body[:_BINARY_WITHIN]:
            raise BinaryError("it has zero bytes")
        encoding = fallback if fallback and not _is_utf8(body) else "utf-8"
    text, undecodable = _decoded(body, encoding)
    return Decoded(text.replace("\r\n", "\n").replace("\r", "\n"), undecodable)


def is_encoding(name: str) -> bool:
    """Whether there is a text encoding of that name."""
    try:
        return isinstance("".encode(name), bytes)
    except (LookupError, UnicodeError, ValueError):
        return False


def _encoding(data: bytes, *, is_html: bool) -> tuple[str | None, bytes]:
    for mark, name in _MARKS:
        if data.startswith(mark):
            return name, data[len(mark) :]
    declared = _CHARSET.search(data[:_LOOKED_AT]) if is_html else None
    if declared:
        label = declared[1].decode("ascii").lower()
        name = _MEANT.get(label, label)
        return (name, data) if is_encoding(name) else (None, data)
    return None, data


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _decoded(data: bytes, encoding: str) -> tuple[str, int]:
    try:
        return data.decode(encoding), 0
    except UnicodeError:
        text = data.decode(encoding, "replace")
    # Signs that were there before are no loss.
    return text, text.count("\ufffd") - data.decode(encoding, "ignore").count("\ufffd")
