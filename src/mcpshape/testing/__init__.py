"""Proof that a server tells no more than its levels allow; needs the extra `testing`."""

try:
    import hypothesis
    import jsonschema
except ModuleNotFoundError as error:  # pragma: no cover
    raise ModuleNotFoundError(f"{error.name} is not installed; install mcpshape-output[testing]") from None

from mcpshape.testing._canaries import canaries
from mcpshape.testing._decode import decode
from mcpshape.testing._leaks import Leak, Secret, assert_no_leak, find_leaks
from mcpshape.testing._noninterference import assert_noninterference
from mcpshape.testing._schemas import assert_matches_schema

_NEEDED = (hypothesis, jsonschema)

__all__ = [
    "Leak",
    "Secret",
    "assert_matches_schema",
    "assert_no_leak",
    "assert_noninterference",
    "canaries",
    "decode",
    "find_leaks",
]
