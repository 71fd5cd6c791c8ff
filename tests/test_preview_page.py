"""The preview page in a real browser: what it shows, what it saves, and what nothing on it can do."""

import http.client
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect
from pydantic import BaseModel

from calendar_server import shape as calendar
from mcpshape import Always, Mask, Policy, Prose, Shape, Since, Toggle, When
from mcpshape.encoders import Toon
from mcpshape.preview._app import Desk
from mcpshape.preview._saving import SettingsFile
from preview_page import TOKEN, browser, page_of
from tasks_server import shape as tasks

HOSTILE = "<script>document.title = 'taken'</script><img src='https://evil.example/x' onerror='alert(1)'>"
PROSE = f"# Heading\n\n{HOSTILE}\n\n[a link](https://evil.example/) ![an image](https://evil.example/i)\n\n<b>bold</b>"
POLICY = Policy(
    levels=("strict", "<b>wide</b>"),
    toggles={"<i>more</i>": Toggle(on_since="<b>wide</b>", offered_since="strict")},
)

# None of these is in the page itself.
_ELEMENTS = "img, iframe, object, embed, form form, b, i, main a, script:not([src])"


class Hostile(BaseModel):
    title: Annotated[str, Always()]
    masked: Annotated[str, Since("<b>wide</b>", below=Mask(HOSTILE))]
    more: Annotated[str, When("<i>more</i>")]
    note: Annotated[str, Since("<b>wide</b>"), Prose()]


hostile = Shape(POLICY, encoder=Toon(), clients={HOSTILE: POLICY.grant("<b>wide</b>")})


@hostile.tool(example=lambda: Hostile(title=HOSTILE, masked=HOSTILE, more=HOSTILE, note=PROSE))
def get_it() -> Hostile:
    """Get it. <script>document.title = 'taken'</script><b>at once</b>."""
    raise NotImplementedError


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as opened:
        yield opened


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    opened = chromium.new_page()
    opened.set_default_timeout(10_000)
    yield opened
    opened.close()


@pytest.fixture
def file(tmp_path: Path) -> SettingsFile:
    path = tmp_path / "settings.toml"
    path.write_text('# Ours.\nlevel = "minimal"\nme = ["ada@example.com"]\n', encoding="utf-8")
    return SettingsFile(path, "PREVIEWED_")


@pytest.fixture
def address(file: SettingsFile) -> Iterator[str]:
    with page_of(Desk(calendar, "calendar_server:shape", file)) as served:
        yield served


def answer(page: Page) -> Any:
    return page.locator("#answer pre")


def test_a_toggle_that_is_flipped_takes_its_key_away(page: Page, address: str) -> None:
    """B4, B6: flip a switch, see the key vanish; the switch that needs it goes off and cannot be turned on."""
    page.goto(f"{address}?tool=get_event&level=detailed")
    expect(answer(page)).to_contain_text("attendees[3]{name,email}")
    expect(answer(page)).to_contain_text("notes:")
    page.get_by_label("notes").uncheck()
    expect(answer(page)).not_to_contain_text("notes:")
    page.get_by_label("attendee_names").uncheck()
    expect(answer(page)).not_to_contain_text("attendees")
    expect(page.get_by_label("attendee_emails")).to_be_disabled()
    expect(page.get_by_label("attendee_emails")).not_to_be_checked()
    page.get_by_label("standard").check()
    expect(answer(page)).to_contain_text("notes:")
    expect(page.get_by_label("notes")).to_be_checked()


def test_strict_shows_the_masked_title_and_no_switches(page: Page, address: str) -> None:
    """B2, B4: `[Event]` stands in place of titles, and the switches do not exist."""
    page.goto(f"{address}?level=minimal")
    expect(answer(page)).to_contain_text("Sprint planning")
    page.get_by_label("strict").check()
    expect(answer(page)).to_contain_text('"[Event]"')
    expect(answer(page)).not_to_contain_text("Sprint planning")
    expect(page.get_by_role("checkbox")).to_have_count(0)
    expect(page.locator("#contrast")).to_contain_text("masked as [Event]")
    expect(page.locator("code.withheld", has_text="events.location")).to_be_visible()


def test_levels_and_toggles_are_said_in_words(page: Page, address: str) -> None:
    """B1: the question of each level, what a toggle tells, and from which level on there are more."""
    page.goto(f"{address}?level=minimal")
    expect(page.locator("#choice")).to_contain_text("Is this time taken?")
    expect(page.locator("#choice")).to_contain_text("From standard on: attendee_names, attendee_emails,")
    page.get_by_label("standard").check()
    expect(page.locator("#choice")).to_contain_text("What is written about an event.")
    expect(page.locator("#choice")).not_to_contain_text("From standard on")


def test_saving_a_wider_level_lists_what_would_leave_first(page: Page, address: str, file: SettingsFile) -> None:
    """The list comes before anything is written; then the file says the level, and all else that it said."""
    before = file.path.read_bytes()
    page.goto(f"{address}?tool=get_event&level=standard")
    page.get_by_role("button", name="Save …").click()
    rows = page.locator("#widened tbody tr")
    expect(rows.filter(has_text="get_event").filter(has_text="notes")).to_contain_text("withheld")
    expect(rows.filter(has_text="get_event").filter(has_text="organizer")).to_contain_text("Ada Moreau")
    assert file.path.read_bytes() == before
    page.get_by_role("link", name="Back, without saving").click()
    expect(page.get_by_label("standard")).to_be_checked()
    page.get_by_role("button", name="Save …").click()
    page.get_by_role("button", name="Save, and let it leave").click()
    expect(page.get_by_role("status").filter(has_text="Saved.")).to_be_visible()
    written = file.path.read_text(encoding="utf-8")
    assert tomllib.loads(written) == {"level": "standard", "me": ["ada@example.com"]}
    assert written.startswith("# Ours.\n")
    page.get_by_label("strict").check()
    expect(answer(page)).to_contain_text("[Event]")
    page.get_by_role("button", name="Save …").click()
    expect(page.locator("#nothing")).to_have_text("Nothing would newly leave.")


def test_what_changed_meanwhile_is_not_written_over(page: Page, address: str, file: SettingsFile) -> None:
    """Somebody else's change is seen before one's own."""
    page.goto(f"{address}?level=standard")
    page.get_by_role("button", name="Save …").click()
    file.path.write_text('level = "strict"\n', encoding="utf-8")
    page.get_by_role("button", name="Save, and let it leave").click()
    expect(page.locator("#problems")).to_contain_text("it has changed since you looked")
    assert file.path.read_text(encoding="utf-8") == 'level = "strict"\n'


def test_it_works_by_keyboard_alone(page: Page, address: str) -> None:
    """From the first key on: the answer can be reached at once, the level changed, and focus stays where it was."""
    page.goto(f"{address}?tool=get_event&level=standard")
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_text("To the answer")
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_attribute("id", "tool")
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_value("standard")
    page.keyboard.press("ArrowDown")
    expect(answer(page)).to_contain_text("attendees[3]{name,email}")
    expect(page.locator(":focus")).to_have_value("detailed")
    expect(page.locator("#status")).to_have_text("get_event at detailed · calendar_server:shape")


def test_it_can_be_read_and_used_without_javascript(chromium: Browser, address: str) -> None:
    """The form sends itself; a level that is chosen brings its own toggles."""
    with chromium.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{address}?tool=get_event&level=minimal")
        page.get_by_label("standard").check()
        page.get_by_role("button", name="Show").click()
        expect(answer(page)).to_contain_text("notes:")
        page.get_by_label("notes").uncheck()
        page.get_by_role("button", name="Show").click()
        expect(answer(page)).not_to_contain_text("notes:")
        page.get_by_role("button", name="Save …").click()
        expect(page.locator("#widened")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_narrow_windows_and_both_schemes(chromium: Browser, address: str, scheme: Any) -> None:
    """Nothing but what scrolls by itself is wider than the window; text and ground differ in either scheme."""
    with chromium.new_context(color_scheme=scheme, viewport={"width": 360, "height": 700}) as context:
        page = context.new_page()
        page.goto(f"{address}?tool=list_events_between&level=detailed&format=markdown&against=strict")
        assert page.locator("html").evaluate("node => node.scrollWidth") <= 360
        ground = page.locator("body").evaluate("node => getComputedStyle(node).backgroundColor")
        assert (ground == "rgb(251, 251, 249)") == (scheme == "light")


def test_markup_in_values_is_inert(chromium: Browser) -> None:
    """HTML, scripts, images and links in every value, mask, name and description are text, on each page of it."""
    with chromium.new_context() as context, page_of(Desk(hostile, f"place:{HOSTILE}")) as address:
        page, asked, said = context.new_page(), list[str](), list[str]()
        page.on("request", lambda request: asked.append(request.url))

        def note(dialog: Dialog) -> None:
            said.append(dialog.message)
            dialog.dismiss()

        page.on("dialog", note)
        for query in ("format=markdown", "format=json", "format=toon", f"client=client {HOSTILE}", "against=strict"):
            for level in ("strict", "<b>wide</b>"):
                page.goto(f"{address}?{query}&level={level}")
                expect(page.locator("#answer")).to_contain_text("<script>document.title = 'taken'</script>")
                assert page.locator(_ELEMENTS).count() == 0
                assert page.title() == f"get_it at {level} · place:{HOSTILE}"
        page.goto(f"{address}?level=<script>document.title='taken'</script>")
        expect(page.locator("#problems")).to_contain_text("<script>document.title='taken'</script>")
        page.goto(f"{address}?format=markdown&level=<b>wide</b>")
        rendered = page.locator(".rendered")
        expect(rendered.get_by_role("heading", name="Heading")).to_be_visible()
        expect(rendered.locator(".link").first).to_have_attribute("title", "https://evil.example/")
    assert said == []
    assert {urlsplit(url).hostname for url in asked} == {"127.0.0.1"}


def test_saving_hostile_names_shows_them_as_text(page: Page, tmp_path: Path) -> None:
    """The list of what would leave escapes as well."""
    with page_of(Desk(hostile, "x:y", SettingsFile(tmp_path / "<b>settings</b>.toml"))) as address:
        page.goto(f"{address}?level=<b>wide</b>")
        page.get_by_role("button", name="Save …").click()
        expect(page.locator("#widened")).to_contain_text("<img src=")
        assert page.locator("img, b, i, script").count() == 0


def request(address: str, method: str = "GET", path: str = "", **headers: str) -> tuple[int, Mapping[str, str], str]:
    """One request as it is, with headers that no browser would let a page choose."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection("127.0.0.1", parts.port, timeout=10)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, f"{parts.path}{path}", body="" if method == "POST" else None, headers=named)
    response = connection.getresponse()
    read = response.read().decode()
    connection.close()
    return response.status, {name.lower(): value for name, value in response.getheaders()}, read


def test_no_other_site_and_no_other_name_gets_in(address: str, file: SettingsFile) -> None:
    """Host (DNS rebinding), Origin and what caused the request are checked, and the token is needed for everything."""
    before = file.path.read_bytes()
    host = urlsplit(address).netloc
    assert request(address)[0] == 200
    assert request(address, Host=f"localhost:{urlsplit(address).port}")[0] == 200
    assert request(address, Host="evil.example")[0] == 403
    assert request(address, Host=f"evil.example:{urlsplit(address).port}")[0] == 403
    assert request(address, Origin="https://evil.example")[0] == 403
    assert request(address, Origin="null")[0] == 403
    assert request(address, Sec_Fetch_Site="cross-site")[0] == 403
    assert request(address.replace(TOKEN, "guessed"))[0] == 403
    assert request(address.replace(f"/{TOKEN}", ""))[0] == 403
    assert request(address.replace(TOKEN, "guessed"), path="files/page.css")[0] == 403
    assert request(address, "POST", "save")[0] == 403
    assert request(address, "POST", "save", Origin="https://evil.example")[0] == 403
    assert request(address, "POST", "save", Origin=f"http://{host}")[0] == 400
    assert request(address, "GET", "save")[0] == 405
    assert file.path.read_bytes() == before


def test_no_websocket_is_opened(address: str) -> None:
    """The page has no use for one: whoever asks for it is given the page."""
    asks = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "x" * 22,
    }
    assert request(address, **asks)[0] == 200


def test_every_answer_tells_browsers_what_they_may_do(address: str) -> None:
    """A strict content security policy, nothing kept, no other site around it."""
    for path, host in (("", None), ("files/page.js", None), ("nothing", None), ("", "evil.example")):
        headers = request(address, path=path, **({"Host": host} if host else {}))[1]
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; ")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"


def test_without_a_settings_file_nothing_can_be_saved() -> None:
    """The page says how, and there is no address to save to."""
    with page_of(Desk(tasks, "tasks_server:shape")) as address:
        assert "--settings" in request(address)[2]
        assert request(address, "POST", "save", Origin=f"http://{urlsplit(address).netloc}")[0] == 404


def test_a_broken_settings_file_is_named_on_the_page(address: str, file: SettingsFile) -> None:
    """And read again at the next look."""
    good = file.path.read_bytes()
    file.path.write_bytes(b"level =")
    status, _, page = request(address)
    assert status == 400
    assert "it is no TOML" in page
    file.path.write_bytes(good)
    assert request(address)[0] == 200


def test_unknown_callers_are_refused(address: str) -> None:
    """A caller is a principal, a scope or a client."""
    assert "it is no caller" in request(address, path="?client=somebody")[2]
    assert request(address, path="?signed_in=scope+read&client=nobody")[0] == 200
