"""Passkeys by the fido2 library (contract O1, O2)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from cryptography.exceptions import InvalidSignature
from fido2 import cbor, webauthn
from fido2.cose import ES256, RS256, CoseKey, EdDSA
from fido2.server import Fido2Server

from logoadmin.domain.kernel.command import strict_json
from logoadmin.domain.public_url import PublicUrl
from logoadmin.jwk import base64url, base64url_decoded
from logoadmin.ports.passkeys import CreatedCredential, Passkey, PasskeyRefused, UsedCredential

# How long a browser waits for its user: as long as a challenge is valid.
_TIMEOUT: Final = 300_000  # ms
# Every authenticator supports one of these; the first is preferred.
_ALGORITHMS: Final = (ES256, EdDSA, RS256)
# The modulus of an RSA key in bytes; verifying with a larger one could take long.
_RSA_SIZES: Final = range(256, 513)
_MAX_KEY: Final = 1024  # bytes
_NAME: Final = "logoadmin"


class Fido2Passkeys:
    """The :class:`~logoadmin.ports.passkeys.Passkeys` of the fido2 library."""

    def __init__(self, public_url: PublicUrl) -> None:
        """Accept credentials from the origin of a URL, whose host is a name and the RP ID."""
        self._server = Fido2Server(
            webauthn.PublicKeyCredentialRpEntity(name=_NAME, id=public_url.host),
            attestation=webauthn.AttestationConveyancePreference.NONE,
            # The library's own check accepts every sub-domain and every port.
            verify_origin=lambda origin: origin == public_url.origin,
        )
        self._server.allowed_algorithms = [
            webauthn.PublicKeyCredentialParameters(type=webauthn.PublicKeyCredentialType.PUBLIC_KEY, alg=key.ALGORITHM)
            for key in _ALGORITHMS
        ]

    def creation_options(
        self, challenge: str, handle: str, username: str, existing: Sequence[Passkey]
    ) -> Mapping[str, Any]:
        options, _ = self._server.register_begin(
            webauthn.PublicKeyCredentialUserEntity(id=handle.encode(), name=username, display_name=username),
            [_descriptor(each) for each in existing],
            resident_key_requirement=webauthn.ResidentKeyRequirement.REQUIRED,
            user_verification=webauthn.UserVerificationRequirement.PREFERRED,
            challenge=base64url_decoded(challenge),
        )
        return _plain(options.public_key)

    def created(self, challenge: str, credential: CreatedCredential) -> Passkey:
        reply = credential.response
        # The user does not matter here, but older versions of the library require a name.
        user = webauthn.PublicKeyCredentialUserEntity(id=b"-", name="-")
        _, state = self._server.register_begin(user, challenge=base64url_decoded(challenge))
        with _refused():
            _check_client_data(reply.client_data)
            found = cbor.decode(base64url_decoded(reply.attestation_object))
            _require(isinstance(found, Mapping) and isinstance(found.get("authData"), bytes), "no authenticator data")
            response = {"clientDataJSON": reply.client_data, "attestationObject": reply.attestation_object}
            authenticator = self._server.register_complete(state, _sent(credential.id, response))
            attested = authenticator.credential_data
            if attested is None or attested.credential_id != base64url_decoded(credential.id):
                raise PasskeyRefused("another credential id")
            return Passkey(
                base64url(attested.credential_id),
                _stored_key(attested.public_key),
                authenticator.counter,
                _is_synced(authenticator),
                tuple(each for each in reply.transports if webauthn.AuthenticatorTransport(each) is not None),
            )

    def request_options(self, challenge: str, passkeys: Sequence[Passkey] = (), *, verified: bool) -> Mapping[str, Any]:
        options, _ = self._server.authenticate_begin(
            [_descriptor(each) for each in passkeys] or None, _requirement(verified), base64url_decoded(challenge)
        )
        return _plain(options.public_key)

    def used(self, challenge: str, passkey: Passkey, handle: str, credential: UsedCredential, *, verified: bool) -> int:
        reply = credential.response
        _, state = self._server.authenticate_begin(None, _requirement(verified), base64url_decoded(challenge))
        attested = _attested(passkey)
        with _refused():
            _check_client_data(reply.client_data)
            named = None if reply.user_handle is None else base64url_decoded(reply.user_handle)
            _require(named == handle.encode() or (named is None and not verified), "another user handle")
            response = {
                "clientDataJSON": reply.client_data,
                "authenticatorData": reply.authenticator_data,
                "signature": reply.signature,
            }
            self._server.authenticate_complete(state, [attested], _sent(credential.id, response))
            authenticator = webauthn.AuthenticatorData(base64url_decoded(reply.authenticator_data))
            _require(_is_synced(authenticator) == passkey.synced, "another kind of credential")
            return authenticator.counter


@contextmanager
def _refused() -> Iterator[None]:
    """Refuse a credential after any error while it is read: it is not ours, and the library checks no types."""
    try:
        yield
    except PasskeyRefused:
        raise
    except Exception as error:
        raise PasskeyRefused(f"{type(error).__name__}: {error}") from None


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise PasskeyRefused(otherwise)


def _check_client_data(text: str) -> None:
    """Refuse client data of wrong types, from which the library creates objects of any size, and that of frames."""
    data = strict_json(base64url_decoded(text))
    _require(isinstance(data, dict), "client data without members")
    _require(all(isinstance(data.get(name), str) for name in ("type", "challenge", "origin")), "incomplete client data")
    _require(data.get("crossOrigin", False) is False and "topOrigin" not in data, "a frame of another origin")


def _stored_key(key: CoseKey) -> str:
    """Return a public key as text, if its algorithm was offered."""
    _require(type(key) in _ALGORITHMS, "an algorithm that was not offered")
    _require(not isinstance(key, RS256) or len(key[-1].lstrip(b"\0")) in _RSA_SIZES, "an RSA key of an unusual size")
    encoded = cbor.encode(key)
    _require(len(encoded) <= _MAX_KEY, "too large a key")
    try:
        key.verify(b"", b"")
    except InvalidSignature:  # as it should: a broken key has other errors
        return base64url(encoded)
    raise PasskeyRefused("a key that accepts anything")


def _is_synced(authenticator: webauthn.AuthenticatorData) -> bool:
    eligible = authenticator.is_backup_eligible()
    _require(eligible or not authenticator.is_backed_up(), "a copy of what cannot be copied")
    return eligible


def _attested(passkey: Passkey) -> webauthn.AttestedCredentialData:
    key: Any = cbor.decode(base64url_decoded(passkey.public_key))
    return webauthn.AttestedCredentialData.create(
        webauthn.Aaguid.NONE, base64url_decoded(passkey.credential), CoseKey.parse(key)
    )


def _descriptor(passkey: Passkey) -> webauthn.PublicKeyCredentialDescriptor:
    return webauthn.PublicKeyCredentialDescriptor(
        type=webauthn.PublicKeyCredentialType.PUBLIC_KEY,
        id=base64url_decoded(passkey.credential),
        transports=[webauthn.AuthenticatorTransport(each) for each in passkey.transports] or None,
    )


def _requirement(verified: bool) -> webauthn.UserVerificationRequirement:
    return webauthn.UserVerificationRequirement.REQUIRED if verified else webauthn.UserVerificationRequirement.PREFERRED


def _sent(credential_id: str, response: Mapping[str, str]) -> Mapping[str, Any]:
    return {"id": credential_id, "rawId": credential_id, "response": response}


def _plain(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return options as plain JSON, without the library's types."""
    plain: dict[str, Any] = json.loads(json.dumps(dict(options)))
    return plain | {"timeout": _TIMEOUT}
