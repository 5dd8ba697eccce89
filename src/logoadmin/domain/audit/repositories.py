"""The repositories of records as a use case sees them: what they change is recorded (contract B4, F1, G).

Each change is judged, gets a version, is stored and then recorded. Every method is written out, so one that the ports
get and that is forgotten here cannot be called at all.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, Protocol, TypeVar

from logoadmin.domain.audit.change_log import (
    AMENDED,
    CREATED,
    LINKED,
    PASSWORD_SET,
    REMOVED,
    RESTORED,
    UNLINKED,
    ChangeLog,
    Snapshot,
    artwork_snapshot,
    links_said,
    snapshot,
)
from logoadmin.domain.model.access import Scope
from logoadmin.domain.model.errors import NotFound, NotPermitted
from logoadmin.domain.model.lists import EVERYTHING, Filter
from logoadmin.domain.model.records import (
    DEFAULT_ROLE_ID,
    Artwork,
    Author,
    Kind,
    Link,
    Logo,
    PasswordHash,
    Role,
    StoredRecord,
    Theme,
    User,
)
from logoadmin.domain.model.versions import raise_if_stale
from logoadmin.ports.storage import Artworks, Authors, Roles, UnitOfWork, Users

Record = TypeVar("Record", bound=StoredRecord)


class _Repository(Protocol[Record]):
    """What the ports say of every kind of record alike."""

    def get(self, id_: int, /) -> Record | None: ...
    def page(self, after: int, limit: int, where: Filter = EVERYTHING) -> tuple[Record, ...]: ...
    def update(self, record: Record, /) -> None: ...
    def remove(self, id_: int, /) -> bool: ...


class Recorded(Generic[Record]):
    """The records of one kind, whose changes are recorded.

    Every change goes the same way: :meth:`authorize` it, keep the record as it is :meth:`_numbered`, and leave it
    :meth:`_noted`.
    """

    def __init__(self, kind: Kind, inner: _Repository[Record], change_log: ChangeLog) -> None:
        self._kind, self._inner, self._change_log = kind, inner, change_log
        # What was read or kept in this work; nobody else changes anything meanwhile.
        self._known: dict[int, Record | None] = {}
        self.page = inner.page

    def get(self, id_: int) -> Record | None:
        """Return a record, or None."""
        return self._read(id_)

    def get_for_change(self, id_: int, seen: frozenset[int] | None, /, **values: Any) -> Record:
        """Return a record that is to get these values, or to go, once nothing stands against it (contract A19).

        Raises, in this order:
            NotPermitted: see :meth:`authorize`.
            NotFound: there is no such record.
            Outdated: the caller saw versions of it, and it is none of them.
        """
        record = self.get(id_)
        self.authorize(record, **values)
        if record is None:
            raise NotFound(self._kind.capitalize(), id_)
        raise_if_stale(seen, record, self._kind.capitalize(), id_)
        return record

    def authorize(self, record: Record | None, /, **values: Any) -> None:
        """Refuse a caller who goes beyond themselves with a record that gets these values, or with its end.

        Args:
            record: as it is now; None where it is not there.
            values: what it is to get.

        Raises:
            NotPermitted: (contract B4, C5).
        """

    def update(self, record: Record) -> Record:
        """Give a record new values, and return it with its version."""
        before = self._there(self._kind.id_of(record))
        self.authorize(before, **snapshot(record))
        self._stake(before, record)
        said, kept = self._said(before), self._numbered(record)
        self._inner.update(kept)
        # What is said beside the fields, the links of an artwork, stays as it was.
        return self._noted(AMENDED, kept, said, {**said, **snapshot(kept)})

    def remove(self, id_: int) -> bool:
        """Remove a record and its links; tell whether there was one."""
        before = self._read(id_)
        if before is None:
            return False
        self.authorize(before)
        self._stake(before, None)
        said = self._said(before)
        self._inner.remove(id_)
        self._note_removed(id_, said)
        return True

    def _stake(self, before: Record, after: Record | None) -> None:
        """Let the end of the work look whether somebody still holds everything, where this may be the last one."""

    def _said(self, record: Record) -> Snapshot:
        """Return what the history says of a record as it is now."""
        return snapshot(record)

    def _read(self, id_: int) -> Record | None:
        if id_ not in self._known:
            self._known[id_] = self._inner.get(id_)
        return self._known[id_]

    def _there(self, id_: int) -> Record:
        record = self._read(id_)
        if record is None:
            raise LookupError(f"{self._kind} {id_} is to be changed and is not there")
        return record

    def _numbered(self, record: Record) -> Record:
        version = self._change_log.version(self._kind, self._kind.id_of(record))
        return replace(record, version=version)

    def _noted(self, action: str, kept: Record, before: Snapshot | None, after: Snapshot) -> Record:
        id_ = self._kind.id_of(kept)
        self._change_log.note(action, self._kind, id_, before, after)
        self._known[id_] = kept
        return kept

    def _note_removed(self, id_: int, before: Snapshot) -> None:
        self._change_log.note(REMOVED, self._kind, id_, before, None)
        self._known[id_] = None


class AuditedUsers(Recorded[User]):
    """The users, whose changes are recorded."""

    _inner: Users

    def __init__(self, uow: UnitOfWork, change_log: ChangeLog) -> None:
        super().__init__(Kind.USER, uow.users, change_log)
        self._uow = uow
        self.can_sign_in = self._inner.can_sign_in
        self.credentials = self._inner.credentials
        self.password = self._inner.password
        self.renew_password = self._inner.renew_password

    def add(self, user: User, password: PasswordHash | None, action: str = CREATED) -> User:
        """Keep a new user, and return it with its version."""
        self.authorize(None, **snapshot(user), password=password)
        kept = self._numbered(user)
        self._inner.add(kept, password)
        return self._noted(action, kept, None, snapshot(kept))

    def set_password(self, user_id: int, password: PasswordHash) -> User:
        """Give a user another password, of which the history says no more than that; return the user."""
        user = self._there(user_id)
        self.authorize(user, password=password)
        kept = self._numbered(user)
        self._inner.set_password(user_id, password)
        self._inner.update(kept)
        return self._noted(PASSWORD_SET, kept, snapshot(user), snapshot(user))

    def authorize(self, record: User | None, /, **values: Any) -> None:
        """Refuse who does not hold what the user holds, or is to hold; and a key that would live on in the user."""
        if self._change_log.held is None:
            return
        had = self._scope(record.role_id) if record else ()
        has = self._scope(values["role_id"]) if "role_id" in values else had
        self._change_log.check_escalation(had, has)
        gets_password = values.get("password") is not None
        if gets_password and record is not None and record.user_id == self._change_log.key_of:
            raise NotPermitted
        if gets_password or (record is not None and self._inner.password(record.user_id) is not None):
            # What every new user gets is nothing that a key hands out.
            self._change_log.check_key((*self._scope(DEFAULT_ROLE_ID), *(() if gets_password else had)), has)

    def _stake(self, before: User, after: User | None) -> None:
        stays = after is not None and Scope.ALL in self._scope(after.role_id)
        if not stays and Scope.ALL in self._scope(before.role_id) and self._inner.password(before.user_id) is not None:
            self._change_log.stake_all()

    def _scope(self, role_id: int) -> tuple[str, ...]:
        role = self._uow.roles.get(role_id)
        return role.scope if role else ()


class AuditedRoles(Recorded[Role]):
    """The roles, whose changes are recorded."""

    _inner: Roles

    def __init__(self, uow: UnitOfWork, change_log: ChangeLog) -> None:
        super().__init__(Kind.ROLE, uow.roles, change_log)
        self.next_id = self._inner.next_id
        self.in_use = self._inner.in_use
        self._can_sign_in = uow.users.can_sign_in

    def add(self, role: Role, action: str = CREATED) -> Role:
        """Keep a new role, and return it with its version."""
        self.authorize(None, **snapshot(role))
        kept = self._numbered(role)
        self._inner.add(kept)
        return self._noted(action, kept, None, snapshot(kept))

    def authorize(self, record: Role | None, /, **values: Any) -> None:
        """Refuse who does not hold what the role holds, or is to hold; and a key that gives the role more."""
        had = record.scope if record else ()
        has = values.get("scope", had)
        self._change_log.check_escalation(had, has)
        if record is not None:
            self._change_log.check_key(had, has)

    def _stake(self, before: Role, after: Role | None) -> None:
        stays = after is not None and Scope.ALL in after.scope
        if not stays and Scope.ALL in before.scope and self._can_sign_in(before.role_id):
            self._change_log.stake_all()


class AuditedAuthors(Recorded[Author]):
    """The authors, whose changes are recorded. Those of their links change artworks, too."""

    _inner: Authors

    def __init__(self, uow: UnitOfWork, change_log: ChangeLog) -> None:
        super().__init__(Kind.AUTHOR, uow.authors, change_log)
        self._uow = uow
        self.next_id = self._inner.next_id

    def add(self, author: Author, action: str = CREATED, links: Mapping[Kind, Sequence[Link]] | None = None) -> Author:
        """Store a new author, or one who comes back with links to artworks; return it with its version."""
        kept = self._numbered(author)
        self._inner.add(kept)
        for kind, theirs in (links or {}).items():
            artworks = self._artworks()[kind]
            artworks.add_links(theirs)
            artworks.touch([link.artwork_id for link in theirs], kept.version)
        return self._noted(action, kept, None, snapshot(kept))

    def remove(self, id_: int) -> bool:
        """Remove an author and the links to what they made; tell whether there was one."""
        author = self._read(id_)
        if author is None:
            return False
        said, version = {**self._said(author)}, self._numbered(author).version
        for kind, artworks in self._artworks().items():
            links = artworks.links_of(id_)
            said[f"{kind}s"] = links_said(kind, links, kind.id_field)
            artworks.touch([link.artwork_id for link in links], version)
        self._inner.remove(id_)
        self._note_removed(id_, said)
        return True

    def _artworks(self) -> dict[Kind, Artworks[Logo] | Artworks[Theme]]:
        return {Kind.LOGO: self._uow.logos, Kind.THEME: self._uow.themes}


class AuditedArtworks(Recorded[Artwork]):
    """The logos, or the themes, whose changes are recorded."""

    _inner: Artworks[Artwork]

    def __init__(self, inner: Artworks[Artwork], kind: Kind, change_log: ChangeLog) -> None:
        super().__init__(kind, inner, change_log)
        self.next_id = inner.next_id
        self.link_of = inner.link_of
        self.links = inner.links
        self.links_of = inner.links_of

    def get(self, id_: int) -> Artwork | None:
        """Return an artwork with its authors, as they are now."""
        self._known.pop(id_, None)
        return self._read(id_)

    def add(self, artwork: Artwork, author_ids: Collection[int] = ()) -> Artwork:
        """Keep a new artwork by these authors, distinct and all there, in this order; return it with its version."""
        kept = self._numbered(artwork)
        self._inner.add(kept)
        links = self._link_all(self._kind.id_of(artwork), author_ids)
        return self._noted(CREATED, kept, None, self._with_links(kept, links))

    def restore(self, artwork: Artwork, links: Sequence[Link]) -> None:
        """Keep an artwork that comes back, with links that it had to authors who are there."""
        kept = self._numbered(artwork)
        self._inner.add(kept)
        self._inner.add_links(links)
        self._noted(RESTORED, kept, None, self._with_links(kept, links))

    def link(self, artwork_id: int, author_id: int) -> int:
        """Link an author as the last one."""
        before = self._inner.links(artwork_id)
        (link,) = self._link_all(artwork_id, [author_id])
        self._note_links(LINKED, artwork_id, before, (*before, link))
        return link.link_id

    def unlink(self, artwork_id: int, author_id: int) -> bool:
        """Undo a link."""
        before = self._inner.links(artwork_id)
        if not self._inner.unlink(artwork_id, author_id):
            return False
        self._note_links(UNLINKED, artwork_id, before, [link for link in before if link.author_id != author_id])
        return True

    def set_authors(self, artwork_id: int, author_ids: Collection[int]) -> None:
        """Make these, distinct and all there, the authors of an artwork in this order, with new links."""
        before = self._inner.links(artwork_id)
        self._inner.unlink_all(artwork_id)
        self._note_links(AMENDED, artwork_id, before, self._link_all(artwork_id, author_ids))

    def set_links(self, artwork_id: int, links: Sequence[Link]) -> None:
        """Make links that were there, between what is there, the links of an artwork."""
        before = self._inner.links(artwork_id)
        self._inner.unlink_all(artwork_id)
        self._inner.add_links(links)
        self._note_links(AMENDED, artwork_id, before, links)

    def _said(self, record: Artwork) -> Snapshot:
        return self._with_links(record, self._inner.links(self._kind.id_of(record)))

    def _with_links(self, artwork: Artwork, links: Iterable[Link]) -> Snapshot:
        return artwork_snapshot(artwork, self._kind, links)

    def _link_all(self, artwork_id: int, author_ids: Iterable[int]) -> list[Link]:
        return [Link(self._inner.link(artwork_id, author_id), artwork_id, author_id) for author_id in author_ids]

    def _note_links(self, action: str, artwork_id: int, before: Iterable[Link], after: Iterable[Link]) -> None:
        artwork = self._there(artwork_id)
        kept = self._numbered(artwork)
        self._inner.touch([artwork_id], kept.version)
        self._noted(action, kept, self._with_links(artwork, before), self._with_links(artwork, after))
