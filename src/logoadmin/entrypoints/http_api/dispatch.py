"""Calling the core from an event loop: in threads where storage waits, and never for longer than it may (contract A20).

What waits at the same time is not done one by one where that can be helped: calls that change something are kept
together, with one commit, and what many want to know at the same moment is looked up once.
"""

import asyncio
import threading
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, Final, TypeVar

from starlette.types import Scope

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.model.errors import StorageUnavailable
from logoadmin.entrypoints.http_api.errors import HttpError, too_busy
from logoadmin.entrypoints.http_api.work_queue import Done, Job, WorkQueue, one_by_one
from logoadmin.ports.storage import WouldBlock

Answer = TypeVar("Answer")

# Hashing has threads of its own, so that a rush of sign-ins does not keep the readers waiting.
_HASHING_THREADS: Final = 2
# Storage answers or gives up within this (contract A20: 2 s); it is seldom needed, because storage has limits too.
_DEADLINE: Final = 1.9  # seconds
# What takes long may wait so long for what came before it; then it is not begun, and its sender may send it again.
_LONG_WAIT: Final = 30.0  # seconds
# No more writes than this are one transaction, so that none waits long for those that were taken with it.
_MAX_GROUP: Final = 32

# Where in the scope of a request its deadline is.
_IN_SCOPE: Final = "logoadmin.deadline"


def deadline_of(scope: Scope) -> float:
    """Return until when a request has its answer, by the event loop's clock; it counts from the first call of this."""
    deadline: float = scope.get(_IN_SCOPE) or scope.setdefault(_IN_SCOPE, asyncio.get_running_loop().time() + _DEADLINE)
    return deadline


class _Thread(threading.local):
    """What one thread does at the moment.

    Attributes:
        finds: whether it is that of an event loop, which makes a call that should take no time.
    """

    finds = False


_thread: Final = _Thread()


def leave_to_thread() -> None:
    """Have a call that turns out to take long made in a thread, if the event loop makes it itself and need not.

    Raises:
        WouldBlock: it does.
    """
    if _thread.finds:
        raise WouldBlock


class Dispatch:
    """Makes the calls of the core: in threads of its own where storage waits, else right here.

    Few threads: more of them only fight over the interpreter lock. Those who read do not wait for those who write, nor
    for those who search, which may take a thousand times as long.
    """

    def __init__(self, gallery: LogoAdmin) -> None:
        """Serve one gallery. Threads start when they are needed."""
        self._gallery = gallery
        self._readers = WorkQueue(gallery.concurrent_reads, "reading")
        self._searchers = WorkQueue(gallery.concurrent_reads, "searching")
        self._writers = WorkQueue(1, "writing", self._atomically, most=_MAX_GROUP)
        # Sessions have a write lock of their own, and must not wait behind writes of records that wait for an import.
        self._session_writers = WorkQueue(1, "session-writing")
        self._hashing = WorkQueue(_HASHING_THREADS, "hashing")
        self._long_writers = WorkQueue(1, "long-writing")
        self._long_readers = WorkQueue(1, "long-reading")
        self._long_calls = 0
        # One: while it holds the interpreter lock, the event loop waits for no other of its kind.
        self._parsers = WorkQueue(1, "parsing")

    async def finding(
        self, call: Callable[[], Answer], deadline: float | None = None, key: Hashable | None = None
    ) -> Answer:
        """Return the answer of a call that finds a record or two by their keys, and reads nothing else.

        It is made right here where storage finds them at once: to wake a thread takes longer.
        """
        try:
            return self._find(call)
        except WouldBlock:
            return await self.reading(call, deadline, key)

    def _find(self, call: Callable[[], Answer]) -> Answer:
        _thread.finds = True
        try:
            return self._gallery.nonblocking(call)
        finally:
            _thread.finds = False

    async def reading(
        self, call: Callable[[], Answer], deadline: float | None = None, key: Hashable | None = None
    ) -> Answer:
        """Return the answer of a call that reads, and does not search.

        Args:
            call: the call.
            deadline: until when there is time, if that is not counted from now.
            key: what it reads; all who ask for that before the call begins share its answer.

        Raises:
            StorageUnavailable: it took longer than storage may; what it does goes on.
        """
        return await self._from_storage(self._readers, call, self._late_reading, deadline, key)

    async def searching(
        self, call: Callable[[], Answer], deadline: float | None = None, key: Hashable | None = None
    ) -> Answer:
        """Return the answer of a call that searches, in the same way."""
        return await self._from_storage(self._searchers, call, self._late_reading, deadline, key)

    async def writing(self, call: Callable[[], Answer]) -> Answer:
        """Return the answer of a call that changes something.

        Raises:
            StorageUnavailable: it took longer than storage may; what it does goes on, and its outcome is unknown.
        """
        return await self._from_storage(self._writers, call, self._late_writing)

    async def session_writing(self, call: Callable[[], Answer]) -> Answer:
        """Return the answer of a call that changes sessions or keys alone, in the same way."""
        return await self._from_storage(self._session_writers, call, self._late_writing)

    async def long_writing(self, call: Callable[[], Answer]) -> Answer:
        """Return the answer of a call that changes so much that it takes as long as it takes.

        It has a thread also where storage does not wait, and while it is at work all others have one, too: they may
        wait for it, and the event loop must not.

        Raises:
            HttpError: there are so many of them that it could not begin in time, and never will.
        """
        return await self._for_long(self._long_writers, call)

    async def long_reading(self, call: Callable[[], Answer]) -> Answer:
        """Return the answer of a call that reads so much, in the same way."""
        return await self._for_long(self._long_readers, call)

    async def _for_long(self, queue: WorkQueue, call: Callable[[], Answer]) -> Answer:
        self._long_calls += 1
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        timer = loop.call_later(_LONG_WAIT, _withdraw, queue, future)
        try:
            queue.put(call, future)
            answer: Answer = await future
        finally:
            timer.cancel()
            self._long_calls -= 1
        return answer

    async def hashing(self, call: Callable[[], Answer]) -> Answer:
        """Return the answer of a call that hashes a password.

        Raises:
            HttpError: there are so many of them that it took longer than storage may; what it does, if it had begun,
                goes on, and its outcome is unknown.
        """
        return await self._from_thread(self._hashing, call, _late_hashing)

    async def parsing(self, call: Callable[[], Answer]) -> Answer:
        """Return the answer of a call that parses a large body.

        Raises:
            HttpError: there are so many of them that it took longer than storage may.
        """
        return await self._from_thread(self._parsers, call, _late_parsing)

    async def _from_storage(
        self,
        queue: WorkQueue,
        call: Callable[[], Answer],
        late: Callable[[], Exception],
        deadline: float | None = None,
        key: Hashable | None = None,
    ) -> Answer:
        in_thread = self._gallery.waits or self._long_calls
        return await self._from_thread(queue, call, late, deadline, key) if in_thread else call()

    async def _from_thread(
        self,
        queue: WorkQueue,
        call: Callable[[], Answer],
        late: Callable[[], Exception],
        deadline: float | None = None,
        key: Hashable | None = None,
    ) -> Answer:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Answer] = loop.create_future()
        timer = loop.call_at(deadline or loop.time() + _DEADLINE, _give_up, future, late)
        queue.put(call, future, key)
        try:
            return await future
        finally:
            timer.cancel()

    def _late_reading(self) -> StorageUnavailable:
        return self._gallery.timed_out(writing=False)

    def _late_writing(self) -> StorageUnavailable:
        return self._gallery.timed_out(writing=True)

    def _atomically(self, jobs: list[Job]) -> Done:
        """Make calls so that one commit keeps what all of them change; nobody is told before that."""
        try:
            return self._gallery.grouped(partial(one_by_one, jobs)) if len(jobs) > 1 else one_by_one(jobs)
        except StorageUnavailable as error:
            return [(job, (None, error)) for job in jobs]
        except Exception:
            # Something that only one of them can be to blame for: now each stands alone.
            return one_by_one(jobs)


def _give_up(future: asyncio.Future[Any], late: Callable[[], Exception]) -> None:
    if not future.done():
        future.set_exception(late())


def _withdraw(queue: WorkQueue, future: asyncio.Future[Any]) -> None:
    if queue.withdraw(future) and not future.done():
        future.set_exception(too_busy("long requests"))


def _late_hashing() -> HttpError:
    return too_busy("passwords")


def _late_parsing() -> HttpError:
    return too_busy("large bodies")
