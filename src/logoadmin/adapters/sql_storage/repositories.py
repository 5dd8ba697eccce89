"""Users, roles and authors: each query beside the record that its rows become."""

from collections.abc import Collection, Sequence
from typing import Any, Final

from sqlalchemy import bindparam, delete, insert, select, update

from logoadmin.adapters.sql_storage.names import Names
from logoadmin.adapters.sql_storage.pages import Page
from logoadmin.adapters.sql_storage.tables import (
    author_name_parts,
    authors,
    role_name_parts,
    roles,
    user_name_parts,
    users,
)
from logoadmin.adapters.sql_storage.transaction import Transaction
from logoadmin.domain.model.errors import DuplicateEntry, DuplicateUpdate
from logoadmin.domain.model.lists import EVERYTHING, Filter, folded, page_of
from logoadmin.domain.model.records import Author, PasswordHash, Role, User
from logoadmin.ports.storage import Credentials

_KEY: Final[Any] = bindparam("key")

_USER = select(users.c.user_id, users.c.username, users.c.avatar, users.c.role_id, users.c.created_at, users.c.version)
_GET_USER = _USER.where(users.c.user_id == _KEY)
_USERS = Page(_USER, users, user_name_parts, ("role_id",))
_USER_NAMES = Names(users, user_name_parts)
_ADD_USER = insert(users).inline()
_UPDATE_USER = update(users).where(users.c.user_id == _KEY)
_REMOVE_USER = delete(users).where(users.c.user_id == _KEY)
_USER_HAS_ID = select(users.c.user_id).where(users.c.user_id == _KEY)
_USER_HAS_NAME = select(users.c.user_id).where(users.c.username == bindparam("username"), users.c.user_id != _KEY)
_CREDENTIALS = select(users.c.user_id, users.c.password).where(users.c.username == bindparam("username"))
_PASSWORD = select(users.c.password).where(users.c.user_id == _KEY)
_CAN_SIGN_IN = select(users.c.user_id).where(users.c.role_id == _KEY, users.c.password.is_not(None)).limit(1)


def _sealed(password: str | None) -> PasswordHash | None:
    return None if password is None else PasswordHash(password)


class UserRepository:
    """The users, as :class:`~logoadmin.ports.storage.Records` says."""

    def __init__(self, transaction: Transaction) -> None:
        """Work in a transaction."""
        self._transaction = transaction

    def get(self, user_id: int) -> User | None:
        """Return a user."""
        row = self._transaction.row(_GET_USER, {"key": user_id})
        return None if row is None else User(*row)

    def page(self, after: int, limit: int, where: Filter = EVERYTHING) -> tuple[User, ...]:
        """Return some users, by id."""
        return page_of(_USERS.rows(self._transaction, after, limit, where), lambda row: User(*row))

    def add(self, user: User) -> None:
        """Keep a new user."""

        def explain() -> DuplicateEntry | None:
            if self._transaction.row(_USER_HAS_ID, {"key": user.user_id}):
                return DuplicateEntry(user.user_id, "user_id")
            return self._taken(user, DuplicateEntry)

        values = self._values(user)
        self._transaction.claim(_ADD_USER, values, explain)
        _USER_NAMES.change(self._transaction, user.user_id, (), values["folded"])

    def update(self, user: User) -> None:
        """Give a user new values."""
        values = {**self._values(user), "key": user.user_id}
        name = _USER_NAMES.ask(self._transaction, user.user_id)
        self._transaction.claim(_UPDATE_USER, values, lambda: self._taken(user, DuplicateUpdate))
        _USER_NAMES.change(self._transaction, user.user_id, name, values["folded"])

    def touch(self, ids: Collection[int], version: int) -> None:
        """Give users another version."""
        for id_ in ids:
            self._transaction.change(_UPDATE_USER, {"key": id_, "version": version})

    def remove(self, user_id: int) -> bool:
        """Remove a user; the sessions go by themselves."""
        name = _USER_NAMES.ask(self._transaction, user_id)
        removed = self._transaction.change(_REMOVE_USER, {"key": user_id})
        _USER_NAMES.change(self._transaction, user_id, name, "")
        return removed > 0

    def _taken(self, user: User, error: type[DuplicateEntry]) -> DuplicateEntry | None:
        values = {"username": user.username, "key": user.user_id}
        return error(user.username, "username") if self._transaction.row(_USER_HAS_NAME, values) else None

    def _values(self, user: User) -> dict[str, Any]:
        return {
            "user_id": user.user_id,
            "username": user.username,
            "avatar": user.avatar,
            "role_id": user.role_id,
            "created_at": user.created_at,
            "version": user.version,
            "folded": folded(user.username),
        }


class PasswordRepository:
    """The password hashes, as :class:`~logoadmin.ports.storage.Passwords` says."""

    def __init__(self, transaction: Transaction) -> None:
        """Work in a transaction."""
        self._transaction = transaction

    def credentials(self, username: str) -> Credentials | None:
        """Return what signing in compares with."""
        row = self._transaction.row(_CREDENTIALS, {"username": username})
        return None if row is None else Credentials(row[0], _sealed(row[1]))

    def get(self, user_id: int) -> PasswordHash | None:
        """Return a password's hash."""
        row = self._transaction.row(_PASSWORD, {"key": user_id})
        return None if row is None else _sealed(row[0])

    def can_sign_in(self, role_id: int) -> bool:
        """Tell whether somebody who has a role can."""
        return self._transaction.row(_CAN_SIGN_IN, {"key": role_id}) is not None

    def set(self, user_id: int, password: PasswordHash) -> None:
        """Keep another password's hash."""
        self._transaction.change(_UPDATE_USER, {"key": user_id, "password": password.hash})


_ROLE = select(roles.c.role_id, roles.c.name, roles.c.scope, roles.c.created_at, roles.c.version)
_GET_ROLE = _ROLE.where(roles.c.role_id == _KEY)
_ROLES = Page(_ROLE, roles, role_name_parts)
_ROLE_NAMES = Names(roles, role_name_parts)
_ADD_ROLE = insert(roles).inline()
_UPDATE_ROLE = update(roles).where(roles.c.role_id == _KEY)
_REMOVE_ROLE = delete(roles).where(roles.c.role_id == _KEY)
_ROLE_HAS_NAME = select(roles.c.role_id).where(roles.c.name == bindparam("name"), roles.c.role_id != _KEY)


def _role(row: Sequence[Any]) -> Role:
    role_id, name, scope, created_at, version = row
    return Role(role_id, name, tuple(scope.split()), created_at, version)


class RoleRepository:
    """The roles, as :class:`~logoadmin.ports.storage.Records` says."""

    def __init__(self, transaction: Transaction) -> None:
        """Work in a transaction."""
        self._transaction = transaction

    def next_id(self) -> int:
        """Return the id for a new role."""
        return self._transaction.counters.next("role_id")

    def get(self, role_id: int) -> Role | None:
        """Return a role."""
        row = self._transaction.row(_GET_ROLE, {"key": role_id})
        return None if row is None else _role(row)

    def page(self, after: int, limit: int, where: Filter = EVERYTHING) -> tuple[Role, ...]:
        """Return some roles, by id."""
        return page_of(_ROLES.rows(self._transaction, after, limit, where), _role)

    def add(self, role: Role) -> None:
        """Keep a new role."""
        self._transaction.counters.last("role_id")
        values = self._values(role)
        self._transaction.claim(_ADD_ROLE, values, lambda: self._taken(role, DuplicateEntry))
        _ROLE_NAMES.change(self._transaction, role.role_id, (), values["folded"])
        self._transaction.counters.used("role_id", role.role_id)

    def update(self, role: Role) -> None:
        """Give a role new values."""
        values = {**self._values(role), "key": role.role_id}
        name = _ROLE_NAMES.ask(self._transaction, role.role_id)
        self._transaction.claim(_UPDATE_ROLE, values, lambda: self._taken(role, DuplicateUpdate))
        _ROLE_NAMES.change(self._transaction, role.role_id, name, values["folded"])

    def touch(self, ids: Collection[int], version: int) -> None:
        """Give roles another version."""
        for id_ in ids:
            self._transaction.change(_UPDATE_ROLE, {"key": id_, "version": version})

    def remove(self, role_id: int) -> bool:
        """Remove a role."""
        name = _ROLE_NAMES.ask(self._transaction, role_id)
        removed = self._transaction.change(_REMOVE_ROLE, {"key": role_id})
        _ROLE_NAMES.change(self._transaction, role_id, name, "")
        return removed > 0

    def _taken(self, role: Role, error: type[DuplicateEntry]) -> DuplicateEntry | None:
        values = {"name": role.name, "key": role.role_id}
        return error(role.name, "name") if self._transaction.row(_ROLE_HAS_NAME, values) else None

    def _values(self, role: Role) -> dict[str, Any]:
        return {
            "role_id": role.role_id,
            "name": role.name,
            "scope": " ".join(role.scope),
            "created_at": role.created_at,
            "version": role.version,
            "folded": folded(role.name),
        }


_AUTHOR = select(authors.c.author_id, authors.c.user_id, authors.c.username, authors.c.created_at, authors.c.version)
_GET_AUTHOR = _AUTHOR.where(authors.c.author_id == _KEY)
_AUTHORS = Page(_AUTHOR, authors, author_name_parts, ("user_id",))
_AUTHOR_NAMES = Names(authors, author_name_parts)
_ADD_AUTHOR = insert(authors).inline()
_UPDATE_AUTHOR = update(authors).where(authors.c.author_id == _KEY)
_REMOVE_AUTHOR = delete(authors).where(authors.c.author_id == _KEY)
_OTHER_AUTHOR = select(authors.c.author_id).where(authors.c.author_id != _KEY)
_AUTHOR_HAS_USER = _OTHER_AUTHOR.where(authors.c.user_id == bindparam("user_id"))
_AUTHOR_HAS_NAME = _OTHER_AUTHOR.where(authors.c.username == bindparam("username"))


class AuthorRepository:
    """The authors, as :class:`~logoadmin.ports.storage.Records` says."""

    def __init__(self, transaction: Transaction) -> None:
        """Work in a transaction."""
        self._transaction = transaction

    def next_id(self) -> int:
        """Return the id for a new author."""
        return self._transaction.counters.next("author_id")

    def get(self, author_id: int) -> Author | None:
        """Return an author."""
        row = self._transaction.row(_GET_AUTHOR, {"key": author_id})
        return None if row is None else Author(*row)

    def page(self, after: int, limit: int, where: Filter = EVERYTHING) -> tuple[Author, ...]:
        """Return some authors, by id."""
        return page_of(_AUTHORS.rows(self._transaction, after, limit, where), lambda row: Author(*row))

    def add(self, author: Author) -> None:
        """Keep a new author."""
        self._transaction.counters.last("author_id")
        values = self._values(author)
        self._transaction.claim(_ADD_AUTHOR, values, lambda: self._taken(author, DuplicateEntry))
        _AUTHOR_NAMES.change(self._transaction, author.author_id, (), values["folded"])
        self._transaction.counters.used("author_id", author.author_id)

    def update(self, author: Author) -> None:
        """Give an author new values."""
        values = {**self._values(author), "key": author.author_id}
        name = _AUTHOR_NAMES.ask(self._transaction, author.author_id)
        self._transaction.claim(_UPDATE_AUTHOR, values, lambda: self._taken(author, DuplicateUpdate))
        _AUTHOR_NAMES.change(self._transaction, author.author_id, name, values["folded"])

    def touch(self, ids: Collection[int], version: int) -> None:
        """Give authors another version."""
        for id_ in ids:
            self._transaction.change(_UPDATE_AUTHOR, {"key": id_, "version": version})

    def remove(self, author_id: int) -> bool:
        """Remove an author; the links go by themselves."""
        name = _AUTHOR_NAMES.ask(self._transaction, author_id)
        removed = self._transaction.change(_REMOVE_AUTHOR, {"key": author_id})
        _AUTHOR_NAMES.change(self._transaction, author_id, name, "")
        return removed > 0

    def _taken(self, author: Author, error: type[DuplicateEntry]) -> DuplicateEntry | None:
        if self._transaction.row(_AUTHOR_HAS_USER, {"user_id": author.user_id, "key": author.author_id}):
            return error(author.user_id, "user_id")
        if self._transaction.row(_AUTHOR_HAS_NAME, {"username": author.username, "key": author.author_id}):
            return error(author.username, "username")
        return None

    def _values(self, author: Author) -> dict[str, Any]:
        return {
            "author_id": author.author_id,
            "user_id": author.user_id,
            "username": author.username,
            "created_at": author.created_at,
            "version": author.version,
            "folded": folded(author.username),
        }
