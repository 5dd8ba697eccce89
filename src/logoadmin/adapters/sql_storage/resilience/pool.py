"""The pool of connections, and calls with one of them: spared, made again, counted where the database fails."""

import random
import time
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

from sqlalchemy import Connection, Pool, PoolProxiedConnection

from logoadmin.adapters.sql_storage.databases.dialect import Dialect
from logoadmin.adapters.sql_storage.driver_errors import DriverErrors, Failure, FailureKind
from logoadmin.adapters.sql_storage.resilience.breaker import Breaker
from logoadmin.adapters.sql_storage.resilience.failure_log import Outages
from logoadmin.adapters.sql_storage.statements import StatementCompiler
from logoadmin.adapters.sql_storage.transaction import Transaction
from logoadmin.domain.model.causes import Cause
from logoadmin.domain.model.errors import LogoAdminError, StorageUnavailable
from logoadmin.ports.metrics import Metrics
from logoadmin.ports.storage import WouldBlock

Answer = TypeVar("Answer")
Given = ParamSpec("Given")

# Seconds that each step of reaching a database may take while somebody waits, so that all of them together stay below
# the 2 s within which a service answers (contract A20).
STEP_TIMEOUT: Final = 0.8
# How often a transaction that met another is tried again, and after how many seconds, at random up to this, each time.
RETRIES: Final = 3
_PAUSE: Final = 0.02
# After so many seconds an answer that says no is worth more than another try (contract A20).
_SOON: Final = 0.8
# A connection that breaks so soon may be one of many; after a longer wait there is no time for a second try.
_BROKEN_SOON: Final = 0.2


class GuardedPool:
    """The connections to one database. Safe to use from several threads.

    A *way* of making a call is a function of a transaction that has not begun, and of the work to be done in it.

    Attributes:
        engine: SQLAlchemy's engine, which has the connections.
        driver_errors: what the errors of its driver mean.
        outages: what fails at the moment.
    """

    def __init__(self, dialect: Dialect, connections: int, timeout: float | None, metrics: Metrics) -> None:
        """Have so many connections at most; nothing is connected to yet.

        Args:
            dialect: the database.
            connections: how many there may be at once.
            timeout: how many seconds each step of connecting may take; None where nobody waits for it.
            metrics: counts the calls.
        """
        self._server = dialect.server
        self._interactive = timeout is not None
        self.engine = dialect.engine(connections, timeout)
        self._statements = StatementCompiler(self.engine.dialect, dialect.page_cursor)
        self.driver_errors = DriverErrors(dialect.classify, self.engine.dialect.loaded_dbapi)
        self.outages = Outages(dialect.server)
        self._breaker = Breaker()
        self._metrics = metrics

    def call(
        self,
        way: Callable[[Transaction, Callable[Given, Answer]], Answer],
        work: Callable[Given, Answer],
        *,
        writing: bool = False,
    ) -> Answer:
        """Make one call to the database, unless it was out of reach a moment ago, and count what came of it.

        Raises:
            StorageUnavailable: it failed, or did a moment ago; and whatever the work raises.
        """
        if not self._breaker.is_closed and not self._breaker.lets_through():
            self._metrics.database_call("not_tried", None, breaker_open=True)
            raise StorageUnavailable(self._server, self.outages.latest)
        outcome, began = "ok", time.perf_counter()
        try:
            return self._let_through(way, work, writing)
        except StorageUnavailable as error:
            outcome = error.cause.code
            raise
        finally:
            self._count(outcome, began)

    def once(
        self, way: Callable[[Transaction, Callable[Given, Answer]], Answer], work: Callable[Given, Answer]
    ) -> Answer:
        """Make a call at the first try, whatever failed before, and count nothing.

        Raises:
            Failure: the database failed; and whatever the work raises.
        """
        pool, connection = self.engine.pool, None
        try:
            connection = self.engine.raw_connection()
            return way(self.transaction(connection), work)
        except Exception as error:
            failure = self.driver_errors.failure(error, connected=connection is not None)
            if failure is None:
                raise
            if failure.lost and connection is not None:
                self._let_go(connection, pool, of_all=failure.kind is FailureKind.GONE and not failure.slow)
            raise failure from None
        finally:
            if connection is not None:
                connection.close()

    def nonblocking(
        self,
        connection: PoolProxiedConnection,
        way: Callable[[Transaction, Callable[Given, Answer]], Answer],
        work: Callable[Given, Answer],
    ) -> Answer:
        """Make a call with a connection that waits for nothing, and count it if it was made.

        Raises:
            WouldBlock: the database failed, now or lately; :meth:`call` finds out what is to be done about it.
        """
        if not (self._breaker.is_closed and self.outages.all_is_well):
            raise WouldBlock
        began = time.perf_counter()
        try:
            answer = way(self.transaction(connection), work)
        except Exception as error:
            failure = self.driver_errors.failure(error)
            if failure is None and not self.driver_errors.is_of_database(error):
                self._count("ok", began)
                raise
            # One that met a lock, or whose statement was ended, is as good as before.
            if failure is None or failure.cause is not Cause.TOO_BUSY:
                connection.invalidate()
            raise WouldBlock from None
        self._count("ok", began)
        return answer

    def transaction(self, connection: PoolProxiedConnection) -> Transaction:
        """Return a transaction of a connection that has not begun."""
        return Transaction(connection, self._statements)

    def connection_of(self, transaction: Transaction) -> Connection:
        """Return a transaction's connection as SQLAlchemy's own queries take it."""
        return Connection(self.engine, transaction.connection)

    def close(self) -> None:
        """Let go of the connections."""
        self.engine.dispose()

    def _count(self, outcome: str, began: float) -> None:
        seconds = time.perf_counter() - began
        self._metrics.database_call(outcome, seconds, breaker_open=not self._breaker.is_closed)

    def _let_through(
        self,
        way: Callable[[Transaction, Callable[Given, Answer]], Answer],
        work: Callable[Given, Answer],
        writing: bool,
    ) -> Answer:
        try:
            answer = self._retry(way, work)
        except Failure as failure:
            cause = self._failed(failure, writing)
        except BaseException as error:
            self._breaker.leave(answered=True)
            if isinstance(error, LogoAdminError):
                self.outages.answered(writing=False)
            raise
        else:
            if not self._breaker.is_closed:
                self._breaker.leave(answered=True)
            if not self.outages.all_is_well:
                self.outages.answered(writing=writing)
            return answer
        # Out here, so that the error drags no text of the driver's along.
        raise StorageUnavailable(self._server, cause)

    def _failed(self, failure: Failure, writing: bool) -> Cause:
        """Take note of a failure and return its cause; raise the error itself where a key refused a mistake of ours."""
        # A connection that broke may have been the only one: whether the server is gone, the next one tells.
        self._breaker.leave(None if failure.lost or failure.code == "pool" else not failure.is_broken)
        if failure.kind is FailureKind.REFUSED and not failure.unsure:
            raise failure.error from None
        self.outages.failed(failure.cause, failure.code, in_writing=writing and failure.kind is not FailureKind.GONE)
        return failure.cause

    def _retry(
        self, way: Callable[[Transaction, Callable[Given, Answer]], Answer], work: Callable[Given, Answer]
    ) -> Answer:
        began = time.monotonic()
        retried = 0
        while True:
            try:
                return self.once(way, work)
            except Failure as failure:
                if failure.unsure or not self._worth_retrying(failure, retried, time.monotonic() - began):
                    raise
            retried += 1
            time.sleep(random.uniform(0, _PAUSE * retried))  # noqa: S311 (no secret depends on it)

    def _let_go(self, connection: PoolProxiedConnection, pool: Pool, *, of_all: bool) -> None:
        if connection.is_valid:
            connection.invalidate()
        # Those that rest in the pool were most likely lost with it.
        if of_all and self.engine.pool is pool:
            self.engine.dispose()

    def _worth_retrying(self, failure: Failure, retried: int, passed: float) -> bool:
        if failure.is_broken:
            return failure.lost and retried == 0 and passed < _BROKEN_SOON
        in_time = passed < _SOON or not self._interactive
        return failure.kind in {FailureKind.CONFLICT, FailureKind.REFUSED} and retried < RETRIES and in_time
