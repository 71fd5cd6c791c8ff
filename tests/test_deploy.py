"""What docs/how-to/deploy.md shows: the proxy, the unit and the container, started for real."""

import http.client
import json
import re
import shlex
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from code_blocks import read_blocks
from mcpshape.testing import decode
from replicas import CALENDAR, MODES, Replica, calendar, call, free_port, listening, process, text_of
from test_operation import SECRET, WEEK, pages
from test_settings import write

pytestmark = [pytest.mark.anyio, pytest.mark.no_cover]

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "docs" / "deploy"
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/bin")
needs_nginx = pytest.mark.skipif(NGINX is None, reason="nginx is not installed (Debian: nginx-light)")
# What is around the file on a server: one process at one place, and here nothing outside of a folder.
AROUND = """pid nginx.pid;
error_log error.log;
events {}
http {
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    log_format upstreams "$upstream_addr $status";
    access_log access.log upstreams;
    include calendar.conf;
}
"""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@dataclass(frozen=True, slots=True)
class Site:
    """nginx with two replicas behind it."""

    folder: Path
    proxy: Replica
    replicas: tuple[Replica, Replica]

    async def answered(self, count: int) -> set[tuple[str, ...]]:
        """Which replicas have answered, and with what, once so many have; nginx writes it down behind the answer."""
        for _ in range(3000):
            if len({address for address, *_ in self._log()} - {"-"}) >= count:
                break
            await anyio.sleep(0.01)
        return self._log()

    def _log(self) -> set[tuple[str, ...]]:
        return {tuple(line.split()) for line in (self.folder / "access.log").read_text().splitlines()}


def configure(folder: Path, port: int, *upstreams: int) -> list[str]:
    """The shown configuration with other ports, and the command that serves it."""
    text = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
    for shown, real in zip((8080, 8001, 8002), (port, *upstreams), strict=True):
        text = text.replace(f":{shown}", f":{real}")
    (folder / "calendar.conf").write_text(text, encoding="utf-8")
    (folder / "nginx.conf").write_text(AROUND, encoding="utf-8")
    return [str(NGINX), "-p", str(folder), "-e", "error.log", "-c", "nginx.conf"]


@asynccontextmanager
async def site(folder: Path) -> AsyncIterator[Site]:
    """Two replicas with one secret and one settings file, and nginx in front."""
    write(folder / "settings.toml", "limit = 1")
    options = ("--privacy", "minimal", "--config", str(folder / "settings.toml"))
    async with AsyncExitStack() as stack:
        one, other = [
            await stack.enter_async_context(calendar(*options, MCPSHAPE_CALENDAR_SECRET=SECRET)) for _ in range(2)
        ]
        command = configure(folder, free_port(), one.port, other.port)
        port = int(re.findall(r"listen 127.0.0.1:(\d+)", (folder / "calendar.conf").read_text())[0])
        proxy = stack.enter_context(process(port, [*command, "-g", "daemon off;"]))
        await listening(proxy)
        yield Site(folder, proxy, (one, other))


@needs_nginx
def test_nginx_takes_the_configuration(tmp_path: Path) -> None:
    """`nginx -t`, without a warning."""
    command = configure(tmp_path, free_port(), 8001, 8002)
    tested = subprocess.run([*command, "-t", "-q"], capture_output=True, text=True, check=False)
    assert (tested.returncode, tested.stderr) == (0, "")


@needs_nginx
async def test_a_session_over_nginx_goes_on_at_either_replica_and_at_the_one_that_is_left(tmp_path: Path) -> None:
    """Pages and handles over the proxy, whichever replica answers; one that dies is passed over."""
    async with site(tmp_path) as served:
        for mode in MODES:
            async with Client(served.proxy.url, mode=mode) as client:
                told = await pages(client, tool="list_events_between", **WEEK)
                ids = [event["id"] for page in told for day in page["days"] for event in day["events"]]
                for event_id in ids:
                    assert decode(await call(client, "get_event", event_id=event_id))["id"] == event_id
        both = {f"127.0.0.1:{each.port}" for each in served.replicas}
        assert {address for address, status in await served.answered(len(both)) if status == "200"} == both
        served.replicas[0].kill()
        async with Client(served.proxy.url) as client:
            for _ in range(4):
                assert not (await call(client, "list_events", day="2026-07-13")).is_error


@needs_nginx
async def test_a_stream_over_nginx_tells_while_it_is_open(tmp_path: Path) -> None:
    """Nothing is held back until a stream ends; each replica tells those that listen to it."""
    async with site(tmp_path) as served, Client(served.proxy.url) as client:
        async with client.listen(tools_list_changed=True) as events:
            write(tmp_path / "settings.toml", 'format = "markdown"')
            for _ in served.replicas:
                await call(client, "list_events", day="2026-07-13")
            with anyio.fail_after(10):
                async for _ in events:
                    break
        assert text_of(await call(client, "list_events", day="2026-07-13")).startswith("- ")


def post(port: int, path: str, body: bytes, headers: Mapping[str, str]) -> tuple[int, str]:
    """A request as it is, and its status and text."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        connection.request("POST", path, body, {"content-type": "application/json", **headers})
        with connection.getresponse() as response:
            return response.status, response.read().decode()


REFUSED = [
    ({"authorization": "x" * 9000}, b"{}", "/mcp", 400),
    ({f"x-{each}": "x" * 7000 for each in range(6)}, b"{}", "/mcp", 400),
    ({}, b" " * (1 << 20) + b"{}", "/mcp", 413),
    ({"host": "calendar.example.com"}, b"{}", "/mcp", 421),
    ({}, b"{}", "/other", 404),
    ({"authorization": "x" * 7000}, b"{}", "/mcp", 406),
]


@needs_nginx
async def test_nginx_refuses_what_is_too_large_or_for_somebody_else(tmp_path: Path) -> None:
    """Limits of headers and bodies, names, and paths; only the last one reaches a replica, which misses an Accept."""
    async with site(tmp_path) as served:
        for headers, body, path, status in REFUSED:
            assert post(served.proxy.port, path, body, headers)[0] == status
        assert len([address for address, *_ in await served.answered(1) if address != "-"]) == 1


def filled(text: str, folder: Path, port: int) -> str:
    """A command with paths and ports that are here."""
    shown = {
        "/opt/calendar/bin/mcpshape-calendar": CALENDAR[0],
        "/etc/mcpshape/calendar.toml": str(folder / "settings.toml"),
        "/var/lib/calendar/work.ics": str(ROOT / "examples" / "calendar_server" / "sample.ics"),
        "%d": str(folder),
        "%i": str(port),
        "8000": str(port),
        "0.0.0.0": "127.0.0.1",
    }
    for each, real in shown.items():
        text = text.replace(each, real)
    return text


def unit_of(text: str) -> Iterator[tuple[str, str]]:
    """The assignments of a unit, with lines that go on put together."""
    yield from re.findall(r"^(\w+)=(.*)$", text.replace("\\\n", " "), re.MULTILINE)


def unit_command(folder: Path, port: int) -> tuple[list[str], dict[str, str]]:
    text = filled((DEPLOY / "mcpshape-calendar@.service").read_text(encoding="utf-8"), folder, port)
    unit = dict(unit_of(text))
    name, _, value = unit["Environment"].partition("=")
    return shlex.split(unit["ExecStart"]), {name: value}


def container_command(folder: Path, port: int) -> tuple[list[str], dict[str, str]]:
    text = filled((DEPLOY / "Dockerfile").read_text(encoding="utf-8"), folder, port)
    words = [
        word for line in re.findall(r"^(?:ENTRYPOINT|CMD) (\[.*\])$", text, re.MULTILINE) for word in json.loads(line)
    ]
    (variable,) = re.findall(
        r"-e (\w+)=/etc/mcpshape/secret", (ROOT / "docs" / "how-to" / "deploy.md").read_text("utf-8")
    )
    return [CALENDAR[0], *words[1:]], {variable: str(folder / "secret")}


@pytest.mark.parametrize("command", [unit_command, container_command])
async def test_the_commands_of_the_unit_and_the_container_serve(command: Any, tmp_path: Path) -> None:
    """With the paths and ports of here, and the secret from the file that they name."""
    write(tmp_path / "settings.toml", 'level = "minimal"')
    (tmp_path / "secret").write_text(SECRET)
    words, variables = command(tmp_path, port := free_port())
    with process(port, words, **variables) as started:
        await listening(started)
        async with Client(started.url) as client, calendar(MCPSHAPE_CALENDAR_SECRET=SECRET) as other:
            day = decode(await call(client, "list_events", day="2026-07-13"))
            async with Client(other.url) as second:
                ids = {event["id"] for event in decode(await call(second, "list_events", day="2026-07-13"))["events"]}
    assert {event["id"] for event in day["events"]} == ids


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    """`systemd-analyze verify`, without a warning."""
    text = (DEPLOY / "mcpshape-calendar@.service").read_text(encoding="utf-8")
    unit = tmp_path / "mcpshape-calendar@8001.service"
    unit.write_text(text.replace("/opt/calendar/bin/mcpshape-calendar", CALENDAR[0]))
    verified = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    assert (verified.returncode, verified.stderr) == (0, "")


async def test_a_server_of_ones_own_takes_the_names_that_it_is_called_by(tmp_path: Path) -> None:
    """The block of docs/how-to/deploy.md as a process: its own Host is answered, any other one is not."""
    page = read_blocks(ROOT / "docs" / "how-to" / "deploy.md")
    (code,) = [block.text for block in page if block.language == "python"]
    (tmp_path / "rooms.py").write_text(code)
    port = free_port()
    uvicorn = str(Path(CALENDAR[0]).with_name("uvicorn"))
    with process(port, [uvicorn, "rooms:app", "--app-dir", str(tmp_path), "--port", str(port)]) as started:
        await listening(started)
        for host, expected in (("rooms.example.com", (200, True)), ("localhost", (421, False))):
            body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find_room","arguments":{}}}'
            headers = {"host": host, "accept": "application/json, text/event-stream"}
            status, text = post(port, "/mcp", body, headers)
            assert (status, "name: A" in text) == expected
