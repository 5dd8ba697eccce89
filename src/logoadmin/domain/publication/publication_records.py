"""The published gallery: its files, and the records that it lacks (contract L1, L2)."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from logoadmin.domain.kernel.limits import UnixTime, described
from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.publication.css.verdict import RiskName

# The names of files below `/gallery/`.
POINTER: Final = "latest.json"
READER: Final = "reader.js"


NOT_FETCHED: Final = "An imported style sheet was not fetched yet"
LeftOutReason = Literal["not_fetched", "not_pinned", "document", "unreadable"]
_ArtworkKind = Annotated[Kind, described("`logo` or `theme`.", "theme")]
_ArtworkId = Annotated[int, described("The id of the logo or theme.", 7)]
_Name = Annotated[str, described("Its name.", "Aurora")]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An active logo or theme that is not published."""

    kind: _ArtworkKind
    id: _ArtworkId
    name: _Name
    reason: Annotated[str, described("Why, as a sentence.", NOT_FETCHED)]
    code: Annotated[
        LeftOutReason,
        described(
            "The reason as one of a few: an import was not fetched yet, or could not be; a document in a `data:` URL "
            "was not accepted; or the CSS cannot be judged.",
            "not_fetched",
        ),
    ] = "not_pinned"
    host: Annotated[
        str, described("The host of the import that could not be fetched; empty for none.", "styles.example")
    ] = ""


@dataclass(frozen=True, slots=True)
class ChangedImport:
    """An import of an active logo or theme whose origin now has another style sheet than the pinned copy."""

    kind: _ArtworkKind
    id: _ArtworkId
    name: _Name
    url: Annotated[str, described("The imported URL.", "https://i.example/aurora.css")]


@dataclass(frozen=True, slots=True)
class Risky:
    """An active logo or theme that is published, and whose CSS has risks."""

    kind: _ArtworkKind
    id: _ArtworkId
    name: _Name
    risks: Annotated[tuple[RiskName, ...], described("The kinds of risks, in order.", ["overlay"])]


@dataclass(frozen=True, slots=True)
class Blocked:
    """A logo or theme that readers must stop applying."""

    kind: _ArtworkKind
    id: _ArtworkId
    at: Annotated[UnixTime, described("When it was blocked, as Unix time in seconds.", 1_800_000_000)]
    reason: Annotated[str, described("Why, for readers.", "tracks readers")]


@dataclass(frozen=True, slots=True)
class PublicationStatus:
    """What readers get of the gallery, and what they do not."""

    version: Annotated[int, described("The id of the last change.", 57)]
    logos: Annotated[int, described("The number of published logos.", 12)]
    themes: Annotated[int, described("The number of published themes.", 34)]
    left_out: Annotated[
        tuple[LeftOut, ...],
        described(
            "The active logos and themes that are not published.",
            [
                {
                    "kind": "theme",
                    "id": 7,
                    "name": "Aurora",
                    "reason": NOT_FETCHED,
                    "code": "not_fetched",
                    "host": "i.example",
                }
            ],
        ),
    ]
    changed: Annotated[
        tuple[ChangedImport, ...],
        described(
            "The imports that have changed at their origin since they were pinned; readers get the pinned ones.",
            [{"kind": "theme", "id": 7, "name": "Aurora", "url": "https://i.example/aurora.css"}],
        ),
    ]
    risky: Annotated[
        tuple[Risky, ...],
        described(
            "The published logos and themes whose CSS has risks, logos first, by id.",
            [{"kind": "theme", "id": 7, "name": "Aurora", "risks": ["overlay"]}],
        ),
    ]
    blocked: Annotated[
        tuple[Blocked, ...],
        described(
            "The blocked logos and themes, the newest first, at most 1000.",
            [{"kind": "theme", "id": 7, "at": 1_800_000_000, "reason": "tracks readers"}],
        ),
    ]


@dataclass(frozen=True, slots=True)
class PublishedIndex:
    """An index that readers may have, from which they get a difference (contract L2).

    Attributes:
        version: the last change of a logo, a theme or an author in it.
        sha256: the SHA-256 of the index.
        fingerprints: the hashes of its records, see
            :func:`~logoadmin.domain.publication.files.index.packed_fingerprints`.
    """

    version: int
    sha256: str
    fingerprints: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class PublicationFiles(Mapping[str, bytes]):
    """The files of a publication by name, of which pictures are read when they are asked for: they may be large.

    Attributes:
        files: the other files.
        pictures: the names of the pictures and their thumbnails.
        read: returns the content of one of these, None if it was removed since.
    """

    files: Mapping[str, bytes]
    pictures: Collection[str]
    read: Callable[[str], bytes | None]

    def __getitem__(self, name: str) -> bytes:
        """Return the content of a file.

        Raises:
            KeyError: it is not part of the publication, or was removed since.
        """
        content = self.read(name) if name in self.pictures else self.files[name]
        if content is None:
            raise KeyError(name)
        return content

    def __contains__(self, name: object) -> bool:
        """Return whether a file is part of the publication, without reading it."""
        return name in self.files or name in self.pictures

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        yield from self.files
        yield from self.pictures

    def __len__(self) -> int:
        """Return the number of files."""
        return len(self.files) + len(self.pictures)


@dataclass(frozen=True, slots=True)
class StyleFile:
    """A user style that can be made (contract Q3).

    Attributes:
        name: the name of its file.
        made_of: another value once the file would have another content.
        make: returns the content; None if the artwork cannot be a user style.
    """

    name: str
    made_of: str
    make: Callable[[], str | None] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Publication:
    """The gallery of one moment as files.

    Attributes:
        version: the id of the last change.
        pointer: the content of ``latest.json``, signed.
        files: the content of every file that it names, of ``reader.js`` and of the page, by name relative to it.
        indexes: its index and the earlier ones to which the next publication makes differences, the newest first.
        left_out: the active records that are not published, logos first, by id.
        styles: its user styles, which can be made several times.
        state: what it was made of; equal for equal states of the gallery.
    """

    version: int
    pointer: bytes = field(repr=False)
    files: Mapping[str, bytes] = field(repr=False)
    indexes: tuple["PublishedIndex", ...] = field(default=(), repr=False)
    left_out: tuple[LeftOut, ...] = ()
    styles: Iterable[StyleFile] = field(default=(), repr=False, compare=False)
    state: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Published:
    """What publishing into files did.

    Attributes:
        version: the id of the last change.
        changed: whether a file was written; otherwise the files were those of this version already.
        pointer: the content of ``latest.json``.
        left_out: the active records that are not published, logos first, by id; empty if nothing was written.
        is_complete: whether the files have every active record; False if that is not known.
    """

    version: int
    changed: bool
    pointer: bytes = field(repr=False)
    left_out: tuple[LeftOut, ...] = ()
    is_complete: bool = False
