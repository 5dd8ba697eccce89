"""The settings for everybody: which hosts the previews of CSS may load pictures from (contract J2, J8)."""

import re

import pytest
from playwright.sync_api import Page, Route, expect

from logoadmin.domain.gallery.artworks import AmendLogo
from logoadmin.domain.publication.shared_settings import AmendSettings, GetSettings
from tests.console.driver import Person
from tests.console.service import PICTURES, Served
from tests.console.test_kept_pictures import choose, drawing
from tests.services import comes_true

pytestmark = [pytest.mark.slow("a browser"), pytest.mark.rule("contract J2", "contract J8")]

CDN = "cdn.example"
ALWAYS = "Always trust"


@pytest.fixture
def service(service: Served) -> Served:
    """Two logos have a picture of another host in their CSS."""
    css = f"background: url(https://{CDN}/a.png)"
    for number in (1, 2):
        service.gallery.logos.amend(AmendLogo(logo_id=number, custom_css=css))
    return service


def hosts(service: Served) -> list[str]:
    return [*service.gallery.settings.get(GetSettings()).picture_hosts]


def test_an_administrator_allows_a_host_for_everybody_and_undoes_it(
    console: Person, page: Page, service: Served
) -> None:
    console.sign_in("logos/1")
    button = page.get_by_role("button", name=ALWAYS)
    expect(page.get_by_role("button", name="Show with pictures")).to_be_visible()
    assert service.external_hosts.strays == []
    button.press("Enter")
    expect(page.get_by_text(f"\u2068{CDN}\u2069 is now allowed for everybody")).to_be_visible()
    expect(page.locator(".hosts")).to_be_focused()
    expect(page.locator(".hosts")).to_contain_text("allowed: it is among the picture hosts")
    expect(page.get_by_role("button", name="Show with pictures")).to_have_count(0)
    assert hosts(service) == [CDN]
    comes_true(lambda: {*service.external_hosts.strays} == {f"{CDN}:443"})
    service.external_hosts.forget()
    page.locator(".notice-action").click()
    expect(button).to_be_visible()
    assert hosts(service) == []


def test_hosts_are_added_removed_and_undone_by_keyboard(console: Person, page: Page, service: Served) -> None:
    console.sign_in("settings")
    field, rows = page.get_by_label("Host", exact=True), page.locator(".section .row")
    expect(rows).to_have_text([f"{PICTURES}Set in the service configuration"])
    for wrong in ("", "*", "https://a b", "[::1]", "'none'; script-src *", "i.example.", "https://"):
        field.fill(wrong)
        field.press("Enter")
        expect(field).to_have_attribute("aria-invalid", "true")
        expect(page.locator(".problem")).to_contain_text("Enter the name of a host")
    added = {
        " HTTPS://CDN.Example/a/b.png?c ": CDN,
        "*.Bücher.example:8443": "*.xn--bcher-kva.example:8443",
        "http://i.example:80": "i.example",
    }
    for typed, host in added.items():
        console.reach(field)
        field.fill(typed)
        page.keyboard.press("Enter")
        expect(page.get_by_text(f"\u2068{host}\u2069 is now allowed for everybody")).to_be_visible()
        expect(field).to_have_value("")
        expect(field).to_be_focused()
    assert hosts(service) == [*added.values()]
    remove = page.get_by_role("button", name=f"Remove {CDN}")
    console.press(remove)
    expect(remove).to_have_count(0)
    expect(field).to_be_focused()
    # Another administrator adds a host between the read and the write; it is kept.
    theirs = [AmendSettings(picture_hosts=("other.example",))]

    def be_late(route: Route) -> None:
        if route.request.method == "PATCH" and theirs:
            service.gallery.settings.amend(theirs.pop())
        route.continue_()

    page.route("**/api/settings", be_late)
    field.fill("mine.example")
    field.press("Enter")
    expect(rows).to_contain_text([PICTURES, "other.example", "mine.example"])
    page.locator(".notice-action").click()
    comes_true(lambda: hosts(service) == ["other.example"], 10)
    expect(rows).to_contain_text([PICTURES, "other.example"])


@pytest.mark.rule("contract Q2")
def test_the_title_and_link_of_the_page_for_visitors_are_set_here(console: Person, page: Page, service: Served) -> None:
    console.sign_in("settings")
    title, home = page.get_by_label("Title"), page.get_by_label("Link to your site")
    title.fill("Our logos")
    page.get_by_label("Rules for submissions").fill("Logos are 300 pixels wide.\nNothing of others.")
    home.fill("https://www.example/")
    home.press("Enter")
    expect(page.locator(".notice")).to_contain_text("The gallery will change")
    expect(page.locator(".sidebar .brand")).to_have_text("Our logos")
    expect(page).to_have_title("Settings · Our logos")
    found = service.gallery.settings.get(GetSettings())
    assert (found.gallery_title, found.gallery_home) == ("Our logos", "https://www.example/")
    assert found.submission_rules == "Logos are 300 pixels wide.\nNothing of others."


# Each of 64 colours as the accent, in both themes: the lowest contrast of it and of text on it.
_CONTRASTS = """() => {
  const root = document.documentElement;
  const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const probe = document.body.appendChild(document.createElement("i"));
  const luminance = (colour) => {
    probe.style.color = `var(${colour})`;
    context.fillStyle = getComputedStyle(probe).color;
    context.fillRect(0, 0, 1, 1);
    const linear = [...context.getImageData(0, 0, 1, 1).data].slice(0, 3).map((each) => each / 255)
      .map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4));
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const contrast = (one, other) => {
    const [dark, light] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };
  const steps = ["00", "55", "aa", "ff"];
  const grounds = ["--ground", "--surface", "--sunken", "--hover", "--accent-soft"];
  let lowest = 21;
  for (const theme of ["light", "dark"]) {
    root.dataset.theme = theme;
    for (const red of steps) for (const green of steps) for (const blue of steps) {
      root.style.setProperty("--chosen", `#${red}${green}${blue}`);
      const words = ["--accent", "--accent-hover"].map((each) => contrast(each, "--accent-ink"));
      lowest = Math.min(lowest, ...words, ...grounds.map((each) => contrast("--accent", each)));
    }
  }
  return lowest;
}"""


@pytest.mark.rule("contract J8", "contract J5")
def test_the_mark_and_the_accent_are_shown_to_everybody_from_the_sign_in_on(console: Person, service: Served) -> None:
    icon = console.page.locator("link[rel=icon]")
    console.sign_in("settings")
    expect(icon).to_have_attribute("href", re.compile("svg$"))
    page = console.page
    choose(page, "mark.png", drawing(200))
    expect(page.locator(".field-mark .picture.there")).to_be_visible()
    accent = page.get_by_label("Accent colour")
    accent.fill("#ffee00")
    expect(page.locator(".accent-sample").first).to_have_css("color-scheme", "light")
    accent.press("Enter")
    expect(page.locator(".notice")).to_be_visible()
    found = service.gallery.settings.get(GetSettings())
    assert found.gallery_accent == "#ffee00"
    assert found.gallery_mark is not None
    for image, named in ((page.locator(".sidebar .brand img"), "src"), (icon, "href")):
        expect(image).to_have_attribute(named, re.compile(found.gallery_mark))
    console.sign_out()
    for _ in ("at once", "from the start"):
        expect(page.locator(".sign-in .brand img")).to_have_js_property("complete", True)
        assert page.locator(".sign-in .brand img").evaluate("({ naturalWidth }) => naturalWidth") > 0
        assert page.evaluate("document.documentElement.style.getPropertyValue('--chosen')") == "#ffee00"
        page.reload()
    assert page.evaluate(_CONTRASTS) >= 4.5
    console.sign_in("settings")
    page.get_by_role("button", name="Remove the mark").click()
    accent.fill("")
    with page.expect_response(lambda response: response.request.method == "PATCH" and response.ok):
        accent.press("Enter")
    found = service.gallery.settings.get(GetSettings())
    assert (found.gallery_mark, found.gallery_accent) == (None, None)


@pytest.mark.rule("contract J3", "contract Q3")
def test_an_administrator_describes_targets_and_forms_offer_them(console: Person, page: Page, service: Served) -> None:
    console.sign_in("settings")
    page.get_by_role("button", name="Add a target").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Short name").fill("forum")
    dialog.get_by_label("Name", exact=True).fill("The forum")
    dialog.get_by_label("Pages", exact=True).fill("Forum.example\nurl-prefix(https://w.example/wiki/")
    dialog.get_by_label("Elements with the logo").fill(".site-logo")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.locator(".problem")).to_contain_text("should be url(), url-prefix(), domain() or regexp()")
    dialog.get_by_label("Pages", exact=True).fill("Forum.example\nurl-prefix(https://w.example/wiki/)")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    documents = ['domain("forum.example")', 'url-prefix("https://w.example/wiki/")']
    forum = {"name": "The forum", "documents": documents, "logo": ".site-logo"}
    assert service.gallery.settings.get(GetSettings()).gallery_targets == {"forum": forum}
    page.get_by_role("button", name="Edit target The forum").click()
    expect(dialog.get_by_label("Pages", exact=True)).to_have_value(
        'forum.example\nurl-prefix("https://w.example/wiki/")'
    )
    expect(dialog.get_by_role("status")).to_contain_text("active work")
    page.keyboard.press("Escape")
    console.open("logos/1")
    page.get_by_role("combobox", name="Target").focus()
    options = page.locator("datalist option")
    expect(options).to_have_count(1)
    expect(options).to_have_attribute("label", "The forum")
