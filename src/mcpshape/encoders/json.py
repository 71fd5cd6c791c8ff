"""Views as compact JSON (RFC 8259)."""

from dataclasses import dataclass, field

from mcpshape._describe import Vocabulary
from mcpshape._project import View
from mcpshape.errors import EncodingError


@dataclass(frozen=True, slots=True)
class Json:
    """JSON text, with `structuredContent` beside it unless the shape says otherwise.

    Examples:
        >>> from mcpshape import View
        >>> Json().encode(View({"events": []}))
        '{"events":[]}'
    """

    name: str = field(default="JSON", init=False, repr=False)
    structured: bool = field(default=True, init=False, repr=False)
    writes_all: bool = field(default=True, init=False, repr=False)
    vocabulary: Vocabulary = field(
        default=Vocabulary(entry="object", entries="objects", field="key", fields="keys", listing="array"),
        init=False,
        repr=False,
    )

    def encode(self, view: View) -> str:
        """The view as compact JSON text."""
        try:
            return view.to_json()
        except Exception as error:
            raise EncodingError(self.name, f"it failed with {type(error).__name__}") from error
