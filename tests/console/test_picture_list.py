"""The list of stored pictures: what takes the space, who sent it, what names it, and removal (contract P4, P5)."""

import re
from typing import Final

import pytest
from playwright.sync_api import expect

from logoadmin.domain.gallery.artworks import AmendLogo
from logoadmin.domain.gallery.pictures import GetPicture, SendPicture
from logoadmin.domain.kernel.access import ActingAs
from logoadmin.domain.kernel.errors import PictureGone
from logoadmin.ports.gallery_storage import StoredPicture
from logoadmin.ports.storage import UnitOfWork
from tests.console.driver import Person
from tests.console.service import PAINTER
from tests.console.test_kept_pictures import drawing

pytestmark = pytest.mark.slow("a browser")

# More than a page of the service.
MANY: Final = 205


@pytest.mark.rule("contract P4", "contract P5")
def test_pictures_are_listed_with_senders_and_names_and_removed_for_good(console: Person) -> None:
    service, page = console.service, console.page
    kept = service.gallery.pictures.send(SendPicture(), drawing(1), ActingAs(7))
    other = service.gallery.pictures.send(SendPicture(), drawing(2))
    service.gallery.logos.amend(AmendLogo(logo_id=1, preview_url=kept.url))
    console.sign_in("settings")
    page.get_by_role("link", name="See the stored pictures").click()
    rows = page.locator("#work li.row")
    expect(rows).to_have_count(2)
    row = rows.filter(has=page.get_by_role("link", name="Logo 1", exact=True))
    expect(row).to_contain_text(re.compile(r"\d+ KB.*800 .* 600"))
    expect(row.get_by_role("link", name=PAINTER[0])).to_have_attribute("href", re.compile("/users/7$"))
    expect(row.locator(".picture.there")).to_be_visible()
    expect(rows.filter(has_not=page.get_by_role("link", name="Logo 1"))).to_contain_text("Nothing names it")
    row.get_by_role("button", name="Remove for good").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Logo 1")
    dialog.get_by_role("button", name="Cancel").click()
    expect(rows).to_have_count(2)
    row.get_by_role("button", name="Remove for good").click()
    dialog.get_by_role("button", name="Remove for good").click()
    expect(rows).to_have_count(1)
    expect(page.locator(".notice")).to_contain_text("removed for good")
    assert service.gallery.pictures.get(GetPicture(picture=other.picture))
    with pytest.raises(PictureGone):
        service.gallery.pictures.get(GetPicture(picture=kept.picture))


@pytest.mark.rule("contract P4")
def test_the_list_of_pictures_goes_on_page_by_page(console: Person) -> None:
    def add(uow: UnitOfWork) -> None:
        for number in range(MANY):
            picture = StoredPicture(f"{number:064x}", f"{number + MANY:064x}", 1, 3, 4, 1, 2, "light")
            uow.pictures.add(picture, b"12", b"3")

    console.service.storage.write(add)
    console.sign_in("pictures")
    rows = console.page.locator("#work li.row")
    expect(rows).to_have_count(200)
    console.page.get_by_role("button", name="Show more").click()
    expect(rows).to_have_count(MANY)
    expect(console.page.get_by_role("button", name="Show more")).to_have_count(0)
