"""The unit of work of a write, in which every change is recorded (contract B4, F1, G).

The additional rules of authors, links and passwords are also here.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeVar

from logoadmin.domain.gallery.audited_artworks import AuditedArtworks, links_field, serialized_links
from logoadmin.domain.gallery.audited_settings import AuditedSettings
from logoadmin.domain.identity.escalation import Escalation
from logoadmin.domain.identity.factors.audited_factors import AuditedFactors
from logoadmin.domain.identity.sign_in_rules import USUAL_WAYS, Ways
from logoadmin.domain.kernel.access import OWNER, Caller, Rights
from logoadmin.domain.kernel.audited_records import (
    AMENDED,
    LINKED,
    PASSWORD_SET,
    UNLINKED,
    AuditedRecords,
    ChangeLog,
    LinksByKind,
    Snapshot,
    snapshot,
)
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import NotFound, NotModified, NotPermitted
from logoadmin.domain.kernel.kinds import (
    ARTWORK_KINDS,
    AUTHORS,
    RECORDED_KINDS,
    USERS,
    AnyArtworkKind,
    ArtworkKind,
    RecordKind,
)
from logoadmin.domain.kernel.limits import Origin
from logoadmin.domain.kernel.records import (
    FIRST_ADMIN_ID,
    Artwork,
    Author,
    Kind,
    Link,
    PasswordHash,
    StoredRecord,
    User,
    version_of,
)
from logoadmin.domain.publication.pins.audited_pins import AuditedPins
from logoadmin.domain.publication.withdrawal_log import WithdrawalLog
from logoadmin.ports.storage import Credentials, Identity, UnitOfWork

Record = TypeVar("Record", bound=StoredRecord)

# The secret that names the user whose password the first start generated, until they get another one.
_GENERATED_PASSWORD: Final = "generated_password"


class AuditedAuthors(AuditedRecords[Author]):
    """The authors. The removal or return of an author also changes the artworks that show the author."""

    def links(self, id_: int) -> LinksByKind:
        """Return the links of an author to all their artworks."""
        return {linked: self._uow.links(linked).of_author(id_) for linked in ARTWORK_KINDS}

    def _link(self, stored: Author, values: Snapshot, links: LinksByKind) -> Snapshot:
        for linked, theirs in links.items():
            self._uow.links(linked).add(theirs)
            self._uow.records(linked).touch([link.artwork_id for link in theirs], stored.version)
        return values

    def _unlinked(self, record: Author) -> Snapshot:
        version = self._numbered(record).version
        links = self.links(record.author_id)
        for linked, theirs in links.items():
            self._uow.records(linked).touch([link.artwork_id for link in theirs], version)
        serialized = {links_field(AUTHORS, kind): serialized_links(AUTHORS, kind, links[kind]) for kind in links}
        return {**snapshot(AUTHORS, record), **serialized}


class AuditedLinks:
    """The links of one kind of artwork; a change of a link is a change of its artwork."""

    def __init__(self, kind: AnyArtworkKind, uow: UnitOfWork, artworks: AuditedArtworks[Any]) -> None:
        self._kind, self._artworks = kind, artworks
        self._stored = uow.links(kind)

    def find(self, artwork_id: int, author_id: int) -> Link | None:
        return self._stored.find(artwork_id, author_id)

    def made(self, artwork_id: int, author_ids: Iterable[int]) -> tuple[Link, ...]:
        """Return new links, not yet stored, from an artwork to authors in their order."""
        return tuple(Link(self._stored.next_id(), artwork_id, author_id) for author_id in author_ids)

    def add(self, artwork_id: int, author_id: int) -> Link:
        """Link an author as the last one."""
        before = self._artworks.links(artwork_id)[self._kind]
        links = self.made(artwork_id, [author_id])
        self._stored.add(links)
        self._record(LINKED, artwork_id, before, (*before, *links))
        return links[0]

    def remove(self, artwork_id: int, author_id: int) -> bool:
        """Remove a link; return whether it existed."""
        before = self._artworks.links(artwork_id)[self._kind]
        if not self._stored.remove(artwork_id, author_id):
            return False
        self._record(UNLINKED, artwork_id, before, [link for link in before if link.author_id != author_id])
        return True

    def assign(self, artwork_id: int, author_ids: Sequence[int]) -> bool:
        """Give an artwork these existing authors, in this order; return whether they differed."""
        before = self._artworks.links(artwork_id)[self._kind]
        if [link.author_id for link in before] == [*author_ids]:
            return False
        self.replace(artwork_id, self.made(artwork_id, author_ids))
        return True

    def replace(self, artwork_id: int, links: Sequence[Link]) -> None:
        """Replace the links of an artwork by these, new or restored."""
        before = self._artworks.links(artwork_id)[self._kind]
        self._stored.remove_all(artwork_id)
        self._stored.add(links)
        self._record(AMENDED, artwork_id, before, links)

    def _record(self, action: str, artwork_id: int, before: Iterable[Link], after: Iterable[Link]) -> None:
        values = self._artworks.values(self._artworks.get_existing(artwork_id))
        was, is_ = self._artworks.with_links(values, before), self._artworks.with_links(values, after)
        self._artworks.touch(action, artwork_id, was, is_)


class AuditedPasswords:
    """The passwords; the history records only when a user's was set."""

    def __init__(self, uow: UnitOfWork, users: AuditedRecords[User], held: Rights | None) -> None:
        self._uow, self._stored, self._users, self._held = uow, uow.passwords, users, held

    def get(self, user_id: int) -> PasswordHash | None:
        return self._stored.get(user_id)

    def credentials(self, username: str) -> Credentials | None:
        return self._stored.credentials(username)

    def renew(self, user_id: int, password: PasswordHash) -> None:
        """Store another hash of a user's current password."""
        self._stored.set(user_id, password)

    def set(self, user_id: int, password: PasswordHash, *, verified: bool = False, generated: bool = False) -> User:
        """Set a user's password; return the user with their version.

        Args:
            user_id: the user.
            password: its hash.
            verified: whether the caller gave their current password, without which nobody changes their own.
            generated: whether the first start generated it, so that it must be changed (contract O5).

        Raises:
            NotPermitted: it is the caller's own and not verified, or see :meth:`AuditedRecords.authorize`.
        """
        if not verified and self._held is not None and self._held.user_id == user_id:
            raise NotPermitted
        user = self._users.get_existing(user_id)
        self._users.authorize(user, password=password)
        self._stored.set(user_id, password)
        if generated or must_change_password(self._uow, user_id):
            self._uow.secrets.replace(_GENERATED_PASSWORD, str(user_id) if generated else "")
        values = snapshot(USERS, user)
        return self._users.touch(PASSWORD_SET, user_id, values, values)


_AUDITED: Final[dict[Kind, type[AuditedRecords[Any]]]] = {
    Kind.AUTHOR: AuditedAuthors,
    Kind.SETTINGS: AuditedSettings,
    **{kind.kind: AuditedArtworks for kind in ARTWORK_KINDS},
}


class AuditedUnitOfWork:
    """The repositories of one transaction, those of records through the change log.

    Attributes:
        now: the time of the changes, as Unix time; it is in their order, because the write lock is held.
        held: the caller's rights; None for every right.
        caller: the caller, for events.
        change_log: the changes so far.

    ``ways`` to sign in are for the last user who holds everything.
    """

    def __init__(
        self,
        uow: UnitOfWork,
        now: int,
        request_id: str | None,
        held: Rights | None,
        origin: Origin | None = None,
        ways: Ways = USUAL_WAYS,
        caller: Caller = OWNER,
    ) -> None:
        self.now = now
        self.held = held
        self.caller = caller
        user_id = None if held is None else held.user_id
        self.change_log = ChangeLog(uow.changes, now, user_id, request_id, WithdrawalLog(uow.withdrawals), origin)
        self._escalation = Escalation(held, now, ways, uow.factors)
        self.sessions = uow.sessions
        self.preferences = uow.preferences
        self.secrets = uow.secrets
        self.keys = uow.keys
        self.changes = uow.changes
        self.sign_in_attempts = uow.sign_in_attempts
        self.withdrawals = uow.withdrawals
        self.pins = uow.pins
        self.indexes = uow.indexes
        self.factors = AuditedFactors(uow, self._escalation)
        self.recovery_codes = uow.recovery_codes
        self.challenges = uow.challenges
        self.second_factor_since = uow.second_factor_since
        self.identities = uow.identities
        self.events = uow.events
        self._uow = uow
        self._records: dict[Kind, AuditedRecords[Any]] = {}

    def records(self, kind: RecordKind[Record, Any]) -> AuditedRecords[Record]:
        """Return the records of a kind."""
        found = self._records.get(kind.kind)
        if found is None:
            audited_records = _AUDITED.get(kind.kind, AuditedRecords)
            found = audited_records(kind, self._uow, self.change_log, self._escalation)
            self._records[kind.kind] = found
        return found

    def load(self, ids: Iterable[tuple[Kind, int]]) -> None:
        """Read records that are about to be changed, up to :data:`MOST_LOADED`, with one query for each kind."""
        of_kind: defaultdict[Kind, list[int]] = defaultdict(list)
        for kind, id_ in ids:
            of_kind[kind].append(id_)
        for kind, wanted in of_kind.items():
            self.records(RECORDED_KINDS[kind]).load(wanted)

    def links(self, kind: AnyArtworkKind) -> AuditedLinks:
        """Return the links of a kind of artwork."""
        return AuditedLinks(kind, self._uow, self.artworks(kind))

    def artworks(self, kind: ArtworkKind[Artwork, Any, Any, Any]) -> AuditedArtworks[Artwork]:
        """Return the artworks of a kind."""
        records: Any = self.records(kind)
        artworks: AuditedArtworks[Artwork] = records
        return artworks

    def pins_of(self, kind: AnyArtworkKind) -> AuditedPins:
        """Return the pins of a kind of artwork; to accept another sheet is a change of its artwork."""
        return AuditedPins(kind, self.pins, self.records(kind))

    @property
    def passwords(self) -> AuditedPasswords:
        """The password hashes; to set one is a change of its user."""
        return AuditedPasswords(self._uow, self.records(USERS), self.held)

    def end_sign_ins(self, user_id: int, keep: str | None = None) -> None:
        """End the sessions of a user, except one, and every sign-in that has only begun (contract C3, O2)."""
        self.sessions.end_all(user_id, keep)
        self.challenges.drop(user_id)

    def refuse(self, identity: Identity) -> None:
        """Take all rights from a user whom the issuer refused, until it names a group again (contract O7).

        At the end of the work, somebody else must hold everything, if this user does (contract B4).
        """
        user = self.records(USERS).get(identity.user_id)
        if user is not None:
            self._escalation.note_possible_lockout(self._uow, user)
        self.identities.put(identity)
        self.end_sign_ins(identity.user_id)

    def close(self) -> None:
        """Store the history of the changes, and the withdrawals.

        Raises:
            Conflict: no user who can sign in would hold everything.
        """
        if self._escalation.may_lose_all:
            self._escalation.check_somebody_holds_all(self._uow)
        self.change_log.store()
        self.change_log.withdrawals.store()


# The unit of work of a read or of a write.
AnyUnitOfWork = UnitOfWork | AuditedUnitOfWork


def must_change_password(uow: AnyUnitOfWork, user_id: int) -> bool:
    """Return whether a user still has the password that the first start generated (contract O5)."""
    # Only one user can have it, so that others cost no query.
    return user_id == FIRST_ADMIN_ID and uow.secrets.get(_GENERATED_PASSWORD) == str(user_id)


def get_existing(uow: AnyUnitOfWork, kind: RecordKind[Record, Any], id_: int) -> Record:
    """Return a record.

    Raises:
        NotFound: it does not exist.
    """
    record = uow.records(kind).get(id_)
    if record is None:
        raise NotFound(kind.name, id_)
    return record


def get_unless_unmodified(uow: UnitOfWork, kind: RecordKind[Record, Any], command: Command) -> Record:
    """Return the record that a command names.

    Raises:
        NotFound: the record does not exist.
        NotModified: the caller has this version of it.
    """
    return unless_unmodified(get_existing(uow, kind, kind.id_of(command)), command)


def unless_unmodified(record: Record, command: Command) -> Record:
    """Return a record.

    Raises:
        NotModified: the caller has this version of it.
    """
    if command.if_none_match and (version := version_of(record)) in command.if_none_match:
        raise NotModified(version)
    return record
