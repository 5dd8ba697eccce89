"""The published gallery: its files, and the records left out of it (contract L1, L2)."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal

from logoadmin.domain.kernel.kinds import AnyArtworkKind
from logoadmin.domain.kernel.limits import UnixTime, described
from logoadmin.domain.kernel.records import Kind, Logo, Theme
from logoadmin.domain.publication.css.verdict import RiskName, Verdict

# The names of files below `/gallery/`.
PAGE: Final = "index.html"
POINTER: Final = "latest.json"
READER: Final = "reader.js"
FEED: Final = "feed.xml"
SITEMAP: Final = "sitemap.xml"


@dataclass(frozen=True, slots=True)
class Links:
    """The URLs of the gallery for visitors."""

    gallery: str | None = None  # of ``/gallery/``; None if unknown
    submit: str | None = None  # to submit artworks; None if the page does not link to it
    is_public: bool = False  # whether visitors elsewhere may use the URL of the gallery


NO_LINKS: Final = Links()


@dataclass(frozen=True, slots=True)
class Page:
    """The settings of the page for visitors (contract Q2, Q4)."""

    title: str
    home: str = ""  # the URL of the site that it belongs to; empty for none
    demo: bool = False
    report: str = ""  # the URL to report an artwork, in which ``{url}`` stands for its page; empty for none
    mark: Mapping[str, Any] | None = None  # the picture next to the title, in the form of the index
    accent: str | None = None  # the colour of links and buttons as ``#rrggbb``; None for the default


@dataclass(frozen=True, slots=True)
class PublishingRules:
    """How a gallery is published."""

    days: int = 30  # how long a pointer is valid
    reader: bytes = b""  # the content of ``reader.js``
    publish_imports: bool = False  # contract L5
    # Whether the service's files belong to this database alone, so that files of another gallery, left by a deleted
    # database, are replaced.
    owns_files: bool = True
    page: Page | None = None
    links: Links = NO_LINKS  # in files that the service publishes
    links_elsewhere: Links = NO_LINKS  # in folders that are served elsewhere


HAS_IMPORT: Final = "It imports a style sheet, which others can change. Copy the style sheet into the CSS"
LeftOutReason = Literal["import", "document", "invalid"]
_ArtworkKind = Annotated[Kind, described("`logo` or `theme`.", "theme")]
_ArtworkId = Annotated[int, described("The id of the logo or theme.", 7)]
_Name = Annotated[str, described("The name of the logo or theme.", "Aurora")]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An active logo or theme that is not published."""

    kind: _ArtworkKind
    id: _ArtworkId
    name: _Name
    reason: Annotated[str, described("The reason, and what to do about it.", HAS_IMPORT)]
    code: Annotated[
        LeftOutReason,
        described(
            "The reason as a code: the CSS imports a style sheet, has a `data:` URL with a document that names other "
            "files, or is `invalid`.",
            "import",
        ),
    ]


@dataclass(frozen=True, slots=True)
class Risky:
    """A published logo or theme whose CSS has risks."""

    kind: _ArtworkKind
    id: _ArtworkId
    name: _Name
    risks: Annotated[tuple[RiskName, ...], described("The kinds of risks, in a fixed order.", ["overlay"])]


@dataclass(frozen=True, slots=True)
class Blocked:
    """A logo or theme that readers must stop applying."""

    kind: _ArtworkKind
    id: _ArtworkId
    at: Annotated[UnixTime, described("When it was blocked, as Unix time in seconds.", 1_800_000_000)]
    reason: Annotated[str, described("The published reason.", "tracks readers")]


@dataclass(frozen=True, slots=True)
class PublicationStatus:
    """The works that are published, left out or blocked."""

    version: Annotated[int, described("The id of the last change.", 57)]
    logos: Annotated[int, described("The number of published logos.", 12)]
    themes: Annotated[int, described("The number of published themes.", 34)]
    left_out: Annotated[
        tuple[LeftOut, ...],
        described(
            "The active logos and themes that are not published.",
            [{"kind": "theme", "id": 7, "name": "Aurora", "reason": HAS_IMPORT, "code": "import"}],
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
class GeneratedFile:
    """A file generated from records: a user style or a page (contract Q1, Q3)."""

    name: str
    fingerprint: str  # changes whenever the content would
    # Returns None if the file should not exist.
    content: Callable[[], bytes | None] = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Publication:
    """The gallery of one moment, after the change ``version``, as files."""

    version: int
    pointer: bytes = field(repr=False)
    # The content of ``reader.js``, of the page, and of every file that the pointer references except pictures, by name
    # relative to it; a file comes after those that it references.
    files: Mapping[str, bytes] = field(repr=False)
    left_out: tuple[LeftOut, ...] = ()  # logos first, by id
    # Its user styles and pages, which can be generated several times.
    made: Sequence[Iterable[GeneratedFile]] = field(default=(), repr=False, compare=False)
    state: str = field(default="", repr=False)  # equal for equal states of the gallery
    verdicts: Mapping[str, str] = field(default_factory=dict, repr=False)  # the publisher's notes on them
    pictures: Collection[str] = ()  # the names of the pictures and their thumbnails, which may be large
    # Returns the content of a picture, or None if it has been removed since.
    read_picture: Callable[[str], bytes | None] = field(default=lambda _name: None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Published:
    """The result of publishing the gallery after the change ``version`` into files."""

    version: int
    changed: bool  # whether a file was written; if not, the files already had this version
    pointer: bytes = field(repr=False)  # the content of ``latest.json``
    left_out: tuple[LeftOut, ...] = ()  # logos first, by id; empty if nothing was written
    is_complete: bool = False  # whether the files have every active record; False if unknown


_INVALID: Final = "Browsers may read its CSS in several ways, from line {line}, column {column} on. Correct it there"
_DOCUMENT: Final = (
    "A data: URL in line {line}, column {column} has a document that names other files, which some browsers load. Use "
    "an image that names none"
)


def left_out(kind: AnyArtworkKind, artwork: Logo | Theme, verdict: Verdict, *, publish_imports: bool) -> LeftOut | None:
    """Return why an active artwork is not published, and the remedy; None if it is published."""
    code: LeftOutReason
    places = {risk.risk: risk for risk in reversed(verdict.risks)}
    if "invalid" in places:
        place = places["invalid"]
        text = _INVALID.format(line=place.line, column=place.column)
        code, text = "invalid", f"{verdict.reason}. Shorten it" if verdict.reason else text
    elif "document" in places:
        place = places["document"]
        code, text = "document", _DOCUMENT.format(line=place.line, column=place.column)
    elif verdict.imports and not publish_imports:
        code, text = "import", HAS_IMPORT
    else:
        return None
    return LeftOut(kind.kind, kind.id_of(artwork), artwork.name, text, code)
