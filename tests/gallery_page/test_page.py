"""The page that visitors see, in Chromium, from a folder under a path (contract Q1, Q2)."""

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.console.test_accessible import findings
from tests.gallery_page.conftest import Look
from tests.gallery_page.folder import NOW, Folder, becomes, dated, published, served
from tests.reader.publisher import DAY, STRANGER, Publication, artwork, withdrawal

pytestmark = pytest.mark.slow("a browser")

VIEWS: Final = ("", "#/logos", "#/themes?sort=name", "#/?q=nothing", "#/?target=market", "#/nowhere")
FOCUSED: Final = "document.activeElement.getBoundingClientRect().top"
# The groups of cards clip what is too wide for them.
RIGHTMOST: Final = (
    "Math.max(0, ...[...document.querySelectorAll('.card')].map((card) => card.getBoundingClientRect().right))"
)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    with served(tmp_path, published()) as found:
        yield found


def names(page: Page) -> list[str]:
    """Return the names in the list, in order, whether rendered or not."""
    return page.locator(".list .card .name").all_text_contents()


def look_for_news(page: Page) -> None:
    """Let the page check again and again, because one check may share the answer of another that began before."""
    page.evaluate("setInterval(() => dispatchEvent(new Event('online')), 300)")


@pytest.mark.rule("contract Q1")
def test_the_list_is_searched_filtered_and_sorted(folder: Folder, look: Look) -> None:
    page = look(folder.address)
    expect(page.locator(".card")).to_have_count(7)
    assert page.title() == "The wall"
    assert page.locator(".summary").inner_text() == "5 logos · 2 themes · 3 authors"
    assert names(page)[0] in {"Dusk", "Dawn"}
    search = page.get_by_role("searchbox")
    search.press_sequentially("ann D")  # without accents, and in any order
    assert set(names(page)) == {"Dusk", "Dawn"}
    assert page.locator(".found p").inner_text() == "2 works of 7"
    page.get_by_role("radio", name="Themes").check(force=True)
    assert names(page) == ["Dawn"]
    assert page.url == f"{folder.address}#/themes?q=ann+D"
    page.reload()
    expect(page.locator(".card")).to_have_count(1)
    assert search.input_value() == "ann D"
    search.fill("nothing like that")
    page.get_by_role("button", name="Clear search and filters").click()
    expect(page.locator(".card")).to_have_count(7)
    expect(search).to_be_focused()
    target = page.get_by_role("group", name="Targets").get_by_role("button", name="market")
    target.click()
    assert names(page) == ["شعار"]
    target.click()
    order = page.get_by_role("combobox", name="Order")
    order.select_option("name")
    for filter_ in (target, order, page.get_by_role("radio").first):
        filter_.focus()
        page.keyboard.press("/")
        expect(search).to_be_focused()
    found = names(page)
    assert found.index("Aurora") < found.index("Dawn") < found.index("Dusk")


@pytest.mark.rule("contract Q1")
def test_everything_is_reachable_by_keyboard_and_focus_follows(tmp_path: Path, look: Look) -> None:
    logos = [artwork("logo", number, name=f"Logo {number}") for number in range(1, 200)]
    with served(tmp_path, published(logos=dated(*logos), themes=(), authors=())) as folder:
        page = look(folder.address)
        expect(page.locator(".card")).to_have_count(199)
        page.keyboard.press("/")
        expect(page.get_by_role("searchbox")).to_be_focused()
        page.keyboard.type("logo")
        page.keyboard.press("ArrowDown")
        focused = page.locator(".name :focus")
        expect(focused).to_have_text("Logo 1")
        page.keyboard.press("ArrowRight")
        expect(focused).to_have_text("Logo 2")
        for _ in range(12):
            page.keyboard.press("ArrowDown")
        name = focused.inner_text()
        assert int(name.split()[1]) > 24
        becomes(page, "scrollY > 200")
        top = page.evaluate(FOCUSED)
        page.keyboard.press("Enter")
        page.wait_for_url(f"{folder.address}logos/{name.split()[1]}/")
        page.go_back()
        expect(focused).to_have_text(name)
        becomes(page, f"Math.abs({FOCUSED} - {top}) < 2")
        page.keyboard.press("/")
        expect(page.get_by_role("searchbox")).to_be_focused()
        assert page.get_by_role("searchbox").input_value() == "logo"
        page.evaluate("scrollTo(0, 3000)")
        page.keyboard.press("Escape")
        assert page.get_by_role("searchbox").input_value() == ""
        assert page.evaluate("scrollY") < 400
        expect(page.locator(".card")).to_have_count(199)


@pytest.mark.rule("contract Q1")
@pytest.mark.parametrize("path", ["themes/1", "logos/2", "authors/3"])
def test_earlier_addresses_redirect_to_pages(folder: Folder, look: Look, path: str) -> None:
    look(f"{folder.address}#/{path}").wait_for_url(f"{folder.address}{path}/")
    page = look(folder.address)
    expect(page.locator(".card")).to_have_count(7)
    page.evaluate("path => { location.hash = `#/${path}` }", path)
    page.wait_for_url(f"{folder.address}{path}/")


@pytest.mark.rule("contract Q1")
def test_blocked_works_are_dropped_while_the_page_is_open(folder: Folder, look: Look) -> None:
    page = look(folder.address)
    expect(page.locator(".card")).to_have_count(7)
    page.get_by_role("link", name="Dawn").focus()
    blocked = published(2, logos=published().logos[1:], withdrawn=[withdrawal("logo", 1, "tracks readers", NOW)])
    folder.publish(blocked)
    look_for_news(page)
    expect(page.locator(".card")).to_have_count(6)
    assert "Dusk" not in names(page)
    expect(page.locator(".name :focus")).to_have_text("Dawn")


@pytest.mark.rule("contract Q1")
def test_the_last_state_is_shown_offline(folder: Folder, look: Look) -> None:
    page = look(folder.address)
    expect(page.locator(".card")).to_have_count(7)
    page.evaluate("navigator.serviceWorker.ready.then(() => undefined)")
    folder.stop()
    page.reload()
    expect(page.locator(".card")).to_have_count(7)
    expect(page.get_by_text("The gallery cannot be reached. You see it as of")).to_be_visible()
    folder.start()
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#notice")).to_be_empty()


def tampered(publication: Publication) -> Publication:
    return dataclasses.replace(publication, keys=[STRANGER])


@pytest.mark.rule("contract Q1")
@pytest.mark.parametrize(
    ("change", "alone", "kept"),
    [
        (lambda: tampered(published(2)), "This gallery cannot be trusted", "The latest files are damaged"),
        (lambda: published(2, issued=NOW - 40 * DAY), "This gallery is out of date", "You see the last good state"),
        (lambda: None, "Nothing is published yet", "The gallery cannot be reached"),
    ],
    ids=["tampered", "expired", "missing"],
)
def test_errors_have_a_message_and_a_next_step(
    folder: Folder, look: Look, change: Callable[[], Publication | None], alone: str, kept: str
) -> None:
    earlier = look(folder.address)
    expect(earlier.locator(".card")).to_have_count(7)
    publication = change()
    if publication is None:
        (folder.path / "latest.json").unlink()
    else:
        folder.publish(publication)
    look_for_news(earlier)
    if "out of date" in alone:
        kept = "This gallery has not been renewed since"
    expect(earlier.locator("#notice")).to_contain_text(kept)
    notice, title = (earlier.locator(part).bounding_box() for part in ("#notice", "h1:visible"))
    assert notice is not None
    assert title is not None
    assert notice["y"] + notice["height"] <= title["y"]
    expect(earlier.locator(".card")).to_have_count(7)
    page = look(folder.address)
    expect(page.get_by_role("heading", level=1)).to_have_text(alone)
    assert findings(page) == []
    folder.publish(published(3))
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".card")).to_have_count(7)


@pytest.mark.rule("contract Q1")
def test_an_empty_gallery_has_a_message_and_a_link(tmp_path: Path, look: Look) -> None:
    with served(tmp_path, published(authors=(), logos=(), themes=())) as folder:
        page = look(folder.address)
        expect(page.get_by_role("heading", name="Nothing here yet")).to_be_visible()
        assert page.locator(".state a").get_attribute("href") == "/submit"
        assert findings(page) == []


@pytest.mark.rule("contract Q1")
def test_only_pictures_are_requested_from_other_hosts_and_failed_ones_have_a_placeholder(
    tmp_path: Path, chromium: Browser
) -> None:
    own = {"path": "pictures/1.svg", "thumbnail": "pictures/1.svg", "width": 800, "height": 500, "ground": "dark"}
    logos = dated(artwork("logo", 1, name="Own", picture=own), artwork("logo", 2, name="Far away"))
    with served(tmp_path, published(logos=logos, themes=())) as folder, chromium.new_context() as context:
        page = context.new_page()
        requests: list[Any] = []
        page.on("request", lambda request: requests.append(request))
        page.goto(folder.address)
        expect(page.locator(".initials")).to_have_text("FA")
        elsewhere = [each for each in requests if not each.url.startswith(folder.address)]
        assert [each.resource_type for each in elsewhere] == ["image"]
        assert not elsewhere[0].all_headers().get("referer")
        own_picture = page.locator(".stage.dark img")
        expect(own_picture).to_have_attribute("src", "pictures/1.svg")
        expect(page.locator(".stage.dark")).to_have_css("background-color", "rgb(17, 17, 17)")
        becomes(page, "document.querySelector('.stage.dark img').naturalWidth > 0")


@pytest.mark.rule("contract Q2")
@pytest.mark.parametrize("scheme", ["light", "dark", "forced"])
def test_axe_finds_nothing_and_nothing_scrolls_sideways_at_320_px(folder: Folder, look: Look, scheme: str) -> None:
    options = {"forced_colors": "active"} if scheme == "forced" else {"color_scheme": scheme}
    locales = {"en-GB": 1280, "ru-RU": 320}
    for locale, width in locales.items():
        page = look(folder.address, locale=locale, viewport={"width": width, "height": 800}, **options)
        expect(page.locator(".card")).to_have_count(7)
        assert page.evaluate("document.documentElement.lang") == locale[:2]
        for hash_ in VIEWS:
            page.goto(folder.address + (hash_ or "#/"))
            becomes(page, "document.querySelector('h1') !== null")
            page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true })")
            page.evaluate("Promise.all(document.getAnimations().map(({finished}) => finished)).then(() => undefined)")
            assert findings(page) == [], (locale, hash_)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (locale, hash_)
            assert page.evaluate(RIGHTMOST) <= width, (locale, hash_)


@pytest.mark.rule("contract Q2")
def test_without_javascript_a_message_links_to_the_pages_of_works(folder: Folder, look: Look) -> None:
    page = look(folder.address, java_script_enabled=False)
    assert "The list needs JavaScript" in page.locator("body").inner_text()
    assert page.locator("noscript a").first.get_attribute("href") == "feed.xml"
