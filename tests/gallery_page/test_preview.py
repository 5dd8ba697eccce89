"""The preview on the page of a work: hostile CSS runs nothing there, and contacts nobody (contract Q1, J2)."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from logoadmin import CreateLogo, CreateTheme
from logoadmin.adapters.folder_gallery_files import FolderGalleryFiles
from logoadmin.bootstrap import open_gallery
from logoadmin.settings import settings_of
from tests import browser, firefox
from tests.console.parts import Counting
from tests.console.test_accessible import findings
from tests.console.test_preview import HOSTILE
from tests.gallery_page.folder import PICTURE, Folder, becomes

pytestmark = [pytest.mark.slow("a browser"), pytest.mark.rule("contract Q1")]

THEME = """
@-moz-document domain("forum.example") { h1 { color: rgb(1, 2, 3); animation: k 9s infinite } }
@keyframes k { to { opacity: 0 } } @media (prefers-color-scheme: dark) { h1 { letter-spacing: 3px } }
body { background: url(../../pictures/1.svg), url(data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=) }
"""
OWN_PICTURE = "https://gone.example/a.png"
PAGE = "document.querySelector('iframe').contentDocument"
COLOUR = f"getComputedStyle({PAGE}.querySelector('h1')).color"
# Replaces the CSS of the work, and shows it in a new document of the frame.
SHOW = """async (css) => {
    const frame = document.querySelector("iframe");
    const button = document.querySelector(".try");
    document.querySelector(".source code").textContent = css;
    if (frame.srcdoc) {
        button.click();
        const isEmpty = new Promise((done) => frame.addEventListener("load", done, { once: true }));
        frame.removeAttribute("srcdoc");
        await isEmpty;
    }
    button.click();
}"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser.started() as found:
        yield found


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
def elsewhere() -> Iterator[Counting]:
    """Somebody else's server."""
    server = Counting()
    yield server
    server.close()


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    with chromium.new_context(locale="en-GB", color_scheme="null", service_workers="block") as context:
        yield context.new_page()


def test_a_theme_is_shown_on_the_sample_page_at_rest_and_light_or_dark(page: Page, address: str) -> None:
    asked: list[str] = []
    page.goto(f"{address}themes/1/")
    page.on("request", lambda request: asked.append(request.url.removeprefix(address)))
    button = page.get_by_role("button", name="Preview")
    button.click()
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("heading", name="Latest threads")).to_be_visible()
    assert page.evaluate(COLOUR) == "rgb(1, 2, 3)"
    page.wait_for_load_state("networkidle")
    assert {each for each in asked if not each.startswith(("data:", "about:"))} == {
        *("page-preview.js", "page-sample.js", "pictures/1.svg"),
    }
    assert findings(page) == []
    running = f"{PAGE}.getAnimations().length"
    assert page.evaluate(running) == 0
    page.get_by_role("button", name="Play animations").click()
    becomes(page, f"{running} === 1")
    page.get_by_role("button", name="On a dark page").click()
    becomes(page, f"getComputedStyle({PAGE}.querySelector('h1')).letterSpacing === '3px'")
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
def test_hostile_css_contacts_nobody_runs_nothing_and_stays_in_the_frame(
    page: Page, address: str, path: str, elsewhere: Counting
) -> None:
    answered: list[str] = []
    page.on("response", lambda response: answered.append(response.url))
    page.goto(f"{address}{path}")
    frame = page.frame_locator("iframe")
    for name, css in HOSTILE.items():
        for host in (f"http://{elsewhere.host}/x", f"//{elsewhere.host}/x"):
            page.evaluate(SHOW, css.replace("X", host))
            expect(frame.locator(".logo").first).to_be_attached()
            page.wait_for_timeout(100)
            assert page.evaluate(f"{PAGE}.querySelectorAll('script, img, link, style').length") == 0, name
            assert page.evaluate("document.elementFromPoint(5, 5).closest('iframe')") is None, name
    assert elsewhere.asked == []
    assert [each for each in answered if not each.startswith((address, "data:"))] == []


def test_nothing_runs_in_the_frame_even_if_somebody_gets_markup_into_it(page: Page, address: str) -> None:
    page.goto(f"{address}themes/1/")
    page.get_by_role("button", name="Preview").click()
    expect(page.frame_locator("iframe").locator("h1")).to_be_visible()
    page.evaluate(
        f"""() => {{
            const markup = "<img src=x onerror='top.ran = 1'><a href='javascript:top.ran = 1'>x</a>";
            {PAGE}.body.insertAdjacentHTML("beforeend", markup);
            const script = {PAGE}.createElement("script");
            script.textContent = "top.ran = 1";
            {PAGE}.body.append(script);
            {PAGE}.querySelector("[href^=javascript]").click();
        }}"""
    )
    page.wait_for_timeout(200)
    assert page.evaluate("globalThis.ran") is None


@pytest.mark.parametrize("piece", ["http://", "http:///pictures/", '@document\\"'])
def test_long_css_that_is_made_to_be_tried_in_many_ways_is_shown_in_a_moment(
    page: Page, address: str, piece: str
) -> None:
    page.goto(f"{address}themes/1/")
    began = time.monotonic()
    page.evaluate(SHOW, f"/* {piece * (524_000 // len(piece))} */ h1 {{ color: rgb(1, 2, 3) }}")
    expect(page.frame_locator("iframe").locator("h1").first).to_have_css("color", "rgb(1, 2, 3)")
    assert time.monotonic() - began < 5  # trying everything takes much longer


@pytest.mark.release
def test_firefox_shows_it_too(address: str) -> None:
    with firefox.started("", {}) as fox:
        fox.open(f"{address}themes/1/")
        fox.click(".try")
        fox.becomes(f"!!{PAGE}?.querySelector('h1')")
        assert fox.run(COLOUR) == "rgb(1, 2, 3)"
