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
# Labels mean what they mean to browsers (Encoding Standard, 4.2), who do without all other codecs of Python.
_MEANT = {"ascii": "cp1252", "iso8859-1": "cp1252", "gb2312": "gbk", "shift_jis": "cp932", "euc_kr": "cp949"}
_KNOWN = frozenset(
    {
        "utf-8",
        "cp866",
        "koi8-r",
        "koi8-u",
        "mac-roman",
        "gbk",
        "gb18030",
        "big5",
        "euc_jp",
        "iso2022_jp",
        "cp932",
        "cp949",
    }
    | {f"cp{number}" for number in range(1250, 1259)}
    | {f"iso8859-{number}" for number in range(2, 17)}
)


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


def encoding_of(label: str) -> str | None:
    """The encoding that a label means, if it is one of those that documents are written in."""
    try:
        name = codecs.lookup(label).name
    except (LookupError, ValueError):
        return None
    meant = _MEANT.get(name, name)
    return meant if meant in _KNOWN else None


def _encoding(data: bytes, *, is_html: bool) -> tuple[str | None, bytes]:
    for mark, name in _MARKS:
        if data.startswith(mark):
            return name, data[len(mark) :]
    declared = _CHARSET.search(data[:_LOOKED_AT]) if is_html else None
    return encoding_of(declared[1].decode("ascii")) if declared else None, data


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
