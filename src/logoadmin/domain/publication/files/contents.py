"""The records of a publication, read once in one snapshot (contract L1, L4)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, AnyArtworkKind, picture_of, picture_path
from logoadmin.domain.kernel.limits import Ground
from logoadmin.domain.kernel.lists import Filter
from logoadmin.domain.kernel.records import Kind, version_of
from logoadmin.domain.kernel.unit_of_work import stored_artworks
from logoadmin.domain.publication.css.targets import Target
from logoadmin.domain.publication.css.verdict import Verdict
from logoadmin.domain.publication.files.index import IndexBuilder
from logoadmin.domain.publication.files.known_verdicts import Verdicts
from logoadmin.domain.publication.publication_records import LeftOut, left_out
from logoadmin.ports.storage import UnitOfWork

ACTIVE: Final = Filter(active=True)
# The risk that keeps CSS out of style managers (contract Q3).
_UNSTYLED: Final = "foreign_document"


@dataclass(frozen=True, slots=True)
class PublishedArtwork:
    """The data of an artwork that pages and user styles need, besides its entry in the index."""

    version: int
    own_version: int  # without changes of its authors, who have versions of their own
    author_ids: tuple[int, ...]
    origin: str
    styled_for: Target | None  # the target of its user style; None if it gets none


@dataclass(slots=True)
class Contents:
    """The content of a publication; artworks are named by kind and id."""

    records: IndexBuilder = field(default_factory=IndexBuilder)
    pictures: set[str] = field(default_factory=set)  # the gallery's own ones that the records use
    left_out: list[LeftOut] = field(default_factory=list)
    artworks: dict[tuple[Kind, int], PublishedArtwork] = field(default_factory=dict)
    changed_at: Mapping[int, int] = field(default_factory=dict)  # the Unix times of their last changes, by version


def contents_of(uow: UnitOfWork, *, publish_imports: bool, verdicts: Verdicts) -> Contents:
    """Read the active artworks one at a time: each is added to the index before the next one is read."""
    contents, shapes = Contents(), uow.pictures.shapes()
    for kind, artwork in stored_artworks(lambda page: page(uow), ACTIVE):
        verdict = verdicts.on(kind, artwork)
        missing = left_out(kind, artwork, verdict, publish_imports=publish_imports)
        if missing is not None:
            contents.left_out.append(missing)
            continue
        urls = (artwork.preview_url, *artwork.details.pictures)
        own = {url: picture for url in urls if (picture := picture_of(url)) is not None and picture in shapes}
        contents.pictures.update(own.values())
        entries = {url: picture_entry(picture, *shapes[picture]) for url, picture in own.items()}
        contents.records.add(kind, artwork, verdict.published(), entries)
        contents.artworks[kind.kind, kind.id_of(artwork)] = PublishedArtwork(
            version_of(artwork),
            artwork.version,
            tuple(author.author_id for author in artwork.authors),
            artwork.details.origin or "",
            _styled_for(kind.kind, verdicts.targets.get(artwork.target), verdict),
        )
    contents.changed_at = uow.changes.times([each.version for each in contents.artworks.values()])
    for kind in ARTWORK_KINDS:
        _add_dates(uow, kind, contents)
    return contents


def _styled_for(kind: Kind, target: Target | None, verdict: Verdict) -> Target | None:
    """Return the target of an artwork, if it gets a user style for it."""
    has_pages = target is not None and (target.documents or verdict.documents)
    if target and has_pages and target.has_styles_of(kind) and _UNSTYLED not in verdict.risk_names:
        return target
    return None


def _add_dates(uow: UnitOfWork, kind: AnyArtworkKind, contents: Contents) -> None:
    """Add the times of the last changes to the entries of artworks that were changed since they were created."""
    versions = {id_: artwork.own_version for (of, id_), artwork in contents.artworks.items() if of is kind.kind}
    added = uow.changes.creations(kind.kind, versions)
    changed = {id_: version for id_, version in versions.items() if added.get(id_) != version}
    times = uow.changes.times([*changed.values()])
    for id_, version in changed.items():
        if version in times:
            contents.records.date(kind, id_, times[version])


def picture_entry(picture: str, width: int, height: int, ground: Ground) -> dict[str, Any]:
    """Return the entry of a picture in the index, with paths relative to the pointer (contract P2)."""
    paths = {"path": picture_path(picture), "thumbnail": picture_path(picture, thumbnail=True)}
    return {**paths, "width": width, "height": height, "ground": ground}
