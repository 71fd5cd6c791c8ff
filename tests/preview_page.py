"""The preview page, served from this process, and a real browser that looks at it."""

import os
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, sync_playwright

from mcpshape.preview._app import Desk
from mcpshape.preview._server import prepare

TOKEN = "a-token-that-nobody-guesses"


@contextmanager
def page_of(desk: Desk) -> Iterator[str]:
    """The address of the page while it is served."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        server = prepare(desk, listening, TOKEN)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{port}/{TOKEN}/"
        finally:
            server.should_exit = True
            thread.join()


@contextmanager
def browser() -> Iterator[Browser]:
    """Chromium as Debian and others install it."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("there is no Chromium on this machine")
    with sync_playwright() as driver:
        # A container has no user whom Chromium's own sandbox could run as.
        opened = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()
