"""The pointer ``latest.json``: signed, short, and the only file that changes (contract L2)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from logoadmin.domain.publication.files.index import canonical, sha256
from logoadmin.jwk import base64url, base64url_decoded, thumbprint
from logoadmin.ports.signing import SigningKey

MOST_BYTES: Final = 8192

FileEntry = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Pointer:
    """The content of a pointer, as the contract lists it; files are entries of :func:`file_entry`."""

    gallery: str
    epoch: int
    version: int
    issued: int
    expires: int
    index: FileEntry
    withdrawn: FileEntry
    blocked: Sequence[Mapping[str, Any]] = ()
    next_keys: Sequence[Mapping[str, str]] = ()

    @property
    def paths(self) -> frozenset[str]:
        """The names of the files in the pointer; the index names the style sheets."""
        return frozenset(file["path"] for file in (self.index, self.withdrawn))


def file_entry(path: str, content: bytes) -> FileEntry:
    """Return the entry of a file in a pointer."""
    return {"path": path, "sha256": sha256(content), "size": len(content)}


def signed(pointer: Pointer, keys: Sequence[SigningKey]) -> bytes:
    """Return a pointer as JWS in general JSON serialization (RFC 7515 §7.2.1), at most 8 KiB.

    If it would be longer, reasons of blocked entries are omitted, the oldest first.
    """
    members = {name: getattr(pointer, name) for name in Pointer.__slots__}
    members["blocked"] = blocked = [dict(entry) for entry in pointer.blocked]
    content = _jws(members, keys)
    with_reason = sorted((entry for entry in blocked if "reason" in entry), key=lambda entry: int(entry["at"]))
    for entry in with_reason:
        if len(content) <= MOST_BYTES:
            return content
        del entry["reason"]
        content = _jws(members, keys)
    return content


def public_key(key: SigningKey) -> dict[str, str]:
    """Return a public key as a JWK, with the thumbprint that signatures refer to."""
    return {**key.jwk, "kid": thumbprint(key.jwk)}


def _jws(members: Mapping[str, Any], keys: Sequence[SigningKey]) -> bytes:
    payload = base64url(canonical(members))
    signatures = []
    for key in keys:
        protected = base64url(canonical({"alg": "Ed25519", "kid": thumbprint(key.jwk)}))
        signature = base64url(key.sign(f"{protected}.{payload}".encode()))
        signatures.append({"protected": protected, "signature": signature})
    return canonical({"payload": payload, "signatures": signatures})


def parsed(content: bytes) -> Pointer:
    """Return the pointer in a file, without verifying its signatures.

    Raises:
        ValueError: the file is not the pointer of a gallery.
    """
    try:
        payload = json.loads(content)["payload"]
        members = json.loads(base64url_decoded(payload))
        pointer = Pointer(**members)
        numbers = (pointer.epoch, pointer.version, pointer.issued, pointer.expires)
        if not all(type(number) is int for number in numbers) or not all(type(p) is str for p in pointer.paths):
            raise TypeError
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ValueError("This is not the pointer of a gallery") from None
    return pointer
