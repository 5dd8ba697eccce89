"""Every repository, at work in the same transaction."""

from typing import Any

from logoadmin.adapters.sql_storage.artworks import LOGOS, THEMES, ArtworkRepository, LinkRepository
from logoadmin.adapters.sql_storage.changes import ChangeRepository, StoredResponseRepository
from logoadmin.adapters.sql_storage.repositories import (
    AuthorRepository,
    PasswordRepository,
    RoleRepository,
    UserRepository,
)
from logoadmin.adapters.sql_storage.sessions import (
    SecretRepository,
    ServiceKeyRepository,
    SessionRepository,
    SignInAttemptRepository,
)
from logoadmin.adapters.sql_storage.transaction import Transaction
from logoadmin.domain.model.kinds import AnyArtworkKind, RecordKind
from logoadmin.domain.model.records import Kind
from logoadmin.ports.storage import Links, UnitOfWork

_QUERIES = {Kind.LOGO: LOGOS, Kind.THEME: THEMES}
_REPOSITORIES: dict[Kind, Any] = {Kind.ROLE: RoleRepository, Kind.USER: UserRepository, Kind.AUTHOR: AuthorRepository}


class _Repositories:
    """What works in the same transaction."""

    __slots__ = ("_transaction",)

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def records(self, kind: RecordKind[Any, Any]) -> Any:
        queries: Any = _QUERIES.get(kind.kind)
        if queries is not None:
            return ArtworkRepository(self._transaction, queries)
        return _REPOSITORIES[kind.kind](self._transaction)

    def links(self, kind: AnyArtworkKind) -> Links:
        queries: Any = _QUERIES[kind.kind]
        return LinkRepository(self._transaction, queries)


def unit_of_work(transaction: Transaction) -> UnitOfWork:
    """Return every repository, at work in a transaction."""
    repositories = _Repositories(transaction)
    return UnitOfWork(
        records=repositories.records,
        links=repositories.links,
        passwords=PasswordRepository(transaction),
        sessions=SessionRepository(transaction),
        secrets=SecretRepository(transaction),
        keys=ServiceKeyRepository(transaction),
        changes=ChangeRepository(transaction),
        stored_responses=StoredResponseRepository(transaction),
        sign_in_attempts=SignInAttemptRepository(transaction),
    )
