"""Assemble a publication: all files of the gallery at one moment (contract L2, L3, L7)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from logoadmin.domain.kernel.kinds import picture_names
from logoadmin.domain.kernel.records import Kind, SharedSettings
from logoadmin.domain.kernel.unit_of_work import shared_settings
from logoadmin.domain.publication.css.targets import targets_of
from logoadmin.domain.publication.files.contents import contents_of, picture_entry
from logoadmin.domain.publication.files.gallery_keys import DAY, Identity
from logoadmin.domain.publication.files.gallery_pages import Pages, Site, blocked_pages
from logoadmin.domain.publication.files.index import hashed_name, sha256
from logoadmin.domain.publication.files.known_verdicts import noted_verdicts, verdicts_in
from logoadmin.domain.publication.files.pointer import FileEntry, Pointer, file_entry, public_key, signed
from logoadmin.domain.publication.files.publishing import Blocks
from logoadmin.domain.publication.files.user_styles import UserStyles, style_name
from logoadmin.domain.publication.files.withdrawals import (
    MOST_BLOCKED,
    MOST_WITHDRAWN,
    listed_withdrawals,
    withdrawn_entries,
    withdrawn_file,
)
from logoadmin.domain.publication.publication_records import READER, Links, Publication, PublishingRules
from logoadmin.ports.gallery_files import GalleryFiles
from logoadmin.ports.gallery_page import GalleryPage
from logoadmin.ports.gallery_storage import Withdrawal
from logoadmin.ports.storage import UnitOfWork

# Changes of other kinds of records do not affect the index.
_PUBLISHED_KINDS: Final = (Kind.AUTHOR, Kind.LOGO, Kind.THEME, Kind.PICTURE)


@dataclass(frozen=True)
class Moment:
    """The gallery in one snapshot, which lasts as long as ``uow``."""

    uow: UnitOfWork
    identity: Identity
    now: int
    rules: PublishingRules
    links: Links
    renderer: GalleryPage

    @cached_property
    def _settings(self) -> SharedSettings:
        return shared_settings(self.uow)

    @property
    def state(self) -> str:
        """A value that is equal for equal states of the gallery."""
        # Pictures uploaded after a record names them are not in the history.
        versions = self.uow.changes.last_id(), self.uow.pictures.published()
        keys = self.identity.gallery, self.identity.epoch, [key.jwk["x"] for key in self.identity.keys]
        others = sha256(repr((self.rules, self.renderer.form)).encode())
        return repr((versions, keys, self.links, others))

    @cached_property
    def site(self) -> Site | None:
        """The values of all pages, with the shared settings (contract J8); None for no pages."""
        page, mark, shared = self.rules.page, None, self._settings
        if page is None:
            return None
        home = page.home if shared.gallery_home is None else shared.gallery_home
        stored = self.uow.pictures.get(shared.gallery_mark) if shared.gallery_mark else None
        if stored is not None and not stored.is_removed:
            mark = picture_entry(stored.picture, stored.width, stored.height, stored.ground)
        title = shared.gallery_title or page.title
        page = replace(page, title=title, home=home, mark=mark, accent=shared.gallery_accent)
        return Site(page, self.links, self.identity.gallery, targets_of(shared), self.renderer)

    def blocks(self) -> Blocks:
        """Return the current blocks."""
        uow = self.uow
        blocked = uow.withdrawals.blocked(MOST_WITHDRAWN)
        pictures = uow.pictures.shapes().keys() - uow.pictures.taken_down()
        return Blocks(
            self.identity,
            uow.changes.last_id(),
            withdrawn_entries(blocked[:MOST_BLOCKED]),
            frozenset(picture_names(pictures)),
            frozenset(style_name(each.kind, each.id) for each in blocked),
            () if self.site is None else tuple(blocked_pages(blocked, self.site)),
        )

    def publication(self, before: GalleryFiles | None) -> Publication:
        """Return the publication; verdicts in the files of an earlier one are reused."""
        gallery, keys = self.identity.gallery, self.identity.keys
        targets, site = targets_of(self._settings), self.site
        verdicts = verdicts_in(before, targets, keys)
        contents = contents_of(self.uow, publish_imports=self.rules.publish_imports, verdicts=verdicts)
        index = contents.records.index(self._index_version())
        withdrawals = listed_withdrawals(self.uow.withdrawals, self.now)
        withdrawn = withdrawn_file(withdrawals)
        listed = {index.name: index.body, hashed_name("withdrawn", withdrawn): withdrawn}
        pointer = self._pointer(withdrawals, *(file_entry(*file) for file in listed.items()))
        styles = UserStyles(index, contents.artworks, gallery, self.links.gallery, site is not None)
        pages = () if site is None else Pages(index, contents, styles, withdrawals, site)
        return Publication(
            pointer.version,
            signed(pointer, keys),
            {**index.long_css, **listed, **self._unsigned_files()},
            tuple(contents.left_out),
            (styles, pages),
            self.state,
            noted_verdicts(index.name, index.sha256, targets, keys[0]),
            picture_names(sorted(contents.pictures | self._marks())),
        )

    def _index_version(self) -> int:
        """Return the last change of a published kind, so that the name of an index depends on its content alone."""
        last = self.uow.changes.last_of_kinds()
        return max(last.get(kind, 0) for kind in _PUBLISHED_KINDS)

    def _pointer(self, withdrawals: Sequence[Withdrawal], index: FileEntry, withdrawn: FileEntry) -> Pointer:
        blocked = [each for each in withdrawals if each.reason is not None]
        return Pointer(
            gallery=self.identity.gallery,
            epoch=self.identity.epoch,
            version=self.uow.changes.last_id(),
            issued=self.now,
            expires=self.now + self.rules.days * DAY,
            index=index,
            withdrawn=withdrawn,
            blocked=withdrawn_entries(blocked[:MOST_BLOCKED]),
            next_keys=[key.jwk for key in self.identity.keys[:-1]],
        )

    def _unsigned_files(self) -> Mapping[str, bytes]:
        """Return the first page with the files that it loads, and the reader."""
        reader = {READER: self.rules.reader} if self.rules.reader else {}
        site = self.site
        return reader if site is None else {**reader, **self.renderer.files(site.values(""), self._page_data(site))}

    def _page_data(self, site: Site) -> Mapping[str, Any]:
        """Return the data about the gallery for the scripts of the page."""
        return {
            "title": site.page.title,
            "home": site.page.home or None,
            "submit": site.links.submit,
            "targets": [{"id": target.id, "name": target.name} for target in site.targets],
            "keys": [public_key(key) for key in self.identity.keys],
        }

    def _marks(self) -> set[str]:
        """Return the pictures of the site: the mark beside its title, if it has one."""
        has_mark = self.site is not None and self.site.page.mark is not None
        return {str(self._settings.gallery_mark)} if has_mark else set()
