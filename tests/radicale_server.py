"""A real Radicale as a process of its own on loopback, and another client of it that writes."""

import os
import re
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from time import monotonic
from urllib.parse import quote
from xml.sax.saxutils import escape

from replicas import free_port

USER, PASSWORD = "astrid@example.org", "kanelbulle-17"
_MKCALENDAR = """<?xml version="1.0" encoding="utf-8"?>
<C:mkcalendar xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:set><D:prop><D:displayname>{}</D:displayname>
<C:supported-calendar-component-set><C:comp name="{}"/></C:supported-calendar-component-set></D:prop></D:set>
</C:mkcalendar>
"""
_UID = re.compile(r"^UID:(.*?)\r?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Account:
    """A Radicale that may be stopped and started again, and its only user."""

    folder: Path
    port: int
    user: str = USER
    password: str = field(default=PASSWORD, repr=False)
    _running: list[subprocess.Popen[bytes]] = field(default_factory=list, repr=False)

    @property
    def url(self) -> str:
        """The root; the principal and the home of the calendars are both at `home`."""
        return f"http://127.0.0.1:{self.port}/"

    @property
    def home(self) -> str:
        return f"{self.url}{quote(self.user)}/"

    def calendar(self, name: str, shown: str = "", component: str = "VEVENT") -> None:
        """Make a calendar whose last part of the address is `name`."""
        body = _MKCALENDAR.format(escape(shown or name), component)
        self.send("MKCALENDAR", f"{name}/", body)

    def put(self, calendar: str, ics: str) -> None:
        """Write an object by its UID, and its calendar with it if there is none."""
        if self.send("PROPFIND", f"{calendar}/", "", accept=(207, 404)) == 404:
            self.calendar(calendar)
        self.send("PUT", f"{calendar}/{uid_of(ics)}.ics", ics)

    def delete(self, calendar: str, uid: str = "") -> None:
        self.send("DELETE", f"{calendar}/{uid}.ics" if uid else f"{calendar}/", "")

    def get(self, path: str) -> str:
        """What is in an object."""
        status, body = self._ask("GET", path, "")
        assert status == 200
        return body

    def send(self, method: str, path: str, body: str, *, accept: tuple[int, ...] = (200, 201, 204, 207)) -> int:
        """One request below the home, with the status of its answer."""
        status, _ = self._ask(method, path, body)
        assert status in accept, f"{method} is answered with {status}"
        return status

    def _ask(self, method: str, path: str, body: str) -> tuple[int, str]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=10)
        secret = b64encode(f"{self.user}:{self.password}".encode()).decode()
        headers = {"Authorization": f"Basic {secret}", "Depth": "0"}
        if body:
            headers["Content-Type"] = "text/calendar" if method == "PUT" else "text/xml"
        connection.request(method, f"/{quote(self.user)}/{quote(path)}", body.encode(), headers)
        response = connection.getresponse()
        answer = response.status, response.read().decode()
        connection.close()
        return answer

    def start(self) -> None:
        command = [sys.executable, "-m", "radicale", "--config", str(self.folder / "config")]
        with (self.folder / "log").open("ab") as log:
            self._running.append(subprocess.Popen(command, stdout=log, stderr=log, env=_variables()))
        self._wait()

    def stop(self) -> None:
        while self._running:
            process = self._running.pop()
            process.terminate()
            process.wait(30)

    def _wait(self) -> None:
        ends = monotonic() + 30
        while self._running[-1].poll() is None and monotonic() < ends:
            try:
                self.send("PROPFIND", "", "", accept=(207,))
            except OSError:
                continue
            return
        raise AssertionError((self.folder / "log").read_text())


@contextmanager
def radicale(folder: Path) -> Iterator[Account]:
    """A Radicale with an empty storage in a folder of its own, until the end of the block."""
    port = free_port()
    (folder / "users").write_text(f"{USER}:{PASSWORD}\n")
    options: Mapping[str, Mapping[str, object]] = {
        "server": {"hosts": f"127.0.0.1:{port}"},
        "auth": {"type": "htpasswd", "htpasswd_filename": folder / "users", "htpasswd_encryption": "plain", "delay": 0},
        "storage": {"filesystem_folder": folder / "storage"},
    }
    lines = [
        line
        for section, said in options.items()
        for line in (f"[{section}]", *(f"{name} = {value}" for name, value in said.items()))
    ]
    (folder / "config").write_text("\n".join(lines))
    account = Account(folder, port)
    try:
        account.start()
        yield account
    finally:
        account.stop()


def event(uid: str, summary: str = "Fika", *, notes: str = "") -> str:
    """A calendar of one event on 13 July 2026."""
    lines = (
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//tests//tests//EN",
        "BEGIN:VEVENT",
        f"UID:{uid}",
        "DTSTAMP:20260701T080000Z",
        "DTSTART:20260713T080000Z",
        "DTEND:20260713T090000Z",
        f"SUMMARY:{summary}",
        *([f"DESCRIPTION:{notes}"] if notes else []),
        "END:VEVENT",
        "END:VCALENDAR",
        "",
    )
    return "\r\n".join(lines)


def uid_of(ics: str) -> str:
    found = _UID.search(ics)
    assert found
    return found[1]


def _variables() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("RADICALE_")}
