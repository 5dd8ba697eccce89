"""The connection pool, with retries and metrics."""

import random
import time
from collections.abc import Callable
from typing import Final, TypeVar

from sqlalchemy import Connection, Pool, PoolProxiedConnection

from logoadmin.adapters.sql_storage.databases import Dialect
from logoadmin.adapters.sql_storage.failures import DriverErrors, Failure, FailureKind, FailureLog, error_of
from logoadmin.adapters.sql_storage.statements import StatementCompiler
from logoadmin.adapters.sql_storage.transaction import Transaction
from logoadmin.domain.kernel.causes import Cause
from logoadmin.domain.kernel.errors import LogoAdminError, StorageUnavailable
from logoadmin.ports.metrics import Metrics

Answer = TypeVar("Answer")

# Seconds that each step of reaching a database may take while somebody waits, so that all of them together stay below
# the 2 s within which a service answers (contract A20).
STEP_TIMEOUT: Final = 0.8
# The number of retries after a conflict, and the longest random pause in seconds before the first of them.
RETRIES: Final = 3
_PAUSE: Final = 0.02
# After this many seconds a quick refusal is worth more than another try (contract A20).
_SOON: Final = 0.8
# A connection that breaks this early may be one of many; later, there is no time for a second try.
_BROKEN_SOON: Final = 0.2


class ConnectionPool:
    """The connections to one database, which SQLAlchemy's engine owns. Safe to use from several threads."""

    def __init__(self, dialect: Dialect, connections: int, timeout: float | None, metrics: Metrics) -> None:
        """Set the pool up; no connection is opened yet.

        Each step of connecting takes at most ``timeout`` seconds; None for work that no user waits for.
        """
        self._server = dialect.server
        self._interactive = timeout is not None
        self.engine = dialect.engine(connections, timeout)
        self.statements = StatementCompiler(self.engine.dialect, dialect.page_cursor)
        self.driver_errors = DriverErrors(dialect.classify, self.engine.dialect.loaded_dbapi)
        self.failure_log = FailureLog(dialect.server)
        self._metrics = metrics

    def call(self, work: Callable[[Transaction], Answer], *, writing: bool = False) -> Answer:
        """Make one call to the database, and count it by its outcome.

        The work is given a transaction that has not begun. Raises StorageUnavailable if the call failed,
        TooLargeToStore if the server does not accept a row of this size, and the errors of the work.
        """
        outcome, began = "ok", time.perf_counter()
        try:
            answer = self._retry(work)
        except Failure as failure:
            cause = self._failed(failure, writing)
            detail = failure.detail
            outcome = cause.code
        except BaseException as error:
            if isinstance(error, LogoAdminError):
                self.failure_log.record_success(writing=False)
            if isinstance(error, StorageUnavailable):
                outcome = error.cause.code
            raise
        else:
            if not self.failure_log.has_no_failures:
                self.failure_log.record_success(writing=writing)
            return answer
        finally:
            self._metrics.database_call(outcome, time.perf_counter() - began)
        # Outside the except block, so that the error does not reference the driver's text.
        raise error_of(self._server, cause, detail)

    def once(self, work: Callable[[Transaction], Answer]) -> Answer:
        """Make a call once, uncounted; raise Failure if the database failed."""
        pool, connection = self.engine.pool, None
        try:
            connection = self.engine.raw_connection()
            transaction = Transaction(connection, self.statements)
            try:
                return work(transaction)
            except BaseException:
                transaction.undo()
                raise
        except Exception as error:
            failure = self.driver_errors.failure(error, connected=connection is not None)
            if failure is None:
                raise
            if failure.lost and connection is not None:
                self._drop(connection, pool, of_all=failure.kind is FailureKind.GONE and not failure.slow)
            raise failure from None
        finally:
            if connection is not None:
                connection.close()

    def commit(self, transaction: Transaction) -> None:
        """Commit, or raise Failure; of a connection that is lost meanwhile, nobody knows what the server did."""
        transaction.finish()
        try:
            transaction.commit()
        except Exception as error:
            failure = self.driver_errors.failure_of_commit(error)
            if failure is None:
                raise
            raise failure from None

    def on_connection(self, work: Callable[[Connection], Answer]) -> Callable[[Transaction], Answer]:
        """Return work for a call that makes SQLAlchemy's own queries."""
        return lambda transaction: work(Connection(self.engine, transaction.connection))

    def close(self) -> None:
        self.engine.dispose()

    def _failed(self, failure: Failure, writing: bool) -> Cause:
        """Record a failure and return its cause; raise the driver's error if a fault of this program caused it."""
        if failure.kind is FailureKind.REFUSED and not failure.unsure:
            raise failure.error from None
        self.failure_log.record_failure(
            failure.cause, failure.code, in_writing=writing and failure.kind is not FailureKind.GONE
        )
        return failure.cause

    def _retry(self, work: Callable[[Transaction], Answer]) -> Answer:
        began = time.monotonic()
        retried = 0
        while True:
            try:
                return self.once(work)
            except Failure as failure:
                if failure.unsure or not self._worth_retrying(failure, retried, time.monotonic() - began):
                    raise
            retried += 1
            time.sleep(random.uniform(0, _PAUSE * retried))  # noqa: S311 (no secret depends on it)

    def _drop(self, connection: PoolProxiedConnection, pool: Pool, *, of_all: bool) -> None:
        if connection.is_valid:
            connection.invalidate()
        # The idle connections in the pool were most likely lost as well.
        if of_all and self.engine.pool is pool:
            self.engine.dispose()

    def _worth_retrying(self, failure: Failure, retried: int, passed: float) -> bool:
        if failure.is_broken:
            return failure.lost and retried == 0 and passed < _BROKEN_SOON
        in_time = passed < _SOON or not self._interactive
        return failure.kind in {FailureKind.CONFLICT, FailureKind.REFUSED} and retried < RETRIES and in_time
