"""Pictures, as they are stored and served (contract P2, P4)."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from logoadmin.domain.kernel.records import Kind


@dataclass(frozen=True, slots=True)
class StoredPicture:
    """A picture, without its bytes.

    Attributes:
        picture: the SHA-256 of the stored file, in hexadecimal.
        sent: the SHA-256 of the file that was sent.
        sent_at: when, as Unix time.
        width: of the stored file, in pixels.
        height: of the stored file, in pixels.
        frames: the number of its frames.
        size: of the stored file, in bytes.
        is_removed: whether it was removed for good; only this is known of it then.
    """

    picture: str
    sent: str
    sent_at: int
    width: int
    height: int
    frames: int
    size: int
    is_removed: bool = False


class Pictures(Protocol):
    """The pictures, and which of them records or the history name. Written under the lock of records."""

    def get(self, picture: str) -> StoredPicture | None:
        """Return a picture, also a removed one, or None."""

    def sent_as(self, sha256: str) -> StoredPicture | None:
        """Return the picture, also a removed one, that was sent as the file with this hash, or None."""

    def content(self, picture: str, *, thumbnail: bool) -> bytes | None:
        """Return the stored file of a picture or its thumbnail, or None."""

    def add(self, stored: StoredPicture, content: bytes, thumbnail: bytes) -> None:
        """Store a picture that is neither stored nor removed."""

    def touch(self, picture: str, sent_at: int) -> None:
        """Note that a stored picture was sent again."""

    def remove(self, picture: str) -> None:
        """Remove the bytes of a stored picture; what it was sent as is still known."""

    def name(self, named: Collection[str]) -> None:
        """Remember that records or the history name these pictures, whether or not they are stored."""

    def forget_unnamed(self, sent_before: int, most: int) -> int:
        """Delete up to ``most`` pictures that nothing names and that were sent earlier; return how many."""

    def has_unnamed(self, sent_before: int) -> bool:
        """Return whether there are any to forget."""

    def named(self) -> int:
        """Return the number of stored pictures that are named."""

    def space(self) -> int:
        """Return the bytes of all stored files together."""

    def sizes(self) -> Mapping[str, tuple[int, int]]:
        """Return width and height of all stored pictures."""

    def page(self, after: str, limit: int) -> tuple[str, ...]:
        """Return up to ``limit`` stored pictures above another one, in order."""

    def namings(self) -> Iterable[tuple[str, Kind, int]]:
        """Return each picture that a record names now, stored or not, with the kind and id of the record."""
