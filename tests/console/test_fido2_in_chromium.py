"""Passkeys that Chromium creates and uses with options of ours, read by the adapter itself (contract O1, O2)."""

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
ASK: Final = """async ([how, options]) => {
  const parse = { create: "parseCreationOptionsFromJSON", get: "parseRequestOptionsFromJSON" }[how];
  const publicKey = PublicKeyCredential[parse](options);
  return navigator.credentials[how]({ publicKey }).then((found) => found.toJSON(), (error) => error.name);
}"""


@pytest.mark.parametrize("verifies", [True, False])
def test_a_passkey_is_created_and_used_alone_only_with_user_verification(chromium: Browser, verifies: bool) -> None:
    passkeys = Fido2Passkeys(LOCAL)

    def ask(page: Page, how: str, options: object) -> Any:
        return page.evaluate(ASK, [how, options])

    with chromium.new_context() as context:
        context.route("**/*", lambda route: route.fulfill(content_type="text/html", body="<!doctype html>"))
        page = context.new_page()
        page.goto(f"{LOCAL.origin}/")
        with plugged_in(page, verifies=verifies) as authenticator:
            made = ask(page, "create", passkeys.creation_options(CHALLENGE, "7", "ann", ()))
            passkey = passkeys.created(CHALLENGE, created(made))
            assert [each["rpId"] for each in authenticator.passkeys] == ["localhost"]
            assert (passkey.synced, passkey.transports) == (False, ("internal",))
            again = passkeys.creation_options(CHALLENGE, "7", "ann", [passkey])
            assert ask(page, "create", again) == "InvalidStateError"
            second = used(ask(page, "get", passkeys.request_options(CHALLENGE, [passkey], verified=False)))
            assert passkeys.used(CHALLENGE, passkey, "7", second, verified=False) > 0
            if not verifies:
                with pytest.raises(PasskeyRefused, match="verif"):
                    passkeys.used(CHALLENGE, passkey, "7", second, verified=True)
                return
            alone = used(ask(page, "get", passkeys.request_options(CHALLENGE, verified=True)))
            counter = passkeys.used(CHALLENGE, passkey, "7", alone, verified=True)
            assert counter > passkeys.used(CHALLENGE, passkey, "7", second, verified=True)
            with pytest.raises(PasskeyRefused, match="handle"):
                passkeys.used(CHALLENGE, passkey, "8", alone, verified=True)
