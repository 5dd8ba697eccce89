"""The verdicts of a publication, so that a starting program need not judge all CSS again (contract L1, L4).

They come from its index, which the gallery key has signed together with the program that judged and the targets, on
which they depend. Write access to the folder is enough to have CSS judged again, but not to choose a verdict.
"""

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hmac import compare_digest
from importlib.resources import files as files_of
from typing import Any, Final

import can_ada
import tinycss2

from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, AnyArtworkKind
from logoadmin.domain.kernel.records import Logo, Theme
from logoadmin.domain.publication import css
from logoadmin.domain.publication.css.targets import Targets
from logoadmin.domain.publication.css.verdict import Verdict, verdict_in
from logoadmin.domain.publication.files.file_names import IMMUTABLE_NAME, STATE
from logoadmin.domain.publication.files.index import canonical, sha256
from logoadmin.domain.publication.files.publishing import notes_in
from logoadmin.jwk import base64url
from logoadmin.ports.gallery_files import GalleryFiles
from logoadmin.ports.signing import SigningKey

_DECODER: Final = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The verdicts on the CSS of artworks: known from a publication, or judged now."""

    targets: Targets
    known: Mapping[bytes, bytes] = field(default_factory=dict)  # by :func:`_key`

    def on(self, kind: AnyArtworkKind, artwork: Logo | Theme) -> Verdict:
        """Return the verdict on the CSS of an artwork."""
        content = artwork.custom_css.encode()
        known = self.known.get(_key(kind, artwork.target, sha256(content))) if self.known else None
        if known is not None:
            return verdict_in(json.loads(known), len(content))
        return css.judge(artwork.custom_css, kind.css_form, pages=self.targets.pages(artwork.target))


def noted_verdicts(index: str, sha256_of_index: str, targets: Targets, key: SigningKey) -> Mapping[str, str]:
    """Return the notes on verdicts for the state of a publication."""
    return {"index": index, "signature": base64url(key.sign(_signed(sha256_of_index, targets)))}


def verdicts_in(files: GalleryFiles | None, targets: Targets, keys: Sequence[SigningKey]) -> Verdicts:
    """Return the verdicts of the publication in files, or none if it cannot be read or is not ours."""
    with suppress(OSError):
        notes = None if files is None else notes_in(files.read(STATE)).get("verdicts")
        if files is not None and isinstance(notes, dict) and IMMUTABLE_NAME.fullmatch(name := str(notes.get("index"))):
            index, signature = files.read(name) or b"", str(notes.get("signature")).encode(errors="replace")
            content = _signed(sha256(index), targets)
            if any(compare_digest(base64url(key.sign(content)).encode(), signature) for key in keys):
                return Verdicts(targets, _verdicts_of(index.decode()))
    return Verdicts(targets)


def _verdicts_of(index: str) -> Mapping[bytes, bytes]:
    known: dict[bytes, bytes] = {}
    distinct: dict[bytes, bytes] = {}
    for kind in ARTWORK_KINDS:
        for record in _records(index, kind.plural):
            file = record.get("custom_css_file")
            of_css = sha256(record.get("custom_css", "").encode()) if file is None else file["sha256"]
            verdict = canonical(record["css"])
            known[_key(kind, record.get("target", ""), of_css)] = distinct.setdefault(verdict, verdict)
    return known


def _records(index: str, section: str) -> Iterator[Mapping[str, Any]]:
    """Yield the records of a section one by one, because a parsed index would need much memory."""
    start = f'],"{section}":['  # cannot be inside a text, where quotes are escaped
    place = index.index(start) + len(start)
    while index[place] != "]":
        record, place = _DECODER.raw_decode(index, place + (index[place] == ","))
        yield record


def _key(kind: AnyArtworkKind, target: str, sha256_of_css: str) -> bytes:
    """Return the key of a verdict among those of one program with the same targets."""
    return hashlib.sha256(f"{kind.kind} {sha256_of_css} {target}".encode()).digest()


def _signed(sha256_of_index: str, targets: Targets) -> bytes:
    """Return the bytes to sign. Unlike the signed bytes of a pointer, they have spaces."""
    return f"verdicts {sha256_of_index} {sha256(repr((_program(), targets)).encode())}".encode()


def _program() -> str:
    """Return a hash of the program's parts that verdicts may depend on: sources, libraries and Python."""
    sources = sorted((each.name, each.read_bytes()) for each in files_of(css).iterdir() if each.is_file())
    return sha256(repr((sources, tinycss2.VERSION, can_ada.__version__, sys.version)).encode())
