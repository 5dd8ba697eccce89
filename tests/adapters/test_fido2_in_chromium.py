"""A passkey that Chromium creates and uses, with options of ours (contract O1, O2)."""

from collections.abc import Iterator
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Page

from logoadmin.adapters.fido2_passkeys import Fido2Passkeys
from logoadmin.domain.public_url import LOCAL
from logoadmin.ports.passkeys import PasskeyRefused
from tests.console.authenticator import plugged_in
from tests.passkeys import created, encoded, used

pytestmark = [pytest.mark.slow("a browser"), pytest.mark.rule("contract O1", "contract O2")]

CHALLENGE: Final = encoded(b"a challenge of some forty bytes, or more")
CREATE: Final = """async (options) => (await navigator.credentials.create({
  publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options),
})).toJSON()"""
GET: Final = """async (options) => (await navigator.credentials.get({
  publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options),
})).toJSON()"""


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """An empty page of the default origin."""
    with chromium.new_context() as context:
        context.route("**/*", lambda route: route.fulfill(content_type="text/html", body="<!doctype html>"))
        page = context.new_page()
        page.goto(f"{LOCAL.origin}/")
        yield page


def test_a_passkey_is_created_and_used(page: Page) -> None:
    passkeys = Fido2Passkeys(LOCAL)
    with plugged_in(page) as authenticator:
        options = passkeys.creation_options(CHALLENGE, "7", "ann", ())
        passkey = passkeys.created(CHALLENGE, created(page.evaluate(CREATE, options)))
        assert [each["rpId"] for each in authenticator.passkeys] == ["localhost"]
        assert (passkey.synced, passkey.transports) == (False, ("internal",))
        alone = page.evaluate(GET, passkeys.request_options(CHALLENGE, verified=True))
        counter = passkeys.used(CHALLENGE, passkey, "7", used(alone), verified=True)
        second = page.evaluate(GET, passkeys.request_options(CHALLENGE, [passkey], verified=False))
        assert passkeys.used(CHALLENGE, passkey, "7", used(second), verified=False) > counter
        with pytest.raises(PasskeyRefused, match="handle"):
            passkeys.used(CHALLENGE, passkey, "8", used(alone), verified=True)
        again: Any = page.evaluate(
            f"(options) => ({CREATE})(options).catch((error) => error.name)",
            passkeys.creation_options(CHALLENGE, "7", "ann", [passkey]),
        )
        assert again == "InvalidStateError"


def test_a_user_who_cannot_be_verified_is_not_verified(page: Page) -> None:
    passkeys = Fido2Passkeys(LOCAL)
    with plugged_in(page, verifies=False):
        options = passkeys.creation_options(CHALLENGE, "7", "ann", ())
        passkey = passkeys.created(CHALLENGE, created(page.evaluate(CREATE, options)))
        second = used(page.evaluate(GET, passkeys.request_options(CHALLENGE, [passkey], verified=False)))
        assert passkeys.used(CHALLENGE, passkey, "7", second, verified=False) > 0
        with pytest.raises(PasskeyRefused, match="verif"):
            passkeys.used(CHALLENGE, passkey, "7", second, verified=True)
