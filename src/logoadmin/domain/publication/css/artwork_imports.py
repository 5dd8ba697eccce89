"""Copies of all style sheets that artworks import (contract L5)."""

from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final

from logoadmin.domain.kernel.access import Permission, Scope
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, KINDS, AnyArtworkKind
from logoadmin.domain.kernel.lists import Filter
from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork
from logoadmin.domain.kernel.use_cases import Service, behind, for_program, storage_of, writes
from logoadmin.domain.publication.css.css_service import CssService, InlineCss
from logoadmin.domain.publication.css.inlining import FailedImport
from logoadmin.domain.publication.css.judging import judge
from logoadmin.ports.storage import Storage

_PAGE: Final = 50


@dataclass(frozen=True, slots=True)
class ImportingArtwork:
    """An artwork whose CSS imports style sheets.

    Attributes:
        kind: its kind.
        id: its id.
        name: its name.
        css: its CSS.
        urls: the imported URLs.
        copy: its CSS with copies of all of them; empty if one of them could not be copied, or none was tried.
        failed: the imports that could not be copied.
    """

    kind: Kind
    id: int
    name: str
    css: str
    urls: tuple[str, ...]
    copy: str = ""
    failed: tuple[FailedImport, ...] = ()


class UseCopies(Command):
    """The change of artworks to their CSS with copies."""

    takes_long = True

    artworks: tuple[ImportingArtwork, ...]


class ArtworkImports(Service):
    """Copies the style sheets that logos and themes import, for the command line."""

    def __init__(self, css: CssService) -> None:
        super().__init__(behind(css))
        self._css = css

    @for_program
    def importing(self) -> Iterator[ImportingArtwork]:
        """Yield the artworks with imports, logos first, by id."""
        for kind in ARTWORK_KINDS:
            after = -1
            while page := _page(storage_of(self), kind, after):
                for artwork in page:
                    after, css = kind.id_of(artwork), artwork.custom_css
                    # An at-rule of this name has it in its text, or an escape.
                    if "@" in css and ("\\" in css or "import" in css.lower()):
                        urls = judge(css, kind.css_form).import_urls
                        if urls:
                            yield ImportingArtwork(kind.kind, after, artwork.name, css, urls)

    @for_program
    def copies(self) -> Iterator[ImportingArtwork]:
        """Yield the same with their copies, or what could not be copied.

        Raises:
            Conflict: this service sends no requests.
        """
        for each in [*self.importing()]:
            found = self._css.inline(InlineCss(kind="logo" if each.kind is Kind.LOGO else "theme", custom_css=each.css))
            copy = "" if found.failed else found.custom_css
            yield ImportingArtwork(each.kind, each.id, each.name, each.css, each.urls, copy, found.failed)

    @writes(Permission(Scope.ALL))
    def use(self, uow: AuditedUnitOfWork, command: UseCopies) -> int:
        """Give artworks their CSS with copies, as one request; return the number of changes.

        Artworks that have other CSS by now stay as they are.
        """
        changed = 0
        for each in filter(attrgetter("copy"), command.artworks):
            artworks = uow.records(KINDS[each.kind])
            artwork = artworks.get(each.id)
            if artwork is not None and artwork.custom_css == each.css:
                artworks.amend(each.id, None, {"custom_css": each.copy})
                changed += 1
        return changed


def _page(storage: Storage, kind: AnyArtworkKind, after: int) -> tuple[Any, ...]:
    return storage.read(lambda uow: uow.records(kind).page(after, _PAGE, Filter()))
