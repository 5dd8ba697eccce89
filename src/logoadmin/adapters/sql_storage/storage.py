"""The storage: runs calls as transactions, with their repositories, and manages the tables."""

from collections.abc import Callable
from functools import partial
from itertools import count
from typing import TypeVar

from sqlalchemy import Connection

from logoadmin.adapters.sql_storage import schema
from logoadmin.adapters.sql_storage.databases import Dialect, connections_of, dialect_of
from logoadmin.adapters.sql_storage.failures import Failure, FailureKind
from logoadmin.adapters.sql_storage.group_commit import GroupCommit
from logoadmin.adapters.sql_storage.pool import RETRIES, STEP_TIMEOUT, ConnectionPool
from logoadmin.adapters.sql_storage.transaction import Transaction
from logoadmin.adapters.sql_storage.unit_of_work import SqlUnitOfWork
from logoadmin.domain.kernel.causes import Cause
from logoadmin.domain.kernel.errors import StartError, StorageUnavailable, TablesMissing
from logoadmin.domain.kernel.records import StoredRecord
from logoadmin.ports.metrics import Metrics
from logoadmin.ports.storage import UnitOfWork

Answer = TypeVar("Answer")
Record = TypeVar("Record", bound=StoredRecord)


def open_sql_storage(
    url: str, *, connections: int | None = None, timeout: float | None = STEP_TIMEOUT, metrics: Metrics | None = None
) -> "SqlStorage":
    """Return the storage of a database's URL, without connecting (contract H2).

    The URL is ``sqlite:///file`` or ``mysql+pymysql://user:password@host:port/name``. By default, it has as many
    connections as callers use, see :func:`~logoadmin.adapters.sql_storage.databases.connections_of`. Each step of
    connecting takes at most ``timeout`` seconds; None for work without a waiting user.

    Raises:
        SettingsError: the URL cannot be used.
    """
    return SqlStorage(dialect_of(url), connections, timeout, metrics or Metrics())


class SqlStorage:
    """The :class:`~logoadmin.ports.storage.StorageLifecycle` of a database that speaks SQL."""

    waits = True

    def __init__(self, dialect: Dialect, connections: int | None, timeout: float | None, metrics: Metrics) -> None:
        """See :func:`open_sql_storage`."""
        self.server = dialect.server
        self.embedded = dialect.embedded
        self.concurrent_reads = dialect.concurrent_reads
        self.product = dialect.product
        self._dialect = dialect
        self._pool = ConnectionPool(dialect, connections or connections_of(dialect), timeout, metrics)
        self._group_commit = GroupCommit(self._pool, dialect)

    def read(self, work: Callable[[UnitOfWork], Answer]) -> Answer:
        """Run the work with each statement as its own transaction, in one round trip."""
        return self._pool.call(lambda transaction: work(SqlUnitOfWork(transaction)))

    def snapshot(self, work: Callable[[UnitOfWork], Answer]) -> Answer:
        return self._pool.call(partial(self._snapshot, work))

    def write(self, work: Callable[[UnitOfWork], Answer], *, alone: bool = False) -> Answer:
        """Run the work in a transaction, and retry it from the start if the database rolled it back."""
        return self._group_commit.run(work, alone=alone)

    def try_write(self, work: Callable[[UnitOfWork], object]) -> bool:
        try:
            self._pool.once(partial(self._write_at_once, work))
        except Failure:
            return False
        return True

    def is_empty(self) -> bool:
        return not self._dialect.exists() or self._pool.call(self._pool.on_connection(schema.is_empty))

    def check(self) -> None:
        if not self._dialect.exists():
            raise TablesMissing(self.server)
        self._pool.call(self._pool.on_connection(schema.check))

    def prepare(self, first: Callable[[UnitOfWork], Answer | None] = lambda _: None) -> Answer | None:
        return self.prepare_and(lambda _, transaction: first(SqlUnitOfWork(transaction)))

    def prepare_and(self, work: Callable[[Connection, Transaction], Answer]) -> Answer:
        """Create or migrate the tables, and work on them as :meth:`prepare` does, with their connection as well."""
        self._dialect.create()
        for retried in count():
            try:
                return self._prepare(work)
            except Failure as failure:
                if failure.kind is FailureKind.CONFLICT and retried < RETRIES:
                    continue
                cause, detail = failure.cause, failure.detail
                if cause is Cause.NO_RIGHTS and failure.kind is FailureKind.BUSY:
                    who = f"The database user at {self.server}"
                    raise StartError(f"{who} may not make tables; grant it ALL on the database") from None
                break
        raise StorageUnavailable(self.server, cause, detail)

    def data_version(self) -> int | None:
        return self._dialect.data_version()

    def erase_removed(self) -> bool:
        return self._dialect.erase_removed()

    def is_failing(self) -> bool:
        return self._pool.failure_log.lasting() is not None

    def timed_out(self, *, writing: bool) -> StorageUnavailable:
        cause = self._pool.failure_log.lasting()  # a server that hangs keeps its callers longer than they wait
        if cause is None:
            cause = Cause.TOO_BUSY
            self._pool.failure_log.record_failure(cause, "late", in_writing=writing)
        return StorageUnavailable(self.server, cause)

    def close(self) -> None:
        self._dialect.close()
        self._pool.close()

    def _prepare(self, work: Callable[[Connection, Transaction], Answer]) -> Answer:
        engine = self._dialect.engine(2, None)  # one to migrate, and one to renew the lease
        try:
            with engine.connect() as connection:
                return self._prepared(connection, work)
        except Exception as error:
            failure = self._pool.driver_errors.failure(error)
            if failure is None:
                raise
            raise failure from None
        finally:
            engine.dispose()

    def _prepared(self, connection: Connection, work: Callable[[Connection, Transaction], Answer]) -> Answer:
        schema.load_migrations(connection)
        with self._dialect.migration_lock(connection) as begin_write:
            schema.prepare(connection, self._dialect.table_options(connection))
            transaction = Transaction(connection.connection, self._pool.statements)
            transaction.take_write_lock(begin_write)
            answer = work(connection, transaction)
            transaction.finish()
        return answer

    def _snapshot(self, work: Callable[[UnitOfWork], Answer], transaction: Transaction) -> Answer:
        transaction.begin(self._dialect.begin_snapshot)
        answer = work(SqlUnitOfWork(transaction))
        self._pool.commit(transaction)
        return answer

    def _write_at_once(self, work: Callable[[UnitOfWork], object], transaction: Transaction) -> None:
        with self._dialect.without_waiting(transaction.connection):
            transaction.take_write_lock(self._dialect.begin_write, wait=False)
            work(SqlUnitOfWork(transaction))
            self._pool.commit(transaction)
