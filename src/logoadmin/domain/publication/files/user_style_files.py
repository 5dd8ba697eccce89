"""The files with user styles (contract Q3)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from logoadmin.domain.kernel.kinds import KINDS
from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.publication.css.targets import Target, Targets
from logoadmin.domain.publication.files.index import Index, sha256
from logoadmin.domain.publication.files.user_styles import StyledArtwork, style_name, user_style
from logoadmin.domain.publication.publication_records import MadeFile

# Raised with each change of what this program makes of an artwork.
_FORM: Final = 4


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

    def __iter__(self) -> Iterator[MadeFile]:
        """Yield a file for each artwork, one at a time."""
        for kind, id_ in self.versions:
            style = self.of(kind, id_)
            if style is not None:
                yield style

    def of(self, kind: Kind, id_: int) -> MadeFile | None:
        """Return the file of an artwork; None if it gets none."""
        version = self.versions.get((kind, id_))
        if version is None:
            return None
        record = self.index.record(KINDS[kind].plural, id_)
        target = self.targets.get(record["target"])
        if target is None:
            return None
        authors = [self.index.record("authors", each)["username"] for each in record.get("author_ids", ())]
        css, details = self.index.css_of(record), record.get("details", {})
        artwork = StyledArtwork(kind, id_, version, record["name"], authors, css, details)
        return _ArtworkStyle(artwork, target, self)


@dataclass(frozen=True, slots=True)
class _ArtworkStyle:
    """Implements :class:`~logoadmin.domain.publication.publication_records.MadeFile`."""

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
