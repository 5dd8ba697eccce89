"""Runs calls of the core in threads: within limits, in time, and fairly (contract A20, E1, E3)."""

import asyncio
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from enum import Enum
from functools import partial
from typing import Any, Final, TypeVar, TypeVarTuple
from weakref import WeakValueDictionary

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api.http_error import too_busy, too_slow

Answer = TypeVar("Answer")
Args = TypeVarTuple("Args")

# Storage has its own time limits, so this one is rarely reached (contract A20: 2 s).
TIMEOUT: Final = 1.9  # seconds
# The longest wait for a failing database, so that even a busy machine responds in time.
_FAILING_TIMEOUT: Final = 1.5  # seconds
# A slow call that has not started within this time is cancelled; its client can retry.
SLOW_WAIT: Final = 30.0  # seconds
# How long the next shared read waits for an unusually slow one.
_HANGS_AFTER: Final = 0.02  # seconds


class Work(Enum):
    """A type of work. Each type has its own threads, so that none waits for another."""

    READING = "reading"
    # Storage commits concurrent writes together; each of them waits in a thread.
    WRITING = "writing"
    # A burst of sign-ins does not keep readers waiting.
    HASHING = "hashing"
    # Imports, exports, long lists, searches, judging CSS, and requests to other hosts, except for pictures.
    SLOW = "slow"
    # Decoding pictures, which take turns in the core, and fetching them, for which a host has 20 seconds.
    PICTURES = "pictures"


# More reads and writes would only compete for the interpreter lock. Slow work and pictures mostly wait.
_THREADS: Final = {Work.WRITING: 8, Work.HASHING: 2, Work.SLOW: 16, Work.PICTURES: 16}
_IN_TURN: Final = (Work.SLOW, Work.PICTURES)


class Dispatch:
    """The threads of an application.

    A late call, or one whose client disconnected, keeps its thread until it ends, so that threads cannot pile up behind
    a hanging database; a call that has not started is cancelled. Slow calls take turns: each caller has one at a time.
    """

    def __init__(self, gallery: LogoAdmin) -> None:
        self._gallery = gallery
        self._most = {Work.READING: gallery.concurrent_reads, **_THREADS}
        self._threads = {work: ThreadPoolExecutor(most) for work, most in self._most.items()}
        self._turns: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()
        self._long_calls = 0  # they may lock in-memory storage, which otherwise never waits
        self._reads: dict[Hashable, asyncio.Task[Any]] = {}
        self._next_reads: dict[Hashable, asyncio.Task[Any]] = {}

    async def run(
        self,
        work: Work,
        call: Callable[[*Args], Answer],
        *args: *Args,
        deadline: float | None = None,
        turn: Hashable = None,
    ) -> Answer:
        """Return the result of a call. A late call continues if it has started, and its outcome is unknown.

        Args:
            work, call, args: the type of work, the function and its arguments.
            deadline: when the result is due; by default soon, but slow work and pictures only have to start in time.
            turn: slow work and pictures with the same turn run one after another.

        Raises:
            HttpError, StorageUnavailable: it is late.
        """
        if work in (Work.READING, Work.WRITING) and not (self._gallery.waits or self._long_calls):
            return call(*args)
        loop, may_take_long = asyncio.get_running_loop(), work in _IN_TURN and deadline is None
        start_by = deadline or loop.time() + (SLOW_WAIT if work in _IN_TURN else TIMEOUT)
        early = min(start_by, loop.time() + _FAILING_TIMEOUT)
        turn_lock = None if turn is None else await self._take_turn(work, turn, deadline, early, start_by)
        submitted = self._submit(work, turn_lock, call, *args)
        try:
            await _end_of(submitted, early)
            if not submitted.done() and not self._gallery.is_failing():
                await _end_of(submitted, start_by)
                if may_take_long and submitted.running():
                    await _end_of(submitted, None)
        finally:
            is_late = not submitted.done()
            submitted.cancel()  # has no effect once it has started
        if is_late:
            raise self._late(work, deadline)
        if submitted.cancelled():
            raise too_busy("requests")
        return submitted.result()

    async def _take_turn(
        self, work: Work, turn: Hashable, deadline: float | None, early: float, start_by: float
    ) -> asyncio.Lock:
        """Wait for a turn until ``start_by``, or only until ``early`` while the database fails."""
        lock = self._turns.setdefault((work, turn), asyncio.Lock())
        for until in (early, start_by):
            try:
                async with asyncio.timeout_at(until):
                    await lock.acquire()
            except TimeoutError:
                if self._gallery.is_failing():
                    break
            else:
                return lock
        raise self._late(work, deadline)

    def _submit(
        self, work: Work, turn_lock: asyncio.Lock | None, call: Callable[[*Args], Answer], *args: *Args
    ) -> Future[Answer]:
        """Submit a call to a thread; return its future, which can cancel it.

        Raises:
            HttpError: the system cannot start another thread. Waiting calls are cancelled, so that none starts after
                its client got the error.
        """
        threads = self._threads[work]
        with ExitStack() as at_end:
            if turn_lock is not None:
                at_end.callback(turn_lock.release)
            if work in _IN_TURN:
                at_end.enter_context(self.long_call())
            try:
                submitted = threads.submit(call, *args)
            except RuntimeError:
                self._threads[work] = ThreadPoolExecutor(self._most[work])
                threads.shutdown(wait=False, cancel_futures=True)
                raise too_busy("requests") from None
            if work in _IN_TURN:  # both last as long as the call, also if its client leaves
                submitted.add_done_callback(partial(_call_in, asyncio.get_running_loop(), at_end.pop_all().close))
        return submitted

    def _late(self, work: Work, deadline: float | None) -> Exception:
        if self._gallery.is_failing():
            return self._gallery.timed_out(writing=work is Work.WRITING)
        if work is Work.HASHING:
            return too_slow()
        if work in _IN_TURN and deadline is None:
            return too_busy("long requests")
        return self._gallery.timed_out(writing=work is Work.WRITING)

    @contextmanager
    def long_call(self) -> Iterator[None]:
        """Run calls of in-memory storage in threads, since the caller's own thread may hold its lock."""
        self._long_calls += 1
        try:
            yield
        finally:
            self._long_calls -= 1

    async def reading_once(self, key: Hashable, call: Callable[[], Answer], deadline: float) -> Answer:
        """Return the result of a read, shared by all requests that arrive before it starts.

        It starts when the previous read has ended, so that a burst of requests makes few reads; it does not wait for a
        hanging one.
        """
        task = self._next_reads.get(key)
        if task is None:
            task = self._next_reads[key] = asyncio.create_task(self._read(key, call, deadline))
            task.add_done_callback(partial(self._read_ended, key))
        answer: Answer = await asyncio.shield(task)  # a client that disconnects does not cancel the call for others
        return answer

    async def _read(self, key: Hashable, call: Callable[[], Answer], deadline: float) -> Answer:
        if key in self._reads:
            await asyncio.wait({self._reads[key]}, timeout=_HANGS_AFTER)
        self._reads[key] = this = self._next_reads.pop(key)
        try:
            return await self.run(Work.READING, call, deadline=deadline)
        finally:
            if self._reads.get(key) is this:
                del self._reads[key]

    def _read_ended(self, key: Hashable, task: asyncio.Task[Any]) -> None:
        if self._next_reads.get(key) is task:  # it never started, because its event loop ended
            del self._next_reads[key]
        if not task.cancelled():
            task.exception()  # all clients may have disconnected


async def _end_of(submitted: Future[Any], until: float | None) -> None:
    """Wait until a call has ended, or until a time by the clock of the event loop."""
    loop, woken = asyncio.get_running_loop(), asyncio.Event()
    submitted.add_done_callback(partial(_call_in, loop, woken.set))
    timer = None if until is None else loop.call_at(until, woken.set)
    try:
        await woken.wait()
    finally:
        if timer is not None:
            timer.cancel()


def _call_in(loop: asyncio.AbstractEventLoop, call: Callable[[], object], _: Future[Any]) -> None:
    """Make a call in an event loop when a thread's call has ended, unless the loop has closed."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(call)
