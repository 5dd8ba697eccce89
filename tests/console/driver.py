"""A person at the console: a signed-in browser that records everything that should not happen, and an authenticator."""

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from typing import Any, Final, Literal

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, Route, expect

from tests.console.service import Served
from tests.gallery import ADMIN_PASSWORD

# Appearances for screenshots, for the check of sideways scrolling, and for axe.
VIEWS: Final = (
    *("", "logos", "logos?look=table", "logos/1", "logos/42", "logos/new"),
    *("themes", "themes?look=table", "themes/1", "themes/new", "authors", "authors/5", "authors/new"),
    *("users", "users/7", "users/new", "roles", "roles/3", "roles/new", "account", "settings", "pictures"),
    *("history", "history/5", "import", "no/such/view"),
    *("submissions", "submissions/1", "submissions/1/changes/0", "submit", "works", "works/logos/1", "works/themes/1"),
)
WIDTHS: Final = (1280, 768, 320)
# Texts change to the other language without a reload, as after a click in the personal menu.
_SPEAK: Final = """async (language) => {
  const files = document.styleSheets[0].href.replace(/style\\/.*/, "");  // that of when it was loaded
  const { chooseLanguage } = await import(files + "texts.js");
  await chooseLanguage(language);
}"""
# Gives a tab a session, in place of any previous one.
_SIGN_IN: Final = """(token) => {
  localStorage.removeItem("logoadmin.newest");
  sessionStorage.clear();
  sessionStorage.setItem("logoadmin.refresh", token);
}"""
# Whether the view has loaded: records instead of skeletons, pictures in view, the CSS editor.
_RESTS: Final = """!document.querySelector(".skeleton, .css-editor-plain")
  && [...document.images].every((image) => image.complete)"""
# The message of the browser for every error response, expected or not.
_EXPECTED: Final = re.compile(r"Failed to load resource: (?:the server responded with a status of|net::ERR_)")


@dataclass(frozen=True)
class Appearance:
    """One of the ways in which a view can be seen.

    Attributes:
        width: of the window, in pixels.
        scheme: ``light`` or ``dark``.
        language: ``en`` or ``ru``.
        forced: whether the system has colours of its own for everything.
    """

    width: int
    scheme: Literal["light", "dark"]
    language: Literal["en", "ru"]
    forced: bool = False


SCHEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
LANGUAGES: Final[tuple[Literal["en", "ru"], ...]] = ("en", "ru")
APPEARANCES: Final = tuple(Appearance(*each) for each in product(WIDTHS, SCHEMES, LANGUAGES))


# The successive messages of a rate limit.
AGAIN: Final = ("Try again in 3 seconds", "Try again in 2 seconds", "You can try again now")


@contextmanager
def looking(chromium: Browser, service: Served, **how: Any) -> Iterator["Person"]:
    """Open a window with nothing in it; at the end, nothing may have happened that should not.

    Args:
        chromium: the browser.
        service: whose console is looked at.
        how: what is other than usual about the window, as for a context of the browser.
    """
    usual: dict[str, Any] = {
        "locale": "en-GB",
        "viewport": {"width": 1190, "height": 800},
    }  # no room for a record next to its list
    others: Any = {"server": service.external_hosts.proxy, "bypass": "127.0.0.1,localhost"}
    with chromium.new_context(**usual | how, proxy=others) as context:
        person = Person(context, service)
        yield person
        assert person.complaints == []
        assert service.reports == []
        assert service.external_hosts.strays == []
        assert [each for each in service.external_hosts.pictures if "referer" in each.headers] == []


class Person:
    """A browser window with a console in it.

    Attributes:
        page: the page.
        complaints: errors and warnings of the page.
    """

    def __init__(self, context: BrowserContext, service: Served) -> None:
        """Open a window; nothing is loaded yet."""
        self.service = service
        self.complaints: list[str] = []
        self._context = context
        self.page = self.another_tab()

    def another_tab(self) -> Page:
        """Return one more tab of the same browser."""
        page = self._context.new_page()
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.complaints.append(f"{error}\n{error.stack}"))
        return page

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not _EXPECTED.match(message.text):
            self.complaints.append(f"{message.type}: {message.text}")

    def open(self, path: str = "", page: Page | None = None) -> None:
        """Go to a view by its address."""
        (page or self.page).goto(f"{self.service.address}/console/{path}")

    def sign_in(self, path: str = "", *, username: str = "admin", password: str = ADMIN_PASSWORD) -> None:
        """Go to a view with a new session, as in a tab that is loaded again; the form has tests of its own."""
        credentials = {"username": username, "password": password}
        tokens = self._context.request.post(f"{self.service.address}/api/auth/token", data=credentials).json()
        self.page.goto(f"{self.service.address}/livez")
        self.page.evaluate(_SIGN_IN, tokens["refresh_token"])
        self.open(path)
        expect(self.page.locator(".sidebar")).to_be_visible()

    def enter(self, username: str, password: str) -> None:
        """Fill in the form, and send it by Enter."""
        self.page.get_by_label("User name").fill(username)
        self.page.get_by_label("Password").fill(password)
        self.page.keyboard.press("Enter")

    def sign_out(self, page: Page | None = None) -> None:
        """Sign out in the menu of the sidebar, or of the bar of a phone."""
        shown = page or self.page
        shown.locator(".personal summary, .sidebar-more").filter(visible=True).click()
        shown.get_by_role("button", name="Sign out").click()

    def hold(self, pattern: str, method: str) -> list[Route]:
        """Leave matching requests without an answer."""
        held: list[Route] = []

        def keep(route: Route) -> None:
            if route.request.method == method:
                held.append(route)
            else:
                route.fallback()

        self.page.route(pattern, keep)
        return held

    def see(self, appearance: Appearance) -> None:
        """Change the appearance of the window."""
        self.page.set_viewport_size({"width": appearance.width, "height": 640 if appearance.width < 640 else 800})
        self.page.emulate_media(color_scheme=appearance.scheme, forced_colors="active" if appearance.forced else "none")
        if self.page.locator("html").get_attribute("lang") != appearance.language:
            self.page.evaluate(_SPEAK, appearance.language)

    def enlarge(self, pixels: int = 16) -> None:
        """Set the font size in the settings of the browser."""
        devtools = self._context.new_cdp_session(self.page)
        devtools.send("Page.setFontSizes", {"fontSizes": {"standard": pixels}})

    def filter(self, by: str, choice: str) -> None:
        """Choose a filter of a list in its menu."""
        self.page.locator(".filters summary").click()
        label = self.page.locator(".filters .pick").filter(has=self.page.get_by_text(by, exact=True))
        label.locator("select").select_option(label=choice)
        self.page.keyboard.press("Escape")

    def settle(self) -> None:
        """Wait until a view has loaded with its records and their pictures."""
        expect(self.page.locator("#work h1, #work .empty, .sign-in h1").last).to_be_visible()
        assert self.becomes(_RESTS), "something is still to appear"

    def becomes(self, holds: str, seconds: float = 20) -> bool:
        """Wait until an expression is true; the policy of the page keeps Playwright from doing so."""
        end = time.monotonic() + seconds
        while not self.page.evaluate(holds):
            if time.monotonic() > end:
                return False
            self.page.wait_for_timeout(20)
        return True

    def catch(self, words: str, place: Locator) -> None:
        """Wait until words are said that stand there for a second: ``expect`` comes to look only once in one."""
        end = time.monotonic() + 20
        while words not in (place.text_content() or ""):
            assert time.monotonic() < end, words
            self.page.wait_for_timeout(20)

    def reach(self, wanted: Locator) -> None:
        """Press Tab until something has the focus."""
        for _ in range(80):
            if wanted.evaluate("element => element === document.activeElement"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"Tab does not lead to {wanted}")

    def press(self, button: Locator, by_keyboard: bool = True) -> None:
        if by_keyboard:
            self.reach(button)
            self.page.keyboard.press("Enter")
        else:
            button.click()

    def act(self, name: str) -> None:
        """Choose an action of the menu of a record."""
        self.page.locator(".record-head [aria-haspopup=menu]").click()
        self.page.get_by_role("menuitem", name=name, exact=True).click()

    def waits(self, words: Sequence[str], place: Locator, button: Locator) -> None:
        """Wait until a countdown enables a button; only its first second is announced."""
        for expected in words[:2]:
            self.catch(expected, place)
            expect(button).to_have_attribute("aria-disabled", "true")
        assert words[0] in (place.locator(".hidden").first.text_content() or "")


class VirtualAuthenticator:
    """An authenticator that a page finds, and whose user touches it at once.

    It belongs to one tab, which has to be at a host with a name, such as ``http://localhost:8000``: an address is no
    RP ID.
    """

    def __init__(self, page: Page) -> None:
        self._cdp = page.context.new_cdp_session(page)
        self._cdp.send("WebAuthn.enable")
        kind = {"protocol": "ctap2", "ctap2Version": "ctap2_1", "transport": "internal"}
        powers = ("hasResidentKey", "hasUserVerification", "isUserVerified", "automaticPresenceSimulation")
        options = kind | dict.fromkeys(powers, True)
        self._id = self._cdp.send("WebAuthn.addVirtualAuthenticator", {"options": options})["authenticatorId"]

    def send(self, method: str, **arguments: Any) -> Any:
        """Send it a command of the protocol of the developer tools."""
        return self._cdp.send(f"WebAuthn.{method}", {"authenticatorId": self._id, **arguments})

    @property
    def passkeys(self) -> list[dict[str, Any]]:
        """The passkeys in it: ``credentialId``, ``rpId``, ``userHandle``, ``signCount`` and others."""
        found: list[dict[str, Any]] = self.send("getCredentials")["credentials"]
        return found

    def verify(self, *, verifies: bool) -> None:
        """Set whether user verification succeeds from now on."""
        self.send("setUserVerified", isUserVerified=verifies)


@contextmanager
def plugged_in(page: Page) -> Iterator[VirtualAuthenticator]:
    """Plug in an authenticator for a while."""
    authenticator = VirtualAuthenticator(page)
    yield authenticator
    authenticator.send("removeVirtualAuthenticator")


def with_page(route: Route) -> None:
    """Let the console know of a page for visitors, which this service does not have."""
    response = route.fetch()
    route.fulfill(response=response, body=response.text().replace("&quot;page&quot;:false", "&quot;page&quot;:true"))
