"""Group commit: concurrent writes share one transaction and its commit."""

import os
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeVar
from weakref import WeakSet

from logoadmin.domain.model.causes import Cause
from logoadmin.domain.model.errors import StorageUnavailable
from logoadmin.ports.storage import UnitOfWork

Answer = TypeVar("Answer")

# No more writes than this share a transaction, so that none waits long for the others.
_MAX_GROUP: Final = 32
# After this many seconds a write competes for the database alone; both waits together stay below those of contract A20.
_TURN_WAIT: Final = 0.5


class Write(Protocol):
    """Runs a unit-of-work function in a transaction of its own."""

    def __call__(self, work: Callable[[UnitOfWork], Answer], /) -> Answer:
        """Return its answer, once the changes are durable."""


@dataclass(slots=True, eq=False)
class _Entry:
    """A unit-of-work function, and its result."""

    work: Callable[[UnitOfWork], Any]
    answer: Any = None
    error: BaseException | None = None
    done: threading.Event = field(default_factory=threading.Event)


class GroupCommit:
    """Runs writes of several threads. The thread whose turn it is runs all that wait, and then wakes their threads.

    In a group, each write has a savepoint: one that raises undoes its own changes, and the others go on. A failure of
    the database is the result of all of them; after a conflict, the whole group is run again. If the thread that runs a
    group is interrupted, the outcome is unknown, and the others get the error for that.
    """

    def __init__(self, write: Write, server: str) -> None:
        """Run writes to a database; ``server`` is its name in errors."""
        self._write = write
        self._server = server
        self.begin()
        _all.add(self)

    def begin(self) -> None:
        """Start with an empty queue: a forked process has none of the waiting threads."""
        self._turn = threading.Lock()
        self._lock = threading.Lock()
        self._waiting: deque[_Entry] = deque()

    def run(self, work: Callable[[UnitOfWork], Answer]) -> Answer:
        """Return the answer of a write, or raise its error."""
        entry = _Entry(work)
        with self._lock:
            self._waiting.append(entry)
        try:
            if self._turn.acquire(timeout=_TURN_WAIT):
                try:
                    while group := self._next_group(entry):
                        self._run_group(group)
                finally:
                    self._turn.release()
            elif self._withdraw(entry):
                return self._write(work)
            entry.done.wait()
        except BaseException:
            self._withdraw(entry)  # interrupted: it must not run later
            raise
        if entry.error is not None:
            raise entry.error
        answer: Answer = entry.answer
        return answer

    def _withdraw(self, entry: _Entry) -> bool:
        """Withdraw a write, and return whether it had not started."""
        with self._lock:
            if entry not in self._waiting:
                return False
            self._waiting.remove(entry)
            return True

    def _next_group(self, entry: _Entry) -> list[_Entry]:
        """Return the writes that have waited longest; none if this write is no longer waiting."""
        group: list[_Entry] = []
        with self._lock:
            if entry in self._waiting:
                while self._waiting and len(group) < _MAX_GROUP:
                    group.append(self._waiting.popleft())
        return group

    def _run_group(self, group: list[_Entry]) -> None:
        try:
            if len(group) == 1:
                self._run_alone(group[0])
            else:
                self._run_together(group)
        except BaseException:
            for entry in group:
                entry.error = StorageUnavailable(self._server, Cause.TOO_BUSY)
            raise
        finally:
            for entry in group:
                entry.done.set()

    def _run_alone(self, entry: _Entry) -> None:
        try:
            entry.answer = self._write(entry.work)
        except Exception as error:
            entry.error = error

    def _run_together(self, group: list[_Entry]) -> None:
        def together(uow: UnitOfWork) -> None:
            for entry in group:
                entry.answer = entry.error = None
                try:
                    with uow.savepoint():
                        entry.answer = entry.work(uow)
                except Exception as error:
                    entry.error = error

        try:
            self._write(together)
        except StorageUnavailable as error:
            for entry in group:
                entry.error = StorageUnavailable(error.server, error.cause)
        except Exception:
            # A fault that a single write must have caused.
            for entry in group:
                self._run_alone(entry)


_all: Final[WeakSet[GroupCommit]] = WeakSet()


def _begin_all() -> None:
    for group_commit in _all:
        group_commit.begin()


os.register_at_fork(after_in_child=_begin_all)
