"""The preview page, served from this process, and a real browser that looks at it."""

import os
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from calendar_server import shape as calendar
from mcpshape.preview._app import Desk
from mcpshape.preview._saving import SettingsFile
from mcpshape.preview._server import prepare

SCHEMES: tuple[Literal["light"], Literal["dark"]] = ("light", "dark")
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


def take_pictures(folder: Path) -> None:
    """The pictures of the documentation: the page in both schemes, and the list before something wider is saved."""
    with TemporaryDirectory() as temporary, browser() as opened:
        path = Path(temporary, "settings.toml")
        path.write_text('level = "minimal"\n', encoding="utf-8")
        with page_of(Desk(calendar, "calendar_server:shape", SettingsFile(path))) as address:
            for scheme in SCHEMES:
                with opened.new_context(color_scheme=scheme, viewport={"width": 1200, "height": 860}) as context:
                    page = context.new_page()
                    page.goto(f"{address}?tool=get_event&level=standard&against=minimal")
                    _without_path(page)
                    page.screenshot(path=folder / f"preview-{scheme}.png")
            page = opened.new_page(viewport={"width": 1200, "height": 620})
            page.goto(f"{address}?tool=get_event&level=standard")
            page.get_by_role("button", name="Save …").click()
            _without_path(page)
            page.screenshot(path=folder / "preview-review.png")


def _without_path(page: Page) -> None:
    """Show the name of the settings file alone, and not where it lay when the picture was taken."""
    shown = page.get_by_text("settings.toml").first
    shown.evaluate("node => { node.textContent = node.textContent.replace(/\\/\\S+\\//, '') }")


if __name__ == "__main__":
    take_pictures(Path(__file__).parents[1] / "docs" / "images")
