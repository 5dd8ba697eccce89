"""The published gallery: generating it, publishing it into files, and its keys (contract L1, L2, L7)."""

import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from logoadmin.domain.kernel.access import OWNER, SIGNED_IN, Caller, Rights
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import NotPermitted, StorageUnavailable
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS
from logoadmin.domain.kernel.use_cases import Service, Transactions
from logoadmin.domain.publication.files.assembly import MOST_DIFFERENCES, Sources, assembled
from logoadmin.domain.publication.files.contents import contents_of
from logoadmin.domain.publication.files.gallery_keys import DAY, GalleryKeys, Identity
from logoadmin.domain.publication.files.index import Index, index_of, packed_fingerprints
from logoadmin.domain.publication.files.index_differences import named_differences
from logoadmin.domain.publication.files.pointer import public_key, signed
from logoadmin.domain.publication.files.publishing import Blocks, is_complete, is_unchanged, publish, publish_blocks
from logoadmin.domain.publication.files.withdrawals import (
    MOST_BLOCKED,
    MOST_WITHDRAWN,
    listed_withdrawals,
    withdrawn_entry,
)
from logoadmin.domain.publication.publication_records import POINTER, Publication, PublicationStatus, Published
from logoadmin.domain.publication.status import status_of
from logoadmin.ports.kernel.environment import Clock
from logoadmin.ports.publication.gallery_files import GalleryFiles
from logoadmin.ports.publication.publication_storage import PublishedIndex, Withdrawal
from logoadmin.ports.storage import UnitOfWork

_HOUR: Final = 3600  # seconds
# Larger indexes, compressed, are not stored: they would exceed what a database accepts in one statement.
_MOST_STORED: Final = 8 * 1024 * 1024
# Bytes of earlier indexes that are compared with one another, which takes half a second for each mebibyte.
_MOST_COMPARED: Final = 24 * 1024 * 1024


class ShowPublication(Command):
    """What readers of the published gallery do not get."""

    permission = SIGNED_IN
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
    """

    days: int = 30
    reader: bytes = b""
    pin_imports: bool = True


class PublicationService(Service):
    """The use cases of the published gallery."""

    def __init__(self, transactions: Transactions, clock: Clock, keys: GalleryKeys, rules: PublishingRules) -> None:
        super().__init__(transactions)
        self._clock, self._keys, self._rules = clock, keys, rules

    def generate(self, *, hourly: bool = True) -> Publication:
        """Return the gallery of this moment as files, from one snapshot. The first time, a key is generated.

        The index is stored for differences from it, if that is possible.

        Args:
            hourly: whether the pointer is issued at the last change or the start of the hour, whichever is later, so
                that all processes sign the same bytes; otherwise it is issued now.

        Raises:
            StorageUnavailable: the database is out of reach.
        """
        now = self._clock.now()
        self._prepare(now)
        sources, pinned = self.transactions.storage.snapshot(
            lambda uow: (self._sources(now, hourly, uow), uow.publication.pins.pinned())
        )
        publication, index = assembled(sources, self._rules.days, self._rules.reader)
        newest = sources.earlier[0].sha256 if sources.earlier else None
        if newest != index.sha256 and self._store(index, now):
            newest = index.sha256
        hour = now if hourly else None
        return replace(publication, state=_state(sources.version, sources.identity, newest, pinned, hour))

    def is_current(self, publication: Publication) -> bool:
        """Return whether :meth:`generate` would return the same publication.

        Raises:
            StorageUnavailable: the database is out of reach.
        """
        now = self._clock.now()
        return self.transactions.storage.snapshot(lambda uow: self._state(uow, now, now)) == publication.state

    def stored_index(self, sha256: str) -> bytes | None:
        """Return an earlier index from storage, or None.

        Raises:
            StorageUnavailable: the database is out of reach.
        """
        stored = self.transactions.storage.read(lambda uow: uow.publication.indexes.get(sha256))
        return None if stored is None else zlib.decompress(stored.body)

    def stored_differences(self) -> Mapping[str, bytes]:
        """Return the differences between earlier indexes in storage by the names of their files.

        Pointers that other processes issued named them. If the indexes are very long, some are missing: readers then
        fetch the whole index.

        Raises:
            StorageUnavailable: the database is out of reach.
        """
        stored = self.transactions.storage.read(lambda uow: uow.publication.indexes.newest(MOST_DIFFERENCES + 1))
        found: dict[str, bytes] = {}
        left = _MOST_COMPARED
        for place, newer in enumerate(stored):
            left -= newer.size
            body = None if left < 0 else self.stored_index(newer.sha256)
            if body is not None:
                named = named_differences(index_of(newer.version, body), stored[place + 1 :])
                found.update((name, content) for _, name, content in named)
        return found

    def publish(self, files: GalleryFiles) -> Published:
        """Bring files up to date with the gallery: blocks first, then everything.

        If nothing has changed, files whose pointer is younger than a day are left alone.

        Raises:
            StartError: the files are not those of this gallery, or somebody else publishes there.
            OSError: a file cannot be read, written or removed; the last publication is still whole.
            StorageUnavailable: the database is out of reach.
        """
        with files.locked():
            now = self._clock.now()
            self._prepare(now)
            state, identity, blocks = self.transactions.storage.snapshot(
                lambda uow: (self._state(uow, now, None), self._identity(uow, now), self._blocks(uow, now))
            )
            if is_unchanged(files, state, now):
                return Published(blocks.version, False, files.read(POINTER) or b"", is_complete=is_complete(files))
            expires = now + self._rules.days * DAY
            publish_blocks(files, blocks, lambda pointer: signed(pointer, identity.keys), now, expires)
            publication = self.generate(hourly=False)
            publish(files, publication, now)
            left_out = publication.left_out
            return Published(publication.version, True, publication.pointer, left_out, is_complete=not left_out)

    def status(self, command: ShowPublication, caller: Caller = OWNER) -> PublicationStatus:
        """Return the records that readers do not get, with the reasons, and the imports that changed at their origin.

        Raises:
            NotPermitted: the caller may change neither logos nor themes.
        """

        def begun(
            uow: UnitOfWork, _command: ShowPublication, held: Rights | None
        ) -> tuple[int, tuple[Withdrawal, ...]]:
            if held is not None and not any(held.hold(kind.write_scope) for kind in ARTWORK_KINDS):
                raise NotPermitted
            return uow.changes.last_id(), uow.publication.withdrawals.blocked(MOST_WITHDRAWN)

        version, blocked = self.transactions.snapshot_with_rights(command, caller, begun)
        return status_of(self.transactions.storage, version, blocked, pin_imports=self._rules.pin_imports)

    def public_keys(self) -> tuple[dict[str, str], ...]:
        """Return the public keys that sign as JWKs with their thumbprints, the current one first.

        Raises:
            StorageUnavailable: the database is out of reach.
        """
        now = self._clock.now()
        self._prepare(now)
        identity = self.transactions.storage.snapshot(lambda uow: self._identity(uow, now))
        return tuple(public_key(key) for key in identity.keys)

    def rotate_key(self) -> tuple[dict[str, str], ...]:
        """Generate a new key; the old one still signs for ``gallery_days``. Return all keys as :meth:`public_keys`.

        Raises:
            SettingsError: the keys are in ``gallery_key_file``.
            Conflict: too many keys sign already.
            StorageUnavailable: the database is out of reach.
        """
        self.transactions.storage.write(lambda uow: self._keys.rotate(uow, self._clock.now()))
        return self.public_keys()

    def _prepare(self, now: int) -> None:
        """Make sure that there is a key; one that has retired may be deleted later."""
        storage = self.transactions.storage
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
            raise StorageUnavailable(self.transactions.storage.server)
        return identity

    def _sources(self, now: int, hourly: bool, uow: UnitOfWork) -> Sources:
        version = uow.changes.last_id()
        hour = now - now % _HOUR
        last = uow.changes.get(version)
        issued = max(hour, last.at if last else 0) if hourly else now
        return Sources(
            version,
            issued,
            self._identity(uow, now),
            contents_of(uow, pin_imports=self._rules.pin_imports),
            uow.publication.indexes.newest(MOST_DIFFERENCES + 1),
            listed_withdrawals(uow.publication.withdrawals, issued),
            uow.publication.withdrawals.blocked(MOST_BLOCKED),
        )

    def _blocks(self, uow: UnitOfWork, now: int) -> Blocks:
        identity, blocked = self._identity(uow, now), uow.publication.withdrawals.blocked(MOST_BLOCKED)
        entries = [withdrawn_entry(each.kind, each.id, each.at, each.reason) for each in blocked]
        return Blocks(identity.gallery, identity.epoch, uow.changes.last_id(), entries)

    def _state(self, uow: UnitOfWork, now: int, hour: int | None) -> str:
        identity = self._keys.identity(uow, now)
        return _state(
            uow.changes.last_id(), identity, uow.publication.indexes.latest(), uow.publication.pins.pinned(), hour
        )

    def _store(self, index: Index, now: int) -> bool:
        """Store an index, if that is possible; return whether it was stored."""
        body = zlib.compress(index.body)
        if len(body) > _MOST_STORED:
            return False
        stored = PublishedIndex(index.version, index.sha256, len(index.body), now, body, packed_fingerprints(index))
        with suppress(StorageUnavailable):
            self.transactions.storage.write(
                lambda uow: uow.publication.indexes.add(stored, MOST_DIFFERENCES + 1), "sessions"
            )
            return True
        return False


def _state(version: int, identity: Identity | None, newest: str | None, pinned: int, now: int | None) -> str:
    """Return what a publication is made of; with a time, another one in each hour."""
    keys = None if identity is None else (identity.gallery, identity.epoch, [key.jwk["x"] for key in identity.keys])
    return repr((version, keys, newest, pinned, None if now is None else now // _HOUR))
