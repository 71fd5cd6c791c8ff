"""Changes one object of a CalDAV calendar without losing what others write (RFC 4791, section 5.3.4)."""

from http import HTTPStatus

from calendar_data.asking import Asking, RefusedError
from calendar_data.sources import Edit, SourceError, UnsureError
from serving.whole_files import NotWrittenError

_TRIES = 4
_GONE = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.GONE})


def change(questions: Asking, url: str, edit: Edit) -> bool:
    """Store what an edit makes of an object; whether somebody else changed it meanwhile, so that it was made again.

    Raises:
        NotWrittenError: The server does not take it.
        SourceError: The object is gone, or the server does not answer.
        UnsureError: The server has got it, and does not answer.
    """
    for tries in range(_TRIES):
        content, etag = _content(questions, url)
        changed = edit(content)
        if changed is None or _put(questions, url, changed, etag):
            return tries > 0
    raise NotWrittenError("busy", "Others keep changing it; try again.")


def _content(questions: Asking, url: str) -> tuple[bytes, str]:
    try:
        return questions.content(url)
    except RefusedError as error:
        if error.status in _GONE:
            raise SourceError("missing", "It is not in the calendar any more; look for it again.") from None
        raise


def _put(questions: Asking, url: str, content: bytes, etag: str) -> bool:
    if not etag:
        raise NotWrittenError("forbidden", "The server has no entity tags, so others could lose what they wrote.")
    try:
        return questions.put(url, content, etag)
    except RefusedError as error:
        if error.status in {HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.INSUFFICIENT_STORAGE}:
            raise NotWrittenError("full", "The server has no room for it. Free some space there.") from None
        if error.status < HTTPStatus.MULTIPLE_CHOICES:
            raise UnsureError from None
        raise NotWrittenError("forbidden", "The server does not let this user change it.") from None
    except SourceError as error:
        if error.reason == "denied":
            raise
        raise UnsureError from None
