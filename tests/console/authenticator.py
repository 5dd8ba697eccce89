"""The virtual authenticator of Chromium, for pages that create and use passkeys (contract O1, O2)."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import CDPSession, Page


class VirtualAuthenticator:
    """An authenticator that a page finds, and whose user touches it at once.

    It belongs to one tab, which has to be at a host with a name, such as ``http://localhost:8000``: an address is no
    RP ID.
    """

    def __init__(self, page: Page, *, verifies: bool = True) -> None:
        """Plug it in.

        Args:
            page: the tab.
            verifies: whether it can verify its user, by a PIN or a fingerprint; otherwise it is only a second factor.
        """
        self._cdp: CDPSession = page.context.new_cdp_session(page)
        self._cdp.send("WebAuthn.enable")
        options = {
            "protocol": "ctap2",
            "ctap2Version": "ctap2_1",
            "transport": "internal",
            "hasResidentKey": True,
            "hasUserVerification": verifies,
            "isUserVerified": verifies,
            "automaticPresenceSimulation": True,
        }
        self._id = self._cdp.send("WebAuthn.addVirtualAuthenticator", {"options": options})["authenticatorId"]

    def _send(self, method: str, **arguments: Any) -> Any:
        return self._cdp.send(f"WebAuthn.{method}", {"authenticatorId": self._id, **arguments})

    @property
    def passkeys(self) -> list[dict[str, Any]]:
        """The passkeys in it: ``credentialId``, ``rpId``, ``userHandle``, ``signCount`` and others."""
        found: list[dict[str, Any]] = self._send("getCredentials")["credentials"]
        return found

    def verify(self, *, verifies: bool) -> None:
        """Set whether user verification succeeds from now on."""
        self._send("setUserVerified", isUserVerified=verifies)

    def touch(self, *, touches: bool) -> None:
        """Let the user touch it at once from now on, or never: the page waits until it gives up."""
        self._send("setAutomaticPresenceSimulation", enabled=touches)

    def put(self, passkey: dict[str, Any]) -> None:
        """Add a passkey, for example a copy of another authenticator's, with another ``signCount``."""
        self._send("addCredential", credential=passkey)

    def forget(self) -> None:
        """Delete all passkeys, as on a device that was reset."""
        self._send("clearCredentials")

    def unplug(self) -> None:
        """Take it away."""
        self._cdp.send("WebAuthn.removeVirtualAuthenticator", {"authenticatorId": self._id})
        self._cdp.detach()


@contextmanager
def plugged_in(page: Page, *, verifies: bool = True) -> Iterator[VirtualAuthenticator]:
    """Plug in an authenticator for a while."""
    authenticator = VirtualAuthenticator(page, verifies=verifies)
    yield authenticator
    authenticator.unplug()
