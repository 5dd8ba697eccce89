"""The storage itself: calls, transactions, and what becomes of them when the database fails."""

import random
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Final, ParamSpec, TypeVar

from sqlalchemy import Connection, Pool, PoolProxiedConnection

from logoadmin.adapters.sql_storage.breaker import Breaker
from logoadmin.adapters.sql_storage.changes import ChangeRepository, StoredResponseRepository
from logoadmin.adapters.sql_storage.dialects import Dialect, dialect_of
from logoadmin.adapters.sql_storage.faults import Failure, Fault, Faults
from logoadmin.adapters.sql_storage.groups import Group
from logoadmin.adapters.sql_storage.outages import Outages
from logoadmin.adapters.sql_storage.records import RecordRepositories
from logoadmin.adapters.sql_storage.schema import Schema
from logoadmin.adapters.sql_storage.sessions import (
    PasswordRepository,
    SecretRepository,
    ServiceKeyRepository,
    SessionRepository,
    SignInAttemptRepository,
)
from logoadmin.adapters.sql_storage.statements import Statements
from logoadmin.adapters.sql_storage.transaction import Transaction
from logoadmin.domain.model.causes import Cause
from logoadmin.domain.model.errors import LogoAdminError, StartError, StorageUnavailable, TablesMissing
from logoadmin.ports.storage import UnitOfWork

Answer = TypeVar("Answer")
Given = ParamSpec("Given")

# How often a transaction that met another is repeated, and after how many seconds, at random up to this, each time.
_REPEATS: Final = 3
_PAUSE: Final = 0.02
# After so many seconds an answer that says no is worth more than another try (contract A20).
_SOON: Final = 0.8
# A connection that breaks so soon may be one of many; after a longer wait there is no time for a second try.
_BROKEN_SOON: Final = 0.2


def open_sql_storage(url: str, *, connections: int | None = None, timeout: float | None = 0.8) -> "SqlStorage":
    """Return the storage of a database's URL (contract H2). Nothing is connected to yet.

    Args:
        url: ``sqlite:///file`` or ``mysql+pymysql://user:password@host:port/name``.
        connections: how many connections there may be at once; if not given, as many as callers use: those that read
            and as many that search, one that writes, two that hash passwords in between, and two more for programs
            with threads of their own.
        timeout: how many seconds each step of connecting may take; with None, all waits are long, for work that
            nobody waits for in front of a browser.

    Raises:
        SettingsError: the URL cannot be used.
    """
    return SqlStorage(dialect_of(url), connections=connections, timeout=timeout)


def unit_of_work(transaction: Transaction) -> UnitOfWork:
    """Return every repository, at work in a transaction."""
    repositories = RecordRepositories(transaction)
    return UnitOfWork(
        repositories.records,
        repositories.links,
        PasswordRepository(transaction),
        SessionRepository(transaction),
        SecretRepository(transaction),
        ServiceKeyRepository(transaction),
        ChangeRepository(transaction),
        StoredResponseRepository(transaction),
        SignInAttemptRepository(transaction),
    )


class SqlStorage:
    """The :class:`~logoadmin.ports.storage.Storage` of a database that speaks SQL. Safe to use from several threads."""

    waits = True

    def __init__(self, dialect: Dialect, *, connections: int | None = None, timeout: float | None = 0.8) -> None:
        """Use a database; see :func:`open_sql_storage`."""
        self.server = dialect.server
        self.embedded = dialect.embedded
        self.at_once = dialect.at_once
        self._dialect = dialect
        self._interactive = timeout is not None
        self._engine = dialect.engine(connections or 2 * dialect.at_once + 5, timeout)
        self._statements = Statements(self._engine.dialect, dialect.holding_little)
        self._faults = Faults(dialect.judge, self._engine.dialect.loaded_dbapi)
        self._breaker = Breaker()
        self._outages = Outages(dialect.server)
        self._thread = threading.local()
        self._schema = Schema(dialect)

    def read(self, work: Callable[[UnitOfWork], Answer]) -> Answer:
        """Run the work with each statement a transaction of its own: no BEGIN, no ROLLBACK, one round trip each."""
        return self._call(self._read, work)

    def snapshot(self, work: Callable[[UnitOfWork], Answer]) -> Answer:
        """Run the work in a transaction that sees one moment."""
        return self._call(self._snapshot, work)

    def write(self, work: Callable[[UnitOfWork], Answer]) -> Answer:
        """Run the work in a transaction, from its start again where the database undid all of it."""
        group = self._group
        return self._call(self._write, work, writing=True) if group is None else group.run(work)

    def try_write(self, work: Callable[[UnitOfWork], object]) -> bool:
        """Run the work in a transaction if that can begin at once."""
        group = self._group
        if group is not None:
            group.run(work)
            return True
        try:
            self._once(self._write_at_once, work)
        except Failure:
            return False
        return True

    def atomic(self, calls: Callable[[], Answer]) -> Answer:
        """Run calls whose writes are one transaction, from their start again where the database undid all of it."""
        group = self._group
        return self._call(self._atomic, calls, writing=True) if group is None else group.run(lambda _: calls())

    def is_empty(self) -> bool:
        """Tell whether the tables are still to be made.

        Raises:
            StorageUnavailable: the database is out of reach.
        """
        return not self._dialect.exists() or self._call(self._look, self._schema.is_empty)

    def check_schema(self) -> None:
        """Make sure that the tables are those of this program.

        Raises:
            SchemaMismatch: they are older, newer or not there; the text says what to do.
            StorageUnavailable: the database is out of reach.
        """
        if not self._dialect.exists():
            raise TablesMissing(self.server)
        self._call(self._look, self._schema.check)

    def prepare(self, first: Callable[[UnitOfWork], Answer | None] = lambda _: None) -> Answer | None:
        """Make the tables, or bring them up to date, and return the answer of work on them.

        Nothing is made where it is. Several may do it at once: they wait for each other, long, and each finds what the
        one before it left. In a file, the tables and what the work writes are there together or not at all.

        Args:
            first: the work; it looks for itself whether there is something to do.

        Raises:
            SchemaMismatch: a newer program made them.
            StartError: the database has other tables of these names, its user may not make any, or the file cannot
                be made.
            StorageUnavailable: the database is out of reach.
        """
        self._dialect.create()
        engine = self._dialect.engine(1, None)
        try:
            with engine.connect() as connection:
                return self._prepared(connection, first)
        except Exception as error:
            failure = self._faults.failure(error)
            if failure is None:
                raise
            cause = failure.cause
            if cause is Cause.NO_RIGHTS and failure.fault is Fault.BUSY:
                raise StartError(
                    f"The database user at {self.server} may not make tables; grant it ALL on the database"
                ) from None
        finally:
            engine.dispose()
        raise StorageUnavailable(self.server, cause)

    def data_version(self) -> int | None:
        """Return a number that is another one after any commit, where that is found out without a wait."""
        return self._dialect.data_version()

    def late(self, *, writing: bool) -> StorageUnavailable:
        """Return what to tell somebody who waits no longer."""
        self._outages.failed(Cause.TOO_BUSY, "late", in_writing=writing)
        return StorageUnavailable(self.server, Cause.TOO_BUSY)

    def close(self) -> None:
        """Let go of the connections."""
        self._dialect.close()
        self._engine.dispose()

    @property
    def _group(self) -> Group | None:
        group: Group | None = getattr(self._thread, "group", None)
        return group

    def _prepared(self, connection: Connection, first: Callable[[UnitOfWork], Answer]) -> Answer:
        with self._dialect.migration_lock(connection) as begin_write:
            self._schema.prepare(connection)
            transaction = Transaction(connection.connection, self._statements)
            transaction.take_write_lock(begin_write)
            answer = first(unit_of_work(transaction))
            transaction.finish()
        return answer

    def _look(self, transaction: Transaction, look: Callable[[Connection], Answer]) -> Answer:
        return look(Connection(self._engine, transaction.connection))

    def _read(self, transaction: Transaction, work: Callable[[UnitOfWork], Answer]) -> Answer:
        return work(unit_of_work(transaction))

    def _snapshot(self, transaction: Transaction, work: Callable[[UnitOfWork], Answer]) -> Answer:
        with transaction:
            transaction.begin(self._dialect.begin_snapshot)
            answer = work(unit_of_work(transaction))
            self._commit(transaction)
        return answer

    def _write(self, transaction: Transaction, work: Callable[[UnitOfWork], Answer]) -> Answer:
        with self._dialect.write_queue(), transaction:
            transaction.take_write_lock(self._dialect.begin_write)
            answer = work(unit_of_work(transaction))
            self._commit(transaction)
        return answer

    def _write_at_once(self, transaction: Transaction, work: Callable[[UnitOfWork], object]) -> None:
        with self._dialect.without_waiting(transaction.connection), transaction:
            transaction.take_write_lock(self._dialect.begin_write, wait=False)
            work(unit_of_work(transaction))
            self._commit(transaction)

    def _atomic(self, transaction: Transaction, calls: Callable[[], Answer]) -> Answer:
        return self._write(transaction, partial(self._grouped, transaction, calls))

    def _grouped(self, transaction: Transaction, calls: Callable[[], Answer], uow: UnitOfWork) -> Answer:
        group = self._thread.group = Group(self.server, self._faults, transaction, uow)
        try:
            return calls()
        finally:
            self._thread.group = None
            # In the place of an answer as of an error: neither is worth anything now.
            group.check()

    def _commit(self, transaction: Transaction) -> None:
        transaction.finish()
        try:
            transaction.commit()
        except Exception as error:
            failure = self._faults.failure_of_commit(error)
            if failure is None:
                raise
            raise failure from None

    def _call(
        self,
        way: Callable[[Transaction, Callable[Given, Answer]], Answer],
        work: Callable[Given, Answer],
        *,
        writing: bool = False,
    ) -> Answer:
        """Make one call to the database, unless it was out of reach a moment ago."""
        if not self._breaker.is_closed and not self._breaker.admits():
            raise StorageUnavailable(self.server, self._outages.latest)
        try:
            answer = self._repeat(way, work)
        except Failure as failure:
            cause = self._failed(failure, writing)
        except BaseException as error:
            self._breaker.leave(answered=True)
            if isinstance(error, LogoAdminError):
                self._outages.answered(writing=False)
            raise
        else:
            if not self._breaker.is_closed:
                self._breaker.leave(answered=True)
            if not self._outages.all_is_well:
                self._outages.answered(writing=writing)
            return answer
        # Out here, so that the error drags no text of the driver's along.
        raise StorageUnavailable(self.server, cause)

    def _failed(self, failure: Failure, writing: bool) -> Cause:
        """Take note of a failure and return its cause; raise the error itself where a key refused a mistake of ours."""
        # A connection that broke may have been the only one: whether the server is gone, the next one tells.
        self._breaker.leave(None if failure.lost or failure.code == "pool" else not failure.is_broken)
        if failure.fault is Fault.REFUSED and not failure.unsure:
            raise failure.error from None
        self._outages.failed(failure.cause, failure.code, in_writing=writing and failure.fault is not Fault.GONE)
        return failure.cause

    def _repeat(
        self, way: Callable[[Transaction, Callable[Given, Answer]], Answer], work: Callable[Given, Answer]
    ) -> Answer:
        began = time.monotonic()
        repeated = 0
        while True:
            try:
                return self._once(way, work)
            except Failure as failure:
                if failure.unsure or not self._worth_repeating(failure, repeated, time.monotonic() - began):
                    raise
            repeated += 1
            time.sleep(random.uniform(0, _PAUSE * repeated))  # noqa: S311 (no secret depends on it)

    def _once(
        self, way: Callable[[Transaction, Callable[Given, Answer]], Answer], work: Callable[Given, Answer]
    ) -> Answer:
        pool, connection = self._engine.pool, None
        try:
            connection = self._engine.raw_connection()
            return way(Transaction(connection, self._statements), work)
        except Exception as error:
            failure = self._faults.failure(error, connected=connection is not None)
            if failure is None:
                raise
            if failure.lost and connection is not None:
                self._let_go(connection, pool, of_all=failure.fault is Fault.GONE)
            raise failure from None
        finally:
            if connection is not None:
                connection.close()

    def _let_go(self, connection: PoolProxiedConnection, pool: Pool, *, of_all: bool) -> None:
        if connection.is_valid:
            connection.invalidate()
        # Those that rest in the pool were most likely lost with it.
        if of_all and self._engine.pool is pool:
            self._engine.dispose()

    def _worth_repeating(self, failure: Failure, repeated: int, passed: float) -> bool:
        if failure.is_broken:
            return failure.lost and repeated == 0 and passed < _BROKEN_SOON
        in_time = passed < _SOON or not self._interactive
        return failure.fault in {Fault.CONFLICT, Fault.REFUSED} and repeated < _REPEATS and in_time
