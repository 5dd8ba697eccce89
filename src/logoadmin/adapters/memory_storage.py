"""Storage in the memory of the process: behind ``memory:``, the fake in every test, the reference for the others.

Records are lost when the process ends.
"""

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final, Generic, TypeVar

from logoadmin.domain.access import Rights
from logoadmin.domain.errors import Conflict, DuplicateEntry, DuplicateUpdate
from logoadmin.domain.limits import MAX_ID
from logoadmin.domain.lists import EVERYTHING, Filter, folded
from logoadmin.domain.records import (
    Author,
    Change,
    Kind,
    Link,
    Logo,
    PasswordHash,
    Piece,
    Role,
    ServiceKey,
    Theme,
    User,
)
from logoadmin.ports.storage import Credentials, FirstAnswer, Session

Answer = TypeVar("Answer")
Row = TypeVar("Row")

_ABSENT: Final[Any] = object()


class _Journal:
    """Every change of a dictionary passes through here, so that all of them can be undone."""

    def __init__(self) -> None:
        self._before: list[tuple[dict[Any, Any], Any, Any]] = []

    def set(self, table: dict[Any, Any], key: Any, value: Any) -> None:
        self._before.append((table, key, table.get(key, _ABSENT)))
        table[key] = value

    def delete(self, table: dict[Any, Any], key: Any) -> bool:
        if key not in table:
            return False
        self._before.append((table, key, table.pop(key)))
        return True

    def undo(self) -> None:
        for table, key, before in reversed(self._before):
            if before is _ABSENT:
                del table[key]
            else:
                table[key] = before


@dataclass
class _Tables:
    """All that is kept. Records by id; links as ``{piece: {author: link}}``, in link order."""

    users: dict[int, User] = field(default_factory=dict)
    passwords: dict[int, PasswordHash | None] = field(default_factory=dict)
    roles: dict[int, Role] = field(default_factory=dict)
    authors: dict[int, Author] = field(default_factory=dict)
    logos: dict[int, Logo] = field(default_factory=dict)
    themes: dict[int, Theme] = field(default_factory=dict)
    logo_authors: dict[int, dict[int, int]] = field(default_factory=dict)
    theme_authors: dict[int, dict[int, int]] = field(default_factory=dict)
    sessions: dict[str, Session] = field(default_factory=dict)
    refresh_tokens: dict[str, tuple[str, bool]] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)
    keys: dict[int, ServiceKey] = field(default_factory=dict)
    # hash -> (user, key)
    key_hashes: dict[str, tuple[int, int]] = field(default_factory=dict)
    changes: dict[int, Change] = field(default_factory=dict)
    last_of_kinds: dict[Kind, int] = field(default_factory=dict)
    first_answers: dict[str, FirstAnswer] = field(default_factory=dict)
    sign_in_attempts: dict[str, tuple[int, int]] = field(default_factory=dict)
    last_ids: dict[str, int] = field(default_factory=dict)
    # (kind, key) -> {value -> id of the record that has it}
    taken: dict[tuple[str, str], dict[str | int, int]] = field(default_factory=dict)


class _Unique:
    """The unique values of one kind of record, in the order in which they are looked at."""

    def __init__(self, tables: _Tables, journal: _Journal, kind: str, keys: tuple[str, ...]) -> None:
        self._journal = journal
        self._taken = {key: tables.taken.setdefault((kind, key), {}) for key in keys}

    def claim(self, id_: int, record: object, before: object | None = None) -> None:
        error = DuplicateEntry if before is None else DuplicateUpdate
        for key, taken in self._taken.items():
            value = getattr(record, key)
            if taken.get(value, id_) != id_:
                raise error(value, key)
        self.release(before)
        for key, taken in self._taken.items():
            self._journal.set(taken, getattr(record, key), id_)

    def release(self, record: object | None) -> None:
        if record is not None:
            for key, taken in self._taken.items():
                self._journal.delete(taken, getattr(record, key))


class _Ids:
    """The ids given to one kind of record: never twice, without gaps."""

    def __init__(self, tables: _Tables, journal: _Journal, name: str) -> None:
        self._last_ids, self._journal, self._name = tables.last_ids, journal, name

    def next(self) -> int:
        id_ = self._last_ids.get(self._name, 0) + 1
        if id_ > MAX_ID:
            raise Conflict(f"No {self._name} is left")
        self.used(id_)
        return id_

    def used(self, id_: int) -> None:
        if id_ > self._last_ids.get(self._name, 0):
            self._journal.set(self._last_ids, self._name, id_)


def _page(rows: dict[int, Row], after: int, limit: int, where: Filter = EVERYTHING) -> tuple[Row, ...]:
    found = sorted(id_ for id_, row in rows.items() if id_ > after and _meets(row, where))
    return tuple(rows[id_] for id_ in found[:limit])


def _meets(row: object, where: Filter) -> bool:
    wanted = where.given
    part, prefix = wanted.pop("q", ""), wanted.pop("prefix", "")
    name = folded(getattr(row, "username" if hasattr(row, "username") else "name", ""))
    if folded(part) not in name or not name.startswith(folded(prefix)):
        return False
    return all(getattr(row, name) == value for name, value in wanted.items())


class _Users:
    def __init__(self, tables: _Tables, journal: _Journal, sessions: "_Sessions", keys: "_Keys") -> None:
        self._tables, self._journal, self._sessions, self._keys = tables, journal, sessions, keys
        self._unique = _Unique(tables, journal, "user", ("username",))

    def get(self, user_id: int) -> User | None:
        return self._tables.users.get(user_id)

    def page(self, after: int, limit: int, where: Filter = EVERYTHING) -> tuple[User, ...]:
        return _page(self._tables.users, after, limit, where)

    def add(self, user: User, password: PasswordHash | None) -> None:
        if user.user_id in self._tables.users:
            raise DuplicateEntry(user.user_id, "user_id")
        self._unique.claim(user.user_id, user)
        self._journal.set(self._tables.users, user.user_id, user)
        self._journal.set(self._tables.passwords, user.user_id, password)

    def update(self, user: User) -> None:
        self._unique.claim(user.user_id, user, self._tables.users[user.user_id])
        self._journal.set(self._tables.users, user.user_id, user)

    def remove(self, user_id: int) -> bool:
        self._unique.release(self._tables.users.get(user_id))
        self._sessions.end_all(user_id)
        self._keys.remove_all(user_id)
        self._journal.delete(self._tables.passwords, user_id)
        return self._journal.delete(self._tables.users, user_id)

    def credentials(self, username: str) -> Credentials | None:
        user_id = self._tables.taken["user", "username"].get(username)
        return None if user_id is None else Credentials(user_id, self._tables.passwords[user_id])

    def password(self, user_id: int) -> PasswordHash | None:
        return self._tables.passwords.get(user_id)

    def set_password(self, user_id: int, password: PasswordHash) -> None:
        self._journal.set(self._tables.passwords, user_id, password)

    renew_password = set_password


class _Roles:
    def __init__(self, tables: _Tables, journal: _Journal) -> None:
        self._tables, self._journal = tables, journal
        self._unique = _Unique(tables, journal, "role", ("name",))
        self._ids = _Ids(tables, journal, "role_id")
        self.next_id = self._ids.next

    def get(self, role_id: int) -> Role | None:
        return self._tables.roles.get(role_id)

    def page(self, after: int, limit: int, where: Filter = EVERYTHING) -> tuple[Role, ...]:
        return _page(self._tables.roles, after, limit, where)

    def add(self, role: Role) -> None:
        self._unique.claim(role.role_id, role)
        self._ids.used(role.role_id)
        self._journal.set(self._tables.roles, role.role_id, role)

    def update(self, role: Role) -> None:
        self._unique.claim(role.role_id, role, self._tables.roles[role.role_id])
        self._journal.set(self._tables.roles, role.role_id, role)

    def remove(self, role_id: int) -> bool:
        self._unique.release(self._tables.roles.get(role_id))
        return self._journal.delete(self._tables.roles, role_id)

    def in_use(self, role_id: int) -> bool:
        return any(user.role_id == role_id for user in self._tables.users.values())


class _Authors:
    def __init__(self, tables: _Tables, journal: _Journal) -> None:
        self._tables, self._journal = tables, journal
        self._unique = _Unique(tables, journal, "author", ("user_id", "username"))
        self._ids = _Ids(tables, journal, "author_id")
        self.next_id = self._ids.next

    def get(self, author_id: int) -> Author | None:
        return self._tables.authors.get(author_id)

    def page(self, after: int, limit: int, where: Filter = EVERYTHING) -> tuple[Author, ...]:
        return _page(self._tables.authors, after, limit, where)

    def add(self, author: Author) -> None:
        self._unique.claim(author.author_id, author)
        self._ids.used(author.author_id)
        self._journal.set(self._tables.authors, author.author_id, author)

    def update(self, author: Author) -> None:
        self._unique.claim(author.author_id, author, self._tables.authors[author.author_id])
        self._journal.set(self._tables.authors, author.author_id, author)

    def remove(self, author_id: int) -> bool:
        self._unique.release(self._tables.authors.get(author_id))
        for links in (self._tables.logo_authors, self._tables.theme_authors):
            for piece_id, authors in list(links.items()):
                if author_id in authors:
                    remaining = {id_: link for id_, link in authors.items() if id_ != author_id}
                    self._journal.set(links, piece_id, remaining)
        return self._journal.delete(self._tables.authors, author_id)


class _Pieces(Generic[Piece]):
    def __init__(
        self,
        tables: _Tables,
        journal: _Journal,
        rows: dict[int, Piece],
        links: dict[int, dict[int, int]],
        id_field: str,
    ) -> None:
        self._tables, self._journal, self._links = tables, journal, links
        self._rows: dict[int, Piece] = rows
        self._id_field = id_field
        self._ids = _Ids(tables, journal, id_field)
        self._link_ids = _Ids(tables, journal, id_field.replace("_id", "_author_id"))
        self.next_id = self._ids.next

    def get(self, piece_id: int) -> Piece | None:
        piece = self._rows.get(piece_id)
        return None if piece is None else self._with_authors(piece_id, piece)

    def page(self, after: int, limit: int, where: Filter = EVERYTHING) -> tuple[Piece, ...]:
        rows, author_id = self._rows, where.author_id
        if author_id is not None:
            rows = {id_: rows[id_] for id_, authors in self._links.items() if author_id in authors}
            where = replace(where, author_id=None)
        found = _page(rows, after, limit, where)
        return tuple(self._with_authors(getattr(piece, self._id_field), piece) for piece in found)

    def add(self, piece: Piece) -> None:
        piece_id = getattr(piece, self._id_field)
        self._ids.used(piece_id)
        self._journal.set(self._rows, piece_id, replace(piece, authors=()))

    def update(self, piece: Piece) -> None:
        self._journal.set(self._rows, getattr(piece, self._id_field), replace(piece, authors=()))

    def remove(self, piece_id: int) -> bool:
        self._journal.delete(self._links, piece_id)
        return self._journal.delete(self._rows, piece_id)

    def link_of(self, piece_id: int, author_id: int) -> int | None:
        return self._links.get(piece_id, {}).get(author_id)

    def link(self, piece_id: int, author_id: int) -> int:
        link_id = self._link_ids.next()
        self._journal.set(self._links, piece_id, {**self._links.get(piece_id, {}), author_id: link_id})
        return link_id

    def unlink(self, piece_id: int, author_id: int) -> bool:
        authors = dict(self._links.get(piece_id, {}))
        there = authors.pop(author_id, None) is not None
        self._journal.set(self._links, piece_id, authors)
        return there

    def unlink_all(self, piece_id: int) -> None:
        self._journal.delete(self._links, piece_id)

    def touch(self, piece_ids: Collection[int], version: int) -> None:
        for piece_id in piece_ids:
            self._journal.set(self._rows, piece_id, replace(self._rows[piece_id], version=version))

    def links(self, piece_id: int) -> tuple[Link, ...]:
        return tuple(Link(link_id, piece_id, author_id) for author_id, link_id in self._links.get(piece_id, {}).items())

    def links_of(self, author_id: int) -> tuple[Link, ...]:
        theirs = [
            Link(authors[author_id], piece_id, author_id)
            for piece_id, authors in self._links.items()
            if author_id in authors
        ]
        return tuple(sorted(theirs, key=lambda link: link.link_id))

    def add_links(self, links: Sequence[Link]) -> None:
        for link in links:
            there = {**self._links.get(link.piece_id, {}), link.author_id: link.link_id}
            in_order = dict(sorted(there.items(), key=lambda pair: pair[1]))
            self._journal.set(self._links, link.piece_id, in_order)

    def _with_authors(self, piece_id: int, piece: Piece) -> Piece:
        authors = self._tables.authors
        return replace(piece, authors=tuple(authors[id_] for id_ in self._links.get(piece_id, {})))


def _rights(tables: _Tables, user_id: int) -> Rights:
    return Rights(user_id, frozenset(tables.roles[tables.users[user_id].role_id].scope))


class _Sessions:
    def __init__(self, tables: _Tables, journal: _Journal) -> None:
        self._tables, self._journal = tables, journal

    def rights(self, session_id: str, user_id: int) -> Rights | None:
        session = self._tables.sessions.get(session_id)
        if session is None or session.user_id != user_id:
            return None
        return _rights(self._tables, user_id)

    def add(self, session: Session) -> None:
        self._journal.set(self._tables.sessions, session.session_id, session)

    def prolong(self, session_id: str, expires_at: int) -> None:
        session = self._tables.sessions[session_id]
        self._journal.set(self._tables.sessions, session_id, replace(session, expires_at=expires_at))

    def end(self, session_id: str) -> bool:
        tokens = self._tables.refresh_tokens
        for token_hash in [hash_ for hash_, (of, _) in tokens.items() if of == session_id]:
            self._journal.delete(tokens, token_hash)
        return self._journal.delete(self._tables.sessions, session_id)

    def end_all(self, user_id: int, keep: str | None = None) -> None:
        self._end(s for s in self._of(user_id) if s.session_id != keep)

    def end_expired(self, user_id: int, now: int) -> None:
        self._end(s for s in self._of(user_id) if s.expires_at < now)

    def add_refresh_token(self, token_hash: str, session_id: str) -> None:
        self._journal.set(self._tables.refresh_tokens, token_hash, (session_id, False))

    def refresh_token(self, token_hash: str) -> tuple[Session, bool] | None:
        found = self._tables.refresh_tokens.get(token_hash)
        return None if found is None else (self._tables.sessions[found[0]], found[1])

    def use_refresh_token(self, token_hash: str) -> None:
        session_id, _ = self._tables.refresh_tokens[token_hash]
        self._journal.set(self._tables.refresh_tokens, token_hash, (session_id, True))

    def _of(self, user_id: int) -> list[Session]:
        return [session for session in self._tables.sessions.values() if session.user_id == user_id]

    def _end(self, sessions: Iterator[Session]) -> None:
        for session in sessions:
            self.end(session.session_id)


class _Secrets:
    def __init__(self, tables: _Tables, journal: _Journal) -> None:
        self._tables, self._journal = tables, journal

    def get(self, name: str) -> str | None:
        return self._tables.secrets.get(name)

    def put(self, name: str, value: str) -> None:
        self._journal.set(self._tables.secrets, name, value)

    def replace(self, name: str, value: str) -> None:
        self._journal.set(self._tables.secrets, name, value)


class _Keys:
    def __init__(self, tables: _Tables, journal: _Journal) -> None:
        self._tables, self._journal = tables, journal
        self.next_id = _Ids(tables, journal, "key_id").next

    def add(self, key: ServiceKey, user_id: int, key_hash: str) -> None:
        self._journal.set(self._tables.keys, key.key_id, key)
        self._journal.set(self._tables.key_hashes, key_hash, (user_id, key.key_id))

    def of_user(self, user_id: int) -> tuple[ServiceKey, ...]:
        return tuple(self._tables.keys[key_id] for key_id in sorted(self._ids_of(user_id)))

    def find(self, key_hash: str) -> tuple[ServiceKey, Rights] | None:
        found = self._tables.key_hashes.get(key_hash)
        return None if found is None else (self._tables.keys[found[1]], _rights(self._tables, found[0]))

    def use(self, key_id: int, now: int) -> None:
        self._journal.set(self._tables.keys, key_id, replace(self._tables.keys[key_id], last_used_at=now))

    def remove(self, key_id: int, user_id: int) -> bool:
        if key_id not in self._ids_of(user_id):
            return False
        for key_hash in [hash_ for hash_, (_, of) in self._tables.key_hashes.items() if of == key_id]:
            self._journal.delete(self._tables.key_hashes, key_hash)
        return self._journal.delete(self._tables.keys, key_id)

    def remove_all(self, user_id: int) -> None:
        for key_id in self._ids_of(user_id):
            self.remove(key_id, user_id)

    def _ids_of(self, user_id: int) -> list[int]:
        return [key_id for of, key_id in self._tables.key_hashes.values() if of == user_id]


class _Changes:
    def __init__(self, tables: _Tables, journal: _Journal) -> None:
        self._tables, self._journal = tables, journal

    def last_id(self) -> int:
        return len(self._tables.changes)

    def last_of_kinds(self) -> Mapping[Kind, int]:
        return dict(self._tables.last_of_kinds)

    def add(self, changes: Sequence[Change]) -> None:
        for change in changes:
            self._journal.set(self._tables.changes, change.change_id, change)
            self._journal.set(self._tables.last_of_kinds, change.kind, change.change_id)

    def get(self, change_id: int) -> Change | None:
        return self._tables.changes.get(change_id)

    def last_of(self, kind: Kind, id_: int) -> int:
        of = (change.change_id for change in self._tables.changes.values() if (change.kind, change.id) == (kind, id_))
        return max(of, default=0)

    def page(self, after: int, limit: int) -> tuple[Change, ...]:
        return _page(self._tables.changes, after, limit)


class _FirstAnswers:
    def __init__(self, tables: _Tables, journal: _Journal) -> None:
        self._answers, self._journal = tables.first_answers, journal

    def get(self, key_hash: str) -> FirstAnswer | None:
        return self._answers.get(key_hash)

    def add(self, answer: FirstAnswer) -> None:
        self._journal.set(self._answers, answer.key_hash, answer)

    def forget_expired(self, now: int, most: int) -> None:
        expired = (answer.key_hash for answer in self._answers.values() if answer.expires_at <= now)
        for key_hash in list(islice(expired, most)):
            self._journal.delete(self._answers, key_hash)


class _SignInAttempts:
    def __init__(self, tables: _Tables, journal: _Journal) -> None:
        self._attempts, self._journal = tables.sign_in_attempts, journal

    def count(self, counted: str) -> tuple[int, int]:
        return self._attempts.get(counted, (0, 0))

    def set(self, counted: str, attempts: int, ends_at: int) -> None:
        self._journal.set(self._attempts, counted, (attempts, ends_at))

    def forget(self, counted: str) -> None:
        self._journal.delete(self._attempts, counted)

    def forget_ended(self, now: int, most: int) -> None:
        ended = (counted for counted, (_, ends_at) in self._attempts.items() if ends_at <= now)
        for counted in list(islice(ended, most)):
            self.forget(counted)


class _UnitOfWork:
    def __init__(self, tables: _Tables, journal: _Journal) -> None:
        self.sessions = _Sessions(tables, journal)
        self.keys = _Keys(tables, journal)
        self.users = _Users(tables, journal, self.sessions, self.keys)
        self.roles = _Roles(tables, journal)
        self.authors = _Authors(tables, journal)
        self.logos = _Pieces(tables, journal, tables.logos, tables.logo_authors, "logo_id")
        self.themes = _Pieces(tables, journal, tables.themes, tables.theme_authors, "theme_id")
        self.secrets = _Secrets(tables, journal)
        self.changes = _Changes(tables, journal)
        self.first_answers = _FirstAnswers(tables, journal)
        self.sign_in_attempts = _SignInAttempts(tables, journal)


class MemoryStorage:
    """The :class:`~logoadmin.ports.storage.Storage` of dictionaries: one unit of work at a time, undone by journal."""

    server = "memory"
    waits = False
    at_once = 1

    def __init__(self) -> None:
        """Start with nothing."""
        self._tables = _Tables()
        self._one_at_a_time = threading.RLock()

    def read(self, work: Callable[[_UnitOfWork], Answer]) -> Answer:
        """Run the work while nothing changes."""
        with self._one_at_a_time:
            return work(_UnitOfWork(self._tables, _Journal()))

    snapshot = read

    def write(self, work: Callable[[_UnitOfWork], Answer]) -> Answer:
        """Run the work; undo what it did if it raises."""
        journal = _Journal()
        with self._one_at_a_time:
            try:
                return work(_UnitOfWork(self._tables, journal))
            except BaseException:
                journal.undo()
                raise

    def close(self) -> None:
        """Forget nothing: there may be others who hold the storage."""
