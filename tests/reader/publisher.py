"""A publisher of invented galleries with its own keys, which can also publish invalid files."""

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

NOW: Final = 1_800_000_000
DAY: Final = 86_400
GALLERY: Final = "0b9f1f3e-8a7e-4a53-9d3f-6f0c2a9b1d11"
POINTER: Final = "latest.json"


def base64url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@dataclass
class PublicKey:
    jwk: Mapping[str, str]


class Key(PublicKey):
    """An Ed25519 key that is always the same for a name."""

    def __init__(self, name: str) -> None:
        self._private = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(name.encode()).digest())
        x = base64url(self._private.public_key().public_bytes_raw())
        super().__init__({"kty": "OKP", "crv": "Ed25519", "x": x})
        self.kid = base64url(hashlib.sha256(rfc8785.dumps({**self.jwk})).digest())

    def signature(self, payload: str, **header: Any) -> dict[str, str]:
        """Return a signature of a payload; ``header`` has what is to differ from a good header."""
        protected = base64url(json.dumps({"alg": "Ed25519", "kid": self.kid} | header).encode())
        return {"protected": protected, "signature": base64url(self._private.sign(f"{protected}.{payload}".encode()))}


A, B, C, STRANGER = (Key(name) for name in ("a", "b", "c", "stranger"))


@dataclass(frozen=True)
class Answer:
    body: bytes
    status: int = 200
    endless: bool = False  # the body is repeated without end
    slow: bool = False  # nothing comes for a long time
    delay: float = 0  # seconds until it comes
    drips: str = ""  # ``head`` or ``body`` comes byte by byte, and does not end
    encoding: str = ""  # how the body is compressed
    claims: str = ""  # how it says that the body is compressed, which is wrong
    policy: str = ""  # the Content-Security-Policy of a page
    tag: str = ""  # the ETag; by default, made from the body
    location: str = ""  # of a redirect


Files = Mapping[str, Answer]


@dataclass(frozen=True)
class Publication:
    """One version of a gallery, with files that are all as they should be."""

    version: int = 1
    epoch: int = 0
    issued: int = NOW
    days: int = 30
    gallery: str = GALLERY
    authors: Sequence[dict[str, Any]] = ()
    logos: Sequence[dict[str, Any]] = ()
    themes: Sequence[dict[str, Any]] = ()
    withdrawn: Sequence[dict[str, Any]] = ()
    keys: Sequence[Key] = (A,)
    next_keys: Sequence[Key] = ()
    sheets: Sequence[bytes] = ()
    members: Mapping[str, Any] = field(default_factory=dict)

    @property
    def index(self) -> bytes:
        return rfc8785.dumps({name: list(getattr(self, name)) for name in ("authors", "logos", "themes")})

    @property
    def index_path(self) -> str:
        return f"{self.version}-{sha256(self.index)[:16]}.json"

    @property
    def withdrawn_file(self) -> bytes:
        return rfc8785.dumps({"withdrawn": list(self.withdrawn)})

    @property
    def withdrawn_path(self) -> str:
        return f"withdrawn-{sha256(self.withdrawn_file)[:16]}.json"

    @property
    def blocked(self) -> list[dict[str, Any]]:
        return [entry for entry in self.withdrawn if entry["severity"] == "blocked"][:30]

    def payload(self) -> dict[str, Any]:
        return {
            "gallery": self.gallery,
            "epoch": self.epoch,
            "version": self.version,
            "issued": self.issued,
            "expires": self.issued + self.days * DAY,
            "index": entry(self.index_path, self.index),
            "withdrawn": entry(self.withdrawn_path, self.withdrawn_file),
            "blocked": self.blocked,
            "next_keys": [key.jwk for key in self.next_keys],
            **self.members,
        }

    def pointer(self) -> bytes:
        payload = base64url(rfc8785.dumps(self.payload()))
        return jws(payload, [key.signature(payload) for key in self.keys])

    def files(self, **replaced: Answer | None) -> Files:
        """Return the files by path; ``latest``, ``index`` and ``withdrawn`` replace some, None removes."""
        payload = self.payload()
        contents = {
            "latest": (POINTER, self.pointer()),
            "index": (self.index_path, self.index),
            "withdrawn": (payload["withdrawn"]["path"], self.withdrawn_file),
            **{f"css {number}": (f"css/{sha256(sheet)}.css", sheet) for number, sheet in enumerate(self.sheets)},
        }
        answers = {path: replaced.get(name, Answer(content)) for name, (path, content) in contents.items()}
        return {path: answer for path, answer in answers.items() if answer is not None}


def entry(path: str, content: bytes) -> dict[str, Any]:
    return {"path": path, "sha256": sha256(content), "size": len(content)}


def jws(payload: str, signatures: Iterable[Mapping[str, str]]) -> bytes:
    return rfc8785.dumps({"payload": payload, "signatures": [dict(each) for each in signatures]})


def author(author_id: int, username: str = "Ann") -> dict[str, Any]:
    return {"author_id": author_id, "user_id": author_id + 1000, "username": username, "created_at": NOW}


def long_css(content: bytes) -> dict[str, Any]:
    """Return the fields of an artwork whose CSS is in a file of its own."""
    return {"custom_css_file": {"sha256": sha256(content), "size": len(content)}}


def artwork(kind: str, id_: int, *author_ids: int, **fields: Any) -> dict[str, Any]:
    values = {f"{kind}_id": id_, "name": f"{kind} {id_}", "preview_url": f"https://pictures.example/{id_}.png"}
    css = {"form": "declarations" if kind == "logo" else "sheet"}
    authors = {"author_ids": list(author_ids)} if author_ids else {}
    return {**values, "target": "forum", "active": True, "created_at": NOW, "css": css, **authors, **fields}


def withdrawal(kind: str, id_: int, reason: str | None = None, at: int = NOW) -> dict[str, Any]:
    found = {"kind": kind, "id": id_, "at": at, "severity": "removed" if reason is None else "blocked"}
    return found if reason is None else found | {"reason": reason}
