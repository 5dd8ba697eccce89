"""The files with user styles, of which only those are written whose artworks have changed (contract Q3)."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from logoadmin.domain.kernel.kinds import KINDS
from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.publication.css.targets import Target, Targets
from logoadmin.domain.publication.files.index import Index, canonical, sha256
from logoadmin.domain.publication.files.user_styles import StyledArtwork, style_name, user_style
from logoadmin.domain.publication.publication_records import StyleFile
from logoadmin.ports.publication.gallery_files import GalleryFiles

# What each file was made of.
STYLES: Final = ".styles.json"
# Stands before what cannot be a user style.
_NONE: Final = "-"
# Raised with each change of what this program makes of an artwork.
_FORM: Final = 2


@dataclass(frozen=True, slots=True)
class UserStyles:
    """The user styles of a publication.

    Attributes:
        index: its index.
        versions: the versions of the artworks that get a user style, by kind and id.
        targets: the targets with pages.
        gallery: the UUID of the gallery.
        url: see :func:`~logoadmin.domain.publication.files.user_styles.user_style`, like the next one.
    """

    index: Index
    versions: Mapping[tuple[Kind, int], int]
    targets: Targets
    gallery: str
    url: str | None
    has_page: bool

    def __iter__(self) -> Iterator[StyleFile]:
        """Yield a file for each artwork, one at a time."""
        for (kind, id_), version in self.versions.items():
            record = self.index.record(KINDS[kind].plural, id_)
            authors = [self.index.record("authors", each)["username"] for each in record.get("author_ids", ())]
            css, details = self.index.css_of(record), record.get("details", {})
            artwork = StyledArtwork(kind, id_, version, record["name"], authors, css, details)
            target = self.targets.get(record["target"])
            if target is None:
                continue
            yield _ArtworkStyle(artwork, target, self)


@dataclass(frozen=True, slots=True)
class _ArtworkStyle:
    """Implements :class:`~logoadmin.domain.publication.publication_records.StyleFile`."""

    artwork: StyledArtwork
    target: Target
    made_with: UserStyles

    @property
    def name(self) -> str:
        return style_name(self.artwork.kind, self.artwork.id)

    @property
    def made_of(self) -> str:
        of = self.made_with
        return sha256(repr((_FORM, self.artwork, self.target, of.gallery, of.url, of.has_page)).encode())[:16]

    def content(self) -> bytes | None:
        of = self.made_with
        css = user_style(self.artwork, self.target, of.gallery, of.url, has_page=of.has_page)
        return None if css is None else css.encode()


def write_styles(files: GalleryFiles, stored: Collection[str], styles: Iterable[StyleFile]) -> set[str]:
    """Write the user styles that have changed; return the names of all.

    Whenever a program is killed, no file counts as made of what it is not made of.

    Args:
        files: the files.
        stored: the names of existing files.
        styles: the user styles.

    Raises:
        OSError: a file cannot be read or written.
    """
    noted = files.read(STYLES) or b"{}"
    known = _known(noted)
    made: dict[str, str] = {}
    changed = []
    for style in styles:
        before = known.get(style.name)
        if before == f"{_NONE}{style.made_of}" or (before == style.made_of and style.name in stored):
            made[style.name] = before
        else:
            changed.append(style)
    if (unchanged := canonical(made)) != noted:
        files.write(STYLES, unchanged)
    if changed:
        files.write_many(_changed(files, changed, made))
        files.write(STYLES, canonical(made))
    return {name for name, made_of in made.items() if not made_of.startswith(_NONE)}


def _changed(files: GalleryFiles, styles: Iterable[StyleFile], made: dict[str, str]) -> Iterator[tuple[str, bytes]]:
    """Yield the files that have changed, and note what all are made of."""
    for style in styles:
        content = style.content()
        made[style.name] = style.made_of if content is not None else f"{_NONE}{style.made_of}"
        if content is not None and files.read(style.name) != content:
            yield style.name, content


def _known(noted: bytes) -> Mapping[str, Any]:
    """Return what the files were made of; a damaged file counts as missing."""
    try:
        found = json.loads(noted)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
