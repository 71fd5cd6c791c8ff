"""What can be raised, by reader: the model (`UserError`), the author (`DefinitionError`), the operator (the rest)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


class UserError(Exception):
    """A failure that the model can act on; its text becomes an `isError` result.

    Args:
        message: What went wrong, in one sentence.
        code: A stable word for programs, such as `not_found`.
        hint: What to do next, in one sentence.
        retry_after: Seconds to wait before the same call can succeed.
        about: DTOs that the message names as in `{event.title}`; it then tells no more of them than the call may.

    Examples:
        >>> raise UserError("The calendar starts in 2000.", hint="Ask for a later day.")
        Traceback (most recent call last):
        mcpshape.errors.UserError: The calendar starts in 2000.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        hint: str | None = None,
        retry_after: float | None = None,
        about: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.hint = hint
        self.retry_after = retry_after
        self.about = about


class EncodingError(Exception):
    """An encoder could not write a view.

    Args:
        encoder: The name of the format, such as `TOON`.
        reason: Why, without any value of the view.
    """

    def __init__(self, encoder: str, reason: str) -> None:
        super().__init__(f"{encoder}: {reason}")
        self.encoder = encoder
        self.reason = reason


class ProjectionError(Exception):
    """A returned value does not fit its declared type; the text names the field, never the value."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake in a definition: where it stands, what it is, what mends it."""

    path: str
    message: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message} {self.remedy}".strip()


class DefinitionError(ValueError):
    """A mistake in a DTO, a policy or a tool that was seen before the server started.

    All mistakes of one definition are reported together, one a line, with their paths.

    Args:
        where: The tool or object that was being defined.
        problems: What is wrong with it.
    """

    def __init__(self, where: str, problems: Iterable[Problem]) -> None:
        self.where = where
        self.problems = tuple(problems)
        super().__init__("\n".join([f"{where}:", *(f"  {problem}" for problem in self.problems)]))
