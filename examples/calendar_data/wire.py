"""Connections that are read within limits of time and bytes."""

import io
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from calendar_data.sources import SourceError

# A wait that ends with the refresh wakes up a little before or after it.
_CLOSE = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one refresh may take.

    `connect`, `read` and `refresh` are seconds: for a connection, between two bytes, and in all. `size` is bytes in
    all, counted after they are inflated. `redirects` is for each request.
    """

    connect: float = 10
    read: float = 10
    refresh: float = 30
    size: int = 64 * 2**20
    redirects: int = 5


class Budget:
    """What is left of the time and the bytes of one refresh."""

    def __init__(self, limits: Limits) -> None:
        self._ends, self._left = monotonic() + limits.refresh, limits.size

    @property
    def is_over(self) -> bool:
        return self._ends - monotonic() < _CLOSE

    def seconds(self, most: float) -> float:
        """How long to wait for the next thing."""
        if self.is_over:
            raise too_slow()
        return min(most, self._ends - monotonic())

    def spend(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise SourceError("too_large", "Name fewer calendars of this account, or allow more bytes for it.")


@dataclass(frozen=True, slots=True)
class Wire:
    """The part of a socket that http.client uses, each use of which has to be done in time."""

    socket: socket.socket
    patience: Callable[[], float]

    def sendall(self, data: bytes) -> None:
        self.socket.settimeout(self.patience())
        self.socket.sendall(data)

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Incoming(self))

    def close(self) -> None:
        """Leave it open: http.client closes before the last body is read, and the session after it."""


class _Incoming(io.RawIOBase):
    """Asks before each piece whether there is time, so that a server that sends a byte now and then ends too."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._wire.socket.settimeout(self._wire.patience())
        return self._wire.socket.recv_into(buffer)


def too_slow() -> SourceError:
    return SourceError("too_slow", "Name fewer calendars of this account, or allow more time for it.")


def connected(host: str, port: int, patience: Callable[[], float]) -> socket.socket:
    """A connection to the first address of a host that takes one, each tried with patience."""
    failure = OSError()
    for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        seconds = patience()
        connecting = socket.socket(family, kind, protocol)
        try:
            connecting.settimeout(seconds)
            # Headers and body of a request go one after the other, and would wait for an acknowledgement in between.
            connecting.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connecting.connect(address)
        except OSError as error:
            connecting.close()
            failure = error
        else:
            return connecting
    raise failure


def encrypted(plain: socket.socket, host: str, ca_file: Path | None) -> socket.socket:
    """The same connection with TLS, whose certificate is verified; closed if it is not to be trusted."""
    try:
        context = ssl.create_default_context(cafile=ca_file)
    except OSError:
        plain.close()
        raise SourceError("missing", "Check the file of certificate authorities; it has to be PEM.") from None
    try:
        return context.wrap_socket(plain, server_hostname=host)
    except (OSError, ValueError):
        plain.close()
        raise
