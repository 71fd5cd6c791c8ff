"""Failures in words: one text for the model, one log entry for the operator, neither with a value of a DTO."""

import logging
import secrets
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from pydantic import ValidationError

from mcpshape._cleaning import clean_text
from mcpshape._values import clipper
from mcpshape.errors import DefinitionError, EncodingError, Problem, ProjectionError, UserError

ON_ENCODING_ERROR = (
    "The answer could not be written as {format}: {reason}. Tell the user; whoever runs the server finds more in its "
    "log under reference {reference}."
)
"""What the model reads where an encoder failed, unless a server has words of its own."""

_LOG = logging.getLogger("mcpshape")
# Hosts cut error texts at 8,000 characters; the cause comes first and the hint still fits.
_LONGEST = 3000
# Of each end of a traceback, which has a thousand frames where something calls itself.
_SHOWN_FRAMES = 25
# What these say of a value, they quote it with, whatever an author has registered.
_NEVER_SHOWN = (ValidationError, ProjectionError)


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure as the model reads it."""

    text: str
    code: str


def explain(error: Exception, *, where: str, user_errors: Sequence[type[Exception]], on_encoding_error: str) -> Failure:
    """The failure that stands for an exception raised in a call.

    A `UserError` and the registered types show their text, an encoding error the server's own wording. All else is a
    crash: one fixed sentence with a reference, under which the log holds the traceback.
    """
    if isinstance(error, UserError):
        failure = _from_user_error(error)
    elif isinstance(error, EncodingError):
        _log(error, where, reference := _reference())
        words = on_encoding_error.format(format=error.encoder, reason=error.reason, reference=reference)
        failure = Failure(_sentence(words), "encoding")
    elif isinstance(error, tuple(user_errors)) and not isinstance(error, _NEVER_SHOWN) and str(error).strip():
        failure = Failure(_sentence(str(error)), "user")
    else:
        failure = _crash(error, where)
    return Failure(f"Error: {failure.text}", failure.code)


def check_wording(words: str) -> None:
    """Fill a server's own wording once, so that a mistake in it is found before it is needed.

    Raises:
        DefinitionError: It names something other than `{format}`, `{reason}` and `{reference}`.
    """
    try:
        words.format(format="", reason="", reference="")
    except (KeyError, IndexError, ValueError, AttributeError) as error:
        remedy = "Use {format}, {reason} and {reference}, or double the braces."
        raise DefinitionError("Shape", [Problem("on_encoding_error", "it cannot be filled in.", remedy)]) from error


def _from_user_error(error: UserError) -> Failure:
    parts = [_sentence(str(error.message)), _sentence(str(error.hint or ""))]
    if error.retry_after is not None:
        parts.append(f"Try again in {float(error.retry_after):g} seconds.")
    return Failure(" ".join(part for part in parts if part) or "The call failed.", error.code or "user")


def _crash(error: Exception, where: str) -> Failure:
    reference = _reference()
    _log(error, where, reference)
    return Failure(
        "The tool failed for a reason of its own, not because of the arguments. Tell the user; whoever runs the "
        f"server finds the reason in its log under reference {reference}.",
        "internal",
    )


def _reference() -> str:
    return secrets.token_hex(4)


def _sentence(text: str) -> str:
    text = clean_text(text).strip()
    text = text if len(text) <= _LONGEST else clipper(_LONGEST, clean_text)(text)
    return f"{text}." if text and text[-1].isalnum() else text


def _log(error: Exception, where: str, reference: str) -> None:
    # A log that cannot be written, as on a full disk, is no reason for the call to fail in another way.
    with suppress(Exception):
        _LOG.error("%s failed, reference %s\n%s", where, reference, "\n".join(_frames(error)))
        _LOG.debug("reference %s with its message, which may hold values", reference, exc_info=error)


def _frames(error: BaseException, seen: tuple[int, ...] = ()) -> Iterator[str]:
    """The traceback without messages of foreign exceptions, which often quote the value that they could not handle."""
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None and id(cause) not in seen:
        yield from _frames(cause, (*seen, id(error)))
        yield "which led to:"
    places = [f"  {each.filename}:{each.lineno} in {each.name}" for each in traceback.extract_tb(error.__traceback__)]
    left_out = len(places) - 2 * _SHOWN_FRAMES
    yield from places[:_SHOWN_FRAMES] if left_out > 0 else places
    yield from [f"  ({left_out} more)", *places[-_SHOWN_FRAMES:]] if left_out > 0 else ()
    own = isinstance(error, EncodingError | ProjectionError | DefinitionError)
    yield f"{type(error).__module__}.{type(error).__qualname__}" + (f": {error}" if own else "")


def crash(error: Exception, where: str) -> Failure:
    """The failure of an exception that nobody foresaw, whatever it is."""
    failure = _crash(error, where)
    return Failure(f"Error: {failure.text}", failure.code)
