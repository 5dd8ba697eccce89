"""One unit of work at a time, undone by journal."""

import threading
from collections.abc import Callable
from functools import cached_property
from typing import TypeVar

from logoadmin.adapters.memory_storage.changes import ChangeRepository, StoredResponseRepository
from logoadmin.adapters.memory_storage.records import (
    ArtworkRepository,
    AuthorRepository,
    RoleRepository,
    UserRepository,
)
from logoadmin.adapters.memory_storage.sessions import (
    SecretRepository,
    ServiceKeyRepository,
    SessionRepository,
    SignInAttemptRepository,
)
from logoadmin.adapters.memory_storage.tables import Journal, Tables
from logoadmin.domain.model.causes import Cause
from logoadmin.domain.model.errors import StorageUnavailable
from logoadmin.domain.model.records import Kind, Logo, Theme

Answer = TypeVar("Answer")


class MemoryUnitOfWork:
    """The repositories, made when they are asked for: most work needs one of them."""

    def __init__(self, tables: Tables, journal: Journal) -> None:
        """Let all of them work on the same tables with the same journal."""
        self._tables, self._journal = tables, journal

    @cached_property
    def users(self) -> UserRepository:
        """The users."""
        return UserRepository(self._tables, self._journal, self.sessions, self.keys)

    @cached_property
    def roles(self) -> RoleRepository:
        """The roles."""
        return RoleRepository(self._tables, self._journal)

    @cached_property
    def authors(self) -> AuthorRepository:
        """The authors."""
        return AuthorRepository(self._tables, self._journal)

    @cached_property
    def logos(self) -> ArtworkRepository[Logo]:
        """The logos."""
        return ArtworkRepository(Kind.LOGO, self._tables.logos, self._tables.logo_authors, self._tables, self._journal)

    @cached_property
    def themes(self) -> ArtworkRepository[Theme]:
        """The themes."""
        return ArtworkRepository(
            Kind.THEME, self._tables.themes, self._tables.theme_authors, self._tables, self._journal
        )

    @cached_property
    def sessions(self) -> SessionRepository:
        """The sessions."""
        return SessionRepository(self._tables, self._journal)

    @cached_property
    def secrets(self) -> SecretRepository:
        """The secrets."""
        return SecretRepository(self._tables, self._journal)

    @cached_property
    def keys(self) -> ServiceKeyRepository:
        """The service keys."""
        return ServiceKeyRepository(self._tables, self._journal)

    @cached_property
    def changes(self) -> ChangeRepository:
        """The history."""
        return ChangeRepository(self._tables, self._journal)

    @cached_property
    def stored_responses(self) -> StoredResponseRepository:
        """The answers to commands that may come again."""
        return StoredResponseRepository(self._tables, self._journal)

    @cached_property
    def sign_in_attempts(self) -> SignInAttemptRepository:
        """The attempts to sign in."""
        return SignInAttemptRepository(self._tables, self._journal)


class MemoryStorage:
    """The :class:`~logoadmin.ports.storage.Storage` of dictionaries: one unit of work at a time, undone by journal."""

    server = "memory"
    waits = False
    at_once = 1

    def __init__(self) -> None:
        """Start with nothing."""
        self._tables = Tables()
        self._one_at_a_time = threading.RLock()
        self._group: Journal | None = None
        self._writes = 0

    def read(self, work: Callable[[MemoryUnitOfWork], Answer]) -> Answer:
        """Run the work while nothing changes."""
        with self._one_at_a_time:
            return work(MemoryUnitOfWork(self._tables, Journal()))

    snapshot = read

    def write(self, work: Callable[[MemoryUnitOfWork], Answer]) -> Answer:
        """Run the work; undo what it did if it raises."""
        with self._one_at_a_time:
            journal = self._group or Journal()
            self._writes += 1
            with journal.undone_on_error():
                return work(MemoryUnitOfWork(self._tables, journal))

    def atomic(self, calls: Callable[[], Answer]) -> Answer:
        """Run calls; undo all that they wrote if they raise."""
        with self._one_at_a_time:
            outer = self._group
            journal = self._group = outer or Journal()
            try:
                with journal.undone_on_error():
                    return calls()
            finally:
                self._group = outer

    def data_version(self) -> int:
        """Return how many writes there were, those that were undone among them."""
        return self._writes

    def late(self, *, writing: bool) -> StorageUnavailable:  # noqa: ARG002 (what a database tells by)
        """Return what nobody is ever told: memory is there at once."""
        return StorageUnavailable(self.server, Cause.TOO_BUSY)

    def close(self) -> None:
        """Forget nothing: there may be others who hold the storage."""
