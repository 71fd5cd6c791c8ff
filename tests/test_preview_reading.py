"""The preview page for whoever reads it in another way: by keyboard, by ear, in a narrow window, and in large."""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from playwright.sync_api import Browser, expect
from pydantic import BaseModel, create_model

import mcpshape.preview
from mcpshape import Mask, Policy, Prose, Shape, Since, Toggle, When
from mcpshape.preview._app import Desk
from mcpshape.preview._rendering import render, render_markdown
from mcpshape.preview._saving import SettingsFile
from preview_page import browser, page_of

LONG = "x" * 200
LEVELS = ("strict", *(f"level_{number}_{'y' * number * 3}" for number in range(28)), LONG)
TOGGLES = {
    f"toggle_{number}_{'z' * number * 4}": Toggle(on_since=LONG, offered_since="level_0_") for number in range(40)
}
POLICY = Policy(levels=LEVELS, toggles=TOGGLES)
NAME = "a  name with   spaces " + "c" * 150


class Plain(BaseModel):
    title: Annotated[str, Since("level_0_", below=Mask("m" * 200))]
    note: Annotated[str, Since("level_0_"), Prose()]


FIELDS: Any = {f"key_{name}": (Annotated[str, When(name, otherwise=Mask("m" * 150))], "v" * 300) for name in TOGGLES}
Wide: Any = create_model("Wide", **FIELDS)


def make_shape() -> Shape:
    """As many tools, levels, toggles and keys as nobody should have, with names as long as they can be."""
    minimal = POLICY.grant("level_0_")
    shape = Shape(POLICY, encoder="toon", grant=minimal, clients={NAME: minimal})
    plain = Plain(title="t" * 300, note="# Heading\n\n## Another\n\ntext " + "w" * 500)
    for number in range(60):

        def tool() -> Plain:
            raise NotImplementedError

        tool.__name__, tool.__doc__ = f"tool_{number}_{'t' * number * 2}", f"Get it. {'d' * 200}"
        tool.__annotations__["return"] = Wide if number == 1 else Plain
        shape.tool(example=Wide if number == 1 else lambda: plain)(tool)
    return shape


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path = tmp_path_factory.mktemp("reading") / f"{'f' * 200}.toml"
    path.write_text('level = "level_0_"\n', encoding="utf-8")
    with page_of(Desk(make_shape(), f"place:{'p' * 200}", SettingsFile(path, "READ_"))) as served:
        yield served


@pytest.mark.parametrize("width", [320, 640])
def test_nothing_is_wider_than_a_narrow_window(chromium: Browser, address: str, width: int) -> None:
    """320 pixels are 1280 at 400 % (WCAG 1.4.10): names, values and paths without a space break, tables scroll."""
    page = chromium.new_page(viewport={"width": width, "height": 700})

    def fits() -> bool:
        return bool(page.locator("html").evaluate("node => node.scrollWidth") <= width)

    for query in (f"level={LONG}&tool=tool_1_tt", f"level={LONG}&format=markdown", f"against={LONG}", f"level=n{LONG}"):
        page.goto(f"{address}?{query}&client=client {NAME}")
        assert fits(), query
    page.goto(f"{address}?level={LONG}")
    page.get_by_role("button", name="Save …").click()
    expect(page.locator("#widened tbody tr")).to_have_count(len(TOGGLES))
    page.wait_for_load_state("load")
    assert fits()
    page.close()


def test_headings_follow_one_another_and_what_can_be_focused_has_a_name(chromium: Browser, address: str) -> None:
    """For screen readers (WCAG 1.3.1, 4.1.2): one first heading, none left out, not even by Markdown in a value."""
    page = chromium.new_page()
    page.goto(f"{address}?level={LONG}&format=markdown&against=strict")
    levels = page.locator("h1,h2,h3,h4,h5,h6").evaluate_all("nodes => nodes.map(node => Number(node.tagName[1]))")
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    nameless = "nodes => nodes.filter(node => !(node.getAttribute('aria-label') && node.getAttribute('role'))).length"
    assert page.locator("[tabindex='0']").evaluate_all(nameless) == 0
    unlabelled = "nodes => nodes.filter(node => node.type !== 'hidden' && !node.labels.length).length"
    assert page.locator("#choice select, #choice input").evaluate_all(unlabelled) == 0
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(":focus")).to_have_id("answer")
    page.close()


def test_a_name_with_spaces_is_sent_as_it_is(chromium: Browser, address: str) -> None:
    """What a list shows with its spaces folded is chosen with all of them."""
    page = chromium.new_page()
    page.goto(f"{address}?level={LONG}")
    page.get_by_label("Client").select_option(index=1)
    expect(page.locator(".narrowed")).to_contain_text("narrowed by client a name")
    expect(page.locator(".narrowed")).to_contain_text(
        f"This caller is told what level_0_ tells, and not what {LONG} does"
    )
    expect(page.get_by_label("Client")).to_have_value(f"client {NAME}")
    page.close()


def test_what_was_opened_stays_open(chromium: Browser, address: str) -> None:
    """Another choice does not close what somebody is reading."""
    page = chromium.new_page()
    page.goto(address)
    page.locator("summary", has_text="Who decided").click()
    page.get_by_label("Format").select_option("json")
    expect(page.locator("#structured")).to_contain_text("Output schema")
    expect(page.locator("#reasons")).to_have_attribute("open", "")
    expect(page.locator("#schema")).not_to_have_attribute("open", "")
    page.close()


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_text_stands_out_from_its_ground_in_both_schemes() -> None:
    """WCAG 1.4.3: 4.5 to 1 for each colour of text on each ground that it stands on."""
    css = Path(mcpshape.preview.__file__).with_name("files").joinpath("page.css").read_text(encoding="utf-8")
    schemes = [
        dict(re.findall(r"--(\w+): (#\w{6})", scheme)) for scheme in re.findall(r":root \{(.*?)\}", css, re.DOTALL)
    ]
    assert len(schemes) == 2
    pairs = [(text, ground) for text in ("ink", "quiet", "accent", "warning") for ground in ("ground", "paper")]
    for colours in schemes:
        for text, ground in [*pairs, ("ink", "more"), ("ink", "less")]:
            light, dark = sorted((luminance(colours[text]), luminance(colours[ground])), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (text, ground)


@pytest.mark.parametrize(
    "text", ["word " * 600_000, "a\n\n" * 1_000_000, "[" * 3_000_000, "| a " * 700_000, "- a\n" * 700_000]
)
def test_a_note_of_three_megabytes_is_rendered_in_part(text: str) -> None:
    """It would take minutes else; a short text is rendered whole."""
    assert 10_000 < len(render_markdown(text)) < 500_000
    assert "end</p>" in render_markdown(f"{'a' * 40_000}\n\nend")


@pytest.mark.parametrize(
    "text",
    [
        "[a](javascript:alert(1)) [b](JaVaScRiPt&#58;alert(1)) [c](data:text/html,x) [d](vbscript:x)",
        "<javascript:alert(1)> <https://evil.example/> https://evil.example/",
        "[a][r] ![b][r]\n\n[r]: https://evil.example/ 'onclick=\"x\"'",
        "<div onclick=alert(1)>\n\n<!-- x -->\n\n<?php ?>\n\n<![CDATA[x]]>",
        "&lt;script&gt; &#60;img src=x onerror=alert(1)&#62;",
        '```html onload=x"><script>\n<script>\n```',
        "[^1]\n\n[^1]: <script>x</script>",
        ">" * 5_000 + " deep",
        "".join(f"{' ' * depth}- x\n" for depth in range(300)),
    ],
)
def test_markdown_becomes_no_link_no_picture_and_no_markup(text: str) -> None:
    """Whatever tries: schemes, autolinks, references, blocks of HTML, entities, fences, footnotes, nesting."""
    tags = set(re.findall(r"<(\w+)", render_markdown(text)))
    assert tags <= {"p", "span", "blockquote", "ul", "li", "pre", "code", "h3", "h4"}
    assert set(re.findall(r"<\w+ (\w+)=", render_markdown(text))) <= {"class"}


def test_a_name_that_is_no_text_can_be_shown() -> None:
    """File systems have names that are no Unicode, which a page must not break on."""
    assert "a?b" in render("refusal.html", where="a\udcffb", problems=[])
