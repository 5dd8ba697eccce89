"""The page that visitors see, in Chromium, from a folder under a path (contract Q1, Q2)."""

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.console.test_accessible import findings
from tests.gallery_page.folder import AUTHORS, NOW, STACKED, THEMES, Folder, becomes, dated, published, served
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


Look = Callable[..., Page]


@pytest.fixture
def look(chromium: Browser) -> Iterator[Look]:
    """Open the page in a new context; at the end, no script may have failed, and nothing may have broken the policy."""
    complaints: list[str] = []

    def opened(folder: Folder, hash_: str = "", **options: Any) -> Page:
        page = stack.enter_context(chromium.new_context(**{"locale": "en-GB"} | options)).new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console", lambda said: complaints.append(said.text) if "Content Security Policy" in said.text else None
        )
        page.goto(folder.address + hash_)
        return page

    with ExitStack() as stack:
        yield opened
    assert complaints == []


def names(page: Page) -> list[str]:
    """Return the names in the list, in order, whether rendered or not."""
    return page.locator(".list .card .name").all_text_contents()


def look_for_news(page: Page) -> None:
    """Let the page check again and again, because one check may share the answer of another that began before."""
    page.evaluate("setInterval(() => dispatchEvent(new Event('online')), 300)")


@pytest.mark.rule("contract Q1")
def test_the_list_is_searched_filtered_and_sorted(folder: Folder, look: Look) -> None:
    page = look(folder)
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
        page = look(folder)
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
        assert abs(page.evaluate(FOCUSED) - top) < 2
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
    look(folder, f"#/{path}").wait_for_url(f"{folder.address}{path}/")
    page = look(folder)
    expect(page.locator(".card")).to_have_count(7)
    page.evaluate("path => { location.hash = `#/${path}` }", path)
    page.wait_for_url(f"{folder.address}{path}/")


@pytest.mark.rule("contract Q1")
def test_blocked_works_are_dropped_while_the_page_is_open(folder: Folder, look: Look) -> None:
    page = look(folder)
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
    page = look(folder)
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
    earlier = look(folder)
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
    page = look(folder)
    expect(page.get_by_role("heading", level=1)).to_have_text(alone)
    assert findings(page) == []
    folder.publish(published(3))
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".card")).to_have_count(7)


@pytest.mark.rule("contract Q1")
def test_an_empty_gallery_has_a_message_and_a_link(tmp_path: Path, look: Look) -> None:
    with served(tmp_path, published(authors=(), logos=(), themes=())) as folder:
        page = look(folder)
        expect(page.get_by_role("heading", name="Nothing here yet")).to_be_visible()
        assert page.locator(".state a").get_attribute("href") == "/submit"
        assert findings(page) == []


@pytest.mark.rule("contract Q1")
def test_with_one_work_there_are_no_filters(tmp_path: Path, look: Look) -> None:
    with served(tmp_path, published(logos=(), themes=dated(THEMES[0]))) as folder:
        page = look(folder, "#/themes?q=dusk")
        page.get_by_role("button", name="Clear search and filters").click()
        expect(page.locator(".card")).to_have_count(1)
        for shown in (
            page.get_by_role("search"),
            page.get_by_role("combobox", name="Order"),
            page.get_by_role("group"),
        ):
            expect(shown).to_have_count(0)


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


@pytest.mark.rule("contract Q1")
def test_no_name_changes_the_direction_of_adjacent_text(tmp_path: Path, look: Look) -> None:
    authors = [{**author, "username": name} for author, name in zip(AUTHORS[:2], ("\u202eMoshi", "Zed"), strict=True)]
    logo = {**artwork("logo", 1, name="Two"), "author_ids": [author["author_id"] for author in authors]}
    with served(tmp_path, published(authors=authors, logos=dated(logo), themes=())) as folder:
        page = look(folder)
        names = page.locator(".who bdi")
        expect(names).to_have_count(2)
        moshi, zed = names.nth(0).bounding_box(), names.nth(1).bounding_box()
        assert moshi is not None
        assert zed is not None
        assert moshi["x"] + moshi["width"] <= zed["x"]


@pytest.mark.rule("contract Q1")
def test_a_target_stays_readable_next_to_long_names(tmp_path: Path, look: Look) -> None:
    authors = [{**author, "username": "long name " * 6} for author in AUTHORS[:2]]
    logo = {**artwork("logo", 1, name="Two"), "author_ids": [author["author_id"] for author in authors]}
    with served(tmp_path, published(authors=authors, logos=dated(logo), themes=())) as folder:
        target = look(folder).locator(".for")
        expect(target).to_contain_text("The forum")
        assert target.evaluate("each => each.scrollWidth <= each.clientWidth")


@pytest.mark.rule("contract Q1")
def test_a_phone_shows_the_version_and_the_whole_date(tmp_path: Path, look: Look) -> None:
    logos = [{**each, "updated_at": NOW, "details": {"version": "2.0.0-beta.1"}} for each in dated(artwork("logo", 1))]
    with served(tmp_path, published(logos=logos)) as folder:
        page = look(folder, "#/logos", viewport={"width": 390, "height": 800}, locale="ru-RU")
        expect(page.locator(".when > *").first).to_have_text("2.0.0-beta.1")
        assert page.locator(".when > *").evaluate_all(
            "(parts) => parts.map((each) => each.clientWidth > 0 && each.scrollWidth <= each.clientWidth)"
        ) == [True, True]


@pytest.mark.rule("contract Q1")
def test_stacked_marks_stay_within_a_name_and_markup_is_escaped(tmp_path: Path, look: Look) -> None:
    logos = dated(
        artwork("logo", 1, name=STACKED), artwork("logo", 2, name="Z"), artwork("logo", 3, name="<b>bold</b>")
    )
    with served(tmp_path, published(logos=logos, themes=())) as folder:
        page = look(folder, viewport={"width": 320, "height": 1200})
        expect(page.locator(".initials")).to_have_count(3)
        lines = page.locator(".card .line")
        assert lines.nth(0).screenshot() == lines.nth(1).screenshot()
        stages = page.locator(".card .stage")
        assert stages.nth(0).bounding_box()["width"] == stages.nth(1).bounding_box()["width"]  # type: ignore[index]  # it is shown
        assert names(page)[2] == "<b>bold</b>"


@pytest.mark.rule("contract Q2")
def test_right_to_left_names_are_aligned_and_a_phone_shows_no_key_hints(tmp_path: Path, look: Look) -> None:
    logos = dated(artwork("logo", 1, name="שלום"), artwork("logo", 2, name="Z"))
    with served(tmp_path, published(logos=logos, themes=())) as folder:
        page = look(folder, viewport={"width": 390, "height": 1200}, has_touch=True, is_mobile=True)
        expect(page.locator(".card .name")).to_have_count(2)
        begins = """name => {
          const range = document.createRange();
          range.selectNodeContents(name);
          return range.getBoundingClientRect().left - name.getBoundingClientRect().left;
        }"""
        assert [name.evaluate(begins) for name in page.locator(".card .name a").all()] == [0, 0]
        expect(page.locator(".field kbd")).to_be_hidden()


@pytest.mark.rule("contract Q2")
def test_the_title_is_shown_in_full_without_links_next_to_it(folder: Folder, look: Look) -> None:
    page = look(folder, viewport={"width": 1280, "height": 800})
    title, links = page.locator(".list h1"), page.locator("header nav")
    expect(title).to_be_visible()
    top = "each => each.getBoundingClientRect().top"
    assert 0 <= title.evaluate(top) < links.evaluate("each => each.getBoundingClientRect().bottom")
    links.evaluate("each => each.replaceChildren()")
    assert title.evaluate(top) >= links.evaluate(top) >= 0


@pytest.mark.rule("contract Q2")
@pytest.mark.parametrize("scheme", ["light", "dark", "forced"])
def test_axe_finds_nothing_and_nothing_scrolls_sideways_at_320_px(folder: Folder, look: Look, scheme: str) -> None:
    options = {"forced_colors": "active"} if scheme == "forced" else {"color_scheme": scheme}
    locales = {"en-GB": 1280, "ru-RU": 320}
    for locale, width in locales.items():
        page = look(folder, locale=locale, viewport={"width": width, "height": 800}, **options)
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


@pytest.mark.rule("contract Q1")
def test_a_printout_has_the_works_on_their_grounds_and_no_controls(folder: Folder, look: Look) -> None:
    page = look(folder)
    page.get_by_role("combobox", name="Appearance").select_option("dark")
    page.emulate_media(media="print")
    expect(page.get_by_role("heading", name="Dusk")).to_be_visible()
    expect(page.locator(".stage").first).to_have_css("print-color-adjust", "exact")
    expect(page.locator("html")).to_have_css("color-scheme", "light")
    for role in ("searchbox", "button", "combobox"):
        expect(page.get_by_role(role)).to_have_count(0)


@pytest.mark.rule("contract Q1")
def test_a_screen_reader_gets_landmarks_headings_and_a_list(folder: Folder, look: Look) -> None:
    page = look(folder)
    expect(page.locator(".card")).to_have_count(7)
    expect(page.locator("body")).to_match_aria_snapshot("""
      - banner:
        - link "Skip to content"
        - navigation:
          - link "Back to the site"
          - link "Submit a work"
      - main:
        - heading "The wall" [level=1]
        - search:
          - searchbox "Search names, authors and tags"
          - group "Kind":
            - radio "All" [checked]
            - radio "Logos"
            - radio "Themes"
          - combobox "Order"
        - group "Targets":
          - button "The forum 6"
          - button "market 1"
        - heading "Works" [level=2]
        - list:
          - listitem:
            - heading /Dusk|Dawn/ [level=3]:
              - link /Dusk|Dawn/
            - paragraph: /Ánn (Logo|Theme) The forum/
      - contentinfo:
        - link "How works are checked"
        - link "Feed of new works"
        - combobox "Appearance"
        - button "Русский"
    """)


@pytest.mark.rule("contract Q2")
def test_without_javascript_a_message_links_to_the_pages_of_works(folder: Folder, look: Look) -> None:
    page = look(folder, java_script_enabled=False)
    assert "The list needs JavaScript" in page.locator("body").inner_text()
    assert page.locator("noscript a").first.get_attribute("href") == "feed.xml"
