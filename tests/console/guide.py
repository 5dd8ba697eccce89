"""The pictures in the guide of the console: ``python -m tests.console.guide`` makes them again, in docs/pictures.

What is in them is made up, and the same each time; fonts are those of the machine.
"""

from pathlib import Path
from typing import Final

from playwright.sync_api import expect

from logoadmin.domain.gallery import artworks, authors
from logoadmin.domain.identity import users
from logoadmin.domain.kernel.access import Caller, SignedIn
from logoadmin.ports.identity.session_storage import Session
from tests import browser
from tests.console.driver import Person, looking
from tests.console.external_hosts import PICTURES
from tests.console.service import Served, served
from tests.gallery import ADMIN_ID

FOLDER: Final = Path(__file__).parents[2] / "docs/pictures"
_NAMES: Final = (
    *("Winter", "Spring", "Summer", "Autumn", "New Year", "Midnight", "Harbour", "Meadow", "Lighthouse", "Paper"),
    *("Copper", "Ten years", "Night market", "Sale", "Book fair", "Quiet", "Aurora", "Terracotta", "Rain", "Chess"),
)
_HOUR: Final = 3600
_MIRA, _TOM = 41, 42


def fill(service: Served) -> None:
    """Let three people work on a gallery for four days, until now."""
    gallery, clock = service.gallery, service.clock
    clock.pass_by(-100 * _HOUR)
    admin = _caller(service, ADMIN_ID)
    for number, name in enumerate(("Ann Berg", "Ben Okoro", "Sofia Lind"), 1):
        gallery.authors.create(authors.CreateAuthor(user_id=1000 + number, username=name), admin)
    for user_id, name in ((_MIRA, "mira"), (_TOM, "tom")):
        gallery.users.create(
            users.CreateUser(user_id=user_id, username=name, password=f"the password of {name}"), admin
        )
        gallery.users.amend(users.AmendUser(user_id=user_id, role_id=2), admin)
    people = [_caller(service, user_id) for user_id in (_MIRA, _TOM)]
    for number, name in enumerate(_NAMES, 1):
        clock.pass_by(4 * _HOUR)
        url = f"https://{PICTURES}/{name.lower().replace(' ', '-')}.svg"
        css = f"background: url({url}) center / contain no-repeat;\nwidth: 120px"
        target = ("forum", "market")[number % 3 == 0]
        made = artworks.CreateLogo(name=name, preview_url=url, target=target, custom_css=css, active=number % 7 != 0)
        gallery.logos.create(made, people[number % 2])
        gallery.logos.link(artworks.LinkLogoAuthor(logo_id=number, author_id=1 + number % 3), people[number % 2])
    mira, tom = people
    clock.pass_by(17 * _HOUR)
    gallery.logos.amend(artworks.AmendLogo(logo_id=14, active=True), mira)
    gallery.logos.amend(artworks.AmendLogo(logo_id=5, name="New Year 2027"), tom)
    clock.pass_by(2 * _HOUR)
    gallery.logos.remove(artworks.RemoveLogo(logo_id=16), mira)
    clock.pass_by(_HOUR)


def _caller(service: Served, user_id: int) -> Caller:
    now = service.clock.now()
    session = Session(f"session of {user_id}", user_id, now, now + 1000 * _HOUR)
    service.storage.write(lambda uow: uow.identity.sessions.add(session))
    return SignedIn(user_id, session.session_id)


def take(person: Person) -> None:
    """Take the pictures."""
    person.sign_in("logos")
    _take(person, "logos")
    person.page.set_viewport_size({"width": 1120, "height": 800})  # as high as the form, with its editor
    person.open("logos/1")
    person.settle()
    person.page.wait_for_timeout(1000)  # the picture in the frame is a background, which has no load event
    _take(person, "logo")
    person.page.set_viewport_size({"width": 1120, "height": 680})
    person.open("history")
    person.settle()
    person.page.locator(".disclosure-head", has_text="New Year").first.click()
    expect(person.page.locator(".disclosure-body ins").first).to_be_visible()
    _take(person, "history")


def _take(person: Person, name: str) -> None:
    person.settle()
    person.picture(name, FOLDER)


if __name__ == "__main__":
    size = {"width": 1120, "height": 680}
    with browser.started() as chromium, served(is_filled=False) as found:
        fill(found)
        with looking(chromium, found, viewport=size, reduced_motion="reduce") as somebody:
            take(somebody)
