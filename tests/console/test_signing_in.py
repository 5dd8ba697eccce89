"""Signing in: every method, renewal in place, and steps that come before all else."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from ssl import create_default_context
from typing import Final
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Route, expect
from pyotp import TOTP

from logoadmin.adapters.httpcore_outgoing import GuardedOutgoing
from logoadmin.adapters.oauth_issuer.oidc import OidcIssuer
from logoadmin.domain.identity.one_time_sign_in import CreateSignInCode
from logoadmin.domain.identity.sessions import SignIn
from logoadmin.domain.identity.sign_in_rules import SignInRules
from logoadmin.domain.kernel.errors import SignInRefused
from logoadmin.domain.publication.publication_records import Page
from logoadmin.settings import settings_of
from logoadmin.settings.rules import sign_in_rules
from logoadmin.settings.values import GITHUB
from tests.console.driver import Person, looking, plugged_in
from tests.console.service import PAINTER, PICTURES, Served, enrol_app, served
from tests.console.test_accessible import findings
from tests.gallery import ADMIN_ID, ADMIN_PASSWORD
from tests.github import AUTHORIZE, TOKEN, fake_github
from tests.github import CLIENT_ID as GITHUB_CLIENT_ID
from tests.issuer import CLIENT_ID, CLIENT_SECRET, Asked, FakeIssuer, fake_issuer

pytestmark = pytest.mark.slow("a browser")

PHONE: Final = {"width": 390, "height": 800}
# The one link to the same view where passkeys work.
PASSKEYS_AT: Final = [re.compile("^http://localhost:.*/console/$")]


@pytest.mark.rule("contract O5", "contract J4")
def test_the_first_password_is_changed_before_anything_else(console: Person, service: Served) -> None:
    page = console.page
    # As if none had been given at the first start.
    service.storage.write(lambda uow: uow.secrets.put("generated_password", str(ADMIN_ID)))
    console.open("logos")
    console.enter("admin", ADMIN_PASSWORD)
    expect(page.get_by_role("heading", level=1)).to_have_text("Choose your own password")
    expect(page.get_by_role("link")).to_have_count(0)
    # It was typed a moment ago; after a reload it is unknown.
    expect(page.get_by_label("Current password")).to_have_count(0)
    page.reload()
    current = page.get_by_label("Current password")
    expect(current).to_be_focused()
    page.get_by_label("New password").fill("a password of my own")
    current.fill(ADMIN_PASSWORD)
    current.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Logos")
    expect(page.locator(".notice")).to_contain_text("Your password has been changed.")
    with pytest.raises(SignInRefused):
        service.gallery.sessions.sign_in(SignIn(username="admin", password=ADMIN_PASSWORD))


@pytest.mark.rule("contract O2", "contract J4")
def test_the_second_step_takes_codes_and_starts_over_after_five_minutes(chromium: Browser, service: Served) -> None:
    name, password = PAINTER
    tokens = service.gallery.sessions.sign_in(SignIn(username=name, password=password))
    secret, recovery_codes = enrol_app(service, service.gallery.sessions.caller(tokens.access_token))
    with looking(chromium, service, viewport=PHONE) as person:
        page = person.page

        def type_in(text: str) -> None:
            page.keyboard.type(text)
            page.keyboard.press("Enter")

        page.clock.install()
        person.open("authors")
        # With a blank that a keyboard adds.
        person.enter(f"{name} ", password)
        code = page.get_by_label("Code from your app")
        expect(code).to_be_focused()
        expect(code).to_have_attribute("autocomplete", "one-time-code")
        expect(code).to_have_attribute("inputmode", "numeric")
        type_in("000000")
        refused = page.get_by_role("alert")
        expect(refused).to_have_text("This code is not correct, or it has expired or been used.")
        expect(code).to_be_focused()
        page.clock.run_for(300_000)
        expect(refused).to_have_text("That took more than five minutes. Please enter your password again.")
        expect(page.get_by_label("User name")).to_have_value(name)
        expect(page.get_by_label("Password")).to_be_focused()
        type_in(password)
        expect(code).to_be_focused()
        service.clock.pass_by(30)  # each code works once
        type_in(TOTP(secret).at(service.clock.now()))
        expect(page.locator("h1")).to_have_text("Authors")
        person.sign_out()
        person.enter(name, password)
        person.press(page.get_by_role("button", name="Use a recovery code instead"))
        expect(page.get_by_label("Recovery code")).to_be_focused()
        type_in(recovery_codes[0].lower().replace("-", " "))
        expect(page.locator("h1")).to_have_text("Overview")
        # All credentials are lost: an administrator creates a code.
        person.sign_out()
        page.get_by_label("User name").fill(name)
        person.press(page.get_by_role("button", name="Other ways to sign in"))
        expect(page.get_by_label("Sign-in code")).to_be_focused()
        type_in("0000-0000-0000-0000-0000-0000")
        expect(refused).to_contain_text("This code is not correct")
        type_in(service.gallery.sign_in_codes.create(CreateSignInCode(user_id=7)).code)
        expect(page.locator("h1")).to_have_text("Overview")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.fixture
def single(chromium: Browser) -> Iterator[tuple[Person, FakeIssuer]]:
    """A window with the console of a service that has an issuer, whose editors may do everything."""
    with fake_issuer() as fake:
        outgoing = GuardedOutgoing(["127.0.0.1"], context=create_default_context())
        issuer = OidcIssuer(fake.url, CLIENT_ID, CLIENT_SECRET, "http://localhost:8000/console/", outgoing)
        oidc = {"oidc_issuer": fake.url, "oidc_client_id": CLIENT_ID, "oidc_client_secret": CLIENT_SECRET}
        rules = sign_in_rules(settings_of(oidc_roles="editors=admin", **oidc))
        with served(sign_in=rules, issuer=issuer) as service:
            fake.clock = service.clock.now
            with looking(chromium, replace(service, address=service.gallery.public_url.base)) as person:
                yield person, fake


AT_ISSUER: Final = re.compile("Sign in with .127.0.0.1")
AT_GITHUB: Final = re.compile("Sign in with .GitHub")


def lie(home: str, **answer: str) -> Callable[[Asked], tuple[int, str]]:
    """Return what an issuer answers that sends browsers back to the console with this."""
    return lambda asked: (302, f"{home}?{urlencode({'state': asked.query['state'], **answer})}")


@pytest.mark.rule("contract Q2", "contract J3")
def test_visitors_see_how_to_become_a_member(chromium: Browser, single: tuple[Person, FakeIssuer]) -> None:
    person, _ = single
    person.open("submit")
    card = person.page.locator(".sign-in")
    expect(card).to_contain_text("To submit a work, please sign in first.")
    expect(card).to_contain_text(re.compile("New here[?] Your account at .127.0.0.1. is all you need."))
    expect(card.get_by_role("link")).to_have_count(0)  # there is no page for visitors
    assert findings(person.page) == []
    with served(page=Page("Gallery")) as service, looking(chromium, service) as person:
        person.open()
        expect(person.page.locator(".sign-in")).to_contain_text("New here? Ask the administrators of this gallery")
        back = person.page.get_by_role("link", name="Back to the gallery")
        expect(back).to_have_attribute("href", f"{service.address}/gallery/")
    page, submit = Page("Gallery", "https://forum.example/start"), "https://forum.example/submit"
    with served(page=page, submit=submit) as service, looking(chromium, service, locale="ru") as person:
        person.open()
        site = person.page.get_by_role("link", name="forum.example", exact=True)
        expect(site).to_have_attribute("href", submit)
        expect(site.locator("..")).to_contain_text("пароль не нужен: начните оттуда")
        back = person.page.get_by_role("link", name="Назад на")
        expect(back).to_have_attribute("href", page.home)
        assert findings(person.page) == []


@pytest.mark.rule("contract O7", "contract O3", "contract Q2")
def test_a_visitor_becomes_a_member_at_github_and_lands_on_the_form(chromium: Browser) -> None:
    """No scope and no nonce; and no recent sign-in, since GitHub does not say when it authenticated somebody."""
    client = {"oidc_client_id": GITHUB_CLIENT_ID, "oidc_client_secret": "s", "oidc_default_role": "member"}
    rules = sign_in_rules(settings_of(oidc_issuer=GITHUB, **client))
    with fake_github() as github, served(sign_in=rules, issuer=github.issuer()) as service:
        home = f"{service.gallery.public_url.base}/console/"
        github.apps[GITHUB_CLIENT_ID] = home
        github.person["avatar_url"] = f"http://{PICTURES}/ann.svg"
        with looking(chromium, replace(service, address=service.gallery.public_url.base)) as person:
            page = person.page
            person.open("submit")
            at_github = page.get_by_role("button", name=AT_GITHUB)
            for lies in ({"state": "of-somebody-else"}, {"iss": "https://evil.example"}):
                github.answers[AUTHORIZE] = lie(home, **{"code": "a-code", "iss": f"{github.url}/login/oauth", **lies})
                at_github.click()
                expect(page.get_by_role("alert")).not_to_be_empty()
            assert TOKEN not in github.paths()
            del github.answers[AUTHORIZE]
            at_github.click()
            expect(page.locator("h1")).to_have_text("Submit a work")
            expect(page).to_have_url(f"{home}submit")
            begun = github.asked[-3].query
            assert begun.keys() == {
                *("response_type", "client_id", "redirect_uri", "state", "code_challenge", "code_challenge_method")
            }
            person.open("account")
            expect(page.locator("main")).to_contain_text("a provider that does not report when you did")
            expect(page.get_by_role("heading", name="Password")).to_have_count(0)
            expect(page.get_by_role("button", name="New key")).to_have_count(0)
            assert findings(page) == []


@pytest.mark.rule("contract O7", "contract J2")
def test_signing_in_at_the_issuer_returns_to_the_requested_view(single: tuple[Person, FakeIssuer]) -> None:
    """ASVS 10.1.2, 10.2.1, 10.2.2: the state, the nonce and the verifier are of this tab; issuers are not mixed up."""
    person, issuer = single
    page, home = person.page, f"{person.service.address}/console/"
    person.open("authors/2?from=mail")
    button = page.get_by_role("button", name=AT_ISSUER)

    # The response of another issuer, no issuer, a refusal, and an unsolicited response do not sign in.
    for answer, why in (
        ({"code": "a-code", "iss": "https://evil.example"}, "The answer came from somewhere else"),
        ({"error": "access_denied"}, "The sign-in was cancelled or refused there."),
        ({"error": "server_error", "error_description": "<b>"}, "The sign-in there did not succeed."),
    ):
        issuer.answers["/authorize"] = lie(home, **{"iss": issuer.url, **answer})
        button.click()
        expect(page.get_by_role("alert")).to_contain_text(why)
        expect(page).to_have_url(f"{home}authors/2?from=mail")
    person.open("?code=a-code&state=of-somebody-else")
    expect(page.get_by_role("alert")).to_contain_text("The sign-in there did not succeed.")
    expect(page).to_have_url(home)
    assert "/token" not in issuer.paths()
    person.open("authors/2?from=mail")
    del issuer.answers["/authorize"]
    button.click()
    expect(page.locator("h1")).to_have_text("Ben")
    expect(page).to_have_url(f"{home}authors/2?from=mail")
    begun = [asked.query for asked in issuer.asked if asked.path == "/authorize"]
    assert len({each[name] for each in begun for name in ("state", "nonce", "code_challenge")}) == 3 * len(begun)
    assert page.evaluate("sessionStorage['logoadmin.issuer']") is None


@pytest.mark.rule("contract O3", "contract O7", "contract J4")
def test_an_old_sign_in_is_renewed_in_place(single: tuple[Person, FakeIssuer]) -> None:
    """ASVS 7.5.1: by the same user alone; the new session replaces the old one in all tabs."""
    person, issuer = single
    page, service = person.page, person.service
    person.open("account")
    page.get_by_role("button", name=AT_ISSUER).click()
    expect(page.locator("h1")).to_have_text("My account")
    other = person.another_tab()
    person.open("logos", other)
    expect(other.locator(".card").first).to_be_visible()
    first = page.evaluate("sessionStorage['logoadmin.refresh']")
    service.clock.pass_by(700)
    page.get_by_role("button", name="New key").click()
    page.get_by_label("What is it for?").fill("nightly import")
    page.get_by_role("row", name=re.compile("^Authors")).get_by_role("checkbox").check()
    page.get_by_role("button", name="Create key").click()
    dialog = page.get_by_role("dialog", name="Confirm that it's you")
    expect(dialog.get_by_label("User name")).to_have_value("ann")
    page.keyboard.press("Escape")
    expect(page.locator("#work")).to_contain_text("Nothing was changed: this needs you to sign in again.")
    page.get_by_role("button", name="Create key").click()
    # Another user of the issuer is refused, and their session ends.
    ann, issuer.person = issuer.person, {"sub": "1", "preferred_username": "bob", "groups": ["editors"]}
    with page.expect_response("**/api/auth/revoke"), page.expect_popup() as opened:
        dialog.get_by_role("button", name=AT_ISSUER).click()
    expect(dialog.get_by_role("alert")).to_contain_text("That was somebody else's sign-in")
    if not opened.value.is_closed():
        opened.value.wait_for_event("close")
    issuer.person = ann
    dialog.get_by_role("button", name=AT_ISSUER).click()
    expect(page.get_by_role("dialog").get_by_label("Key", exact=True)).to_have_value(re.compile("lga_"))
    assert [asked.query.get("prompt") for asked in issuer.asked if asked.path == "/authorize"] == [None, *2 * ["login"]]
    kept = [tab.evaluate("sessionStorage['logoadmin.refresh']") for tab in (page, other)]
    assert kept[0] == kept[1] != first
    page.get_by_role("button", name="Done").click()


@pytest.mark.rule("contract O4", "contract J4")
def test_a_required_second_step_comes_before_anything_else(chromium: Browser) -> None:
    rules = SignInRules(second_factor="required")
    with served(sign_in=rules) as service, looking(chromium, service, viewport=PHONE) as person:
        page = person.page
        held: list[Route] = []
        page.route("**/api/auth/ways", lambda route: held.append(route))
        person.open("themes")
        page.get_by_label("User name").fill("admin")
        # The form does not wait for methods that load late; a passkey works only at the other address.
        held[0].continue_()
        expect(page.locator(".sign-in").get_by_role("link")).to_have_text(PASSKEYS_AT)
        expect(page.get_by_role("button", name="passkey")).to_have_count(0)
        person.enter("admin", ADMIN_PASSWORD)
        expect(page.locator("h1")).to_have_text("Set up a second step")
        expect(page.get_by_role("button", name="Authenticator app")).to_be_visible()
        expect(page.get_by_role("link")).to_have_text(PASSKEYS_AT)
        assert findings(page) == []
        page.get_by_role("button", name="Authenticator app").click()
        secret = page.locator(".secret").inner_text().replace(" ", "").replace("\n", "")
        page.get_by_label("Code from the app").fill(TOTP(secret).at(service.clock.now()))
        page.keyboard.press("Enter")
        page.get_by_role("checkbox", name="I have kept these codes").check()
        page.get_by_role("button", name="Done").click()
        expect(page.locator("h1")).to_have_text("Themes")
        expect(page.get_by_role("complementary")).to_have_count(0)


# As the account does it.
_ENROL: Final = """async () => {
  const files = document.styleSheets[0].href.replace(/style\\/.*/, "");
  const { call } = await import(`${files}client.js`);
  const { create } = await import(`${files}parts/factors/enrolment.js`);
  const { data } = await call("post", "/api/auth/factors/passkeys/options", { body: {} });
  const credential = await create(data.options);
  const body = { challenge: data.challenge, name: "This laptop", credential };
  return (await call("post", "/api/auth/factors/passkeys", { body })).data.recovery_codes;
}"""


@pytest.mark.rule("contract O2", "contract O8", "contract J4")
def test_a_passkey_signs_in_alone_and_as_a_second_step(chromium: Browser, service: Served) -> None:
    with looking(chromium, replace(service, address=service.gallery.public_url.base)) as person:
        page = person.page
        passkey = page.get_by_role("button", name="Sign in with a passkey")

        def sign_out() -> None:
            person.sign_out()
            expect(page.get_by_label("User name")).to_have_attribute("autocomplete", "username webauthn")

        with plugged_in(page) as authenticator:
            person.sign_in("logos")
            sign_out()
            person.enter("\u00a0admin ", ADMIN_PASSWORD)
            expect(page.locator(".notice")).to_contain_text("You are signing in as")
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
            person.enter("admin ", ADMIN_PASSWORD)
            expect(page.locator(".hint")).to_contain_text("You are signing in as")
            expect(page.get_by_role("button", name="Use a passkey")).to_be_focused()
            page.keyboard.press("Enter")
            expect(page.locator("h1")).to_have_text("Overview")
