"""The virtual authenticator of Chromium, for pages that create and use passkeys (contract O1, O2)."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Page


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
