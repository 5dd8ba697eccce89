"""The preview on the page of a work: hostile CSS runs nothing there, and contacts nobody (contract Q1, J2)."""

import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Frame, Page, expect

from logoadmin import CreateLogo, CreateTheme
from logoadmin.adapters.folder_gallery_files import FolderGalleryFiles
from logoadmin.bootstrap import open_gallery
from logoadmin.settings import settings_of
from tests import firefox
from tests.console.parts import counting
from tests.console.test_accessible import findings
from tests.console.test_css import HOSTILE
from tests.gallery_page.folder import PICTURE, Folder, becomes

pytestmark = [pytest.mark.slow("a browser"), pytest.mark.rule("contract Q1")]

THEME = """
@-moz-document domain("forum.example") { h1 { color: rgb(1, 2, 3); animation: k 9s infinite } }
@keyframes k { to { opacity: 0 } } @media (prefers-color-scheme: dark) { h1 { letter-spacing: 3px } }
body { background: url(../../pictures/1.svg), url(data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=) }
"""
OWN_PICTURE = "https://gone.example/a.png"
# Too many shadows, in any notation: drawing them takes minutes.
SHADOW = "0 0 500px 200px red"
HEAVY = {
    "shadows": f"h1 {{ box-shadow: {', '.join([SHADOW] * 15_000)} }}",
    "a variable": f":root {{ --a: {', '.join([SHADOW] * 99)} }} h1::after {{ content: ''; box-shadow: var(--a) }}",
    "filters": f"body {{ filter: {'blur(200px) ' * 20} }}",
    "gradients": f"body {{ background: {', '.join(['linear-gradient(red, #0000)'] * 4_000)} }}",
    "once it is touched": f"h1:hover {{ text-shadow: {', '.join(['0 0 500px red'] * 99)} }}",
}
# Replaces the CSS of the work, and shows it in a new frame.
SHOW = """(css) => {
    const frame = document.querySelector("iframe");
    const button = document.querySelector(".try");
    document.querySelector(".source code").textContent = css;
    if (frame.srcdoc) {
        button.click();
        const empty = frame.cloneNode();
        empty.removeAttribute("srcdoc");
        frame.replaceWith(empty);
    }
    button.click();
}"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = Folder(tmp_path_factory.mktemp("preview"))
    made: dict[str, Any] = {"preview_url": OWN_PICTURE, "active": True}
    with open_gallery(settings_of(database="memory:", access="open")) as gallery:
        gallery.themes.create(CreateTheme(name="Dawn", custom_css=THEME, target="forum.example", **made))
        gallery.logos.create(CreateLogo(name="Crown", custom_css="color: rgb(1, 2, 3)", target="market", **made))
        published: Path = folder.path / "published"
        gallery.publication.publish(FolderGalleryFiles(published))
    (published / "pictures").mkdir(exist_ok=True)
    (published / "pictures/1.svg").write_bytes(PICTURE)
    folder.start()
    yield f"{folder.address}published/"
    folder.stop()


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    with chromium.new_context(locale="en-GB", color_scheme="null", service_workers="block") as context:
        yield context.new_page()


def frame_of(page: Page) -> Frame:
    (_, frame) = page.frames
    return frame


def test_a_theme_is_shown_on_the_sample_page_without_motion_in_light_and_dark(page: Page, address: str) -> None:
    asked: list[str] = []
    page.goto(f"{address}themes/1/")
    page.on("request", lambda request: asked.append(request.url.removeprefix(address)))
    button = page.get_by_role("button", name="Preview")
    button.click()
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("heading", name="Latest threads")).to_be_visible()
    expect(frame.locator("h1")).to_have_css("color", "rgb(1, 2, 3)")
    inside, running = frame_of(page), "document.getAnimations().length"
    becomes(inside, "performance.getEntriesByType('resource').some(({name}) => name.endsWith('/pictures/1.svg'))")
    # Playwright may miss requests of a frame that has a process of its own.
    of_page, of_frame = {"page-preview.js", "page-sample.js"}, {"page-frame.js", "pictures/1.svg"}
    assert of_page <= {each for each in asked if not each.startswith(("data:", "about:"))} <= of_page | of_frame
    assert findings(page) == []
    assert inside.evaluate(running) == 0
    page.get_by_role("button", name="Play animations").click()
    becomes(inside, f"{running} === 1")
    page.get_by_role("button", name="On a dark page").click()
    expect(frame.locator("h1")).to_have_css("letter-spacing", "3px")
    frame.get_by_role("link", name="Members").click()
    assert (page.url, len(page.context.pages)) == (f"{address}themes/1/", 1)
    button.click()
    expect(page.locator("iframe")).to_be_hidden()


def test_a_logo_is_shown_in_light_and_dark_headers(page: Page, address: str) -> None:
    page.goto(f"{address}logos/1/")
    page.get_by_role("button", name="Preview").click()
    headers = page.frame_locator("iframe").locator(".site.market")
    expect(headers).to_have_count(4)
    expect(headers.get_by_role("heading").nth(1)).to_have_text("Dark, with this logo", use_inner_text=True)
    expect(page.frame_locator("iframe").locator(".with .logo").first).to_have_css("color", "rgb(1, 2, 3)")
    expect(page.get_by_role("button", name="On a dark page")).to_be_hidden()


@pytest.mark.rule("contract J2")
@pytest.mark.parametrize("path", ["themes/1/", "logos/1/"])
def test_hostile_css_contacts_no_host_runs_nothing_and_stays_in_the_frame(page: Page, address: str, path: str) -> None:
    answered: list[str] = []
    page.on("response", lambda response: answered.append(response.url))
    page.goto(f"{address}{path}")
    others = "document.querySelectorAll('script:not([defer]), img, link, style').length"
    with counting() as elsewhere:
        for (name, css), scheme in product(HOSTILE.items(), ("http:", "")):
            page.evaluate(SHOW, css.replace("X", f"{scheme}//{elsewhere.host}/x"))
            expect(page.frame_locator("iframe").locator(".logo").first).to_be_attached()
            page.wait_for_timeout(100)
            assert frame_of(page).evaluate(others) == 0, name
            assert page.evaluate("document.elementFromPoint(5, 5).closest('iframe')") is None, name
        assert elsewhere.asked == []
    assert [each for each in answered if not each.startswith((address, "data:"))] == []


def test_nothing_runs_in_the_frame_even_with_injected_markup(page: Page, address: str) -> None:
    page.goto(f"{address}themes/1/")
    page.get_by_role("button", name="Preview").click()
    expect(page.frame_locator("iframe").locator("h1")).to_be_visible()
    frame_of(page).evaluate(
        """() => {
            const markup = "<img src=x onerror='globalThis.ran = 1'><a href='javascript:globalThis.ran = 1'>x</a>";
            document.body.insertAdjacentHTML("beforeend", markup);
            const script = document.createElement("script");
            script.textContent = "globalThis.ran = 1";
            document.body.append(script);
            document.querySelector("[href^=javascript]").click();
        }"""
    )
    page.wait_for_timeout(200)
    assert frame_of(page).evaluate("[globalThis.ran ?? 0, origin]") == [0, "null"]


@pytest.mark.parametrize("name", HEAVY)
def test_css_that_takes_minutes_to_paint_is_not_shown_and_reported(page: Page, address: str, name: str) -> None:
    page.goto(f"{address}themes/1/")
    page.evaluate(SHOW, HEAVY[name])
    frame = page.frame_locator("iframe")
    expect(frame.locator("h1")).to_have_css("font-size", "20px")
    if "hover" in HEAVY[name]:
        expect(page.get_by_text("too long to draw")).to_be_hidden()
        frame.locator("h1").hover()
    expect(page.get_by_text("too long to draw")).to_be_visible()
    page.screenshot(timeout=10_000)
    assert frame_of(page).evaluate("document.adoptedStyleSheets.at(-1).cssRules.length") == 0


@pytest.mark.parametrize("piece", ["http://", "http:///pictures/", '@document\\"'])
def test_long_css_crafted_for_backtracking_is_shown_quickly(page: Page, address: str, piece: str) -> None:
    page.goto(f"{address}themes/1/")
    began = time.monotonic()
    page.evaluate(SHOW, f"/* {piece * (524_000 // len(piece))} */ h1 {{ color: rgb(1, 2, 3) }}")
    expect(page.frame_locator("iframe").locator("h1").first).to_have_css("color", "rgb(1, 2, 3)")
    assert time.monotonic() - began < 5  # backtracking takes much longer


@pytest.mark.release
def test_firefox_shows_the_preview(address: str) -> None:
    with firefox.started("", {}) as fox:
        fox.open(f"{address}themes/1/")
        fox.run("addEventListener('message', ({ data }) => { document.body.dataset.heard = data; })")
        fox.click(".try")
        fox.becomes("document.body.dataset.heard === 'shown'")
