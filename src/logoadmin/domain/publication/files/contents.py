"""The records of a publication, read once at one moment (contract L1, L4, L5)."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Protocol

from logoadmin.domain.kernel.kinds import LOGOS, THEMES, AnyArtworkKind, picture_of, picture_path
from logoadmin.domain.kernel.limits import Ground
from logoadmin.domain.kernel.lists import Filter, Listing
from logoadmin.domain.kernel.records import Kind, Logo, Theme, version_of
from logoadmin.domain.publication.css import judge
from logoadmin.domain.publication.css.targets import NO_TARGETS, Targets
from logoadmin.domain.publication.css.verdict import Verdict
from logoadmin.domain.publication.files.index import IndexBuilder, without_empty
from logoadmin.domain.publication.pins.pinned_css import PinnedCss, PinnedSheets, ReadsPins, Unpinned
from logoadmin.domain.publication.publication_records import LeftOut
from logoadmin.ports.storage import Storage, UnitOfWork

_ACTIVE: Final = Filter(active=True)
# What keeps CSS out of style managers (contract Q3).
_UNSTYLED: Final = frozenset(("foreign_document", "invalid"))


class HasArtworks(Protocol):
    """A unit of work, or :class:`StoredArtworks`."""

    def records(self, kind: Any, /) -> Any:
        """Return the records of a kind of artwork."""


@dataclass(frozen=True, slots=True)
class StoredArtworks:
    """The artworks, read some at a time, each in a transaction of its own: none is open while CSS is judged."""

    _storage: Storage

    def records(self, kind: AnyArtworkKind) -> "_StoredRecords":
        """Return the records of a kind of artwork."""
        return _StoredRecords(self._storage, kind)


@dataclass(frozen=True, slots=True)
class _StoredRecords:
    _storage: Storage
    _kind: AnyArtworkKind

    def page(self, after: int, limit: int, where: Filter) -> Any:
        return self._storage.read(lambda uow: uow.records(self._kind).page(after, limit, where))

    def get(self, id_: int) -> Any:
        return self._storage.read(lambda uow: uow.records(self._kind).get(id_))


@dataclass(slots=True)
class Contents:
    """What readers get.

    Attributes:
        records: the published records.
        sheets: the pinned style sheets, by their SHA-256.
        pictures: the pictures of the gallery's own that they name.
        left_out: the active records that are not published.
        versions: the versions of the artworks that get user styles, by kind and id.
    """

    records: IndexBuilder = field(default_factory=IndexBuilder)
    sheets: dict[str, str] = field(default_factory=dict)
    pictures: set[str] = field(default_factory=set)
    left_out: list[LeftOut] = field(default_factory=list)
    versions: dict[tuple[Kind, int], int] = field(default_factory=dict)


def contents_of(uow: UnitOfWork, *, pin_imports: bool, targets: Targets = NO_TARGETS) -> Contents:
    """Read the active artworks, of which none is held: each is a part of the index when the next one is read.

    Args:
        uow: where they are.
        pin_imports: whether readers get pinned copies of imported style sheets; otherwise imports stay as they are.
        targets: the targets with pages, for which artworks may get user styles.
    """
    contents, shapes = Contents(), uow.gallery.pictures.shapes()
    for kind, artwork, css in active_artworks(uow, uow.publication.pins, pin_imports=pin_imports):
        if isinstance(css, LeftOut):
            contents.left_out.append(css)
            continue
        contents.sheets.update(css.sheets)
        verdict = judge(artwork.custom_css, kind.css_form, css.texts, pages=targets.pages(artwork.target))
        shown: dict[str, Any] = {}
        if (picture := picture_of(artwork.preview_url)) in shapes and picture is not None:
            contents.pictures.add(picture)
            shown = _picture_entry(picture, *shapes[picture])
        contents.records.add(kind.kind, artwork, css.css, _verdict_entry(verdict), shown)
        target = targets.get(artwork.target)
        if target is not None and target.has_styles_of(kind.kind) and _UNSTYLED.isdisjoint(verdict.risk_names):
            contents.versions[kind.kind, kind.id_of(artwork)] = version_of(artwork)
    return contents


def active_artworks(
    stored: HasArtworks, pins: ReadsPins, *, pin_imports: bool
) -> Iterator[tuple[AnyArtworkKind, Logo | Theme, PinnedCss | LeftOut]]:
    """Yield the active artworks, logos first, by id, each with its CSS as readers get it, or why they do not."""
    yield from _pinned(stored, pins) if pin_imports else _as_they_are(stored)


def _pinned(stored: HasArtworks, pins: ReadsPins) -> Iterator[tuple[AnyArtworkKind, Logo | Theme, PinnedCss | LeftOut]]:
    for kind in (LOGOS, THEMES):
        sheets = PinnedSheets(pins, kind)
        for artwork in _active(stored, kind):
            id_ = kind.id_of(artwork)
            try:
                yield kind, artwork, sheets.of(id_, artwork.custom_css)
            except Unpinned as error:
                yield kind, artwork, LeftOut(kind.kind, id_, artwork.name, str(error), error.code, error.host)


def _as_they_are(stored: HasArtworks) -> Iterator[tuple[AnyArtworkKind, Logo | Theme, PinnedCss]]:
    for kind in (LOGOS, THEMES):
        for artwork in _active(stored, kind):
            yield kind, artwork, PinnedCss(artwork.custom_css, {}, {})


def _active(stored: HasArtworks, kind: AnyArtworkKind) -> Iterator[Logo | Theme]:
    records = stored.records(kind)

    def fetch(after: int, limit: int) -> tuple[Logo | Theme, ...]:
        found: tuple[Logo | Theme, ...] = records.page(after, limit, _ACTIVE)
        return found

    return iter(Listing(fetch(-1, kind.page_sizes.first), kind.id_of, fetch, kind.page_sizes))


def _picture_entry(picture: str, width: int, height: int, ground: Ground) -> dict[str, Any]:
    """Return a picture as it is in the index, with paths relative to the pointer (contract P2)."""
    paths = {"path": picture_path(picture), "thumbnail": picture_path(picture, thumbnail=True)}
    return {**paths, "width": width, "height": height, "ground": ground}


def _verdict_entry(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as it is in the index.

    Without imports, the size is that of ``custom_css``, and left out: it
    would be a twentieth of the compressed index.
    """
    return {
        "form": verdict.form,
        "hosts": verdict.hosts,
        "imports": [without_empty(asdict(each)) for each in verdict.imports],
        "size": verdict.size if verdict.imports else None,
        "risks": [asdict(risk) for risk in verdict.risks],
        "documents": verdict.documents,
    }
