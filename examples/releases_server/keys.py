"""The key of an account, and the tokens that are made with it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jwt

from mcpshape import UserError

_AUDIENCE = "appstoreconnect-v1"
# App Store Connect takes tokens that live for up to 20 minutes.
_LIFETIME, _LEFT = 15 * 60, 60
_LARGEST = 64 * 1024


@dataclass(frozen=True, slots=True)
class Key:
    """A key as App Store Connect hands it out. One without an issuer is of a person, not of a team."""

    file: Path = field(repr=False)
    key_id: str
    issuer_id: str | None = None


class Tokens:
    """Tokens of a key, each used until shortly before it ends. `clock` gives seconds since 1970."""

    __slots__ = ("_clock", "_ends", "_key", "_secret", "_token")

    def __init__(self, key: Key, clock: Callable[[], float]) -> None:
        self._key, self._clock = key, clock
        self._secret = _read(key.file)
        self._token, self._ends = "", 0.0

    def current(self) -> str:
        """A token that is good for another minute at least.

        Raises:
            UserError: The file holds no key that tokens can be made with.
        """
        now = self._clock()
        if now > self._ends - _LEFT:
            self._ends = int(now) + _LIFETIME
            self._token = self._signed(int(now))
        return self._token

    def renew(self) -> None:
        """Make the next token anew."""
        self._ends = 0.0

    def _signed(self, now: int) -> str:
        claims: dict[str, Any] = {"iat": now, "exp": now + _LIFETIME, "aud": _AUDIENCE}
        claims |= {"iss": self._key.issuer_id} if self._key.issuer_id else {"sub": "user"}
        try:
            return jwt.encode(claims, self._secret, algorithm="ES256", headers={"kid": self._key.key_id})
        except (jwt.PyJWTError, ValueError, TypeError) as error:
            raise _unusable() from error


def _read(file: Path) -> bytes:
    try:
        if file.stat().st_size > _LARGEST:
            raise _unusable()
        return file.read_bytes()
    except OSError as error:
        raise UserError(
            "The key file cannot be read.",
            hint="Check key_file in the settings; App Store Connect calls the file AuthKey_ID.p8.",
            code="no_key",
        ) from error


def _unusable() -> UserError:
    return UserError(
        "The key file holds no private key for App Store Connect.",
        hint="Use the .p8 file as it was downloaded, under Users and Access, Integrations.",
        code="bad_key",
    )
