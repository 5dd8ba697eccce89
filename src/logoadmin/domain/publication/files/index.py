"""The index: all published records as one file in canonical JSON (contract L2)."""

import hashlib
import json
import struct
import zlib
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from logoadmin.domain.kernel.kinds import AUTHORS, KINDS
from logoadmin.domain.kernel.records import Author, Kind, Logo, Theme

# The members of the index, in the order of canonical JSON.
SECTIONS: Final = ("authors", "logos", "themes")
# Bytes of a fingerprint. A collision would make a difference whose result has another hash than its pointer names, so
# that readers fetch the whole index.
_FINGERPRINT: Final = 16
_EMPTY: Final[tuple[object, ...]] = ("", (), [], {}, None)


def canonical(value: Any) -> bytes:
    """Return a value as canonical JSON (RFC 8785): its numbers are integers, and its keys ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def sha256(content: bytes) -> str:
    """Return the hash of a file, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def hashed_name(stem: str, content: bytes) -> str:
    """Return the name of an immutable file, with the start of its hash."""
    return f"{stem}-{sha256(content)[:16]}.json"


@dataclass(slots=True)
class Fingerprints:
    """The records of one section of an index: their ids, ascending, and the hash of each."""

    ids: "array[int]" = field(default_factory=lambda: array("I"))
    hashes: bytearray = field(default_factory=bytearray)

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """Yield the id and the hash of each record."""
        for place, id_ in enumerate(self.ids):
            yield id_, bytes(self.hashes[place * _FINGERPRINT : (place + 1) * _FINGERPRINT])


@dataclass(slots=True)
class Section:
    """One section of an index.

    Attributes:
        fingerprints: its ids and hashes.
        ends: where each record ends in ``content``.
        content: the records as canonical JSON, one after the other.
    """

    fingerprints: Fingerprints = field(default_factory=Fingerprints)
    ends: "array[int]" = field(default_factory=lambda: array("Q"))
    content: bytearray = field(default_factory=bytearray)

    def add(self, id_: int, record: Mapping[str, Any]) -> None:
        """Add a record, whose id is above all others."""
        content = canonical(record)
        self.content += content
        self.ends.append(len(self.content))
        self.fingerprints.ids.append(id_)
        self.fingerprints.hashes += hashlib.sha256(content).digest()[:_FINGERPRINT]

    def record(self, place: int) -> bytes:
        """Return a record as canonical JSON."""
        return bytes(self.content[self.ends[place - 1] if place else 0 : self.ends[place]])

    def __iter__(self) -> Iterator[bytes]:
        """Yield the records as canonical JSON."""
        return map(self.record, range(len(self.ends)))


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """The index of one version."""

    version: int
    body: bytes
    sha256: str
    sections: Mapping[str, Section]

    @property
    def name(self) -> str:
        """The name of the file."""
        return index_name(self.version, self.sha256)


def index_name(version: int, sha256: str) -> str:
    """Return the name of the file of an index."""
    return f"{version}-{sha256[:16]}.json"


class IndexBuilder:
    """Builds an index from artworks, which it does not keep. Each kind comes by ascending id."""

    def __init__(self) -> None:
        self._sections = {name: Section() for name in SECTIONS}
        self._authors: dict[int, Author] = {}

    def add(
        self, kind: Kind, artwork: Logo | Theme, custom_css: str, css: Mapping[str, Any], picture: Mapping[str, Any]
    ) -> None:
        """Add an active artwork.

        Args:
            kind: its kind.
            artwork: the artwork.
            custom_css: its CSS with pinned imports.
            css: the verdict on it.
            picture: its picture, if that is the gallery's own.
        """
        row = KINDS[kind]
        self._authors.update((author.author_id, author) for author in artwork.authors)
        fields = dict(zip(row.stored_fields, row.values_of(artwork), strict=True))
        fields |= {
            "custom_css": custom_css,
            "author_ids": [author.author_id for author in artwork.authors],
            "css": without_empty(css),
            "picture": picture,
        }
        self._sections[row.plural].add(row.id_of(artwork), without_empty(fields))

    def index(self, version: int) -> Index:
        """Return the index; nothing can be added afterwards."""
        for id_, author in sorted(self._authors.items()):
            stored = zip(AUTHORS.stored_fields, AUTHORS.values_of(author), strict=True)
            self._sections[AUTHORS.plural].add(id_, without_empty(dict(stored)))
        body = _joined(self._sections)
        return Index(version, body, sha256(body), self._sections)


def _joined(sections: Mapping[str, Section]) -> bytes:
    body = bytearray()
    for name in SECTIONS:
        body += b'%c"%s":[' % (b"," if body else b"{", name.encode())
        for place, record in enumerate(sections[name]):
            if place:
                body += b","
            body += record
        body += b"]"
    return bytes(body + b"}")


def without_empty(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that are not empty; a number or a boolean never is."""
    return {name: value for name, value in fields.items() if value not in _EMPTY}


def packed_fingerprints(index: Index) -> bytes:
    """Return the fingerprints of an index, compressed."""
    parts = []
    for name in SECTIONS:
        of = index.sections[name].fingerprints
        parts += [struct.pack(f">I{len(of.ids)}I", len(of.ids), *of.ids), bytes(of.hashes)]
    return zlib.compress(b"".join(parts))


def unpacked_fingerprints(packed: bytes) -> dict[str, Fingerprints]:
    """Return the fingerprints of an earlier index.

    Raises:
        ValueError: they are not whole.
    """
    try:
        content = memoryview(zlib.decompress(packed))
        found = {}
        for name in SECTIONS:
            (count,) = struct.unpack_from(">I", content)
            ids = array("I", struct.unpack_from(f">{count}I", content, 4))
            end = 4 + count * (4 + _FINGERPRINT)
            found[name] = Fingerprints(ids, bytearray(content[4 + 4 * count : end]))
            content = content[end:]
    except (zlib.error, struct.error) as error:
        raise ValueError("These are not the fingerprints of an index") from error
    return found
