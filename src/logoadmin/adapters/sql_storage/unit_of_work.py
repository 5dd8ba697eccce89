"""Every repository, at work in the same transaction."""

from logoadmin.adapters.sql_storage.artworks import LOGOS, THEMES, ArtworkRepository
from logoadmin.adapters.sql_storage.changes import ChangeRepository, StoredResponseRepository
from logoadmin.adapters.sql_storage.repositories import AuthorRepository, RoleRepository, UserRepository
from logoadmin.adapters.sql_storage.sessions import (
    SecretRepository,
    ServiceKeyRepository,
    SessionRepository,
    SignInAttemptRepository,
)
from logoadmin.adapters.sql_storage.transaction import Transaction
from logoadmin.domain.model.records import Logo, Theme


class SqlUnitOfWork:
    """The repositories, made when they are asked for: most work needs one of them."""

    __slots__ = ("_transaction",)

    def __init__(self, transaction: Transaction) -> None:
        """Let all of them work in a transaction."""
        self._transaction = transaction

    @property
    def users(self) -> UserRepository:
        """The users."""
        return UserRepository(self._transaction)

    @property
    def roles(self) -> RoleRepository:
        """The roles."""
        return RoleRepository(self._transaction)

    @property
    def authors(self) -> AuthorRepository:
        """The authors."""
        return AuthorRepository(self._transaction)

    @property
    def logos(self) -> ArtworkRepository[Logo]:
        """The logos."""
        return ArtworkRepository(self._transaction, LOGOS)

    @property
    def themes(self) -> ArtworkRepository[Theme]:
        """The themes."""
        return ArtworkRepository(self._transaction, THEMES)

    @property
    def sessions(self) -> SessionRepository:
        """The sessions."""
        return SessionRepository(self._transaction)

    @property
    def secrets(self) -> SecretRepository:
        """The secrets."""
        return SecretRepository(self._transaction)

    @property
    def keys(self) -> ServiceKeyRepository:
        """The service keys."""
        return ServiceKeyRepository(self._transaction)

    @property
    def changes(self) -> ChangeRepository:
        """The history."""
        return ChangeRepository(self._transaction)

    @property
    def stored_responses(self) -> StoredResponseRepository:
        """The answers to commands that may come again."""
        return StoredResponseRepository(self._transaction)

    @property
    def sign_in_attempts(self) -> SignInAttemptRepository:
        """The attempts to sign in."""
        return SignInAttemptRepository(self._transaction)
