"""Signing in: with every way that a service has, in place where a request needs it, and what comes before all else."""

import json
import re
import urllib.request
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Route, expect
from pyotp import TOTP

from logoadmin.domain.model.errors import InvalidToken, SignInRefused
from logoadmin.domain.model.sign_in import SignInRules
from logoadmin.domain.services.sessions import Refresh, SignIn
from logoadmin.domain.services.sign_in_codes import CreateSignInCode
from logoadmin.domain.services.users import CreateUser, SetPassword
from tests.console.authenticator import plugged_in
from tests.console.driver import Person, looking
from tests.console.service import PAINTER, Served, served
from tests.console.test_accessible import findings
from tests.gallery import ADMIN_ID, ADMIN_PASSWORD

pytestmark = pytest.mark.slow("a browser")

SOMEBODY: Final = ("somebody", "the password of somebody")
PHONE: Final = {"width": 390, "height": 800}


@dataclass(frozen=True)
class Phone:
    """What a user has at hand for the second step.

    Attributes:
        secret: of their authenticator app.
        recovery_codes: the recovery codes.
    """

    secret: str
    recovery_codes: tuple[str, ...]

    def code(self, service: Served) -> str:
        """Return the next code of the app; each works once."""
        service.clock.pass_by(30)
        return TOTP(self.secret).at(service.clock.now())


def with_app(service: Served, username: str, password: str) -> Phone:
    """Enrol an authenticator app."""

    def post(path: str, token: str = "", **body: str | int) -> Any:
        headers = {"content-type": "application/json"} | ({"authorization": f"Bearer {token}"} if token else {})
        asked = urllib.request.Request(f"{service.address}/api/auth/{path}", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(asked, timeout=20) as answer:
            return json.load(answer)

    token = post("token", username=username, password=password)["access_token"]
    app = post("factors/totp", token, name="Phone")
    code = TOTP(app["secret"]).at(service.clock.now())
    confirmed = post("factors/totp/confirm", token, factor_id=app["factor_id"], code=code)
    return Phone(app["secret"], tuple(confirmed["recovery_codes"]))


@pytest.fixture(scope="module")
def shared() -> Iterator[Served]:
    """A gallery for all these tests."""
    with served() as found:
        yield found


@pytest.fixture
def person(chromium: Browser, shared: Served) -> Iterator[Person]:
    """A window with nothing in it."""
    with looking(chromium, shared) as found:
        yield found


@pytest.mark.rule("contract O5", "contract J4")
def test_the_first_password_is_changed_before_anything_else(person: Person) -> None:
    page, service = person.page, person.service
    # As if nobody had given one at the first start.
    service.storage.write(lambda uow: uow.secrets.replace("generated_password", str(ADMIN_ID)))
    person.open("logos")
    page.get_by_label("User name").fill("admin")
    page.get_by_label("Password").fill(ADMIN_PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Choose your own password")
    expect(page.get_by_role("link")).to_have_count(0)
    # It was typed a moment ago; after a reload nobody knows it.
    expect(page.get_by_label("Current password")).to_have_count(0)
    page.reload()
    current = page.get_by_label("Current password")
    expect(current).to_be_focused()
    page.get_by_label("New password").fill("a password of my own")
    for typed, said in (("", "Please fill this in."), ("wrong", "This is not your current password.")):
        current.fill(typed)
        page.keyboard.press("Enter")
        expect(current).to_have_accessible_description(said)
        expect(current).to_be_focused()
    page.keyboard.type(ADMIN_PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Logos")
    expect(page.locator(".notice")).to_contain_text("Your password is changed.")
    with pytest.raises(SignInRefused):
        service.gallery.sessions.sign_in(SignIn(username="admin", password=ADMIN_PASSWORD))
    # As the other tests know it.
    service.gallery.users.set_password(SetPassword(user_id=ADMIN_ID, password=ADMIN_PASSWORD))


@pytest.mark.rule("contract O2", "contract J4")
def test_the_second_step_takes_codes_and_starts_over_after_five_minutes(chromium: Browser, shared: Served) -> None:
    name, password = PAINTER
    phone = with_app(shared, name, password)
    with looking(chromium, shared, viewport=PHONE) as person:
        page = person.page
        page.clock.install()
        person.open("authors")
        # The name is given once.
        page.get_by_label("User name").fill(name)
        page.get_by_label("Password").fill(password)
        page.keyboard.press("Enter")
        code = page.get_by_label("Code from your app")
        expect(code).to_be_focused()
        expect(code).to_have_attribute("autocomplete", "one-time-code")
        expect(code).to_have_attribute("inputmode", "numeric")
        page.keyboard.type("000000")
        page.keyboard.press("Enter")
        refused = page.get_by_role("alert")
        expect(refused).to_have_text("This code is not correct, or it has expired or been used.")
        expect(code).to_be_focused()
        page.clock.run_for(300_000)
        expect(refused).to_have_text("That took more than five minutes. Please enter your password again.")
        expect(page.get_by_label("User name")).to_have_value(name)
        expect(page.get_by_label("Password")).to_be_focused()
        page.keyboard.type(password)
        page.keyboard.press("Enter")
        expect(code).to_be_focused()
        digits = phone.code(shared)
        page.keyboard.type(f"{digits[:3]} {digits[3:]}")
        page.keyboard.press("Enter")
        expect(page.locator("h1")).to_have_text("Authors")
        page.get_by_role("button", name="More").click()
        page.get_by_role("dialog").get_by_role("button", name="Sign out").click()
        page.get_by_label("User name").fill(name)
        page.get_by_label("Password").fill(password)
        page.keyboard.press("Enter")
        person.press(page.get_by_role("button", name="Use a recovery code instead"))
        expect(page.get_by_label("Recovery code")).to_be_focused()
        page.keyboard.type(phone.recovery_codes[0].lower().replace("-", " "))
        page.keyboard.press("Enter")
        expect(page.locator("h1")).to_have_text("Overview")
        # Everything is lost: an administrator hands out a code.
        page.get_by_role("button", name="More").click()
        page.get_by_role("dialog").get_by_role("button", name="Sign out").click()
        page.get_by_label("User name").fill(name)
        person.press(page.get_by_role("button", name="Other ways to sign in"))
        expect(page.get_by_label("Sign-in code")).to_be_focused()
        page.keyboard.type("0000-0000-0000-0000-0000-0000")
        page.keyboard.press("Enter")
        expect(refused).to_contain_text("This code is not correct")
        page.keyboard.type(shared.gallery.sign_in_codes.create(CreateSignInCode(user_id=7)).code)
        page.keyboard.press("Enter")
        expect(page.locator("h1")).to_have_text("Overview")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def refreshes(service: Served, token: str) -> bool:
    """Return whether a session goes on; its tokens are new then."""
    try:
        service.gallery.sessions.refresh(Refresh(grant_type="refresh_token", refresh_token=token))
    except InvalidToken:
        return False
    return True


class Issuer:
    """An issuer that lets users in at once, and the endpoint that takes its codes.

    Attributes:
        says: values in place of those in its answer.
        user: whom it lets in, with their password here.
        asked: the requests of browsers.
        grants: the requests with its codes.
        tokens: the responses to them.
    """

    ADDRESS: Final = "http://127.0.0.1:9"

    def __init__(self, person: Person) -> None:
        self.says: dict[str, str] = {}
        self.user = ("admin", ADMIN_PASSWORD)
        self.asked: list[dict[str, str]] = []
        self.grants: list[dict[str, str]] = []
        self.tokens: list[dict[str, Any]] = []
        home = f"{person.service.address}/console/"
        about = {"name": "login.example", "authorization_endpoint": f"{self.ADDRESS}/authorize", "client_id": "gallery"}
        about |= {"redirect_uri": home, "scope": "openid profile", "issuer": self.ADDRESS}
        ways = {"password": True, "passkey": False, "public_url": person.service.address}
        context = person.page.context
        context.route("**/api/auth/ways", lambda route: route.fulfill(json=ways | {"issuer": about | _ISS}))
        context.route(f"{self.ADDRESS}/authorize*", self._authorize)
        context.route("**/api/auth/token", self._token)

    def _authorize(self, route: Route) -> None:
        asked = dict(parse_qsl(urlsplit(route.request.url).query))
        self.asked.append(asked)
        answer = {"code": "a-code", "state": asked["state"], "iss": self.ADDRESS} | self.says
        route.fulfill(status=302, headers={"location": f"{asked['redirect_uri']}?{urlencode(answer)}"})

    def _token(self, route: Route) -> None:
        grant: Any = route.request.post_data_json
        if grant.get("grant_type") != "authorization_code":
            return route.fallback()
        self.grants.append(grant)
        name, password = self.user
        response = route.fetch(post_data=json.dumps({"username": name, "password": password}))
        self.tokens.append(response.json())
        return route.fulfill(response=response)


_ISS: Final = {"iss_in_response": True}
_AT_ISSUER: Final = re.compile("Sign in with .login.example")


@pytest.mark.rule("contract O7", "contract J2")
def test_an_issuer_signs_in_and_leads_back_to_the_view_that_was_asked_for(person: Person) -> None:
    issuer, page = Issuer(person), person.page
    person.open("authors/2?from=mail")
    button = page.get_by_role("button", name=_AT_ISSUER)
    # An answer that another issuer gave, one that nobody asked for, and a refusal lead to no request for tokens.
    for says, why in (
        ({"iss": "https://evil.example"}, "The answer came from somewhere else"),
        ({"code": "", "error": "access_denied"}, "The sign-in was cancelled or refused there."),
    ):
        issuer.says = says
        button.click()
        expect(page.get_by_role("alert")).to_contain_text(why)
        assert page.url == f"{person.service.address}/console/authors/2?from=mail"
    person.open("?code=a-code&state=of-somebody-else")
    expect(button).to_be_visible()
    assert page.url == f"{person.service.address}/console/"
    assert issuer.grants == []
    person.open("authors/2?from=mail")
    issuer.says = {}
    button.click()
    expect(page.locator("h1")).to_have_text("Ben")
    assert page.url == f"{person.service.address}/console/authors/2?from=mail"
    (grant,), asked = issuer.grants, issuer.asked[-1]
    digest = urlsafe_b64encode(sha256(grant["code_verifier"].encode()).digest()).decode().rstrip("=")
    assert (asked["code_challenge"], asked["code_challenge_method"]) == (digest, "S256")
    assert (grant["code"], grant["nonce"], grant["redirect_uri"]) == ("a-code", asked["nonce"], asked["redirect_uri"])
    assert len({each[name] for each in issuer.asked for name in ("state", "nonce", "code_challenge")}) == 9
    assert page.evaluate("sessionStorage['logoadmin.issuer']") is None


@pytest.mark.rule("contract O3", "contract O7", "contract J4")
def test_a_sign_in_that_is_too_old_is_asked_for_again_in_place(person: Person) -> None:
    issuer, page, service = Issuer(person), person.page, person.service
    person.sign_in("account")
    other = person.another_tab()
    person.open("logos", other)
    expect(other.locator(".card").first).to_be_visible()
    first = page.evaluate("sessionStorage['logoadmin.refresh']")

    def try_to_make(key: str) -> Locator:
        """Try to make a key, for which the sign-in is too old, and return the dialog."""
        service.clock.pass_by(700)
        page.get_by_role("button", name="New key").click()
        page.get_by_label("What is it for?").fill(key)
        page.get_by_role("row", name=re.compile("^Authors")).get_by_role("checkbox").check()
        page.get_by_role("button", name="Create key").click()
        dialog = page.get_by_role("dialog", name="Confirm that it's you")
        expect(dialog.get_by_label("User name")).to_have_value("admin")
        return dialog

    dialog = try_to_make("nightly import")
    expect(dialog.get_by_label("Password")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#work")).to_contain_text("Nothing was changed: this needs you to sign in again.")
    expect(page.get_by_label("What is it for?")).to_have_value("nightly import")
    page.get_by_role("button", name="Create key").click()
    # Another user of the issuer is refused, and their session ends.
    issuer.user = SOMEBODY
    service.gallery.users.create(CreateUser(user_id=8, username=SOMEBODY[0], password=SOMEBODY[1]))
    with page.expect_popup() as opened:
        dialog.get_by_role("button", name=_AT_ISSUER).click()
    expect(dialog.get_by_role("alert")).to_contain_text("That was somebody else's sign-in")
    if not opened.value.is_closed():
        opened.value.wait_for_event("close")
    assert "prompt" in issuer.asked[-1]
    assert not refreshes(service, issuer.tokens[-1]["refresh_token"])
    issuer.user = ("admin", ADMIN_PASSWORD)
    dialog.get_by_role("button", name=_AT_ISSUER).click()
    expect(page.get_by_role("dialog").get_by_label("Key", exact=True)).to_have_value(re.compile("lga_"))
    page.get_by_role("button", name="Done").click()
    # The new session is that of all tabs, and the old one has ended.
    assert other.evaluate("sessionStorage['logoadmin.refresh']") == issuer.tokens[-1]["refresh_token"]
    assert not refreshes(service, first)
    with_password = try_to_make("by password")
    with_password.get_by_label("Password").fill(ADMIN_PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").get_by_label("Key", exact=True)).to_have_value(re.compile("lga_"))
    page.get_by_role("button", name="Done").click()
    other.get_by_role("link", name="Users", exact=True).click()
    expect(other.get_by_role("link", name=PAINTER[0])).to_be_visible()


@pytest.mark.rule("contract O4", "contract J4")
def test_a_required_second_step_is_announced_and_then_comes_before_anything_else(chromium: Browser) -> None:
    rules = SignInRules(second_factor="required", grace_days=7)
    with served(sign_in=rules) as service, looking(chromium, service, viewport=PHONE) as person:
        page = person.page
        person.sign_in("logos")
        reminder = page.get_by_role("complementary", name="A second step will be required")
        expect(reminder.get_by_role("link", name="Set it up")).to_have_attribute("href", re.compile("/account$"))
        assert findings(page) == []
        service.clock.pass_by(8 * 86_400)
        person.open("themes")
        expect(page.locator("h1")).to_have_text("Set up a second step")
        expect(page.get_by_role("link")).to_have_count(0)
        assert findings(page) == []
        page.get_by_role("button", name="Authenticator app").click()
        again = page.get_by_role("dialog", name="Confirm that it's you")
        expect(again.get_by_label("Password")).to_be_focused()
        assert findings(page) == []
        page.keyboard.type(ADMIN_PASSWORD)
        page.keyboard.press("Enter")
        secret = page.locator(".secret").inner_text().replace(" ", "").replace("\n", "")
        page.get_by_label("Code from the app").fill(TOTP(secret).at(service.clock.now()))
        page.keyboard.press("Enter")
        page.get_by_role("checkbox", name="I have kept these codes").check()
        page.get_by_role("button", name="Done").click()
        expect(page.locator("h1")).to_have_text("Themes")
        expect(page.get_by_role("complementary")).to_have_count(0)


_OFFERS: Final = """globalThis.offers = [];
const { get } = CredentialsContainer.prototype;
CredentialsContainer.prototype.get = function (options) {
  offers.push(options.mediation);
  return get.call(this, options);
};"""
# As the account does it.
_ENROL: Final = """async () => {
  const files = document.styleSheets[0].href.replace(/style\\/.*/, "");
  const { call } = await import(`${files}client.js`);
  const { create } = await import(`${files}parts/signing_in/new_passkey.js`);
  const { data } = await call("post", "/api/auth/factors/passkeys/options", { body: {} });
  const credential = await create(data.options);
  const body = { challenge: data.challenge, name: "This laptop", credential };
  return (await call("post", "/api/auth/factors/passkeys", { body })).data.recovery_codes;
}"""


@pytest.mark.rule("contract O2", "contract O8", "contract J4")
def test_a_passkey_signs_in_alone_and_as_a_second_step(chromium: Browser) -> None:
    with served() as service, looking(chromium, replace(service, address=service.gallery.public_url.base)) as person:
        page = person.page
        passkey = page.get_by_role("button", name="Sign in with a passkey")

        def sign_out() -> None:
            page.locator(".personal summary").click()
            page.get_by_role("button", name="Sign out").click()
            expect(page.get_by_label("User name")).to_have_attribute("autocomplete", "username webauthn")

        with plugged_in(page) as authenticator:
            person.sign_in("logos")
            page.evaluate(_ENROL)
            # The authenticator would take an offer of the browser at once.
            page.evaluate("PublicKeyCredential.isConditionalMediationAvailable = async () => false")
            sign_out()
            authenticator.verify(verifies=False)
            passkey.click()
            expect(page.get_by_role("alert")).to_contain_text("No passkey was used")
            authenticator.verify(verifies=True)
            passkey.click()
            expect(page.locator("h1")).to_have_text("Overview")
            sign_out()
            page.get_by_label("User name").fill("admin")
            page.get_by_label("Password").fill(ADMIN_PASSWORD)
            page.keyboard.press("Enter")
            expect(page.get_by_role("button", name="Use a passkey")).to_be_focused()
            page.keyboard.press("Enter")
            expect(page.locator("h1")).to_have_text("Overview")
            page.add_init_script(_OFFERS)
            sign_out()
            page.reload()
            assert person.becomes("offers[0] === 'conditional'")
