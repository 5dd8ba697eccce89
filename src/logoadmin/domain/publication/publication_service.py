"""The published gallery: its status, generating it, writing it to files, and its keys (contract L1 to L4, L7)."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final, TypeVar

from logoadmin.domain.kernel.access import OWNER, SIGNED_IN, Caller, Held, Scope
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import StorageUnavailable
from logoadmin.domain.kernel.gate import Gate, Transactions
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, AUTHORS, picture_of, picture_path
from logoadmin.domain.kernel.lists import Filter
from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.kernel.unit_of_work import (
    Reading,
    history_in,
    links_in,
    shared_settings,
    stored_artworks,
    withdrawals_in,
)
from logoadmin.domain.kernel.use_cases import Service, for_program, storage_of, use_case
from logoadmin.domain.publication.css.targets import Targets, targets_of
from logoadmin.domain.publication.files.assembly import Moment
from logoadmin.domain.publication.files.contents import ACTIVE
from logoadmin.domain.publication.files.gallery_keys import DAY, GalleryKeys, Identity
from logoadmin.domain.publication.files.known_verdicts import Verdicts, verdicts_in
from logoadmin.domain.publication.files.pointer import public_key
from logoadmin.domain.publication.files.publishing import Blocks, Destination
from logoadmin.domain.publication.files.withdrawals import MOST_WITHDRAWN, withdrawn_entries
from logoadmin.domain.publication.publication_records import (
    Blocked,
    LeftOut,
    Links,
    Publication,
    PublicationStatus,
    Published,
    PublishingRules,
    Risky,
    left_out,
)
from logoadmin.ports.gallery_files import GalleryFiles
from logoadmin.ports.gallery_page import GalleryPage
from logoadmin.ports.gallery_storage import Withdrawal
from logoadmin.ports.storage import UnitOfWork

T = TypeVar("T")

# How often a long publication checks for new blocks, which must be published within two seconds.
LOOK_EVERY: Final = 0.5  # seconds


class ShowPublication(Command):
    """A request for the status of the publication."""

    judges = True

    @property
    def searches(self) -> bool:
        """It may compare all records."""
        return True


# An id that no author has.
_NOBODY: Final = -1


class PublicationService(Service):
    """The use cases of the published gallery. Each raises StorageUnavailable if the database is out of reach.

    No transaction is open while the status of artworks is judged, which may take a while.
    """

    def __init__(
        self,
        transactions: Transactions,
        keys: GalleryKeys,
        page: GalleryPage,
        rules: PublishingRules,
        published: GalleryFiles | None,
    ) -> None:
        super().__init__(transactions)
        self._keys, self._page, self.rules, self._files = keys, page, rules, published
        self._clock = transactions.clock

    @use_case(SIGNED_IN)
    def status(self, gate: Gate, command: ShowPublication, caller: Caller = OWNER) -> PublicationStatus:
        """Return the artworks that are not published, with the reasons, and the published ones with risks.

        Callers who may only propose logos or themes get the status of their own. It may already include changes after
        its version.

        Raises:
            NotPermitted: the caller may neither change nor propose logos or themes.
        """
        version, withdrawals, where, targets = gate.snapshot_with_rights(command, caller, _snapshot)
        blocked = tuple(Blocked(each.kind, each.id, each.at, each.reason or "") for each in withdrawals)
        missing: list[LeftOut] = []
        risky: list[Risky] = []
        published: Counter[Kind] = Counter()
        verdicts = self._verdicts(targets)
        for kind, artwork in stored_artworks(storage_of(gate).read, where):
            verdict = verdicts.on(kind, artwork)
            found = left_out(kind, artwork, verdict, publish_imports=self.rules.publish_imports)
            if found is not None:
                missing.append(found)
                continue
            published[kind.kind] += 1
            if verdict.risks:
                risky.append(Risky(kind.kind, kind.id_of(artwork), artwork.name, verdict.risk_names))
        logos, themes = published[Kind.LOGO], published[Kind.THEME]
        return PublicationStatus(version, logos, themes, tuple(missing), tuple(risky), blocked)

    @for_program
    def left_out(self, artworks: Collection[tuple[Kind, int]]) -> Iterator[LeftOut]:
        """Yield those of these artworks that are active but not published, logos first, by id."""
        storage = storage_of(self)
        verdicts = self._verdicts(targets_of(storage.read(shared_settings)))
        for kind, artwork in stored_artworks(storage.read, ACTIVE):
            if (kind.kind, kind.id_of(artwork)) in artworks:  # no others are judged
                verdict = verdicts.on(kind, artwork)
                found = left_out(kind, artwork, verdict, publish_imports=self.rules.publish_imports)
                if found is not None:
                    yield found

    def _verdicts(self, targets: Targets) -> Verdicts:
        identity = storage_of(self).read(lambda uow: self._keys.identity(uow, self._clock.now()))
        return verdicts_in(self._files, targets, () if identity is None else identity.keys)

    @for_program
    def generate(self, links: Links | None = None, before: GalleryFiles | None = None) -> Publication:
        """Return the current gallery as files, from one snapshot. The first call generates a key.

        By default, it has the links of the service, and reuses the verdicts in the files of the service.
        """
        publication = self._at_a_moment(links, lambda moment: moment.publication(before or self._files))
        return replace(publication, read_picture=self._picture)

    @for_program
    def publish(self, files: GalleryFiles, *, is_own: bool = False, links: Links | None = None) -> Published:
        """Bring files up to date with the gallery: blocks first, then everything else.

        If nothing has changed, files whose pointer is younger than a day are left alone. With ``is_own``, the files
        belong to this service alone, and replace those of another gallery. By default, they have the service's links.

        Raises:
            StartError: the files do not belong to this gallery, or somebody else is publishing there.
            OSError: a file cannot be read, written or removed; the last publication is still whole.
            TypeError: ``files`` is something else, such as the name of a folder.
        """
        given: type = type(files)  # not isinstance(), after which type checkers report unreachable code
        if not issubclass(given, GalleryFiles):
            raise TypeError(f"publish() needs files such as logoadmin.starting.folder(path), not {given.__name__}")
        with files.locked():
            while (published := self._publish(files, links, is_own=is_own)) is None:
                pass
            return published

    def _publish(self, files: GalleryFiles, links: Links | None, *, is_own: bool) -> Published | None:
        """Publish; stop and return None if a new block must be published first."""
        blocks, state = self._at_a_moment(links, lambda moment: (moment.blocks(), moment.state))
        now = self._clock.now()
        destination = Destination(files, self._page, now)
        if is_own:
            destination.clear_another_gallery(blocks.identity.gallery)
        if destination.latest is not None and destination.is_unchanged(state):
            return Published(blocks.version, False, destination.latest, is_complete=destination.is_complete)
        destination.publish_blocks(blocks, now + self.rules.days * DAY)
        publication = self.generate(links, files)
        if not destination.publish(publication, self._no_new_block(blocks)):
            return None
        left_out = publication.left_out
        return Published(publication.version, True, publication.pointer, left_out, is_complete=not left_out)

    def _no_new_block(self, blocks: Blocks) -> Callable[[], bool]:
        """Return a function that checks from time to time, and returns whether no artwork has been blocked since."""
        next_look = self._clock.elapsed() + LOOK_EVERY

        def newest(uow: UnitOfWork) -> Sequence[object]:
            return withdrawn_entries(uow.withdrawals.blocked(1))

        def go_on() -> bool:
            nonlocal next_look
            if self._clock.elapsed() < next_look:
                return True
            next_look = self._clock.elapsed() + LOOK_EVERY
            with suppress(StorageUnavailable):
                return storage_of(self).read(newest) == blocks.blocked[:1]
            return True

        return go_on

    @for_program
    def public_keys(self) -> tuple[dict[str, str], ...]:
        """Return the signing public keys as JWKs with their thumbprints, the current one first."""
        return tuple(map(public_key, self._at_a_moment(None, lambda moment: moment.identity.keys)))

    @for_program
    def rotate_key(self) -> tuple[dict[str, str], ...]:
        """Generate a new key; the old one still signs for ``gallery_days``. Return all keys as :meth:`public_keys`.

        Raises:
            SettingsError: the keys are in ``gallery_key_file``.
            Conflict: too many keys sign already.
        """
        storage_of(self).write(lambda uow: self._keys.rotate(uow, self._clock.now()))
        return self.public_keys()

    def _picture(self, name: str) -> bytes | None:
        picture = picture_of(name)
        if picture is None:
            return None
        is_small = name == picture_path(picture, thumbnail=True)
        return storage_of(self).read(lambda uow: uow.pictures.content(picture, thumbnail=is_small))

    def _at_a_moment(self, links: Links | None, read: Callable[[Moment], T]) -> T:
        """Read in one snapshot; the first call generates and stores the identity of the gallery.

        Keys that have retired since are deleted, if the database accepts writes. By default, ``links`` are the
        service's.
        """
        storage, now = storage_of(self), self._clock.now()

        def look(uow: UnitOfWork) -> tuple[Identity, T] | None:
            identity = self._keys.identity(uow, now)
            if identity is None:
                return None
            return identity, read(Moment(uow, identity, now, self.rules, links or self.rules.links, self._page))

        found = storage.snapshot(look)
        if found is None or not found[0].is_tidy:
            try:
                storage.write(lambda uow: self._keys.prepare(uow, now))
            except StorageUnavailable:
                if found is None:
                    raise
            found = storage.snapshot(look)
        if found is None:  # a restore in between removed it
            raise StorageUnavailable(storage.server)
        return found[1]


def _snapshot(uow: Reading, _command: ShowPublication, held: Held) -> tuple[int, Sequence[Withdrawal], Filter, Targets]:
    """Return the version, the blocked artworks that the caller sees, which active ones they see, and the targets."""
    blocked, where = withdrawals_in(uow).blocked(MOST_WITHDRAWN), ACTIVE
    if not any(held.hold(kind.write_scope) for kind in ARTWORK_KINDS):
        held.require([Scope.PROPOSALS_WRITE])
        author = None if held.user_id is None else uow.records(AUTHORS).find("user_id", held.user_id)
        author_id = _NOBODY if author is None else author.author_id
        own = {
            (kind.kind, link.artwork_id) for kind in ARTWORK_KINDS for link in links_in(uow, kind).of_author(author_id)
        }
        blocked = tuple(each for each in blocked if (each.kind, each.id) in own)
        where = replace(ACTIVE, author_id=author_id)
    return history_in(uow).last_id(), blocked, where, targets_of(shared_settings(uow))
