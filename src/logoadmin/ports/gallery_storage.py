"""The repositories of the gallery and its publication (contract L3, P2, P4, P5).

They store pictures and their names, withdrawals, which outlast their records, and links from artworks to authors.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, Protocol

from logoadmin.domain.kernel.limits import Ground
from logoadmin.domain.kernel.records import Kind, Link


@dataclass(frozen=True, slots=True)
class StoredPicture:
    """A picture, without its bytes; width, height, frames and size are those of the stored file.

    Attributes:
        picture: the SHA-256 of the stored file, in hexadecimal.
        sent: the SHA-256 of the file that was sent.
        sent_at: when it was sent, as Unix time.
        size: in bytes; the sides are in pixels.
        ground: the background on which its visible pixels stand out.
        is_removed: whether it was removed permanently, after which only its hashes are kept.
        sender_id: the user who sent it; None for the program itself, and once the user was removed.
        in_history: whether a change in the history names it.
    """

    picture: str
    sent: str
    sent_at: int
    width: int
    height: int
    frames: int
    size: int
    ground: Ground
    is_removed: bool = False
    sender_id: int | None = None
    in_history: bool = False


class Standing(IntEnum):
    """The effect of a name on requests for its picture.

    A picture is taken down while a blocked artwork names it and no published one does (contract P5).
    """

    OTHER = 0
    BLOCKED = 1
    PUBLISHED = 2


class PictureName(NamedTuple):
    """The use of a picture by a record or, with the kind ``proposal``, by a proposal, even if it is not stored."""

    kind: str
    id: int
    picture: str
    standing: Standing


class Pictures(Protocol):
    """The pictures and their names.

    A removed artwork that is blocked still names its picture.
    """

    def get(self, picture: str) -> StoredPicture | None:
        """Return a picture, even a removed one, or None."""

    def sent_as(self, sha256: str) -> StoredPicture | None:
        """Return the picture, even a removed one, that was sent as the file with this hash, or None."""

    def content(self, picture: str, *, thumbnail: bool) -> bytes | None:
        """Return the stored file of a picture or its thumbnail, or None."""

    def add(self, stored: StoredPicture, content: bytes, thumbnail: bytes) -> None:
        """Store a picture that is neither stored nor removed."""

    def keep(self, pictures: Collection[str], until: int) -> None:
        """Keep pictures at least until a Unix time, even if nothing names them; unknown ones are ignored."""

    def remove(self, picture: str) -> None:
        """Remove the bytes of a stored picture; the hash of the sent file stays."""

    def note_in_history(self, pictures: Collection[str]) -> None:
        """Note that the history names these pictures; those that are not stored are ignored."""

    def forget_sender(self, user_id: int) -> None:
        """Note that the user who sent pictures was removed."""

    def forget_unnamed(self, now: int, most: int) -> int:
        """Delete up to ``most`` pictures that nothing names and nothing keeps any longer; return how many."""

    def has_unnamed(self, now: int) -> bool:
        """Return whether there are any to delete."""

    def count(self) -> int:
        """Return the number of stored pictures."""

    def space(self) -> int:
        """Return the size of all stored files together, in bytes."""

    def space_of(self, sender_id: int) -> int:
        """Return the size, in bytes, of the stored files that a user sent and that the history does not name."""

    def shapes(self) -> Mapping[str, tuple[int, int, Ground]]:
        """Return width, height and ground of all stored pictures."""

    def page(self, after: str, limit: int) -> tuple[StoredPicture, ...]:
        """Return up to ``limit`` stored pictures above another one, in order."""

    def put_names(self, names: Iterable[PictureName]) -> None:
        """Store names, each replacing the one of the same picture by the same record."""

    def drop_names(self, kind: str, *ids: int) -> None:
        """Remove all names by records of a kind, or by proposals."""

    def named_by(self, kind: str, id_: int) -> tuple[str, ...]:
        """Return the pictures that a record or a proposal names, in order."""

    def names(self, picture: str, most: int) -> tuple[PictureName, ...]:
        """Return up to ``most`` names of a picture, those by published artworks first, otherwise in any order."""

    def published(self) -> int:
        """Return the number of stored pictures that published artworks or the settings name."""

    def taken_down(self) -> frozenset[str]:
        """Return the pictures that were taken down, stored or not."""

    def is_taken_down(self, picture: str) -> bool:
        """Return whether a picture was taken down."""


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """An artwork that readers had and no longer get, as it was switched off, removed or blocked (contract L3).

    ``at`` is Unix time. Without a ``reason`` it is not blocked, and its severity is ``removed``.
    """

    kind: Kind
    id: int
    at: int
    reason: str | None = None


class Withdrawals(Protocol):
    """The withdrawn artworks: those that are blocked, and those that were active and no longer are.

    They are stored in the write that changes the artwork. The newest come first; within a second, themes before logos,
    then higher ids first.
    """

    def get_many(self, kind: Kind, ids: Sequence[int]) -> tuple[Withdrawal, ...]:
        """Return the withdrawals of up to 50 artworks, by id; artworks without one are omitted."""

    def put(self, *withdrawals: Withdrawal) -> None:
        """Store withdrawals of artworks that exist or existed, replacing earlier ones."""

    def drop(self, kind: Kind, *ids: int) -> None:
        """Remove the withdrawals of artworks, if any."""

    def newest(self, since: int, limit: int) -> tuple[Withdrawal, ...]:
        """Return up to ``limit`` withdrawals from ``since`` or later."""

    def blocked(self, limit: int) -> tuple[Withdrawal, ...]:
        """Return up to ``limit`` withdrawals of blocked artworks, however old."""


class Links(Protocol):
    """The links of the artworks of one kind to their authors; link order is the order of their ids."""

    def next_id(self) -> int:
        """Return the id for a new link, see :meth:`~logoadmin.ports.record_storage.Records.next_id`."""

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
