"""Opaque ids and cursors: made with a secret, read back by whoever holds it, and linked by nobody."""

import hmac
import secrets
import time
from base64 import b32decode, b32encode
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b

from mcpshape.errors import DefinitionError, Problem

WEEK = 7 * 24 * 3600
SHORTEST, LONGEST = 11, 26
_LEAST_SECRET = 16
_FIRST = "abcdefghijklmnop"
_SEAL = 12
"""Bytes of a cursor's signature."""


@dataclass(frozen=True, slots=True)
class Keyring:
    """What handles of one server are made with.

    Args:
        secret: At least 16 bytes, the same on every replica.
        period: Seconds after which an id gets another handle; those of the period before are still accepted.
        clock: The current time in seconds.
        is_ephemeral: Whether nobody else has the secret, so that handles end with the process.

    Raises:
        DefinitionError: The secret is too short.
    """

    secret: bytes = field(repr=False)
    period: float = WEEK
    clock: Callable[[], float] = time.time
    is_ephemeral: bool = field(default=False, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        if len(self.secret) < _LEAST_SECRET:
            problem = Problem(
                "secret", f"it has less than {_LEAST_SECRET} bytes.", "Make one with secrets.token_bytes(32)."
            )
            raise DefinitionError("Keyring", [problem])

    @classmethod
    def of_this_process(cls) -> "Keyring":
        """A keyring whose handles end with the process."""
        return cls(secrets.token_bytes(32), is_ephemeral=True)

    def make(self, kind: str, real: str, principal: str, *, length: int = SHORTEST) -> str:
        """The handle of an id."""
        return _handle(self.secret, principal, kind, self._now(), real)[:length]

    def find(self, kind: str, handle: str, principal: str, candidates: Iterable[str]) -> str | None:
        """The id among `candidates` that a handle stands for, or `None` where there is none or more than one.

        Every candidate is compared, whatever is found, so that the time tells nothing.
        """
        now, found, given = self._now(), [], handle.encode("utf-8", "replace")
        for real in candidates:
            for period in (now, now - 1):
                whole = _handle(self.secret, principal, kind, period, real)
                if hmac.compare_digest(whole[: len(handle)].encode(), given):
                    found.append(real)
        return found[0] if len(found) == 1 and SHORTEST <= len(handle) <= LONGEST else None

    def seal(self, place: int, *bound: str) -> str:
        """A cursor: a place in a list, signed (HMAC, RFC 2104) for what it is bound to and for this period."""
        number = place.to_bytes(max(1, -(-place.bit_length() // 8)))
        return _base32(number + self._signature(number, self._now(), bound))

    def unseal(self, cursor: str, *bound: str) -> int | None:
        """The place in a cursor, or `None` where it was not made for this, was changed or is expired.

        One that was made in this period or in the one before is accepted.
        """
        try:
            raw = b32decode(cursor.upper() + "=" * (-len(cursor) % 8))
        except ValueError:
            return None
        number, signature = raw[:-_SEAL], raw[-_SEAL:]
        if not number or _base32(raw) != cursor:
            return None
        now = self._now()
        known = [hmac.compare_digest(self._signature(number, each, bound), signature) for each in (now, now - 1)]
        return int.from_bytes(number) if any(known) else None

    def _signature(self, number: bytes, period: int, bound: tuple[str, ...]) -> bytes:
        message = _joined("mcpshape cursor", str(period), *bound) + number
        return hmac.digest(self.secret, message, "sha256")[:_SEAL]

    def _now(self) -> int:
        return int(self.clock() // self.period)


@lru_cache(maxsize=1 << 17)
def _handle(secret: bytes, principal: str, kind: str, period: int, real: str) -> str:
    """The longest handle (RFC 4648 base32, a letter first), of which shorter ones are the beginning."""
    key = secret if len(secret) <= blake2b.MAX_KEY_SIZE else blake2b(secret).digest()
    message = _joined(principal, kind, str(period), real)
    digest = blake2b(message, key=key, digest_size=17, person=b"mcpshape handle").digest()
    return _FIRST[digest[0] % len(_FIRST)] + _base32(digest[1:])[: LONGEST - 1]


def _joined(*parts: str) -> bytes:
    """Texts as one message that no other texts give."""
    encoded = [part.encode("utf-8", "surrogatepass") for part in parts]
    return b"".join(len(part).to_bytes(8, "big") + part for part in encoded)


def _base32(data: bytes) -> str:
    return b32encode(data).decode().rstrip("=").lower()


class Handles:
    """The handles of one answer: two ids never share one, at the cost of longer handles where they would."""

    def __init__(self, keyring: Keyring, principal: str, lengths: dict[str, int] | None = None) -> None:
        self._keyring, self._principal = keyring, principal
        self._lengths = lengths or {}
        self._made: dict[tuple[str, str], str] = {}
        self.collided: set[str] = set()

    def make(self, kind: str, real: str) -> str:
        """The handle of an id in this answer."""
        handle = self._keyring.make(kind, real, self._principal, length=self._lengths.get(kind, SHORTEST))
        if self._made.setdefault((kind, handle), real) != real:
            self.collided.add(kind)
        return handle

    def longer(self) -> "Handles":
        """A fresh start with more characters for the kinds that collided."""
        grown = {kind: self._lengths.get(kind, SHORTEST) + 1 for kind in self.collided}
        return Handles(self._keyring, self._principal, {**self._lengths, **grown})
