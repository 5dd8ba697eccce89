"""Users, roles, authors, logos and themes."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Generic, TypeVar

from logoadmin.adapters.memory_storage.sessions import ServiceKeyRepository, SessionRepository
from logoadmin.adapters.memory_storage.tables import Ids, Journal, Rows, Tables
from logoadmin.domain.model.errors import DuplicateEntry, DuplicateUpdate
from logoadmin.domain.model.lists import EVERYTHING, Filter, folded, light_enough, page_of, text_of
from logoadmin.domain.model.records import Artwork, Author, Kind, Link, PasswordHash, Role, StoredRecord, User
from logoadmin.ports.storage import Credentials

Record = TypeVar("Record", bound=StoredRecord)


class _Records(Generic[Record]):
    """The records of one kind; ``unique`` are the fields whose values no two of them share, in the order looked at."""

    def __init__(
        self, kind: Kind, rows: Rows[Record], tables: Tables, journal: Journal, unique: Sequence[str] = ()
    ) -> None:
        self._kind, self._rows, self._tables, self._journal = kind, rows, tables, journal
        self._taken = {key: tables.taken.setdefault((kind, key), {}) for key in unique}
        self._ids = Ids(tables, journal, kind.id_field)
        self.next_id = self._ids.next

    def get(self, id_: int) -> Record | None:
        return self._rows.get(id_)

    def page(self, after: int, limit: int, where: Filter = EVERYTHING) -> tuple[Record, ...]:
        return _page(self._rows.after(after), limit, where)

    def add(self, record: Record) -> None:
        id_ = self._kind.id_of(record)
        self._claim(id_, record)
        self._ids.used(id_)
        self._journal.set(self._rows, id_, record)

    def update(self, record: Record) -> None:
        id_ = self._kind.id_of(record)
        self._claim(id_, record, self._rows[id_])
        self._journal.set(self._rows, id_, record)

    def remove(self, id_: int) -> bool:
        self._release(self._rows.get(id_))
        return self._journal.delete(self._rows, id_)

    def _claim(self, id_: int, record: Record, before: Record | None = None) -> None:
        error = DuplicateEntry if before is None else DuplicateUpdate
        for key, taken in self._taken.items():
            value = getattr(record, key)
            if taken.get(value, id_) != id_:
                raise error(value, key)
        self._release(before)
        for key, taken in self._taken.items():
            self._journal.set(taken, getattr(record, key), id_)

    def _release(self, record: Record | None) -> None:
        if record is not None:
            for key, taken in self._taken.items():
                self._journal.delete(taken, getattr(record, key))


class UserRepository(_Records[User]):
    """The users, as :class:`~logoadmin.ports.storage.Users` says."""

    def __init__(
        self, tables: Tables, journal: Journal, sessions: SessionRepository, keys: ServiceKeyRepository
    ) -> None:
        super().__init__(Kind.USER, tables.users, tables, journal, ("username",))
        self._sessions, self._keys = sessions, keys

    def add(self, record: User, password: PasswordHash | None = None) -> None:
        if record.user_id in self._rows:
            raise DuplicateEntry(record.user_id, "user_id")
        super().add(record)
        self._journal.set(self._tables.passwords, record.user_id, password)

    def remove(self, id_: int) -> bool:
        self._sessions.end_all(id_)
        self._keys.remove_all(id_)
        self._journal.delete(self._tables.passwords, id_)
        return super().remove(id_)

    def credentials(self, username: str) -> Credentials | None:
        user_id = self._taken["username"].get(username)
        return None if user_id is None else Credentials(user_id, self._tables.passwords[user_id])

    def password(self, user_id: int) -> PasswordHash | None:
        return self._tables.passwords.get(user_id)

    def can_sign_in(self, role_id: int) -> bool:
        passwords = self._tables.passwords
        return any(user.role_id == role_id and passwords[user_id] for user_id, user in self._tables.users.items())

    def set_password(self, user_id: int, password: PasswordHash) -> None:
        self._journal.set(self._tables.passwords, user_id, password)

    renew_password = set_password


class RoleRepository(_Records[Role]):
    """The roles, as :class:`~logoadmin.ports.storage.Roles` says."""

    def __init__(self, tables: Tables, journal: Journal) -> None:
        super().__init__(Kind.ROLE, tables.roles, tables, journal, ("name",))

    def in_use(self, role_id: int) -> bool:
        return any(user.role_id == role_id for user in self._tables.users.values())


class AuthorRepository(_Records[Author]):
    """The authors, as :class:`~logoadmin.ports.storage.Authors` says."""

    def __init__(self, tables: Tables, journal: Journal) -> None:
        super().__init__(Kind.AUTHOR, tables.authors, tables, journal, ("user_id", "username"))

    def remove(self, id_: int) -> bool:
        for links in (self._tables.logo_authors, self._tables.theme_authors):
            for artwork_id, authors in list(links.items()):
                if id_ in authors:
                    remaining = {author_id: link for author_id, link in authors.items() if author_id != id_}
                    self._journal.set(links, artwork_id, remaining)
        return super().remove(id_)


class ArtworkRepository(_Records[Artwork]):
    """The logos, or the themes, as :class:`~logoadmin.ports.storage.Artworks` says; they are kept without authors."""

    def __init__(
        self, kind: Kind, rows: Rows[Artwork], links: dict[int, dict[int, int]], tables: Tables, journal: Journal
    ) -> None:
        super().__init__(kind, rows, tables, journal)
        self._links = links
        self._link_ids = Ids(tables, journal, f"{kind}_author_id")

    def get(self, id_: int) -> Artwork | None:
        artwork = super().get(id_)
        return None if artwork is None else self._with_authors(artwork)

    def page(self, after: int, limit: int, where: Filter = EVERYTHING) -> tuple[Artwork, ...]:
        rows, author_id = self._rows.after(after), where.author_id
        if author_id is not None:
            rows = (artwork for artwork in rows if author_id in self._authors_of(artwork))
            where = replace(where, author_id=None)
        return page_of(_page(rows, limit, where), self._with_authors)

    def add(self, record: Artwork) -> None:
        super().add(replace(record, authors=()))

    def update(self, record: Artwork) -> None:
        super().update(replace(record, authors=()))

    def remove(self, id_: int) -> bool:
        self._journal.delete(self._links, id_)
        return super().remove(id_)

    def link_of(self, artwork_id: int, author_id: int) -> int | None:
        return self._links.get(artwork_id, {}).get(author_id)

    def link(self, artwork_id: int, author_id: int) -> int:
        link_id = self._link_ids.next()
        self._journal.set(self._links, artwork_id, {**self._links.get(artwork_id, {}), author_id: link_id})
        return link_id

    def unlink(self, artwork_id: int, author_id: int) -> bool:
        authors = dict(self._links.get(artwork_id, {}))
        there = authors.pop(author_id, None) is not None
        self._journal.set(self._links, artwork_id, authors)
        return there

    def unlink_all(self, artwork_id: int) -> None:
        self._journal.delete(self._links, artwork_id)

    def touch(self, artwork_ids: Collection[int], version: int) -> None:
        for artwork_id in artwork_ids:
            self._journal.set(self._rows, artwork_id, replace(self._rows[artwork_id], version=version))

    def links(self, artwork_id: int) -> tuple[Link, ...]:
        return tuple(
            Link(link_id, artwork_id, author_id) for author_id, link_id in self._links.get(artwork_id, {}).items()
        )

    def links_of(self, author_id: int) -> tuple[Link, ...]:
        theirs = [
            Link(authors[author_id], artwork_id, author_id)
            for artwork_id, authors in self._links.items()
            if author_id in authors
        ]
        return tuple(sorted(theirs, key=lambda link: link.link_id))

    def add_links(self, links: Sequence[Link]) -> None:
        for link in links:
            there = {**self._links.get(link.artwork_id, {}), link.author_id: link.link_id}
            in_order = dict(sorted(there.items(), key=lambda pair: pair[1]))
            self._journal.set(self._links, link.artwork_id, in_order)

    def _authors_of(self, artwork: Artwork) -> Collection[int]:
        return self._links.get(self._kind.id_of(artwork), {})

    def _with_authors(self, artwork: Artwork) -> Artwork:
        return replace(artwork, authors=tuple(self._tables.authors[id_] for id_ in self._authors_of(artwork)))


def _page(rows: Iterable[Record], limit: int, where: Filter) -> tuple[Record, ...]:
    return light_enough(islice((row for row in rows if _meets(row, where)), limit), text_of)


def _meets(row: object, where: Filter) -> bool:
    wanted = where.given
    part = wanted.pop("q", "")
    name = folded(getattr(row, "username" if hasattr(row, "username") else "name", ""))
    return folded(part) in name and all(getattr(row, name) == value for name, value in wanted.items())
