"""Servers on loopback that record what they are asked: in front of a Radicale, with made-up answers, or with none."""

import ssl
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from threading import Event, Thread
from xml.sax.saxutils import escape

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from radicale_server import Account

Headers = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Asked:
    """One request."""

    method: str
    path: str
    headers: Headers
    body: str

    @property
    def hrefs(self) -> int:
        """How many objects it asks for."""
        return self.body.count("<D:href>")


@dataclass(frozen=True, slots=True)
class Given:
    """One answer."""

    status: int
    body: bytes = b""
    headers: Headers = field(default_factory=dict)


Answer = Callable[[Asked], Given | Iterable[bytes]]
"""What a server answers: a whole answer, or raw bytes for as long as the client listens."""


@dataclass(frozen=True, slots=True)
class Server:
    port: int
    asked: list[Asked]
    ended: Event
    scheme: str = "http"

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}/"

    @property
    def fetched(self) -> int:
        """How many objects were asked for since the last time, after which all is forgotten."""
        count = sum(each.hrefs for each in self.asked)
        self.asked.clear()
        return count


@contextmanager
def serving(answer: Answer, *, certificate: Path | None = None) -> Iterator[Server]:
    """A server until the end of the block."""
    asked: list[Asked] = []
    ended = Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_PROPFIND(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length).decode()
            asked.append(Asked(self.command, self.path, dict(self.headers), body))
            given = answer(asked[-1])
            if isinstance(given, Given):
                _send(self, given)
            else:
                _drip(self, given)

        def do_REPORT(self) -> None:
            self.do_PROPFIND()

        def do_GET(self) -> None:
            self.do_PROPFIND()

        def do_PUT(self) -> None:
            self.do_PROPFIND()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - The name of the library.
            """Tests print nothing."""

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """Clients that go away are what is tested."""

    with Quiet(("127.0.0.1", 0), Handler) as server:
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield Server(server.server_port, asked, ended, "https" if certificate else "http")
        finally:
            ended.set()
            server.shutdown()
            thread.join()


def in_front_of(account: Account, change: Callable[[Asked, Given], Given] = lambda _, given: given) -> Answer:
    """Passes everything on to a Radicale, and back with changes."""

    def answer(asked: Asked) -> Given:
        connection = HTTPConnection("127.0.0.1", account.port, timeout=10)
        headers = {name: value for name, value in asked.headers.items() if name != "Accept-Encoding"}
        connection.request(asked.method, asked.path, asked.body.encode(), headers)
        response = connection.getresponse()
        kept = {name: said for name in ("Content-Type", "ETag") if (said := response.headers.get(name))}
        given = Given(response.status, response.read(), kept)
        connection.close()
        return change(asked, given)

    return answer


def multistatus(*responses: str, token: str = "") -> Given:
    """A multistatus of responses that `response` and `missing` make."""
    said = f"<D:sync-token>{token}</D:sync-token>" if token else ""
    spaces = 'xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:S="http://calendarserver.org/ns/"'
    return Given(207, f"<D:multistatus {spaces}>{''.join(responses)}{said}</D:multistatus>".encode())


def response(href: str, properties: str) -> str:
    inside = f"<D:prop>{properties}</D:prop><D:status>HTTP/1.1 200 OK</D:status>"
    return f"<D:response><D:href>{href}</D:href><D:propstat>{inside}</D:propstat></D:response>"


def status(href: str, code: int) -> str:
    return f"<D:response><D:href>{href}</D:href><D:status>HTTP/1.1 {code} Said</D:status></D:response>"


def calendar(href: str, more: str = "") -> str:
    return response(href, f"<D:resourcetype><D:collection/><C:calendar/></D:resourcetype>{more}")


def member(href: str, etag: str, *, size: int | None = None, ics: str | None = None) -> str:
    said = "" if size is None else f"<D:getcontentlength>{size}</D:getcontentlength>"
    data = "" if ics is None else f"<C:calendar-data>{escape(ics)}</C:calendar-data>"
    return response(href, f'<D:getetag>"{etag}"</D:getetag>{said}{data}')


def certificate(path: Path) -> Path:
    """A certificate for loopback that nobody has signed, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "loopback")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    kind = serialization.PrivateFormat.PKCS8
    secret = key.private_bytes(serialization.Encoding.PEM, kind, serialization.NoEncryption())
    path.write_bytes(secret + made.public_bytes(serialization.Encoding.PEM))
    return path


def _send(handler: BaseHTTPRequestHandler, given: Given) -> None:
    handler.send_response(given.status)
    for name, value in {"Content-Length": str(len(given.body)), **given.headers}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(given.body)


def _drip(handler: BaseHTTPRequestHandler, parts: Iterable[bytes]) -> None:
    handler.close_connection = True
    for part in parts:
        handler.wfile.write(part)
        handler.wfile.flush()
