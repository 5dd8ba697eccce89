"""The repositories of records as a use case sees them: what they change is recorded (contract B4, F1, G).

Each change is authorized, gets a version, is stored and then recorded. Every method is written out, so one that the
ports get and that is forgotten here cannot be called at all.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar

from logoadmin.domain.audit.change_log import (
    AMENDED,
    AUTHORS_FIELD,
    CREATED,
    LINKED,
    PASSWORD_SET,
    REMOVED,
    UNLINKED,
    ChangeLog,
    LinksByKind,
    Snapshot,
    links_field,
    serialized_links,
    snapshot,
)
from logoadmin.domain.audit.escalation import GUARDS
from logoadmin.domain.model.errors import NotFound
from logoadmin.domain.model.kinds import ARTWORK_KINDS, AUTHORS, KINDS, USERS, AnyArtworkKind, AnyKind, RecordKind
from logoadmin.domain.model.lists import EVERYTHING, Filter
from logoadmin.domain.model.records import (
    Artwork,
    Author,
    Link,
    PasswordHash,
    StoredRecord,
    User,
)
from logoadmin.domain.model.versions import raise_if_stale
from logoadmin.ports.storage import Credentials, UnitOfWork

Record = TypeVar("Record", bound=StoredRecord)

_NO_LINKS: Final[LinksByKind] = MappingProxyType({})


class AuditedRecords(Generic[Record]):
    """The records of one kind."""

    def __init__(self, kind: RecordKind[Record, Any], uow: UnitOfWork, change_log: ChangeLog) -> None:
        self._kind, self._uow, self._change_log = kind, uow, change_log
        self._stored = uow.records(kind)
        guard = GUARDS.get(kind.kind)
        self._guard = None if guard is None else guard(uow, change_log)
        # What was read or stored in this work; nobody else changes anything meanwhile.
        self._known: dict[int, Record | None] = {}

    def next_id(self) -> int:
        """Return the id for a new record."""
        return self._stored.next_id()

    def get(self, id_: int) -> Record | None:
        """Return a record, or None."""
        return self._read(id_)

    def page(self, after: int, limit: int, where: Filter = EVERYTHING) -> tuple[Record, ...]:
        """Return some records, by id."""
        return self._stored.page(after, limit, where)

    def get_for_change(self, id_: int, if_match: frozenset[int] | None, /, **values: Any) -> Record:
        """Return a record that is to get these values, or to go, once nothing stands against it (contract A19).

        Raises, in this order:
            NotPermitted: see :meth:`authorize`.
            NotFound: there is no such record.
            Outdated: it has none of the versions that the caller asks for.
        """
        record = self.get(id_)
        self.authorize(record, **values)
        if record is None:
            raise NotFound(self._kind.name, id_)
        if if_match is not None:
            raise_if_stale(if_match, record, self._kind.name, id_)
        return record

    def authorize(self, record: Record | None, /, **values: Any) -> None:
        """Refuse a caller who goes beyond themselves with a record that gets these values, or with its end.

        Raises:
            NotPermitted: (contract B4, C5).
        """
        if self._guard is not None:
            self._guard.authorize(record, values)

    def add(self, record: Record, action: str = CREATED, links: LinksByKind = _NO_LINKS) -> Record:
        """Store a new record, or one that comes back, with links to what is there; return it with its version."""
        values = snapshot(self._kind, record)
        if self._guard is not None:
            self._guard.authorize(None, values)
        stored = self._numbered(record)
        self._stored.add(stored)
        return self._recorded(action, stored, None, self._link(stored, values, links))

    def update(self, record: Record) -> Record:
        """Give a record new values, and return it with its version."""
        values = snapshot(self._kind, record)
        before = self.there(self._kind.id_of(record))
        if self._guard is not None:
            self._guard.authorize(before, values)
            self._guard.watch(before, record)
        was, stored = self.serialized(before), self._numbered(record)
        self._stored.update(stored)
        # Beside the fields there are the links of an artwork, which stay as they were.
        return self._recorded(AMENDED, stored, was, {**was, **values})

    def amend(self, id_: int, if_match: frozenset[int] | None, changes: Mapping[str, Any]) -> Record:
        """Give a record some new values, and return it; without a change where it has them.

        Raises, in this order:
            NotPermitted, NotFound, Outdated: see :meth:`get_for_change`.
            NotFound: what it is to refer to is not there.
            DuplicateUpdate: another record has a unique value.
        """
        record = self.get_for_change(id_, if_match, **changes)
        amended = replace(record, **changes)
        for field, kind in self._kind.references.items():
            if getattr(amended, field) != getattr(record, field):
                self._check_there(KINDS[kind], getattr(amended, field))
        return record if amended == record else self.update(amended)

    def remove(self, id_: int) -> bool:
        """Remove a record and its links; tell whether there was one.

        Raises:
            Conflict: it is needed.
        """
        before = self._read(id_)
        if before is None:
            return False
        if self._guard is not None:
            self._guard.authorize(before, {})
            self._guard.check_unused(before)
            self._guard.watch(before, None)
        was = self._unlinked(before)
        self._stored.remove(id_)
        self._change_log.record(REMOVED, self._kind.kind, id_, was, None)
        self._known[id_] = None
        return True

    def links(self, id_: int) -> LinksByKind:  # noqa: ARG002 (most records have none)
        """Return the links of a record, an artwork or an author, of which it is one side."""
        return _NO_LINKS

    def serialized(self, record: Record) -> Snapshot:
        """Return what the history says of a record as it is now."""
        return snapshot(self._kind, record)

    def there(self, id_: int) -> Record:
        """Return a record that must be there."""
        record = self._read(id_)
        if record is None:
            raise LookupError(f"{self._kind.name} {id_} is to be changed and is not there")
        return record

    def touch(self, action: str, id_: int, before: Snapshot, after: Snapshot) -> Record:
        """Give a record another version for what was done beside its fields, and return it so."""
        record = self.there(id_)
        stored = self._numbered(record)
        if stored.version != record.version:
            self._stored.touch([id_], stored.version)
        return self._recorded(action, stored, before, after)

    def _check_there(self, kind: AnyKind, id_: int) -> None:
        if self._uow.records(kind).get(id_) is None:
            raise NotFound(kind.name, id_)

    def _link(self, stored: Record, values: Snapshot, links: LinksByKind) -> Snapshot:  # noqa: ARG002 (the same)
        """Store the links of a record that is new, and return what the history says of it."""
        return values

    def _unlinked(self, record: Record) -> Snapshot:
        """Return what the history says of a record that goes, once nothing shows it any more."""
        return self.serialized(record)

    def _read(self, id_: int) -> Record | None:
        if id_ not in self._known:
            self._known[id_] = self._stored.get(id_)
        return self._known[id_]

    def _numbered(self, record: Record) -> Record:
        return replace(record, version=self._change_log.version(self._kind.kind, self._kind.id_of(record)))

    def _recorded(self, action: str, stored: Record, before: Snapshot | None, after: Snapshot) -> Record:
        id_ = self._kind.id_of(stored)
        self._change_log.record(action, self._kind.kind, id_, before, after)
        self._known[id_] = stored
        return stored


class AuditedAuthors(AuditedRecords[Author]):
    """The authors. When one goes or comes back with links, the artworks change that show them."""

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


class AuditedArtworks(AuditedRecords[Artwork]):
    """The artworks of one kind. The history has their links, not their authors, who have a history of their own."""

    def __init__(self, kind: AnyArtworkKind, uow: UnitOfWork, change_log: ChangeLog) -> None:
        super().__init__(kind, uow, change_log)
        self._artwork_kind = kind

    def get(self, id_: int) -> Artwork | None:
        """Return an artwork with its authors, as they are now."""
        self._known.pop(id_, None)
        return self._read(id_)

    def links(self, id_: int) -> LinksByKind:
        """Return the links of an artwork."""
        return {self._artwork_kind: self._uow.links(self._artwork_kind).of_artwork(id_)}

    def serialized(self, record: Artwork) -> Snapshot:
        """Return what the history says of an artwork as it is now."""
        links = self._uow.links(self._artwork_kind).of_artwork(self._kind.id_of(record))
        return self.with_links(snapshot(self._kind, record), links)

    def with_links(self, values: Snapshot, links: Iterable[Link]) -> Snapshot:
        """Return what the history says of an artwork with these values and links."""
        return {**values, AUTHORS_FIELD: serialized_links(self._kind, self._artwork_kind, links)}

    def _link(self, stored: Artwork, values: Snapshot, links: LinksByKind) -> Snapshot:  # noqa: ARG002 (the port's)
        theirs = links.get(self._artwork_kind, ())
        if theirs:
            self._uow.links(self._artwork_kind).add(theirs)
        return self.with_links(values, theirs)


class AuditedLinks:
    """The links of one kind of artwork; the artworks are what they change."""

    def __init__(self, kind: AnyArtworkKind, uow: UnitOfWork, artworks: AuditedArtworks[Any]) -> None:
        self._kind, self._artworks = kind, artworks
        self._stored = uow.links(kind)

    def find(self, artwork_id: int, author_id: int) -> Link | None:
        """Return the link between the two, or None."""
        return self._stored.find(artwork_id, author_id)

    def made(self, artwork_id: int, author_ids: Iterable[int]) -> tuple[Link, ...]:
        """Return new links, which are not stored yet, of an artwork to authors in their order."""
        return tuple(Link(self._stored.next_id(), artwork_id, author_id) for author_id in author_ids)

    def add(self, artwork_id: int, author_id: int) -> Link:
        """Link an author as the last one."""
        before = self._stored.of_artwork(artwork_id)
        links = self.made(artwork_id, [author_id])
        self._stored.add(links)
        self._record(LINKED, artwork_id, before, (*before, *links))
        return links[0]

    def remove(self, artwork_id: int, author_id: int) -> bool:
        """Remove a link; tell whether there was one."""
        before = self._stored.of_artwork(artwork_id)
        if not self._stored.remove(artwork_id, author_id):
            return False
        self._record(UNLINKED, artwork_id, before, [link for link in before if link.author_id != author_id])
        return True

    def replace(self, artwork_id: int, links: Sequence[Link]) -> None:
        """Make these, new ones or some that come back, the links of an artwork."""
        before = self._stored.of_artwork(artwork_id)
        self._stored.remove_all(artwork_id)
        self._stored.add(links)
        self._record(AMENDED, artwork_id, before, links)

    def _record(self, action: str, artwork_id: int, before: Iterable[Link], after: Iterable[Link]) -> None:
        values = snapshot(self._kind, self._artworks.there(artwork_id))
        was, is_ = self._artworks.with_links(values, before), self._artworks.with_links(values, after)
        self._artworks.touch(action, artwork_id, was, is_)


class AuditedPasswords:
    """The passwords, of which the history says no more than when one was set."""

    def __init__(self, uow: UnitOfWork, users: AuditedRecords[User]) -> None:
        self._stored, self._users = uow.passwords, users

    def get(self, user_id: int) -> PasswordHash | None:
        """Return the hash of a user, None where there is none."""
        return self._stored.get(user_id)

    def credentials(self, username: str) -> Credentials | None:
        """Return what signing in under a name compares with, or None where nobody has the name."""
        return self._stored.credentials(username)

    def renew(self, user_id: int, password: PasswordHash) -> None:
        """Store the password that a user has under another hash."""
        self._stored.set(user_id, password)

    def set(self, user_id: int, password: PasswordHash) -> User:
        """Give a user another password, and return the user with their version."""
        user = self._users.there(user_id)
        self._users.authorize(user, password=password)
        self._stored.set(user_id, password)
        values = snapshot(USERS, user)
        return self._users.touch(PASSWORD_SET, user_id, values, values)
