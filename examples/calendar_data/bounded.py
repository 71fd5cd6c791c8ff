"""HTTP within limits of time and bytes, which tells credentials to nobody but whom they are for."""

import io
import socket
import ssl
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse
from ipaddress import ip_address
from pathlib import Path
from typing import cast
from urllib.parse import quote, urljoin, urlsplit

from calendar_data.sources import SourceError
from calendar_data.wire import Budget, Limits, Wire, connected, encrypted, too_slow

Origin = tuple[str, str, int]

METHODS = frozenset({"PROPFIND", "REPORT", "OPTIONS", "GET"})
"""The methods that read."""
_WRITES = frozenset({"PUT"})
_PORTS = {"http": 80, "https": 443}
_REDIRECTS = frozenset({301, 302, 307, 308})
_CHUNK = 2**16
_BROKEN = HTTPStatus.INTERNAL_SERVER_ERROR


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What may be asked: only these origins get the credentials, and only loopback is asked without encryption.

    Unless it `may_write`, nothing is sent but what reads.
    """

    origins: frozenset[Origin] = field(repr=False)
    authorization: str | None = field(repr=False)
    ca_file: Path | None = field(default=None, repr=False)
    allow_http: bool = False
    may_write: bool = False

    @property
    def methods(self) -> frozenset[str]:
        return METHODS | _WRITES if self.may_write else METHODS

    def allows(self, url: str) -> bool:
        scheme, host, _ = origin(url)
        return scheme == "https" or (scheme == "http" and (self.allow_http or is_loopback(host)))


@dataclass(frozen=True, slots=True)
class Answer:
    """The parts of a response that caldav reads, and the entity tag as the server writes it."""

    status_code: int
    content: bytes
    location: str = ""
    etag: str = ""
    reason: str = ""

    @property
    def headers(self) -> dict[str, str]:
        """Always the same: caldav logs bodies of XML types that do not parse, and types that it does not expect."""
        return {"Content-Type": "text/plain"}


class BoundedSession:
    """What caldav sends its requests through, for one refresh.

    It has no proxies, no .netrc, no cookies and no other protocol than HTTP/1.1. After a request, `url` is where the
    answer came from.
    """

    def __init__(self, access: Access, limits: Limits) -> None:
        self._access, self._limits, self._budget = access, limits, Budget(limits)
        self._connections: dict[Origin, tuple[HTTPConnection, socket.socket]] = {}
        self.url = ""

    def request(
        self, method: str, url: str, *, data: bytes | None = None, headers: Mapping[str, str], **_: object
    ) -> Answer:
        """Ask, and follow redirects; those of what writes only to where the credentials go.

        Raises:
            ValueError: The method is not one that may be used.
            SourceError: There is no answer, or one that is too long, or the server refuses for now or for good.
        """
        if method not in self._access.methods:
            raise ValueError("this method is not sent")
        for _each in range(self._limits.redirects + 1):
            answer = self._ask(method, url, data, headers)
            if answer.status_code not in _REDIRECTS or (method in _WRITES and self._is_foreign(url, answer.location)):
                self.url = url
                return _accepted(answer)
            url = self._onward(url, answer.location)
        raise SourceError("unreachable", "The server sends on without end; check the URL of the calendar account.")

    def close(self) -> None:
        for key in list(self._connections):
            self._drop(key)

    def _is_foreign(self, url: str, location: str) -> bool:
        return origin(urljoin(url, location)) not in self._access.origins

    def _onward(self, url: str, location: str) -> str:
        target = urljoin(url, location)
        if not location or not self._access.allows(target) or (origin(url)[0], origin(target)[0]) == ("https", "http"):
            raise SourceError("unreachable", "The server sends on to where nothing is encrypted; check its URL.")
        return target

    def _ask(self, method: str, url: str, data: bytes | None, headers: Mapping[str, str]) -> Answer:
        key = origin(url)
        try:
            response = self._send(key, method, url, data, self._headers(key, url, headers))
            answer = self._read(response)
        except (OSError, HTTPException, zlib.error, UnicodeError) as error:
            raise self._explained(error) from None
        if answer.content == b"":
            self._drop(key)
        return answer

    def _headers(self, key: Origin, url: str, headers: Mapping[str, str]) -> dict[str, str]:
        said = {"Accept-Encoding": "gzip", **headers, "Host": urlsplit(url).netloc}
        if self._access.authorization and key in self._access.origins:
            said["Authorization"] = self._access.authorization
        return said

    def _send(self, key: Origin, method: str, url: str, data: bytes | None, headers: dict[str, str]) -> HTTPResponse:
        parts = urlsplit(url)
        path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~") + (f"?{parts.query}" if parts.query else "")
        is_new, connection = self._connection(key)
        try:
            connection.request(method, path, data, headers)
            return connection.getresponse()
        except ConnectionError:
            self._drop(key)
            if is_new:
                raise
        return self._send(key, method, url, data, headers)

    def _read(self, response: HTTPResponse) -> Answer:
        """Only an answer that is of use is read; the rest goes with its connection."""
        if response.status not in {200, 207}:
            return Answer(response.status, b"", response.headers.get("Location", ""))
        etag = response.headers.get("ETag", "")
        coding = response.headers.get("Content-Encoding", "").strip().lower()
        content = io.BytesIO()
        for part in _inflated(iter(lambda: response.read(_CHUNK), b""), coding):
            self._budget.spend(len(part))
            content.write(part)
        return Answer(response.status, content.getvalue(), etag=etag)

    def _connection(self, key: Origin) -> tuple[bool, HTTPConnection]:
        connection, _ = self._connections.get(key, (None, None))
        if connection and connection.sock:
            return False, connection
        self._drop(key)
        scheme, host, port = key
        plain = connected(host, port, lambda: self._budget.seconds(self._limits.connect))
        opened = encrypted(plain, host, self._access.ca_file) if scheme == "https" else plain
        connection = HTTPConnection(host, port)
        # http.client opens again by itself, without limits, what a server closed.
        connection.auto_open = 0
        connection.sock = cast("socket.socket", Wire(opened, lambda: self._budget.seconds(self._limits.read)))
        self._connections[key] = connection, opened
        return True, connection

    def _drop(self, key: Origin) -> None:
        connection, opened = self._connections.pop(key, (None, None))
        if connection and opened:
            connection.close()
            opened.close()

    def _explained(self, error: Exception) -> SourceError:
        match error:
            case ssl.SSLCertVerificationError():
                remedy = "The certificate is not trusted; name the file of the authority that signed it."
                return SourceError("unreachable", remedy)
            case TimeoutError() if self._budget.is_over:
                return too_slow()
            case TimeoutError():
                return SourceError("unreachable", "The server does not answer; try again later.")
            case OSError() | UnicodeError():
                return SourceError("unreachable", "Check the URL of the calendar account, and that its server runs.")
        return SourceError("unreadable", "What the server says is no HTTP; check the URL of the calendar account.")


def origin(url: str) -> Origin:
    """Scheme, host and port, as two URLs of one server have them in common."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0)


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _accepted(answer: Answer) -> Answer:
    if answer.status_code == HTTPStatus.UNAUTHORIZED:
        raise SourceError("denied", "Check the user name and the password or token of the calendar account.")
    is_full = answer.status_code == HTTPStatus.INSUFFICIENT_STORAGE
    if answer.status_code == HTTPStatus.TOO_MANY_REQUESTS or (answer.status_code >= _BROKEN and not is_full):
        raise SourceError("unreachable", "The server has no answer for now; try again later.")
    return answer


def _inflated(chunks: Iterable[bytes], coding: str) -> Iterator[bytes]:
    if coding in {"", "identity"}:
        yield from chunks
        return
    if coding not in {"gzip", "x-gzip", "deflate"}:
        raise zlib.error
    inflater = zlib.decompressobj(wbits=zlib.MAX_WBITS + 32)
    for chunk in chunks:
        yield inflater.decompress(chunk, _CHUNK)
        while inflater.unconsumed_tail:
            yield inflater.decompress(inflater.unconsumed_tail, _CHUNK)
    yield inflater.flush()
