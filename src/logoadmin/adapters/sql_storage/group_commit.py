"""Group commit: concurrent writes share one transaction and its commit."""

import os
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeVar
from weakref import WeakSet

from logoadmin.adapters.sql_storage.databases import Dialect
from logoadmin.adapters.sql_storage.pool import ConnectionPool
from logoadmin.adapters.sql_storage.transaction import Transaction
from logoadmin.adapters.sql_storage.unit_of_work import Savepoints, SqlUnitOfWork
from logoadmin.domain.kernel.causes import Cause
from logoadmin.domain.kernel.errors import StorageUnavailable
from logoadmin.ports.storage import UnitOfWork

Answer = TypeVar("Answer")

# No more writes than this share a transaction, so that none waits long for the others.
_MAX_GROUP: Final = 32
# After this many seconds a write competes for the database alone; both waits together stay below those of contract A20.
_TURN_WAIT: Final = 0.5


@dataclass(slots=True, eq=False)
class _Entry:
    """A unit-of-work function, and its result. Its thread waits for ``wake`` until it is done or leads."""

    work: Callable[[UnitOfWork], Any]
    answer: Any = None
    error: BaseException | None = None
    leads: bool = False
    wake: threading.Lock = field(default_factory=threading.Lock)


class GroupCommit:
    """Runs writes of several threads. The thread that leads runs all that wait, wakes the next leader and then theirs.

    A write of a group that is refused before it has changed anything is left out. If one is refused later, the whole
    group is undone and run again with a savepoint for each write: then it undoes its own changes, and the others go on.
    A failure of the database is the result of all of them; after a conflict, the whole group is run again. If the
    thread that leads is interrupted, the outcome is unknown, and the others get the error for that.
    """

    def __init__(self, pool: ConnectionPool, dialect: Dialect) -> None:
        """Run writes to a database."""
        self._pool, self._dialect, self._server = pool, dialect, dialect.server
        self.begin()
        _all.add(self)

    def begin(self) -> None:
        """Start with an empty queue: a forked process has none of the waiting threads."""
        self._lock = threading.Lock()
        self._is_led = False
        self._waiting: deque[_Entry] = deque()

    def run(self, work: Callable[[UnitOfWork], Answer], *, alone: bool = False) -> Answer:
        """Return the answer of a write, or raise its error; it shares its transaction unless it runs ``alone``."""
        entry = _Entry(work)
        if not alone:
            with self._lock:
                entry.leads = not self._is_led
                if self._is_led:
                    entry.wake.acquire()
                    self._waiting.append(entry)
                self._is_led = True
        if alone or not (entry.leads or self._is_woken(entry)):
            self._run_alone(entry)
        elif entry.leads:
            self._lead(entry)
        if entry.error is not None:
            raise entry.error
        answer: Answer = entry.answer
        return answer

    def _is_woken(self, entry: _Entry) -> bool:
        """Wait until a write is done or leads; return False if it has waited too long and was withdrawn."""
        try:
            if not entry.wake.acquire(timeout=_TURN_WAIT):
                if self._withdraw(entry):
                    return False
                entry.wake.acquire()  # its group has begun
        except BaseException:  # interrupted: it must not run later
            if not self._withdraw(entry) and entry.leads:
                self._pass_lead()
            raise
        return True

    def _withdraw(self, entry: _Entry) -> bool:
        """Withdraw a write, and return whether it still waited."""
        with self._lock:
            waits = entry in self._waiting
            if waits:
                self._waiting.remove(entry)
            return waits

    def _pass_lead(self) -> None:
        """Let the write lead that has waited longest."""
        with self._lock:
            self._is_led = bool(self._waiting)
            if self._is_led:
                following = self._waiting.popleft()
                following.leads = True
                following.wake.release()

    def _lead(self, entry: _Entry) -> None:
        """Run a write together with those that have waited longest."""
        group = [entry]
        try:
            with self._lock:
                group += [self._waiting.popleft() for _ in range(min(len(self._waiting), _MAX_GROUP - 1))]
            if len(group) == 1:
                self._run_alone(entry)
            else:
                self._run_together(group)
        except BaseException:
            for other in group:
                other.error = StorageUnavailable(self._server, Cause.TOO_BUSY)
            raise
        finally:
            self._pass_lead()
            for other in group[1:]:
                other.wake.release()

    def _run_alone(self, entry: _Entry) -> None:
        entry.error = None
        try:
            self._pool.call(partial(self._write, [entry], None), writing=True)
        except Exception as error:
            entry.error = error

    def _run_together(self, group: list[_Entry]) -> None:
        try:
            try:
                self._pool.call(partial(self._write, group, self._work_unless_refused), writing=True)
            except _LateRefusal:
                self._pool.call(partial(self._write, group, self._work_in_savepoint), writing=True)
        except StorageUnavailable as error:
            for entry in group:
                entry.error = StorageUnavailable(error.server, error.cause)
        except Exception:  # a fault that a single write must have caused
            for entry in group:
                self._run_alone(entry)

    def _write(
        self,
        group: list[_Entry],
        run: Callable[[_Entry, SqlUnitOfWork, Transaction], None] | None,
        transaction: Transaction,
    ) -> None:
        """Run writes in one transaction, and commit them; ``run`` decides what happens to one that is refused."""
        transaction.take_write_lock(self._dialect.begin_write)
        savepoints = Savepoints(self._server, self._pool.driver_errors, transaction)
        try:
            for entry in group:
                uow = SqlUnitOfWork(transaction, savepoints.scope)
                if run is None:
                    entry.answer = entry.work(uow)
                else:
                    run(entry, uow, transaction)
        finally:
            if savepoints.failure is not None:  # even if the work caught the error
                raise savepoints.failure
        self._pool.commit(transaction)

    def _work_unless_refused(self, entry: _Entry, uow: SqlUnitOfWork, transaction: Transaction) -> None:
        entry.error = None
        transaction.start_part()
        try:
            entry.answer = entry.work(uow)
        except Exception as error:
            if self._pool.driver_errors.failure(error) is not None:
                raise
            if not transaction.forget():
                raise _LateRefusal from None
            entry.error = error

    @staticmethod
    def _work_in_savepoint(entry: _Entry, uow: SqlUnitOfWork, _: Transaction) -> None:
        entry.error = None
        try:
            with uow.savepoint():
                entry.answer = entry.work(uow)
        except Exception as error:
            entry.error = error


class _LateRefusal(Exception):
    """Ends a group of which one write was refused after it had changed something; not an error."""


_all: Final[WeakSet[GroupCommit]] = WeakSet()
os.register_at_fork(after_in_child=lambda: list(map(GroupCommit.begin, _all)))
