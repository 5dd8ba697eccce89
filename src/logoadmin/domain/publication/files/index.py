"""The index: all published records as one file in canonical JSON (contract L2)."""

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from logoadmin.domain.kernel.details import Details
from logoadmin.domain.kernel.kinds import AUTHORS, AnyArtworkKind
from logoadmin.domain.kernel.records import Author, Logo, Theme

# The members of the index, in the order of canonical JSON.
SECTIONS: Final = ("authors", "logos", "themes")
# CSS of more bytes is in a separate file, which keeps the index small (contract L2).
MOST_INLINE: Final = 2_048
# The member of details that is only on pages, because it would dominate the index (contract L2).
TEXT: Final = "text"
_EMPTY: Final[tuple[object, ...]] = ("", (), [], {}, None)


def canonical(value: Any) -> bytes:
    """Return a value as canonical JSON (RFC 8785); its numbers must be integers, and its keys ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def sha256(content: bytes) -> str:
    """Return the hash of a file, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def css_path(sha256: str) -> str:
    """Return the path of a style sheet."""
    return f"css/{sha256}.css"


def hashed_name(stem: str, content: bytes) -> str:
    """Return the name of an immutable file, with the start of its hash."""
    return f"{stem}-{sha256(content)[:16]}.json"


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """The index of one version as a file."""

    body: bytes
    sha256: str
    name: str
    sections: Mapping[str, Mapping[int, bytes]]  # its records as canonical JSON, by section and id
    long_css: Mapping[str, bytes]  # the CSS that is in separate files, by their paths
    texts: Mapping[tuple[str, int], str]  # which are only on the pages of artworks, by section and id

    def record(self, section: str, id_: int) -> Any:
        """Return a record."""
        return json.loads(self.sections[section][id_])

    def css_of(self, record: Mapping[str, Any]) -> str:
        """Return the CSS of a record, inline or from a separate file."""
        file = record.get("custom_css_file")
        css: str = record.get("custom_css", "") if file is None else self.long_css[css_path(file["sha256"])].decode()
        return css


class IndexBuilder:
    """Builds an index from artworks without keeping them. Each kind must be added by ascending id."""

    def __init__(self) -> None:
        self._sections: dict[str, dict[int, bytes]] = {name: {} for name in SECTIONS}
        self._authors: dict[int, Author] = {}
        self._long_css: dict[str, bytes] = {}
        self._texts: dict[tuple[str, int], str] = {}

    def add(
        self,
        kind: AnyArtworkKind,
        artwork: Logo | Theme,
        css: Mapping[str, Any],
        pictures: Mapping[str, Mapping[str, Any]],
    ) -> None:
        """Add an active artwork; ``pictures`` are the entries of the gallery's own pictures that it uses, by URL."""
        custom_css, content = artwork.custom_css, artwork.custom_css.encode()
        self._authors.update((author.author_id, author) for author in artwork.authors)
        fields = {name: getattr(artwork, name) for name in kind.published if "." not in name}
        if len(content) > MOST_INLINE:
            hash_of_css = sha256(content)
            self._long_css[css_path(hash_of_css)] = content
            fields["custom_css_file"] = {"sha256": hash_of_css, "size": len(content)}
            custom_css = ""
        fields |= {
            "custom_css": custom_css,
            "author_ids": [author.author_id for author in artwork.authors],
            "css": without_empty(css),
            "details": _details_entry(artwork.details, kind.published, pictures),
            "picture": pictures.get(artwork.preview_url),
        }
        if text := fields["details"].pop(TEXT, ""):
            self._texts[kind.plural, kind.id_of(artwork)] = text
        self._sections[kind.plural][kind.id_of(artwork)] = canonical(without_empty(fields))

    def date(self, kind: AnyArtworkKind, id_: int, updated_at: int) -> None:
        """Set the Unix time of the last change of an added artwork, if that was after its creation."""
        section = self._sections[kind.plural]
        fields = json.loads(section[id_])
        if updated_at > fields["created_at"]:
            section[id_] = canonical({**fields, "updated_at": updated_at})

    def index(self, version: int) -> Index:
        """Return the index; nothing can be added afterwards."""
        for id_, author in sorted(self._authors.items()):
            fields = {name: getattr(author, name) for name in AUTHORS.published}
            self._sections[AUTHORS.plural][id_] = canonical(without_empty(fields))
        parts: list[bytes] = []
        for name in SECTIONS:
            parts += [b',"%s":[' % name.encode() if parts else b'{"%s":[' % name.encode()]
            parts += [b",".join(self._sections[name].values()), b"]"]
        body = b"".join((*parts, b"}"))
        found = sha256(body)
        return Index(body, found, f"{version}-{found[:16]}.json", self._sections, self._long_css, self._texts)


def _details_entry(
    details: Details, published: Collection[str], pictures: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the published members of details, with the index entries of the gallery's own pictures."""
    members = {name: value for name, value in details.members().items() if f"details.{name}" in published}
    if "screenshots" in members:
        members["screenshots"] = [_screenshot_entry(each, pictures) for each in members["screenshots"]]
    return members


def _screenshot_entry(screenshot: Mapping[str, str], pictures: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return a screenshot, with the index entry of a picture of the gallery in place of its URL."""
    others = {name: value for name, value in screenshot.items() if name != "url"}
    url = screenshot["url"]
    return {**pictures.get(url, {"url": url}), **others}


def without_empty(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that are not empty; a number or a boolean never is."""
    return {name: value for name, value in fields.items() if value not in _EMPTY}
