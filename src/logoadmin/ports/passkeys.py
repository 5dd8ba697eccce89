"""Verification of passkeys (WebAuthn level 3, contract O1, O2).

Data from browsers has the names of WebAuthn's ``PublicKeyCredential.toJSON()``; binary values are base64url.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, Protocol

from pydantic import ConfigDict, Field, Strict

from logoadmin.domain.kernel.command import Input
from logoadmin.domain.kernel.limits import described

# Why passkeys cannot be used, for clients.
NOT_INSTALLED: Final = "Passkeys need the extra logoadmin[passkeys], which is not installed"
NO_NAME: Final = "Passkeys need a name: the host of public_url is an IP address"


def _base64url(maximum: int, description: str, example: str, minimum: int = 1) -> tuple[object, ...]:
    """Describe base64url of at most this many characters.

    WebAuthn level 3 limits ids of credentials to 1,023 bytes (§4) and user handles to 64 (§5.4.3). An attestation may
    have certificates, although none is requested.
    """
    limits = Field(min_length=minimum, max_length=maximum, pattern=r"^[A-Za-z0-9_\-]*$")
    return Strict(), limits, described(description, example)


_ID: Final = "KYEzRfKprZTE-9yHv2rAPbo3D0Kyc1GkswULBQUdN5o"
_CREATION: Final = {
    "clientDataJSON": "eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0",
    "attestationObject": "o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YQ",
    "transports": ["internal", "hybrid"],
}
_USE: Final = {
    "clientDataJSON": "eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0",
    "authenticatorData": "SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAw",
    "signature": "MEUCIQCy-Xis-Cw13QAdqAlHS0b_BzHQ1itOov8V-4G5ZgI7LwIg",
    "userHandle": "Nw",
}
_CLIENT_DATA: Final = "The client data: the challenge, the origin and the type of request."


class _FromBrowser(Input):
    """A part of a credential. Members that browsers add are ignored."""

    model_config = ConfigDict(extra="ignore", validate_by_name=True, validate_by_alias=True)


class _Credential(_FromBrowser):
    id: Annotated[str, *_base64url(1364, "The id of the credential.", _ID)]
    type: Annotated[Literal["public-key"], described("The type of credential.", "public-key")]


class AttestationResponse(_FromBrowser):
    """An authenticator's response to the creation of a passkey."""

    client_data: Annotated[str, *_base64url(8192, _CLIENT_DATA, "eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0")] = Field(
        alias="clientDataJSON"
    )
    attestation_object: Annotated[
        str, *_base64url(32_768, "The public key and the authenticator data.", "o2NmbXRkbm9uZQ")
    ] = Field(alias="attestationObject")
    transports: Annotated[
        list[Annotated[str, Strict(), Field(max_length=32)]],
        Field(max_length=16),
        described("The transports that the authenticator supports.", ["internal", "hybrid"]),
    ] = Field(default_factory=list)


class AssertionResponse(_FromBrowser):
    """An authenticator's response to a sign-in with a passkey."""

    client_data: Annotated[str, *_base64url(8192, _CLIENT_DATA, "eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0")] = Field(
        alias="clientDataJSON"
    )
    authenticator_data: Annotated[
        str,
        *_base64url(4096, "The authenticator data, which the authenticator signs.", "SZYN5YgOjGh0NBcPZHZgW4_k"),
    ] = Field(alias="authenticatorData")
    signature: Annotated[
        str,
        *_base64url(
            2048,
            "The signature over the authenticator data and the client data.",
            "MEUCIQCy-Xis-Cw13QAdqAlHS0b_",
        ),
    ]
    user_handle: Annotated[str, *_base64url(86, "The user that the passkey was created for.", "Nw", 0)] | None = Field(
        default=None, alias="userHandle"
    )


class CreatedCredential(_Credential):
    """A new passkey, as ``toJSON()`` returns it."""

    response: Annotated[AttestationResponse, described("The response of the authenticator.", _CREATION)]


class UsedCredential(_Credential):
    """The proof of possession of a passkey, as ``toJSON()`` returns it."""

    response: Annotated[AssertionResponse, described("The response of the authenticator.", _USE)]


NewPasskey = Annotated[
    CreatedCredential,
    described(
        "The passkey, as `toJSON()` of the new credential returns it.",
        {"id": _ID, "type": "public-key", "response": _CREATION},
    ),
]
PasskeyUse = Annotated[
    UsedCredential,
    described(
        "The proof from the passkey, as `toJSON()` of the credential returns it.",
        {"id": _ID, "type": "public-key", "response": _USE},
    ),
]


class PasskeyRefused(Exception):
    """A credential was rejected. The message has the reason, for logs; clients must not see it."""


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
    """Creates options for browsers and verifies their responses. Safe to use from several threads.

    A challenge is base64url of at least 16 bytes. Callers must ensure that it is fresh and used once, and check the
    signature counter. Users are identified by a handle of at most 64 bytes of ASCII.
    """

    def creation_options(
        self, challenge: str, handle: str, username: str, existing: Sequence[Passkey]
    ) -> Mapping[str, Any]:
        """Return options for a new passkey of a user, for ``parseCreationOptionsFromJSON``.

        The passkey must be discoverable; no attestation is requested; ``existing`` passkeys are excluded.
        """

    def created(self, challenge: str, credential: CreatedCredential) -> Passkey:
        """Return a new passkey.

        Raises:
            PasskeyRefused: must be raised unless the credential was created for this challenge by a present user, at
                the origin of this service and not in a frame of another one, with an algorithm that was offered.
        """

    def request_options(self, challenge: str, passkeys: Sequence[Passkey] = (), *, verified: bool) -> Mapping[str, Any]:
        """Return options for the use of one of these passkeys, for ``parseRequestOptionsFromJSON``.

        Without passkeys, any that the authenticator finds can be used. It must verify its user if ``verified``;
        otherwise it does if it can.
        """

    def used(self, challenge: str, passkey: Passkey, handle: str, credential: UsedCredential, *, verified: bool) -> int:
        """Verify the use of a passkey, and return its signature counter.

        Raises:
            PasskeyRefused: must be raised unless the passkey signed this challenge for a present user, at the origin
                of this service and not in a frame of another one, and verified its user if ``verified``; if it has
                another handle, or with ``verified`` none; and if it is synced now and was not before, or the reverse.
        """


# Returns the adapter, which may take a while the first time.
OpenPasskeys = Callable[[], Passkeys]
