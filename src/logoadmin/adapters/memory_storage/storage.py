"""One unit of work at a time, undone by journal."""

import threading
from collections.abc import Callable
from typing import TypeVar

from logoadmin.adapters.memory_storage.changes import ChangeRepository, FirstAnswerRepository
from logoadmin.adapters.memory_storage.records import AuthorRepository, PieceRepository, RoleRepository, UserRepository
from logoadmin.adapters.memory_storage.sessions import (
    SecretRepository,
    ServiceKeyRepository,
    SessionRepository,
    SignInAttemptRepository,
)
from logoadmin.adapters.memory_storage.tables import Journal, Tables
from logoadmin.domain.records import Kind

Answer = TypeVar("Answer")


class MemoryUnitOfWork:
    """The repositories, at work on the same tables with the same journal."""

    def __init__(self, tables: Tables, journal: Journal) -> None:
        self.sessions = SessionRepository(tables, journal)
        self.keys = ServiceKeyRepository(tables, journal)
        self.users = UserRepository(tables, journal, self.sessions, self.keys)
        self.roles = RoleRepository(tables, journal)
        self.authors = AuthorRepository(tables, journal)
        self.logos = PieceRepository(Kind.LOGO, tables.logos, tables.logo_authors, tables, journal)
        self.themes = PieceRepository(Kind.THEME, tables.themes, tables.theme_authors, tables, journal)
        self.secrets = SecretRepository(tables, journal)
        self.changes = ChangeRepository(tables, journal)
        self.first_answers = FirstAnswerRepository(tables, journal)
        self.sign_in_attempts = SignInAttemptRepository(tables, journal)


class MemoryStorage:
    """The :class:`~logoadmin.ports.storage.Storage` of dictionaries: one unit of work at a time, undone by journal."""

    server = "memory"
    waits = False
    at_once = 1

    def __init__(self) -> None:
        """Start with nothing."""
        self._tables = Tables()
        self._one_at_a_time = threading.RLock()

    def read(self, work: Callable[[MemoryUnitOfWork], Answer]) -> Answer:
        """Run the work while nothing changes."""
        with self._one_at_a_time:
            return work(MemoryUnitOfWork(self._tables, Journal()))

    snapshot = read

    def write(self, work: Callable[[MemoryUnitOfWork], Answer]) -> Answer:
        """Run the work; undo what it did if it raises."""
        journal = Journal()
        with self._one_at_a_time:
            try:
                return work(MemoryUnitOfWork(self._tables, journal))
            except BaseException:
                journal.undo()
                raise

    def close(self) -> None:
        """Forget nothing: there may be others who hold the storage."""
