"""Pictures: uploading, copying, showing, listing and removing (contract J3, P1 to P5)."""

import base64
import io
import re
from urllib.parse import urlsplit

import pytest
from PIL import Image
from playwright.sync_api import FilePayload, Locator, Page, expect

from logoadmin.domain.gallery.artworks import AmendLogo, BlockLogo, GetLogo
from logoadmin.domain.gallery.picture_commands import GetPicture, SendPicture
from logoadmin.domain.kernel.access import ActingAs
from logoadmin.domain.kernel.errors import PictureGone
from logoadmin.domain.kernel.kinds import picture_of
from logoadmin.ports.outgoing import Fetched
from tests.console.driver import Person
from tests.console.service import PAINTER, Served
from tests.services import comes_true

pytestmark = pytest.mark.slow("a browser")


# Gives a file to an element, as a drop or a paste of it would.
_GIVE = """(element, [how, name, type, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))], name, { type }));
  const bubbles = { bubbles: true, cancelable: true };
  if (how === "paste") return element.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, ...bubbles }));
  element.dispatchEvent(new DragEvent("dragover", { dataTransfer: data, ...bubbles }));
  return element.dispatchEvent(new DragEvent("drop", { dataTransfer: data, ...bubbles }));
}"""


def drawing(shade: int, form: str = "PNG", size: tuple[int, int] = (800, 600)) -> bytes:
    file = io.BytesIO()
    picture = Image.radial_gradient("L").resize(size)
    Image.merge("RGB", [picture, picture.rotate(90), Image.new("L", size, shade)]).save(file, form)
    return file.getvalue()


def give(place: Locator, how: str, name: str, content: bytes, group: str = "image") -> None:
    place.evaluate(_GIVE, [how, name, f"{group}/{name.rpartition('.')[2]}", base64.b64encode(content).decode()])


def png(name: str, content: bytes) -> FilePayload:
    return {"name": name, "mimeType": "image/png", "buffer": content}


def choose(page: Page, name: str, content: bytes) -> None:
    page.locator(".picture-source input[type=file]").set_input_files(png(name, content))


@pytest.mark.rule("contract P3")
def test_a_picture_is_chosen_by_keyboard_dropped_or_pasted_at_its_field(console: Person) -> None:
    service, page = console.service, console.page
    console.sign_in("logos/1", username=PAINTER[0], password=PAINTER[1])
    field = page.locator("[name=preview_url]")
    expect(page.get_by_role("button", name="Choose a file")).to_be_visible()
    with page.expect_file_chooser() as chooser:
        console.press(page.get_by_role("button", name="Choose a file"))
    chooser.value.set_files(png("a.png", drawing(10)))
    outcome = page.locator(".picture-outcome p")
    expect(outcome).to_contain_text("800 \N{MULTIPLICATION SIGN} 600")
    expect(outcome).to_contain_text("KB")
    seen = [field.input_value()]
    for shade, how in enumerate(("drop", "paste"), 50):
        give(field, how, "b.jpeg", drawing(shade, "JPEG"))
        expect(field).not_to_have_value(seen[-1])
        seen.append(field.input_value())
        expect(outcome).to_contain_text("800 \N{MULTIPLICATION SIGN} 600")
    assert len({picture_of(url) for url in seen} - {None}) == 3
    expect(page.locator(".picture-shown img")).to_have_js_property("complete", True)
    expect(page.locator(".field-url.over")).to_have_count(0)
    page.keyboard.press("Control+s")
    expect(page.locator(".notice")).to_be_visible()
    assert service.gallery.logos.get(GetLogo(logo_id=1)).preview_url == seen[-1]


@pytest.mark.rule("contract P1")
def test_the_refusal_of_a_picture_is_shown_at_its_field_and_the_old_one_kept(console: Person) -> None:
    service, page = console.service, console.page
    console.sign_in("logos/1", username=PAINTER[0], password=PAINTER[1])
    before = page.locator("[name=preview_url]").input_value()

    def refused(content: bytes, words: str) -> None:
        choose(page, "a.png", content)
        expect(page.locator(".picture-outcome .problem")).to_contain_text(words)
        expect(page.locator("[name=preview_url]")).to_have_value(before)

    refused(b"text", "This is not a PNG, JPEG, GIF or WebP picture")
    refused(b"<svg xmlns='http://www.w3.org/2000/svg'/>", "Convert it to PNG or WebP first")
    refused(b"\x89PNG" * 2 * 1024**2 + b"x", "8 MB is the most")
    many = io.BytesIO()
    Image.new("1", (6400, 6400)).save(many, "PNG")
    refused(many.getvalue(), "40 million pixels are the most")
    page.locator("[name=preview_url]").fill("http://i.example/other.svg")
    expect(page.locator(".picture-outcome p")).to_have_count(0)
    page.locator("[name=preview_url]").fill(before)
    service.storage.go_away()
    choose(page, "a.png", drawing(3))
    again = page.locator(".picture-outcome").get_by_role("button", name="Try again")
    expect(again).to_be_visible()
    service.storage.come_back()


@pytest.mark.rule("contract P3")
def test_a_picture_on_another_host_is_copied_at_its_field(console: Person, service: Served, page: Page) -> None:
    console.sign_in("logos/1")
    field, copy = page.locator("[name=preview_url]"), page.get_by_role("button", name="Keep a copy")
    before = field.input_value()
    console.press(copy)
    expect(page.locator(".picture-outcome .problem")).to_contain_text("The server responds with status")
    expect(field).to_have_value(before)
    service.origins.sheets[before] = Fetched(before, "image/png", drawing(10))
    console.press(copy)
    expect(page.locator(".picture-outcome p")).to_contain_text("800 \N{MULTIPLICATION SIGN} 600")
    assert picture_of(field.input_value())
    expect(copy).to_have_count(0)


@pytest.mark.rule("contract P5")
def test_thumbnails_are_shown_and_taken_down_pictures_to_moderators(
    console: Person, service: Served, page: Page
) -> None:
    gallery = service.gallery
    for number, host in enumerate((service.address, service.address, "http://i.example/former"), 1):
        path = urlsplit(gallery.pictures.send(SendPicture(), drawing(number)).url).path
        gallery.logos.amend(
            AmendLogo(logo_id=number, preview_url=host + path, custom_css=f"background: url({host}{path})")
        )
    gallery.logos.block(BlockLogo(logo_id=1, reason="Stolen"))

    def picture(number: int) -> Locator:
        link = page.get_by_role("link", name=f"Logo {number}", exact=True)
        return page.locator("article.card, tr").filter(has=link).locator("img")

    console.sign_in("logos?order=oldest")
    for look in ("grid", "table"):
        console.open(f"logos?order=oldest&look={look}")
        expect(picture(1)).to_have_attribute("src", re.compile("^blob:"))
        for number in (2, 3):
            # Also under a former public URL: the path decides.
            expect(picture(number)).to_have_attribute("src", re.compile(r"/pictures/[0-9a-f]{64}-320\.webp$"))
        for number in (1, 2):
            expect(picture(number)).to_have_js_property("naturalWidth", 320)
    # The frame of the preview cannot fetch it.
    console.open("logos/1")
    logo = page.frame_locator("iframe.preview-frame").locator(".with .logo").first
    expect(logo).to_have_css("background-image", re.compile('^url\\("data:image/webp'))


@pytest.mark.rule("contract P3")
def test_copies_for_a_selection_are_one_change_with_one_undo_and_failures_are_listed(console: Person) -> None:
    service, page = console.service, console.page
    gallery = service.gallery

    def now() -> list[str]:
        return [gallery.logos.get(GetLogo(logo_id=number)).preview_url for number in (1, 2, 3)]

    before = now()
    for shade, url in enumerate(before[:2]):
        service.origins.sheets[url] = Fetched(url, "image/png", drawing(shade))
    console.sign_in("logos?order=oldest")
    for number in (1, 2, 3):
        link = page.get_by_role("link", name=f"Logo {number}", exact=True)
        page.locator("article.card").filter(has=link).get_by_role("checkbox").first.check()
    page.locator(".strip summary", has_text="Edit").click()
    page.get_by_role("button", name="Keep a copy of the picture").click()
    failed = page.get_by_role("dialog")
    expect(failed.get_by_role("heading")).to_have_text("1 picture was not copied")
    expect(failed.get_by_role("listitem")).to_have_text([re.compile("Logo 3.*The server responds with status")])
    failed.get_by_role("button", name="Close").click()
    expect(page.locator(".strip .found")).to_contain_text("1 selected")

    assert [picture_of(url) is not None for url in now()] == [True, True, False]
    page.locator(".notice", has_text="Copied pictures: 2").get_by_role("button", name="Undo").click()
    expect(page.locator(".notice", has_text="Copied pictures: 2")).to_have_count(0)
    comes_true(lambda: now() == before)


@pytest.mark.rule("contract P4", "contract P5")
def test_pictures_are_listed_with_senders_and_names_and_removed_permanently(console: Person) -> None:
    service, page = console.service, console.page
    kept = service.gallery.pictures.send(SendPicture(), drawing(1), ActingAs(7))
    other = service.gallery.pictures.send(SendPicture(), drawing(2))
    service.gallery.logos.amend(AmendLogo(logo_id=1, name="Sunrise", preview_url=kept.url))
    console.sign_in("settings")
    page.get_by_role("link", name="See the stored pictures").click()
    rows = page.locator("#work li.row")
    expect(rows).to_have_count(2)
    row = rows.filter(has=page.get_by_role("link", name="Logo Sunrise", exact=True))
    expect(row).to_contain_text(re.compile(r"\d+ KB.*800 .* 600"))
    expect(row.get_by_role("link", name=PAINTER[0])).to_have_attribute("href", re.compile("/users/7$"))
    expect(row.locator(".picture.there")).to_be_visible()
    expect(rows.filter(has_not=page.get_by_role("link", name="Logo Sunrise"))).to_contain_text("Nothing names it")
    row.get_by_role("button", name="Remove for good").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Logo Sunrise")
    dialog.get_by_role("button", name="Remove for good").click()
    expect(rows).to_have_count(1)
    expect(page.locator(".notice")).to_contain_text("removed for good")
    assert service.gallery.pictures.get(GetPicture(picture=other.picture))
    with pytest.raises(PictureGone):
        service.gallery.pictures.get(GetPicture(picture=kept.picture))
