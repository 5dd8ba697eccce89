"""The published gallery: generating it, publishing it into files, and its keys (contract L1, L2, L7)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from logoadmin.domain.kernel.access import OWNER, SIGNED_IN, Caller, Held, Scope
from logoadmin.domain.kernel.audited_unit_of_work import Reading
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.context_ports import gallery_in, history_in, publication_in
from logoadmin.domain.kernel.errors import StorageUnavailable
from logoadmin.domain.kernel.gate import Gate, Transactions
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, AUTHORS
from logoadmin.domain.kernel.lists import Filter
from logoadmin.domain.kernel.pictures import picture_names, picture_of, picture_path
from logoadmin.domain.kernel.records import Kind, SharedSettings
from logoadmin.domain.kernel.settings_in_history import SettingsInHistory
from logoadmin.domain.kernel.use_cases import Service, for_program, storage_of, use_case
from logoadmin.domain.publication.css.targets import NO_TARGETS, Targets
from logoadmin.domain.publication.files.assembly import Sources, Unsigned, assembled
from logoadmin.domain.publication.files.contents import contents_of
from logoadmin.domain.publication.files.gallery_keys import DAY, GalleryKeys, Identity
from logoadmin.domain.publication.files.index import sha256 as hash_of
from logoadmin.domain.publication.files.page import NO_LINKS, Links, Page, page_files
from logoadmin.domain.publication.files.pointer import public_key, signed
from logoadmin.domain.publication.files.publishing import (
    Blocks,
    clear_another_gallery,
    earlier_indexes,
    is_complete,
    is_unchanged,
    publish,
    publish_blocks,
)
from logoadmin.domain.publication.files.user_styles import style_name
from logoadmin.domain.publication.files.withdrawals import (
    MOST_BLOCKED,
    MOST_WITHDRAWN,
    listed_withdrawals,
    withdrawn_entry,
)
from logoadmin.domain.publication.publication_records import (
    POINTER,
    READER,
    Blocked,
    Publication,
    PublicationFiles,
    PublicationStatus,
    Published,
    PublishedIndex,
)
from logoadmin.domain.publication.status import status_of
from logoadmin.ports.kernel.environment import Clock
from logoadmin.ports.publication.gallery_files import GalleryFiles
from logoadmin.ports.publication.publication_storage import Withdrawal
from logoadmin.ports.publication.signing import SigningKey
from logoadmin.ports.storage import UnitOfWork

# A change of any other kind of record leaves the index as it is.
_PUBLISHED_KINDS: Final = (Kind.AUTHOR, Kind.LOGO, Kind.THEME, Kind.PICTURE)


class ShowPublication(Command):
    """What readers of the published gallery do not get."""

    judges = True

    @property
    def searches(self) -> bool:
        """Whether it may compare all records: it does."""
        return True


@dataclass(frozen=True, slots=True)
class PublishingRules:
    """How a gallery is published.

    Attributes:
        days: how long a pointer is valid.
        reader: the content of ``reader.js``.
        pin_imports: whether readers get pinned copies of imported style sheets (contract L5).
        folder: where the service publishes in the background; None for memory.
        owns_folder: whether that folder belongs to this database alone, so that files of another gallery, left by a
            database that was deleted, are replaced.
        page: the page for visitors; None for none (contract Q2).
        targets: the targets for which artworks are published as user styles (contract Q3).
        links: the links in what the service publishes.
        links_elsewhere: those in folders that are served elsewhere.
    """

    days: int = 30
    reader: bytes = b""
    pin_imports: bool = True
    folder: Path | None = None
    owns_folder: bool = True
    page: Page | None = None
    targets: Targets = NO_TARGETS
    links: Links = NO_LINKS
    links_elsewhere: Links = NO_LINKS


class PublicationService(Service):
    """The use cases of the published gallery.

    Attributes:
        rules: how it is published.
    """

    def __init__(self, transactions: Transactions, clock: Clock, keys: GalleryKeys, rules: PublishingRules) -> None:
        super().__init__(transactions)
        self._clock, self._keys, self.rules = clock, keys, rules
        self._made_of = hash_of(repr(replace(rules, folder=None)).encode())

    @for_program
    def generate(self, earlier: Sequence[PublishedIndex] = (), links: Links | None = None) -> Publication:
        """Return the gallery of this moment as files, from one snapshot. The first time, a key is generated.

        Args:
            earlier: the indexes that readers may have, the newest first: ``indexes`` of the last publication.
            links: the links in it, by default those of the service.

        Raises:
            StorageUnavailable: the database is out of reach.
        """
        now = self._clock.now()
        self._prepare(now)
        storage, links = storage_of(self), links or self.rules.links
        sources, state, page = storage.snapshot(
            lambda uow: (self._sources(now, uow), self._state(uow, now, links), self._page(uow))
        )
        unsigned = self._unsigned(sources.identity.keys, links, page)
        publication = assembled(sources, earlier, self.rules.days, unsigned)
        names = picture_names(sorted(sources.contents.pictures))
        return replace(publication, files=PublicationFiles(publication.files, names, self._picture), state=state)

    @for_program
    def publish(self, files: GalleryFiles, *, is_own: bool = False, links: Links | None = None) -> Published:
        """Bring files up to date with the gallery: blocks first, then everything.

        If nothing has changed, files whose pointer is younger than a day are left alone.

        Args:
            files: the files.
            is_own: whether they belong to this service alone, which then replaces those of another gallery.
            links: the links in them, by default those of the service.

        Raises:
            StartError: the files are not those of this gallery, or somebody else publishes there.
            OSError: a file cannot be read, written or removed; the last publication is still whole.
            StorageUnavailable: the database is out of reach.
        """
        links = links or self.rules.links
        with files.locked():
            now = self._clock.now()
            self._prepare(now)
            state, identity, blocks = storage_of(self).snapshot(
                lambda uow: (self._state(uow, now, links), self._identity(uow, now), self._blocks(uow, now))
            )
            if is_own:
                clear_another_gallery(files, identity.gallery)
            if is_unchanged(files, state, now):
                return Published(blocks.version, False, files.read(POINTER) or b"", is_complete=is_complete(files))
            expires = now + self.rules.days * DAY
            publish_blocks(files, blocks, lambda pointer: signed(pointer, identity.keys), now, expires)
            publication = self.generate(earlier_indexes(files), links)
            publish(files, publication, now)
            left_out = publication.left_out
            return Published(publication.version, True, publication.pointer, left_out, is_complete=not left_out)

    @use_case(SIGNED_IN)
    def status(self, gate: Gate, command: ShowPublication, caller: Caller = OWNER) -> PublicationStatus:
        """Return the records that readers do not get, with the reasons, and the imports that changed at their origin.

        Raises:
            NotPermitted: the caller may neither change nor propose logos or themes. Callers who may only propose them
                get the blocks of their own.
        """

        def begun(uow: Reading, _command: ShowPublication, held: Held) -> tuple[int, tuple[Withdrawal, ...], bool]:
            is_whole = any(held.hold(kind.write_scope) for kind in ARTWORK_KINDS)
            if not is_whole:
                held.require([Scope.PROPOSALS_WRITE])
            blocked = publication_in(uow).withdrawals.blocked(MOST_WITHDRAWN)
            return history_in(uow).last_id(), blocked if is_whole else _own(uow, blocked, held), is_whole

        version, blocked, is_whole = gate.snapshot_with_rights(command, caller, begun)
        if not is_whole:
            own = tuple(Blocked(each.kind, each.id, each.at, each.reason or "") for each in blocked)
            return PublicationStatus(version, 0, 0, (), (), (), own)
        rules = self.rules
        return status_of(storage_of(gate), version, blocked, rules.targets, pin_imports=rules.pin_imports)

    @for_program
    def public_keys(self) -> tuple[dict[str, str], ...]:
        """Return the public keys that sign as JWKs with their thumbprints, the current one first.

        Raises:
            StorageUnavailable: the database is out of reach.
        """
        now = self._clock.now()
        self._prepare(now)
        identity = storage_of(self).snapshot(lambda uow: self._identity(uow, now))
        return tuple(public_key(key) for key in identity.keys)

    @for_program
    def rotate_key(self) -> tuple[dict[str, str], ...]:
        """Generate a new key; the old one still signs for ``gallery_days``. Return all keys as :meth:`public_keys`.

        Raises:
            SettingsError: the keys are in ``gallery_key_file``.
            Conflict: too many keys sign already.
            StorageUnavailable: the database is out of reach.
        """
        storage_of(self).write(lambda uow: self._keys.rotate(uow, self._clock.now()))
        return self.public_keys()

    def _picture(self, name: str) -> bytes | None:
        picture = picture_of(name)
        if picture is None:
            return None
        is_small = name == picture_path(picture, thumbnail=True)
        return storage_of(self).read(lambda uow: uow.gallery.pictures.content(picture, thumbnail=is_small))

    def _prepare(self, now: int) -> None:
        """Make sure that there is a key; one that has retired may be deleted later."""
        storage = storage_of(self)
        if storage.snapshot(lambda uow: self._keys.is_prepared(uow, now)):
            return
        try:
            storage.write(lambda uow: self._keys.prepare(uow, now))
        except StorageUnavailable:
            if storage.snapshot(lambda uow: self._keys.identity(uow, now)) is None:
                raise

    def _identity(self, uow: UnitOfWork, now: int) -> Identity:
        identity = self._keys.identity(uow, now)
        if identity is None:  # a restore in between took it
            raise StorageUnavailable(storage_of(self).server)
        return identity

    def _sources(self, now: int, uow: UnitOfWork) -> Sources:
        last = uow.changes.last_of_kinds()
        return Sources(
            uow.changes.last_id(),
            max(last.get(kind, 0) for kind in _PUBLISHED_KINDS),
            now,
            self._identity(uow, now),
            contents_of(uow, pin_imports=self.rules.pin_imports, targets=self.rules.targets),
            listed_withdrawals(uow.publication.withdrawals, now),
            uow.publication.withdrawals.blocked(MOST_BLOCKED),
        )

    def _blocks(self, uow: UnitOfWork, now: int) -> Blocks:
        identity, blocked = self._identity(uow, now), uow.publication.withdrawals.blocked(MOST_WITHDRAWN)
        entries = [withdrawn_entry(each.kind, each.id, each.at, each.reason) for each in blocked[:MOST_BLOCKED]]
        styles = [style_name(each.kind, each.id) for each in blocked]
        pictures = frozenset(picture_names(uow.gallery.pictures.shapes().keys() - uow.gallery.pictures.taken_down()))
        return Blocks(identity.gallery, identity.epoch, uow.changes.last_id(), entries, pictures, styles)

    def _page(self, uow: UnitOfWork) -> Page | None:
        """Return the page with what administrators decided for it (contract J8); None for none."""
        page, shared = self.rules.page, SettingsInHistory(uow.changes).get(SharedSettings.settings_id)
        if page is None:
            return None
        home = page.home if shared.gallery_home is None else shared.gallery_home
        return replace(page, title=shared.gallery_title or page.title, home=home)

    def _unsigned(self, keys: Sequence[SigningKey], links: Links, page: Page | None) -> Unsigned:
        rules = self.rules
        reader = {READER: rules.reader} if rules.reader else {}
        shown = {} if page is None else page_files(page, rules.targets, links, [*map(public_key, keys)])
        return Unsigned({**reader, **shown}, rules.targets, links.gallery)

    def _state(self, uow: UnitOfWork, now: int, links: Links) -> str:
        """Return what a publication is made of."""
        identity = self._keys.identity(uow, now)
        # Neither the first pins nor pictures that are sent later than a record names them are changes.
        counted = uow.changes.last_id(), uow.publication.pins.pinned(), uow.gallery.pictures.published()
        keys = None if identity is None else (identity.gallery, identity.epoch, [key.jwk["x"] for key in identity.keys])
        return repr((counted, keys, links, self._made_of))


def _own(uow: Reading, blocked: Sequence[Withdrawal], held: Held) -> tuple[Withdrawal, ...]:
    """Return the blocked artworks of which a caller is an author."""
    authors = () if held.user_id is None else uow.records(AUTHORS).page(-1, 1, Filter(user_id=held.user_id))
    linked = {
        (kind.kind, link.artwork_id)
        for author in authors
        for kind in ARTWORK_KINDS
        for link in gallery_in(uow).links(kind).of_author(author.author_id)
    }
    return tuple(each for each in blocked if (each.kind, each.id) in linked)
