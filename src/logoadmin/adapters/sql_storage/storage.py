"""The storage itself: calls, transactions, and what becomes of them when the database fails."""

import random
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Final, TypeVar

from sqlalchemy import Connection, PoolProxiedConnection

from logoadmin.adapters.sql_storage.breaker import Breaker
from logoadmin.adapters.sql_storage.dialects import Dialect, dialect_of
from logoadmin.adapters.sql_storage.faults import Failure, Fault, translated, unnamed
from logoadmin.adapters.sql_storage.outages import Outages
from logoadmin.adapters.sql_storage.schema import Schema
from logoadmin.adapters.sql_storage.statements import Statements
from logoadmin.adapters.sql_storage.transaction import Transaction
from logoadmin.adapters.sql_storage.unit_of_work import unit_of_work
from logoadmin.domain.model.causes import Cause
from logoadmin.domain.model.errors import LogoAdminError, StartError, StorageUnavailable, TablesMissing
from logoadmin.ports.storage import UnitOfWork

Answer = TypeVar("Answer")

# How often a transaction that met another is repeated, and after how many seconds, at random up to this, each time.
_REPEATS: Final = 3
_PAUSE: Final = 0.02
# After so many seconds an answer that says no is worth more than another try (contract A20).
_SOON: Final = 0.8
# A connection that breaks at once may be one of many; after a longer wait there is no time for a second try.
_AT_ONCE: Final = 0.2


def open_sql_storage(url: str, *, connections: int | None = None, patience: float | None = 0.8) -> "SqlStorage":
    """Return the storage of a database's URL (contract H2). Nothing is connected to yet.

    Args:
        url: ``sqlite:///file`` or ``mysql+pymysql://user:password@host:port/name``.
        connections: how many connections there may be at once; if not given, as many as callers use: those that read
            and as many that search, one that writes, two that hash passwords in between, and two more for programs
            with threads of their own.
        patience: how many seconds each step of connecting may take; with None, all waits are long, for work that
            nobody waits for in front of a browser.

    Raises:
        SettingsError: the URL cannot be used.
    """
    return SqlStorage(dialect_of(url), connections=connections, patience=patience)


class SqlStorage:
    """The :class:`~logoadmin.ports.storage.Storage` of a database that speaks SQL. Safe to use from several threads."""

    waits = True

    def __init__(self, dialect: Dialect, *, connections: int | None = None, patience: float | None = 0.8) -> None:
        """Use a database; see :func:`open_sql_storage`."""
        self.server = dialect.server
        self.embedded = dialect.embedded
        self.at_once = dialect.at_once
        self._dialect = dialect
        self._hurried = patience is not None
        self._engine = dialect.engine(connections or 2 * dialect.at_once + 5, patience)
        self._driver = self._engine.dialect.loaded_dbapi
        self._statements = Statements(
            self._engine.dialect, together=dialect.together, holding_little=dialect.holding_little
        )
        self._breaker = Breaker()
        self._outages = Outages(dialect.server)
        self._groups = threading.local()
        self._schema = Schema(dialect)

    def read(self, work: Callable[[UnitOfWork], Answer]) -> Answer:
        """Run the work with each statement a transaction of its own: no BEGIN, no ROLLBACK, one round trip each."""
        return self._call(lambda connection: work(unit_of_work(Transaction(connection, self._statements))))

    def snapshot(self, work: Callable[[UnitOfWork], Answer]) -> Answer:
        """Run the work in a transaction that sees one moment."""

        def within(transaction: Transaction) -> Answer:
            transaction.begin(self._dialect.begin_snapshot)
            return work(unit_of_work(transaction))

        return self._call(lambda connection: self._kept_or_undone(connection, within))

    def write(self, work: Callable[[UnitOfWork], Answer]) -> Answer:
        """Run the work in a transaction, from its start again where the database undid all of it."""
        group = self._group
        return self._written(lambda transaction: work(unit_of_work(transaction))) if group is None else group.run(work)

    def try_write(self, work: Callable[[UnitOfWork], object]) -> bool:
        """Run the work in a transaction if that can begin at once."""
        group = self._group
        if group is not None:
            group.run(work)
            return True
        try:
            self._once(partial(self._write_at_once, work))
        except Failure:
            return False
        return True

    def _write_at_once(self, work: Callable[[UnitOfWork], object], connection: PoolProxiedConnection) -> None:
        with self._dialect.without_waiting(connection):
            self._kept_or_undone(connection, partial(self._begun_at_once, work))

    def _begun_at_once(self, work: Callable[[UnitOfWork], object], transaction: Transaction) -> None:
        transaction.take_write_lock(self._dialect.begin_write, wait=False)
        work(unit_of_work(transaction))

    def atomic(self, calls: Callable[[], Answer]) -> Answer:
        """Run calls whose writes are one transaction, from their start again where the database undid all of it."""

        def within(transaction: Transaction) -> Answer:
            self._groups.now = group = _Group(self, transaction)
            try:
                return calls()
            finally:
                self._groups.now = None
                # In the place of an answer as of an error: neither is worth anything now.
                group.check()

        group = self._group
        return self._written(within) if group is None else group.run(lambda _: calls())

    def translated(self) -> AbstractContextManager[None]:
        """Turn what goes wrong on a connection that worked into :class:`Failure`."""
        return translated(self._dialect.judge, self._driver, connected=True)

    def is_empty(self) -> bool:
        """Tell whether the tables are still to be made.

        Raises:
            StorageUnavailable: the database is out of reach.
        """
        return not self._dialect.exists() or self._call(self._looking(self._schema.is_empty))

    def check_schema(self) -> None:
        """Make sure that the tables are those of this program.

        Raises:
            SchemaMismatch: they are older, newer or not there; the text says what to do.
            StorageUnavailable: the database is out of reach.
        """
        if not self._dialect.exists():
            raise TablesMissing(self.server)
        self._call(self._looking(self._schema.check))

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
            with translated(self._dialect.judge, self._driver), engine.connect() as connection:
                return self._prepared(connection, first)
        except Failure as failure:
            cause = failure.cause
            if cause is Cause.NO_RIGHTS and failure.fault is Fault.BUSY:
                raise StartError(
                    f"The database user at {self.server} may not make tables; grant it ALL on the database"
                ) from None
        finally:
            engine.dispose()
        raise StorageUnavailable(self.server, cause)

    def data_version(self) -> int | None:
        """Return nothing: looking takes a wait."""
        return None

    def late(self, *, writing: bool) -> StorageUnavailable:
        """Return what to tell somebody who waits no longer."""
        self._outages.failed(Cause.TOO_BUSY, "late", in_writing=writing)
        return StorageUnavailable(self.server, Cause.TOO_BUSY)

    def close(self) -> None:
        """Let go of the connections."""
        self._engine.dispose()

    def _prepared(self, connection: Connection, first: Callable[[UnitOfWork], Answer]) -> Answer:
        with self._dialect.alone(connection) as begin_write:
            self._schema.prepare(connection)
            transaction = Transaction(connection.connection, self._statements)
            transaction.take_write_lock(begin_write)
            answer = first(unit_of_work(transaction))
            transaction.finish()
        return answer

    @property
    def _group(self) -> "_Group | None":
        group: _Group | None = getattr(self._groups, "now", None)
        return group

    def _looking(self, look: Callable[[Connection], Answer]) -> Callable[[PoolProxiedConnection], Answer]:
        """Lend a connection to what looks at the tables with SQLAlchemy."""
        return lambda connection: look(Connection(self._engine, connection))

    def _written(self, work: Callable[[Transaction], Answer]) -> Answer:
        def within(transaction: Transaction) -> Answer:
            transaction.take_write_lock(self._dialect.begin_write)
            return work(transaction)

        def in_turn(connection: PoolProxiedConnection) -> Answer:
            with self._dialect.turn():
                return self._kept_or_undone(connection, within)

        return self._call(in_turn, writing=True)

    def _kept_or_undone(self, connection: PoolProxiedConnection, work: Callable[[Transaction], Answer]) -> Answer:
        # SQLAlchemy's own transactions cannot say BEGIN IMMEDIATE, and would have every read pay for one.
        transaction = Transaction(connection, self._statements)
        try:
            answer = work(transaction)
            self._commit(transaction)
        except BaseException:
            if transaction.begun:
                self._undo(connection)
            raise
        return answer

    def _commit(self, transaction: Transaction) -> None:
        transaction.finish()
        try:
            with self.translated():
                transaction.commit()
        except Failure as failure:
            # Of a conflict alone it is certain that nothing was kept.
            failure.unsure = failure.fault is not Fault.CONFLICT
            raise
        except self._driver.Error as error:
            raise Failure(unnamed(error), error, unsure=True) from None

    def _undo(self, connection: PoolProxiedConnection) -> None:
        try:
            connection.cursor().execute("ROLLBACK")
        except Exception:
            # Whatever is wrong with it: the server undoes the transaction when the connection ends.
            connection.invalidate()

    def _call(self, transaction: Callable[[PoolProxiedConnection], Answer], *, writing: bool = False) -> Answer:
        """Make one call to the database, unless it was out of reach a moment ago."""
        if not self._breaker.admits():
            raise StorageUnavailable(self.server, self._outages.latest)
        answered: bool | None = True
        try:
            answer = self._repeat(transaction)
        except Failure as failure:
            cause = failure.cause
            # A connection that broke may have been the only one: whether the server is gone, the next one tells.
            answered = None if failure.lost or failure.code == "pool" else not failure.is_broken
            if failure.fault is Fault.REFUSED and not failure.unsure:
                raise failure.error from None
            self._outages.failed(cause, failure.code, in_writing=writing and failure.fault is not Fault.GONE)
        except LogoAdminError:
            self._outages.answered(writing=False)
            raise
        else:
            self._outages.answered(writing=writing)
            return answer
        finally:
            self._breaker.leave(answered)
        # Out here, so that the error drags no text of the driver's along.
        raise StorageUnavailable(self.server, cause)

    def _repeat(self, transaction: Callable[[PoolProxiedConnection], Answer]) -> Answer:
        began = time.monotonic()
        repeated = 0
        while True:
            try:
                return self._once(transaction)
            except Failure as failure:
                if failure.unsure or not self._worth_repeating(failure, repeated, time.monotonic() - began):
                    raise
            repeated += 1
            time.sleep(random.uniform(0, _PAUSE * repeated))  # noqa: S311 (no secret depends on it)

    def _once(self, transaction: Callable[[PoolProxiedConnection], Answer]) -> Answer:
        pool = self._engine.pool
        with translated(self._dialect.judge, self._driver):
            connection = self._engine.raw_connection()
        try:
            with self.translated():
                return transaction(connection)
        except Failure as failure:
            if failure.lost:
                if connection.is_valid:
                    connection.invalidate()
                # Those that rest in the pool were most likely lost with it.
                if failure.fault is Fault.GONE and self._engine.pool is pool:
                    self._engine.dispose()
            raise
        finally:
            connection.close()

    def _worth_repeating(self, failure: Failure, repeated: int, passed: float) -> bool:
        if failure.is_broken:
            return failure.lost and repeated == 0 and passed < _AT_ONCE
        in_time = passed < _SOON or not self._hurried
        return failure.fault in {Fault.CONFLICT, Fault.REFUSED} and repeated < _REPEATS and in_time


class _Group:
    """Writes of one thread that are one transaction; after a failure of the database nothing more is done in it."""

    def __init__(self, storage: SqlStorage, transaction: Transaction) -> None:
        self._storage = storage
        self._transaction = transaction
        self._failure: Failure | None = None

    def run(self, work: Callable[[UnitOfWork], Answer]) -> Answer:
        """Return the answer of work, which undoes itself alone if it raises."""
        if self._failure is None:
            try:
                with self._storage.translated():
                    return self._transaction.part(lambda: work(unit_of_work(self._transaction)))
            except Failure as failure:
                self._failure = failure
        raise StorageUnavailable(self._storage.server, self._failure.cause)

    def check(self) -> None:
        """Raise what the database failed with, if it did."""
        if self._failure is not None:
            raise self._failure
