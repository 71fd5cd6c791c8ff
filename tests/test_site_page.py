"""The documentation site in a real browser: it asks nobody else, fits narrow windows, and finds what is sought."""

from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from typing_extensions import override

from preview_page import browser
from sites import build

pytestmark = pytest.mark.no_cover


class Quiet(SimpleHTTPRequestHandler):
    """Files of a folder, without a line for each request."""

    @override
    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as opened:
        yield opened


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    with chromium.new_context(viewport={"width": 400, "height": 800}, color_scheme="dark") as context:
        yield context.new_page()


def test_pages_ask_no_other_host_and_fit_a_narrow_window(page: Page, site: Path, address: str) -> None:
    """Wide tables and code scroll by themselves, the page does not; nothing is missing or fails in the browser."""
    asked: list[str] = []
    failed: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("response", lambda response: failed.append(response.url) if response.status >= 400 else None)
    page.on("pageerror", lambda error: failed.append(str(error)))
    wide = []
    for built in sorted(site.rglob("index.html")):
        name = str(built.parent.relative_to(site))
        page.goto(f"{address}{'' if name == '.' else f'{name}/'}")
        width = page.evaluate("document.documentElement.scrollWidth")
        wide += [] if width <= 400 else [f"{name}: {width}"]
    assert wide == []
    assert failed == []
    assert asked
    assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []


def test_the_site_follows_the_scheme_of_the_system(page: Page, address: str) -> None:
    """Dark where the system is."""
    page.goto(address)
    expect(page.locator("body")).to_have_attribute("data-md-color-scheme", "slate")


def test_a_picture_of_one_scheme_is_shown_in_that_scheme_alone(page: Page, address: str) -> None:
    """No bright picture on a dark page."""
    page.goto(f"{address}how-to/preview/")
    expect(page.locator("img[src*='preview-dark.png']")).to_be_visible()
    expect(page.locator("img[src*='preview-light.png']")).to_be_hidden()
    page.emulate_media(color_scheme="light")
    page.reload()
    expect(page.locator("img[src*='preview-dark.png']")).to_be_hidden()
    expect(page.locator("img[src*='preview-light.png']")).to_be_visible()


def test_search_finds_a_page_by_what_it_says(page: Page, address: str) -> None:
    """Without a service: the index comes with the site."""
    page.set_viewport_size({"width": 1200, "height": 800})
    page.goto(address)
    page.get_by_role("button", name="Search").first.click()
    page.keyboard.type("grapheme")
    expect(page.locator("a[href*='reference/']").filter(has_text="Clip").first).to_be_visible()
