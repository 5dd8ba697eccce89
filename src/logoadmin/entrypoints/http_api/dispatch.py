"""Runs calls of the core in threads: within limits, in time, and fairly (contract A20, E1, E3)."""

import asyncio
import math
from collections.abc import Callable, Coroutine, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, TypeVar, TypeVarTuple
from weakref import WeakValueDictionary

from anyio import CapacityLimiter, WouldBlock, get_available_backends, to_thread

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api.errors import too_busy

Answer = TypeVar("Answer")
Args = TypeVarTuple("Args")

# Storage has its own time limits, so this one is rarely reached (contract A20: 2 s).
TIMEOUT: Final = 1.9  # seconds
# Nobody waits longer than this for a database that fails, so that the answer is sent in time on a busy machine too.
_FAILING_TIMEOUT: Final = 1.5  # seconds
# A slow call that has not started within this time is withdrawn; its client can retry.
SLOW_WAIT: Final = 30.0  # seconds
# How long the next shared read waits for one that takes unusually long.
_HANGS_AFTER: Final = 0.02  # seconds


class Work(Enum):
    """A type of work. Each has threads of its own, so that none waits for another."""

    READING = "reading"
    # Storage commits concurrent writes together; each of them waits in a thread.
    WRITING = "writing"
    # A rush of sign-ins does not keep readers waiting.
    HASHING = "hashing"
    # Imports, exports, long lists, searches, judging CSS, and asking other hosts than those of pictures.
    SLOW = "slow"
    # Decoding, for which pictures take turns in the core, and fetching, for which hosts may take 20 seconds.
    PICTURES = "pictures"


# More reads and writes would only compete for the interpreter lock. Slow work and pictures mostly wait.
_THREADS: Final = {Work.WRITING: 8, Work.HASHING: 2, Work.SLOW: 16, Work.PICTURES: 16}
_IN_TURN: Final = (Work.SLOW, Work.PICTURES)


class Dispatch:
    """The threads of an application.

    A call that is late, or whose client went away, keeps its place until it ends, so that threads cannot pile up behind
    a database that hangs. Slow calls take turns: each caller has one at a time.
    """

    def __init__(self, gallery: LogoAdmin) -> None:
        """Prepare the threads for calls of one gallery."""
        get_available_backends()  # loads anyio's part for asyncio, for which the first request would wait
        self._gallery = gallery
        threads = {Work.READING: gallery.concurrent_reads, **_THREADS}
        self._limiters = {work: CapacityLimiter(most) for work, most in threads.items()}
        self._turns: WeakValueDictionary[Hashable, CapacityLimiter] = WeakValueDictionary()
        # The limiters above are acquired before, and released by the end of the thread.
        self._unlimited = CapacityLimiter(math.inf)
        self._long_calls = 0
        self._shared = SingleFlight()
        self._reads: dict[Hashable, asyncio.Task[Any]] = {}

    async def run(
        self,
        work: Work,
        call: Callable[[*Args], Answer],
        *args: *Args,
        deadline: float | None = None,
        turn: Hashable = None,
    ) -> Answer:
        """Return the answer of a call. A call that is late continues if it has started, and its outcome is unknown.

        Args:
            work: what the call does.
            call: the function.
            args: its arguments.
            deadline: when the answer is due; by default soon, but slow work and pictures only have to start in time.
            turn: calls with the same turn are made one after the other.

        Raises:
            HttpError, StorageUnavailable: it is late.
        """
        if not self._gallery.waits and self._is_immediate(work):
            return call(*args)
        loop, in_turn = asyncio.get_running_loop(), work in _IN_TURN
        start_by = deadline or loop.time() + (SLOW_WAIT if in_turn else TIMEOUT)
        early = min(start_by, loop.time() + _FAILING_TIMEOUT)
        place = _Place([*([] if turn is None else [self._turn(work, turn)]), self._limiters[work]])
        try:
            async with asyncio.timeout_at(early):
                await place.take()
        except TimeoutError:
            await self._wait_on(place, work, deadline, start_by)
        thread = asyncio.create_task(to_thread.run_sync(call, *args, limiter=self._unlimited))
        thread.add_done_callback(place.leave)
        await asyncio.wait((thread,), timeout=early - loop.time())
        if not thread.done() and not self._gallery.is_failing():
            await asyncio.wait((thread,), timeout=None if in_turn and deadline is None else start_by - loop.time())
        if not thread.done():
            raise self._late(work, deadline)
        return _result(thread)

    async def _wait_on(self, place: "_Place", work: Work, deadline: float | None, start_by: float) -> None:
        """Wait on for a place, unless the database fails: then nobody waits for the others to find out.

        Raises:
            HttpError, StorageUnavailable: it is late.
        """
        try:
            if self._gallery.is_failing():
                raise TimeoutError
            async with asyncio.timeout_at(start_by):
                await place.take()
        except TimeoutError:
            raise self._late(work, deadline) from None

    def _turn(self, work: Work, turn: Hashable) -> CapacityLimiter:
        return self._turns.setdefault((work, turn), CapacityLimiter(1))

    def _is_immediate(self, work: Work) -> bool:
        """Return whether a call waits for nothing: one of storage in memory, unless a long call holds that."""
        if work not in (Work.READING, Work.WRITING):
            return False
        return not self._long_calls and not any(self._limiters[slow].borrowed_tokens for slow in _IN_TURN)

    def _late(self, work: Work, deadline: float | None) -> Exception:
        if self._gallery.is_failing():
            return self._gallery.timed_out(writing=work is Work.WRITING)
        if work is Work.HASHING:
            return too_busy("sign-ins")
        if work in _IN_TURN and deadline is None:
            return too_busy("long requests")
        return self._gallery.timed_out(writing=work is Work.WRITING)

    @contextmanager
    def long_call(self) -> Iterator[None]:
        """Have calls of storage in memory run in threads for as long as a thread of its own holds it."""
        self._long_calls += 1
        try:
            yield
        finally:
            self._long_calls -= 1

    async def reading_once(self, key: Hashable, call: Callable[[], Answer], deadline: float) -> Answer:
        """Return the answer of a read, shared by all requests that arrive before it starts.

        It starts when the one before it has ended, so that a rush of requests makes few of them; it does not wait for
        one that hangs.
        """

        async def read() -> Answer:
            if key in self._reads:
                await asyncio.wait({self._reads[key]}, timeout=_HANGS_AFTER)
            self._reads[key] = this = self._shared.close(key)
            try:
                return await self.run(Work.READING, call, deadline=deadline)
            finally:
                if self._reads.get(key) is this:
                    del self._reads[key]

        return await self._shared.run(key, read)


@dataclass(eq=False)
class _Place:
    """The place of a call in some limiters."""

    limiters: list[CapacityLimiter]
    _taken: list[CapacityLimiter] = field(default_factory=list)

    async def take(self) -> None:
        """Wait for a place in one limiter after the other."""
        try:
            for limiter in self.limiters:
                try:
                    limiter.acquire_on_behalf_of_nowait(self)
                except WouldBlock:
                    await limiter.acquire_on_behalf_of(self)
                self._taken.append(limiter)
        except BaseException:
            self.leave()
            raise

    def leave(self, thread: "asyncio.Task[Any] | None" = None) -> None:
        """Leave all of them, at the end of the thread if there is one."""
        for limiter in self._taken:
            limiter.release_on_behalf_of(self)
        if thread is not None and not thread.cancelled():
            thread.exception()  # the client may have gone away


def _result(thread: asyncio.Task[Answer]) -> Answer:
    if isinstance(error := thread.exception(), RuntimeError) and "new thread" in str(error):
        raise too_busy("requests")  # the system starts no more of them
    return thread.result()


class SingleFlight:
    """Shares one call among concurrent requests for the same thing."""

    def __init__(self) -> None:
        self._tasks: dict[Hashable, asyncio.Task[Any]] = {}

    async def run(self, key: Hashable, start: Callable[[*Args], Coroutine[Any, Any, Answer]], *args: *Args) -> Answer:
        """Return the answer of the call under a key, which is started if none is in progress."""
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = asyncio.create_task(start(*args))
            task.add_done_callback(lambda task: self._done(key, task))
        answer: Answer = await asyncio.shield(task)  # a client that disconnects does not cancel the call for others
        return answer

    def close(self, key: Hashable) -> asyncio.Task[Any]:
        """Let further requests start another call; return this one, which continues for those who share it."""
        return self._tasks.pop(key)

    def _done(self, key: Hashable, task: asyncio.Task[Any]) -> None:
        if self._tasks.get(key) is task:
            del self._tasks[key]
        if not task.cancelled():
            task.exception()  # all clients may have disconnected
