"""A software authenticator with a browser, which can lie in every field (WebAuthn level 3 §6)."""

import hashlib
import json
import os
import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from fido2 import cbor
from fido2.cose import ES256, RS256, CoseKey, EdDSA

from logoadmin.domain.public_url import PublicUrl
from logoadmin.ports.passkeys import CreatedCredential, UsedCredential

SITE: Final = PublicUrl("https://gallery.example", "gallery.example")
# Flags of authenticator data.
UP, UV, BE, BS, AT = 0x01, 0x04, 0x08, 0x10, 0x40

Private = ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey | rsa.RSAPrivateKey
Json = dict[str, Any]


def encoded(content: bytes) -> str:
    """Return base64url without padding."""
    return urlsafe_b64encode(content).rstrip(b"=").decode()


def decoded(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


@dataclass
class Authenticator:
    """One passkey, and the browser that uses it.

    Attributes:
        private: its key, of P-256, Ed25519 or RSA.
        credential_id: the id of the credential.
        handle: the user it was created for; None before, and for a passkey that stores no user.
        counter: the signature counter, which each use increments; it stays at 0 if synced.
        verifies: whether it verifies its user.
        synced: whether it is backup-eligible and backed up.
        site: the site in the browser; a lie changes its origin and its host, the RP ID.
        flags: wrong flags.
        cose: a wrong public key.
        client_data: wrong members of the client data.
    """

    private: Private = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    credential_id: bytes = field(default_factory=lambda: os.urandom(32))
    handle: bytes | None = None
    counter: int = 0
    verifies: bool = True
    synced: bool = False
    site: PublicUrl = SITE
    flags: int | None = None
    cose: Mapping[int, Any] | None = None
    client_data: Json = field(default_factory=dict)

    def create(self, options: Mapping[str, Any]) -> Json:
        """Return the credential that ``navigator.credentials.create`` would return, in the form of ``toJSON()``."""
        self.handle = decoded(options["user"]["id"])
        key = cbor.encode(public(self._kind, self.private) if self.cose is None else self.cose)
        attested = bytes(16) + struct.pack(">H", len(self.credential_id)) + self.credential_id + key
        data = self._data(AT) + attested
        return self._json(
            clientDataJSON=self._client_data("webauthn.create", options),
            attestationObject=encoded(cbor.encode({"fmt": "none", "attStmt": {}, "authData": data})),
            authenticatorData=encoded(data),
            transports=["internal", "hybrid"],
        )

    def get(self, options: Mapping[str, Any]) -> Json:
        """Return the assertion that ``navigator.credentials.get`` would return, in the form of ``toJSON()``."""
        self.counter += not self.synced
        data, client_data = self._data(), self._client_data("webauthn.get", options)
        return self._json(
            clientDataJSON=client_data,
            authenticatorData=encoded(data),
            signature=encoded(self._sign(data + hashlib.sha256(decoded(client_data)).digest())),
            userHandle=None if self.handle is None else encoded(self.handle),
        )

    def _data(self, more: int = 0) -> bytes:
        own = UP | UV * self.verifies | (BE | BS) * self.synced
        flags = (own if self.flags is None else self.flags) | more
        return hashlib.sha256(self.site.host.encode()).digest() + struct.pack(">BI", flags, self.counter)

    def _client_data(self, type_: str, options: Mapping[str, Any]) -> str:
        data = {"type": type_, "challenge": options["challenge"], "origin": self.site.origin, "crossOrigin": False}
        return encoded(json.dumps(data | self.client_data).encode())

    def _json(self, **response: Any) -> Json:
        id_ = encoded(self.credential_id)
        extensions = {"clientExtensionResults": {"credProps": {"rk": True}}, "authenticatorAttachment": "platform"}
        return {"id": id_, "rawId": id_, "type": "public-key", "response": response, **extensions}

    @property
    def _kind(self) -> type[CoseKey]:
        if isinstance(self.private, ec.EllipticCurvePrivateKey):
            return ES256
        return RS256 if isinstance(self.private, rsa.RSAPrivateKey) else EdDSA

    def _sign(self, message: bytes) -> bytes:
        if isinstance(self.private, ec.EllipticCurvePrivateKey):
            return self.private.sign(message, ec.ECDSA(hashes.SHA256()))
        if isinstance(self.private, rsa.RSAPrivateKey):
            return self.private.sign(message, padding.PKCS1v15(), hashes.SHA256())
        return self.private.sign(message)


def public(kind: type[CoseKey], private: Private) -> dict[int, Any]:
    return dict(kind.from_cryptography_key(private.public_key()))


def created(answer: Json) -> CreatedCredential:
    """Return the input of a new credential."""
    return CreatedCredential.model_validate(answer)


def used(answer: Json) -> UsedCredential:
    """Return the input of an assertion."""
    return UsedCredential.model_validate(answer)
