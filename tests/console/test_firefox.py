"""The main journey in Firefox, and pictures that require a password in both browsers."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from logoadmin.domain.changes.proposal_commands import ApplyProposal
from logoadmin.domain.gallery.artworks import AmendLogo, AmendTheme, GetLogo
from tests import firefox
from tests.answering import Answer, answering
from tests.console.driver import VIEWS, Person
from tests.console.service import MEMBER, PICTURES, Served, admit
from tests.firefox import CONTROL, ENTER, Firefox
from tests.gallery import ADMIN_PASSWORD

pytestmark = pytest.mark.slow("a browser")

# Firefox shows no such window by default, but people and policies may ask for it.
ALLOWED = {"network.auth.subresource-img-cross-origin-http-auth-allow": True}


# On another port of loopback, which is the same site as the console; a browser may show the realm in a window.
PASSWORD = Answer(status=401, headers={"WWW-Authenticate": 'Basic realm="Your session has expired"'})


@pytest.fixture
def fox(service: Served) -> Iterator[Firefox]:
    """Firefox, configured to prompt for passwords as readily as possible."""
    with firefox.started(service.external_hosts.proxy, ALLOWED) as found:
        yield found


def sign_in(fox: Firefox, address: str, username: str = "admin", password: str = ADMIN_PASSWORD) -> None:
    """Open a view and sign in."""
    fox.open(address)
    fox.type("[name=username]", username)
    fox.type("[name=password]", password + ENTER)


@pytest.mark.release
@pytest.mark.rule("contract J1", "contract J2")
def test_firefox_signs_in_lists_opens_saves_previews_and_prompts_for_no_password_for_a_picture(
    service: Served, fox: Firefox
) -> None:
    with answering(lambda _: PASSWORD) as host:
        css = "outline: 3px solid rgb(1, 2, 3)"
        picture = f"http://{host.host}/a.png"
        service.gallery.logos.amend(AmendLogo(logo_id=40, preview_url=picture, custom_css=css))
        service.gallery.themes.amend(AmendTheme(theme_id=1, custom_css="h1 { color: rgb(4, 5, 6) }"))
        sign_in(fox, f"{service.address}/console/logos?q=logo+4")
        fox.becomes("document.querySelectorAll('.card').length === 2")
        fox.click("a[href$='logos/40']")
        fox.becomes("document.querySelector('.sheet h1')?.innerText === 'Logo 40'")
        fox.becomes("document.querySelector('.picture-field .picture')?.innerText === 'Picture failed to load'")
        assert host.asked
        assert fox.prompt() is None
        fox.type("input[name=name]", f"Logo forty{CONTROL}s")
        fox.becomes("document.querySelector('.sheet h1').innerText === 'Logo forty'")
    assert service.gallery.logos.get(GetLogo(logo_id=40)).name == "Logo forty"
    with fox.frame("iframe.preview-frame"):
        fox.becomes("getComputedStyle(document.querySelector('.with .logo') ?? document.body).outlineWidth === '3px'")
    fox.open(f"{service.address}/console/themes/1")
    with fox.frame("iframe.preview-frame"):
        fox.becomes("getComputedStyle(document.querySelector('h1') ?? document.body).color === 'rgb(4, 5, 6)'")


@pytest.mark.release
@pytest.mark.rule("contract R4", "contract R7")
def test_a_member_submits_in_firefox_and_sees_the_decision(service: Served, fox: Firefox) -> None:
    admit(service.gallery)
    sign_in(fox, f"{service.address}/console/submit", *MEMBER)
    fox.becomes("document.querySelector('.picture-drop .quiet') !== null")
    fox.click(".picture-drop .quiet")
    fox.type("[name=preview_url]", f"http://{PICTURES}/sunrise.svg")
    fox.type("[name=name]", "Sunrise")
    fox.type("[name=target]", f"forum{CONTROL}s")
    fox.becomes("document.querySelector('.submission-waiting') !== null")
    service.gallery.proposals.apply(ApplyProposal(proposal_id=1))
    fox.open(f"{service.address}/console/submit")
    fox.becomes("document.querySelector('.sidebar .dot') !== null")
    fox.click(".sidebar a[href$='/works']")
    fox.becomes("document.querySelector('.submissions li')?.innerText.includes('Published')")
    fox.becomes("document.querySelector('.sidebar .dot') === null")


@pytest.mark.rule("contract J2")
def test_a_picture_that_requires_a_password_opens_no_browser_prompt(console: Person, page: Page) -> None:
    prompts: list[str] = []
    session = page.context.new_cdp_session(page)

    def prompted(event: Any) -> None:
        prompts.append(event["authChallenge"]["realm"])
        answer = {"requestId": event["requestId"], "authChallengeResponse": {"response": "CancelAuth"}}
        session.send("Fetch.continueWithAuth", answer)

    def going_on(event: Any) -> None:
        session.send("Fetch.continueRequest", {"requestId": event["requestId"]})

    session.on("Fetch.authRequired", prompted)
    session.on("Fetch.requestPaused", going_on)
    session.send("Fetch.enable", {"handleAuthRequests": True, "patterns": [{"urlPattern": "*/a.png"}]})
    with answering(lambda _: PASSWORD) as host:
        console.service.gallery.logos.amend(AmendLogo(logo_id=40, preview_url=f"http://{host.host}/a.png"))
        console.sign_in("logos/40")
        expect(page.locator(".picture-field")).to_contain_text("Picture failed to load")
        assert host.asked
    assert prompts == []


@pytest.mark.release
@pytest.mark.rule("contract J1", "contract J5")
@pytest.mark.parametrize("width", [390, 1280])
def test_firefox_shows_every_view_without_sideways_scrolling(service: Served, fox: Firefox, width: int) -> None:
    fox.send("WebDriver:SetWindowRect", {"width": width, "height": 800})
    sign_in(fox, f"{service.address}/console/settings")
    fox.becomes("document.querySelector('h1')?.innerText === 'Settings'")
    for view in VIEWS:
        fox.open(f"{service.address}/console/{view}")
        fox.becomes("document.querySelector('h1')?.checkVisibility() && !document.querySelector('.skeleton')")
        fox.becomes("[...document.fonts].some((face) => face.status === 'loaded')")
        assert fox.run("document.documentElement.scrollWidth <= innerWidth"), view
        assert fox.run("document.querySelectorAll('.notice.failed').length") == 0, view
