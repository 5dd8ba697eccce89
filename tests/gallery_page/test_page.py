"""The page that visitors see, in Chromium, from a folder under a path (contract Q1, Q2)."""

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Page, expect

from tests import firefox
from tests.console.parts import PNG
from tests.console.test_accessible import findings
from tests.gallery_page.conftest import SCHEMES, WIDTHS, Look, assert_accessible
from tests.gallery_page.folder import NOW, Folder, becomes, dated, published, served
from tests.reader.publisher import DAY, STRANGER, Publication, artwork, author, withdrawal

pytestmark = [pytest.mark.slow("a browser"), pytest.mark.rule("contract Q1", "contract Q2")]

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


TARGETS: Final = ("forum", "market", "wiki", "a.example", "b.example", "c.example", "d.example")
AUTHORS: Final = (author(1, "Ánn"), author(2, "Bob"))


def theme(number: int, **fields: Any) -> dict[str, Any]:
    return artwork("theme", number, number % 2 + 1, name=f"Theme {number}", **fields)


def themes() -> list[dict[str, Any]]:
    """Return 28 themes: seven for the first target, one for the last; the first three are dark, the first two calm."""
    targets = [target for place, target in enumerate(TARGETS) for _ in range(len(TARGETS) - place)]
    tags = {1: ["calm", "dark"], 2: ["calm", "dark"], 3: ["dark"], 8: ["dark"]}
    found = []
    for number, target in enumerate(targets, 1):
        description = {"description": "Évenings by the fire"} if number == 5 else {}
        details = description | ({"tags": tags[number]} if number in tags else {})
        found.append(theme(number, target=target, **({"details": details} if details else {})))
    return dated(*found)


def serving(root: Path, records: list[dict[str, Any]]) -> AbstractContextManager[Folder]:
    return served(root, published(authors=AUTHORS, logos=(), themes=records))


@pytest.fixture
def many(tmp_path: Path) -> Iterator[Folder]:
    with serving(tmp_path, themes()) as found:
        yield found


@pytest.fixture
def page(many: Folder, look: Look) -> Page:
    opened = look(many.address)
    expect(opened.locator(".card")).to_have_count(28)
    return opened


def chips(page: Page, group: str) -> list[str]:
    return [
        " ".join(text.split()) for text in page.get_by_role("group", name=group).get_by_role("button").all_inner_texts()
    ]


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
    target, order = page.get_by_role("button", name="market"), page.get_by_role("combobox", name="Order")
    for filter_ in (target, order, page.get_by_role("radio").first):
        filter_.press("/")
        expect(search).to_be_focused()


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


def test_earlier_addresses_redirect_to_pages(folder: Folder, look: Look) -> None:
    for path in ("themes/1", "logos/2", "authors/3"):
        page = look(f"{folder.address}#/{path}")
        page.wait_for_url(f"{folder.address}{path}/")
        page.goto(folder.address)
        expect(page.locator(".card")).to_have_count(7)
        page.evaluate("path => { location.hash = `#/${path}` }", path)
        page.wait_for_url(f"{folder.address}{path}/")


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


@pytest.mark.parametrize(
    ("change", "alone", "kept"),
    [
        (
            lambda: dataclasses.replace(published(2), keys=[STRANGER]),
            "This gallery cannot be trusted",
            "The latest files are damaged",
        ),
        (lambda: published(2, issued=NOW - 40 * DAY), "This gallery is out of date", "not been renewed since"),
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
    expect(earlier.locator("#notice")).to_contain_text(kept)
    end, begin = (
        earlier.locator(part).evaluate(f"each => each.getBoundingClientRect().{side}")
        for part, side in (("#notice", "bottom"), ("h1:visible", "top"))
    )
    assert end <= begin
    expect(earlier.locator(".card")).to_have_count(7)
    page = look(folder.address)
    expect(page.get_by_role("heading", level=1)).to_have_text(alone)
    assert findings(page) == []
    folder.publish(published(3))
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".card")).to_have_count(7)


def test_an_empty_gallery_has_a_message_and_a_link(tmp_path: Path, look: Look) -> None:
    with served(tmp_path, published(authors=(), logos=(), themes=())) as folder:
        page = look(folder.address)
        expect(page.get_by_role("heading", name="Nothing here yet")).to_be_visible()
        assert page.locator(".state a").get_attribute("href") == "/submit"
        assert findings(page) == []


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
        (elsewhere,) = [each for each in requests if not each.url.startswith(folder.address)]
        assert (elsewhere.resource_type, elsewhere.all_headers().get("referer", "")) == ("image", "")
        expect(page.locator(".stage.dark img")).to_have_attribute("src", "pictures/1.svg")
        expect(page.locator(".stage.dark")).to_have_css("background-color", "rgb(17, 17, 17)")
        becomes(page, "document.querySelector('.stage.dark img').naturalWidth > 0")


@pytest.mark.parametrize("options", SCHEMES)
def test_axe_finds_nothing_and_nothing_scrolls_sideways_at_320_px(
    folder: Folder, look: Look, options: dict[str, str]
) -> None:
    for locale, width in WIDTHS.items():
        page = look(folder.address, locale=locale, viewport={"width": width, "height": 800}, **options)
        expect(page.locator(".card")).to_have_count(7)
        assert page.evaluate("document.documentElement.lang") == locale[:2]
        for hash_ in VIEWS:
            page.goto(folder.address + (hash_ or "#/"))
            becomes(page, "document.querySelector('h1') !== null")
            assert_accessible(page, width)
            assert page.evaluate(RIGHTMOST) <= width, (locale, hash_)


def test_without_javascript_a_message_links_to_the_pages_of_works(folder: Folder, look: Look) -> None:
    page = look(folder.address, java_script_enabled=False)
    assert "The list needs JavaScript" in page.locator("body").inner_text()
    assert page.locator("noscript a").first.get_attribute("href") == "feed.xml"


def test_the_largest_targets_and_tags_are_chips_with_counts_that_can_be_combined(many: Folder, page: Page) -> None:
    assert chips(page, "Targets") == [
        *("The forum 7", "market 6", "wiki 5", "a.example 4", "b.example 3"),
        "2 more targets",
    ]
    assert chips(page, "Tags") == ["#dark 4", "#calm 2"]
    page.get_by_role("button", name="#dark").click()
    assert names(page) == ["Theme 1", "Theme 2", "Theme 3", "Theme 8"]
    assert chips(page, "Targets")[:3] == ["The forum 3", "market 1", "wiki 0"]
    page.get_by_role("button", name="The forum").click()
    assert names(page) == ["Theme 1", "Theme 2", "Theme 3"]
    page.get_by_role("button", name="market").click()  # a work has one target: it is for any of those chosen
    assert names(page) == ["Theme 1", "Theme 2", "Theme 3", "Theme 8"]
    calm = page.get_by_role("button", name="#calm")
    calm.click()  # and it has all tags that are chosen
    assert names(page) == ["Theme 1", "Theme 2"]
    expect(calm).to_be_focused()
    expect(calm).to_have_attribute("aria-pressed", "true")
    assert page.url == f"{many.address}#/?target=forum&target=market&tag=dark&tag=calm"
    page.reload()
    expect(page.locator(".card")).to_have_count(2)
    page.get_by_role("button", name="Clear search and filters").click()
    expect(page.locator(".card")).to_have_count(28)
    assert page.url == f"{many.address}#/"
    # The search also finds descriptions and tags, whatever their case and accents.
    search = page.get_by_role("searchbox")
    for typed, found in (("EVENINGS fire", "Theme 5"), ("calm bob", "Theme 1")):
        search.fill(typed)
        assert names(page) == [found]


def test_other_targets_are_found_in_a_dialog(page: Page) -> None:
    more = page.get_by_role("button", name="2 more targets")
    more.click()
    dialog = page.get_by_role("dialog", name="Targets")
    expect(dialog.get_by_role("searchbox", name="Search targets")).to_be_focused()
    expect(dialog.get_by_role("checkbox")).to_have_count(7)
    assert findings(page) == []
    page.keyboard.type("D.EX")
    box = dialog.get_by_role("checkbox")
    expect(box).to_have_count(1)
    box.check()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert names(page) == ["Theme 28"]
    assert chips(page, "Targets")[0] == "d.example 1"
    expect(page.get_by_role("button", name="1 more target")).to_be_focused()


def test_the_order_is_newest_recently_updated_or_by_name(tmp_path: Path, look: Look) -> None:
    records = dated(theme(10), theme(2), theme(7))
    records[2]["updated_at"] = NOW + 60
    records[1]["updated_at"] = NOW - 3 * DAY
    with serving(tmp_path, records) as folder:
        page = look(folder.address)
        expect(page.locator(".card")).to_have_count(3)
        assert names(page) == ["Theme 10", "Theme 2", "Theme 7"]
        order = page.get_by_role("combobox", name="Order")
        order.select_option("updated")
        assert names(page) == ["Theme 7", "Theme 10", "Theme 2"]
        expect(page.locator(".card .when").first).to_contain_text("Updated")
        order.select_option("name")
        assert names(page) == ["Theme 2", "Theme 7", "Theme 10"]
        page.reload()
        expect(page.locator(".card .name")).to_have_text(["Theme 2", "Theme 7", "Theme 10"])


def test_after_a_few_hundred_works_a_button_loads_all_and_the_footer_stays_reachable(
    tmp_path: Path, look: Look
) -> None:
    records = dated(*(theme(number) for number in range(1, 501)))
    with serving(tmp_path, records) as folder:
        page = look(folder.address)
        expect(page.locator(".card")).to_have_count(240)
        page.get_by_role("button", name="Show all 500 works").press("Enter")
        expect(page.locator(".card")).to_have_count(500)
        expect(page.locator(":focus")).to_have_text("Theme 241")
        expect(page.get_by_role("button", name="Show all")).to_be_hidden()
        page.locator(".card").nth(400).scroll_into_view_if_needed()
        page.reload()
        expect(page.locator(".card")).to_have_count(500)
        expect(page.locator(".card").nth(400)).to_be_in_viewport()


def test_a_tiny_picture_on_another_host_is_at_most_three_times_its_size(tmp_path: Path, look: Look) -> None:
    records = dated(theme(1, preview_url="pictures/tiny.png"))
    with serving(tmp_path, records) as folder:
        (folder.path / "pictures/tiny.png").write_bytes(PNG)
        page = look(folder.address)
        picture = page.locator(".card img")
        expect(picture).to_have_attribute("width", "3")
        assert picture.evaluate("image => [image.clientWidth, image.clientHeight]") == [3, 3]


@pytest.mark.parametrize(("width", "locale"), [(390, "en-GB"), (320, "ru-RU")])
def test_on_a_phone_works_start_within_480_px_and_the_search_stays_visible(
    many: Folder, look: Look, width: int, locale: str
) -> None:
    page = look(many.address, viewport={"width": width, "height": 700}, locale=locale, is_mobile=True, has_touch=True)
    expect(page.locator(".card")).to_have_count(28)
    assert page.locator(".card").first.evaluate("card => card.getBoundingClientRect().y") <= 480
    page.evaluate("scrollTo(0, 2000)")
    expect(page.get_by_role("searchbox")).to_be_in_viewport()


def test_visitors_choose_their_language_and_light_or_dark(page: Page) -> None:
    page.get_by_role("combobox", name="Appearance").select_option("dark")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark == "oklch(0.195 0.013 265)"
    page.get_by_role("button", name="Русский").click()
    expect(page.get_by_role("searchbox", name="Название, автор или метка")).to_be_visible()
    assert page.evaluate("document.documentElement.lang") == "ru"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark
    page.get_by_role("button", name="English").click()
    expect(page.get_by_role("searchbox", name="Search names, authors and tags")).to_be_visible()


@pytest.mark.release
def test_firefox_shows_and_updates_the_gallery_and_stores_it_for_offline_use(tmp_path: Path) -> None:
    with served(tmp_path, published()) as folder, firefox.started("", {}) as fox:
        fox.open(folder.address)
        fox.becomes("document.querySelectorAll('.card').length === 7")
        fox.type("input[type=search]", "ann d")
        fox.becomes("document.querySelectorAll('.card').length === 2")
        fox.run("document.querySelector('.card a').focus()")
        fox.run("dispatchEvent(new KeyboardEvent('keydown', { key: '/' }))")
        fox.becomes("document.activeElement.matches('[type=search]')")
        fox.click("[data-kind] input[value='']")
        folder.publish(published(2, withdrawn=[withdrawal("logo", 1, "tracks readers", NOW)]))
        fox.run("dispatchEvent(new Event('online'))")
        fox.becomes("document.querySelectorAll('.card').length === 1")
        fox.run("navigator.serviceWorker.ready.then(() => true)")
        folder.stop()
        fox.open(folder.address)
        fox.becomes("document.querySelectorAll('.card').length === 6")
        fox.becomes("document.querySelector('#notice').textContent.includes('cannot be reached')")
