"""Second factors, as browsers send them and as they are returned (contract O1, O2).

What browsers send has the names of WebAuthn's ``PublicKeyCredential.toJSON()``; binary values are base64url.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field, Strict

from logoadmin.domain.kernel.command import Input
from logoadmin.domain.kernel.limits import Challenge, CreatedAt, FactorId, FactorName, UserId, described

# In characters of base64url. WebAuthn level 3 §4: a credential id has at most 1,023 bytes.
MAX_CREDENTIAL_ID: Final = 1364
# An attestation with certificates, although none is asked for, fits.
MAX_ATTESTATION: Final = 32_768
MAX_CLIENT_DATA: Final = 8192
MAX_AUTHENTICATOR_DATA: Final = 4096
MAX_SIGNATURE: Final = 2048
# WebAuthn level 3 §5.4.3: a user handle has at most 64 bytes.
MAX_USER_HANDLE: Final = 86
MAX_TRANSPORTS: Final = 16
MAX_TRANSPORT: Final = 32

# Why passkeys cannot be used, for clients.
NOT_INSTALLED: Final = "Passkeys need the extra logoadmin[passkeys], which is not installed"
NO_NAME: Final = "Passkeys need a name: the host of public_url is an IP address"


def _base64url(maximum: int, description: str, example: str, minimum: int = 1) -> tuple[object, ...]:
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
_CLIENT_DATA: Final = "What the browser knows: the challenge, the origin and the kind of request."


class _FromBrowser(Input):
    """A part of a credential. Members that browsers add are ignored."""

    model_config = ConfigDict(extra="ignore", validate_by_name=True, validate_by_alias=True)


class _Credential(_FromBrowser):
    id: Annotated[str, *_base64url(MAX_CREDENTIAL_ID, "The id of the credential.", _ID)]
    type: Annotated[Literal["public-key"], described("The type of credential.", "public-key")]


class AttestationResponse(_FromBrowser):
    """An authenticator's response to the creation of a passkey."""

    client_data: Annotated[str, *_base64url(MAX_CLIENT_DATA, _CLIENT_DATA, "eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0")] = (
        Field(alias="clientDataJSON")
    )
    attestation_object: Annotated[
        str,
        *_base64url(MAX_ATTESTATION, "The public key, with data of the authenticator.", "o2NmbXRkbm9uZQ"),
    ] = Field(alias="attestationObject")
    transports: Annotated[
        list[Annotated[str, Strict(), Field(max_length=MAX_TRANSPORT)]],
        Field(max_length=MAX_TRANSPORTS),
        described("How the authenticator can be reached.", ["internal", "hybrid"]),
    ] = Field(default_factory=list)


class AssertionResponse(_FromBrowser):
    """An authenticator's response to a sign-in with a passkey."""

    client_data: Annotated[str, *_base64url(MAX_CLIENT_DATA, _CLIENT_DATA, "eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0")] = Field(
        alias="clientDataJSON"
    )
    authenticator_data: Annotated[
        str,
        *_base64url(MAX_AUTHENTICATOR_DATA, "The data of the authenticator that it signs.", "SZYN5YgOjGh0NBcPZHZgW4_k"),
    ] = Field(alias="authenticatorData")
    signature: Annotated[str, *_base64url(MAX_SIGNATURE, "The signature of both.", "MEUCIQCy-Xis-Cw13QAdqAlHS0b_")]
    user_handle: (
        Annotated[str, *_base64url(MAX_USER_HANDLE, "The user that the passkey was created for.", "Nw", 0)] | None
    ) = Field(default=None, alias="userHandle")


class CreatedCredential(_Credential):
    """A new passkey, as ``toJSON()`` returns it."""

    response: Annotated[AttestationResponse, described("The response of the authenticator.", _CREATION)]


class UsedCredential(_Credential):
    """The proof that somebody has a passkey, as ``toJSON()`` returns it."""

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
        "The use of the passkey, as `toJSON()` of the credential returns it.",
        {"id": _ID, "type": "public-key", "response": _USE},
    ),
]

FactorKind = Literal["totp", "passkey"]


@dataclass(frozen=True, slots=True)
class ListedFactor:
    """A second factor, without its secret. The times are Unix time."""

    factor_id: FactorId
    kind: Annotated[FactorKind, described("`totp` for codes of an authenticator app, or `passkey`.", "totp")]
    name: FactorName
    created_at: CreatedAt
    last_used_at: Annotated[
        int | None, described("When it last signed the user in, in Unix seconds; `null` for never.", 1_800_003_600)
    ]


_CODES = described(
    "Recovery codes, each of which replaces the second factor once. They are shown only this once.",
    ["7KQ2-M4ZT-9A0C-X3HV-BN5E-R8WD"],
)


@dataclass(frozen=True, slots=True)
class NewFactor(ListedFactor):
    """A second factor that was just enrolled, with ten recovery codes if it is the user's only one."""

    recovery_codes: Annotated[
        tuple[str, ...] | None,
        described(
            "Ten recovery codes with the first factor, shown only this once; `null` with any other.",
            ["7KQ2-M4ZT-9A0C-X3HV-BN5E-R8WD"],
        ),
    ] = field(repr=False)


@dataclass(frozen=True, slots=True)
class NewTotp:
    """A secret for an authenticator app, which is shown only this once. It is a factor once it is confirmed."""

    factor_id: FactorId
    secret: Annotated[
        str, described("The secret in base32, for apps without a camera.", "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    ] = field(repr=False)
    uri: Annotated[
        str,
        described(
            "The same for apps on the same device.",
            "otpauth://totp/gallery.example:ann?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=gallery.example",
        ),
    ] = field(repr=False)


@dataclass(frozen=True, slots=True)
class PasskeyOptions:
    """Options for a browser that creates or uses a passkey."""

    challenge: Challenge = field(repr=False)
    options: Annotated[
        Mapping[str, Any],
        described(
            "The options, as `PublicKeyCredential.parseCreationOptionsFromJSON()` takes them for a new passkey, and "
            "`parseRequestOptionsFromJSON()` for signing in.",
            {"challenge": "AAAAAGtJ0gB2VDNt...", "rpId": "gallery.example", "userVerification": "required"},
        ),
    ]


@dataclass(frozen=True, slots=True)
class RecoveryCodesLeft:
    """The number of a user's recovery codes that were not used."""

    left: Annotated[int, described("The number of recovery codes that are left.", 10)]


@dataclass(frozen=True, slots=True)
class NewRecoveryCodes:
    """Ten recovery codes, which replace the former ones."""

    recovery_codes: Annotated[tuple[str, ...], _CODES] = field(repr=False)


@dataclass(frozen=True, slots=True)
class RemovedFactor:
    """The answer to the removal of a second factor."""

    factor_id: FactorId


@dataclass(frozen=True, slots=True)
class RemovedUserFactors:
    """The answer to the removal of all second factors of a user: their number."""

    user_id: UserId
    removed: Annotated[int, described("The number of second factors that were removed.", 2)]


@dataclass(frozen=True, slots=True)
class SignInLink:
    """The secret part of a link that signs a user in once (contract R5), which is shown only this once."""

    link: str = field(repr=False)
    expires_at: int


@dataclass(frozen=True, slots=True)
class NewSignInCode:
    """A code that signs a user in once, instead of password and second factor (contract O6)."""

    user_id: UserId
    code: Annotated[str, described("The code, shown only this once.", "7KQ2-M4ZT-9A0C-X3HV-BN5E-R8WD")] = field(
        repr=False
    )
    expires_at: Annotated[int, described("When it expires, as Unix time in seconds.", 1_800_000_600)]
