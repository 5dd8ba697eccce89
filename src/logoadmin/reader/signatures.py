"""The signatures of ``latest.json``, a JWS with Ed25519 in general JSON serialisation (contract L2)."""

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

Jwk = Mapping[str, Any]
_BASE64URL: Final = re.compile(r"[A-Za-z0-9_-]*=*")
_NUMBERS: Final = ("epoch", "version", "issued", "expires")
_LARGEST: Final = 2**53 - 1  # not every reader understands larger integers in JSON (RFC 8259 §6)


class ReaderError(Exception):
    """The published gallery cannot be read or verified; the message names the file and the reason."""


@dataclass(frozen=True, slots=True)
class Verified:
    """The payload of ``latest.json``, and the keys to trust from then on: its next keys and its signers."""

    pointer: Mapping[str, Any]
    keys: tuple[Jwk, ...]


def verified(latest: str, keys: Sequence[Jwk]) -> Verified:
    """Verify ``latest.json``: one good signature by one of the keys is enough.

    Raises:
        ReaderError: none of the keys signed it, or it is malformed.
    """
    try:
        jws = parsed(latest)
        payload: str = jws["payload"]
        signers = [key for key in keys if any(_is_good(key, payload, each) for each in jws["signatures"])]
    except (ValueError, KeyError, TypeError) as error:
        raise ReaderError("latest.json: malformed") from error
    if not signers:
        raise ReaderError("latest.json: not signed by a trusted key")
    try:
        pointer = {"blocked": [], "next_keys": [], **parsed(_decoded(payload).decode())}
        trusted = {key["x"]: key for key in [*pointer["next_keys"], *signers]}
    except (ValueError, KeyError, TypeError) as error:
        raise ReaderError("latest.json: malformed") from error
    numbers = [pointer.get(name) for name in _NUMBERS]
    if not all(type(number) is int and abs(number) <= _LARGEST for number in numbers):
        raise ReaderError("latest.json: malformed")
    return Verified(pointer, tuple(trusted.values()))


def parsed(text: str) -> Any:
    """Parse JSON as JavaScript does: without ``NaN`` and ``Infinity``, and with 1.0 as the integer 1.

    Raises:
        ValueError: it is not JSON, or nested too deeply.
    """
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=_number)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def thumbprint(key: Jwk) -> bytes:
    """Return the thumbprint of an Ed25519 key (RFC 7638)."""
    return hashlib.sha256(f'{{"crv":"Ed25519","kty":"OKP","x":"{key.get("x")}"}}'.encode()).digest()


def _is_good(key: Jwk, payload: str, signature: Mapping[str, str]) -> bool:
    """Return whether a key made a signature; an unreadable one is not good."""
    try:
        header = parsed(_decoded(signature["protected"]).decode())
        if header["alg"] != "Ed25519" or "crit" in header or _decoded(header["kid"]) != thumbprint(key):
            return False
        signed = f"{signature['protected']}.{payload}".encode("ascii")
        Ed25519PublicKey.from_public_bytes(_decoded(key["x"])).verify(_decoded(signature["signature"]), signed)
    except (InvalidSignature, ValueError, KeyError, TypeError):
        return False
    return True


def _decoded(text: str) -> bytes:
    if not _BASE64URL.fullmatch(text):
        raise ValueError("not base64url")
    return base64.urlsafe_b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4))


def _number(text: str) -> float:
    number = float(text)
    return int(number) if number.is_integer() else number


def _refuse(constant: str) -> None:
    raise ValueError(constant)
