"""What one projection needs beside the value: who makes its handles."""

from dataclasses import dataclass

from mcpshape._tokens import Handles


@dataclass(slots=True)
class Scope:
    """Passed to the serializer as its context; `handles` grow longer where two would collide."""

    handles: Handles | None = None
