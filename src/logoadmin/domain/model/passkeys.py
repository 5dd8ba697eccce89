"""Passkeys: what browsers send of them (contract O1, O2).

The inputs have the names of WebAuthn's ``PublicKeyCredential.toJSON()``; binary values are base64url.
"""

from typing import Annotated, Final, Literal

from pydantic import ConfigDict, Field, Strict

from logoadmin.domain.model.command import Input

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
NO_HOST_NAME: Final = (
    "Passkeys need a public_url with a host name instead of an address, and https unless it is localhost"
)


def _base64url(maximum: int, minimum: int = 1) -> tuple[object, ...]:
    return Strict(), Field(min_length=minimum, max_length=maximum, pattern=r"^[A-Za-z0-9_\-]*$")


class _FromBrowser(Input):
    """A part of a credential. Members that browsers add are ignored."""

    model_config = ConfigDict(extra="ignore", validate_by_name=True, validate_by_alias=True)


class _Credential(_FromBrowser):
    id: Annotated[str, *_base64url(MAX_CREDENTIAL_ID)]
    type: Literal["public-key"]


class AttestationResponse(_FromBrowser):
    """An authenticator's response to the creation of a passkey."""

    client_data: Annotated[str, *_base64url(MAX_CLIENT_DATA)] = Field(alias="clientDataJSON")
    attestation_object: Annotated[str, *_base64url(MAX_ATTESTATION)] = Field(alias="attestationObject")
    transports: Annotated[
        list[Annotated[str, Strict(), Field(max_length=MAX_TRANSPORT)]], Field(max_length=MAX_TRANSPORTS)
    ] = Field(default_factory=list)


class AssertionResponse(_FromBrowser):
    """An authenticator's response to a sign-in with a passkey."""

    client_data: Annotated[str, *_base64url(MAX_CLIENT_DATA)] = Field(alias="clientDataJSON")
    authenticator_data: Annotated[str, *_base64url(MAX_AUTHENTICATOR_DATA)] = Field(alias="authenticatorData")
    signature: Annotated[str, *_base64url(MAX_SIGNATURE)]
    user_handle: Annotated[str, *_base64url(MAX_USER_HANDLE, 0)] | None = Field(default=None, alias="userHandle")


class CreatedCredential(_Credential):
    """A new passkey, as ``toJSON()`` returns it."""

    response: AttestationResponse


class UsedCredential(_Credential):
    """The proof that somebody has a passkey, as ``toJSON()`` returns it."""

    response: AssertionResponse
