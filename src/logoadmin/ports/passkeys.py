"""Verification of passkeys (WebAuthn level 3, contract O1, O2)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from logoadmin.domain.identity.factors.records import CreatedCredential, UsedCredential


class PasskeyRefused(Exception):
    """A credential proves nothing. The text has the reason, for the log of a developer; clients must not see it."""


@dataclass(frozen=True, slots=True)
class Passkey:
    """A passkey that a user created.

    Attributes:
        credential: its id in base64url, chosen by the authenticator.
        public_key: its public key, in an encoding of the adapter.
        counter: its signature counter; 0 for authenticators that do not count.
        synced: whether it may have copies on other devices (backup eligibility), which count separately.
        transports: how the authenticator can be reached, for the browser.
    """

    credential: str
    public_key: str
    counter: int
    synced: bool
    transports: tuple[str, ...] = ()


class Passkeys(Protocol):
    """Makes options for browsers and verifies their answers. Safe to use from several threads.

    A challenge is base64url of at least 16 bytes; it must be fresh and used once, which is up to the caller, as is the
    signature counter. Users are identified by a handle of at most 64 bytes of ASCII.
    """

    def creation_options(
        self, challenge: str, handle: str, username: str, existing: Sequence[Passkey]
    ) -> Mapping[str, Any]:
        """Return options for a new passkey of a user, as ``parseCreationOptionsFromJSON`` takes them.

        The passkey must be discoverable; no attestation is requested; ``existing`` are excluded.
        """

    def created(self, challenge: str, credential: CreatedCredential) -> Passkey:
        """Return a new passkey.

        Raises:
            PasskeyRefused: must be raised unless the credential was created for this challenge by a present user, at
                the origin of this service and not in a frame of another one, with an algorithm that was offered.
        """

    def request_options(self, challenge: str, passkeys: Sequence[Passkey] = (), *, verified: bool) -> Mapping[str, Any]:
        """Return options for the use of one of some passkeys, as ``parseRequestOptionsFromJSON`` takes them.

        Args:
            challenge: the challenge.
            passkeys: the passkeys; none for any that the authenticator finds.
            verified: whether the authenticator must verify its user; otherwise it does if it can.
        """

    def used(self, challenge: str, passkey: Passkey, handle: str, credential: UsedCredential, *, verified: bool) -> int:
        """Return the signature counter of a use of a passkey.

        Raises:
            PasskeyRefused: must be raised unless the passkey signed this challenge for a present user, at the origin
                of this service and not in a frame of another one; unless it verified its user, if ``verified``; if it
                names another handle, or with ``verified`` none; if it is synced now and was not before, or was.
        """


# How to get them, which may take a while the first time; or why they cannot be used here, as a text for clients.
OpenPasskeys = Callable[[], Passkeys]
