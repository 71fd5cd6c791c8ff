"""What gets through to the preview page and what does not: odd requests, slow and vanished clients."""

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import pytest

from mcpshape.preview._app import Desk, make_app
from mcpshape.preview._gate import Gate
from mcpshape.preview._saving import SettingsFile
from preview_page import TOKEN, page_of
from tasks_server import shape as tasks

FORM = "Content-Type: application/x-www-form-urlencoded\r\n"
MULTIPART = "Content-Type: multipart/form-data; boundary=x\r\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The host and port of a page that can save."""
    path = tmp_path_factory.mktemp("access") / "settings.toml"
    path.write_text('format = "toon"\n', encoding="utf-8")
    with page_of(Desk(tasks, "tasks_server:shape", SettingsFile(path, "ACCESSED_"))) as address:
        yield urlsplit(address).netloc
    assert path.read_text(encoding="utf-8") == 'format = "toon"\n'


def ask(place: str, line: str, headers: str = "", body: bytes = b"") -> tuple[int, str]:
    """One request, byte by byte as it is given, and the status and whole text of what comes back."""
    host, _, port = place.partition(":")
    head = f"{line} HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(head.encode("latin-1") + body)
        answer = b"".join(iter(lambda: connection.recv(65_536), b"")).decode(errors="replace")
    return int(answer.split()[1]), answer


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("OPTIONS *", 403),
        ("CONNECT 127.0.0.1:80", 403),
        ("GET //", 403),
        (f"GET //{TOKEN}/", 403),
        ("GET /%ff%fe/", 403),
        (f"GET /{TOKEN}x/", 403),
        (f"GET /{TOKEN}%00/", 403),
        (f"GET http://127.0.0.1/{TOKEN}/", 403),
        (f"PUT /{TOKEN}/", 403),
        (f"TRACE /{TOKEN}/", 403),
        (f"GET /{TOKEN}//", 404),
        (f"GET /{TOKEN}/files/", 404),
        (f"GET /{TOKEN}/files/../../_app.py", 404),
        (f"GET /{TOKEN}/files/..%2f..%2f_app.py", 404),
        (f"GET /{TOKEN}/files/..%5c_app.py", 404),
        (f"GET /{TOKEN}/files//etc/passwd", 404),
        (f"GET /{TOKEN}/files/%00", 404),
        (f"GET /{TOKEN}/files/{'a' * 5_000}", 404),
        (f"GET /{TOKEN}/review", 405),
        (f"HEAD /{TOKEN}/", 200),
        (f"GET /%61{TOKEN[1:]}/", 200),
        (f"GET /{TOKEN}/?{'toggle=x&' * 5_000}", 200),
        (f"GET /{TOKEN}/?client=client+%ED%A0%80", 200),
        (f"GET /{TOKEN}/?tool=%00", 400),
    ],
)
def test_odd_requests_are_answered_without_a_crash(place: str, line: str, status: int) -> None:
    """Paths without a slash, encoded and doubled ones, out of the folder of files; each with the headers of a page."""
    found, answer = ask(place, line)
    assert found == status
    assert "content-security-policy: default-src 'none'" in answer
    assert "Traceback" not in answer


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ("", b"x", 200),
        ("Content-Type: application/json\r\n", b"{}", 200),
        (FORM, b"format=\xff", 400),
        (FORM, b"toggle=x&" * 10_000, 400),
        ("Content-Type: multipart/form-data\r\n", b"x", 400),
        (MULTIPART, b'--x\r\nContent-Disposition: form-data; name="a"; filename="b"\r\n\r\nx\r\n--x--\r\n', 400),
        (MULTIPART, b"--x\r\nbroken", 200),
    ],
)
def test_odd_forms_are_answered_without_a_crash(place: str, headers: str, body: bytes, status: int) -> None:
    """Whatever the body claims to be, it is read up to a limit, and files are not."""
    assert ask(place, f"POST /{TOKEN}/review", f"Origin: http://{place}\r\n{headers}", body)[0] == status


def test_a_client_that_sends_no_end_does_not_keep_the_page_alive(tmp_path: Path) -> None:
    """Ctrl+C ends it all the same."""
    with page_of(Desk(tasks, "tasks_server:shape", SettingsFile(tmp_path / "settings.toml"))) as address:
        parts = urlsplit(address)
        slow = socket.create_connection(("127.0.0.1", parts.port or 0), timeout=20)
        head = f"POST {parts.path}review HTTP/1.1\r\nHost: {parts.netloc}\r\nOrigin: http://{parts.netloc}\r\n{FORM}"
        slow.sendall(f"{head}Content-Length: 9\r\nExpect: 100-continue\r\n\r\n".encode())
        assert slow.recv(12) == b"HTTP/1.1 100"
    slow.close()


def send(app: Any, scope: dict[str, Any], *messages: dict[str, Any]) -> int:
    """One request without a socket, and the status of the answer."""
    sent, coming = list[dict[str, Any]](), iter(messages)

    async def receive() -> dict[str, Any]:
        return next(coming)

    async def note(message: dict[str, Any]) -> None:
        sent.append(message)

    whole = {"type": "http", "method": "GET", "query_string": b"", "root_path": "", "http_version": "1.1", **scope}
    anyio.run(app, whole, receive, note)
    return int(sent[0]["status"])


def test_a_client_that_vanishes_is_no_crash(tmp_path: Path) -> None:
    """A tab that is closed while it sends leaves no traceback in the terminal."""
    app = make_app(Desk(tasks, "tasks_server:shape", SettingsFile(tmp_path / "settings.toml")), port=8000, token=TOKEN)
    headers = [(b"host", b"127.0.0.1:8000"), (b"origin", b"http://127.0.0.1:8000")]
    headers.append((b"content-type", b"application/x-www-form-urlencoded"))
    scope = {"method": "POST", "path": f"/{TOKEN}/save", "headers": headers}
    begun = {"type": "http.request", "body": b"format=", "more_body": True}
    assert send(app, scope, begun, {"type": "http.disconnect"}) == 400


def test_at_the_usual_port_browsers_do_not_name_it() -> None:
    """`http://127.0.0.1/` is the address there, and another port in it is not this one."""

    async def page(_scope: Any, _receive: Any, send_on: Any) -> None:
        await send_on({"type": "http.response.start", "status": 200, "headers": []})

    gate = Gate(page, 80, TOKEN)
    for host, status in ((b"127.0.0.1", 200), (b"localhost", 200), (b"127.0.0.1:81", 403), (b"evil.example", 403)):
        headers = [(b"host", host), (b"origin", b"http://" + host)]
        assert send(gate, {"path": f"/{TOKEN}/", "headers": headers}) == status
