"""The links between artworks and authors, and the pictures."""

from collections.abc import Sequence
from typing import Protocol

from logoadmin.domain.kernel.kinds import AnyArtworkKind
from logoadmin.domain.kernel.records import Link
from logoadmin.ports.gallery.picture_storage import Pictures


class Links(Protocol):
    """The links of the artworks of one kind to their authors; link order is the order of their ids."""

    def next_id(self) -> int:
        """Return the id for a new link, see :meth:`~logoadmin.ports.kernel.record_storage.Records.next_id`."""

    def find(self, artwork_id: int, author_id: int) -> Link | None:
        """Return the link between the two, or None."""

    def of_artwork(self, artwork_id: int) -> tuple[Link, ...]:
        """Return the links of an artwork, in link order."""

    def of_artworks(self, artwork_ids: Sequence[int]) -> tuple[Link, ...]:
        """Return the links of up to 50 artworks, in link order."""

    def of_author(self, author_id: int) -> tuple[Link, ...]:
        """Return the links of an author, in link order."""

    def add(self, links: Sequence[Link]) -> None:
        """Store new or restored links between existing records that are not linked."""

    def remove(self, artwork_id: int, author_id: int) -> bool:
        """Remove a link; return whether it existed."""

    def remove_all(self, artwork_id: int) -> None:
        """Remove all links of an artwork, if there are any."""


class GalleryStorage(Protocol):
    """The repositories of the gallery."""

    def links(self, kind: AnyArtworkKind, /) -> Links:
        """Return the links of a kind of artwork."""

    @property
    def pictures(self) -> Pictures:
        """The pictures."""
