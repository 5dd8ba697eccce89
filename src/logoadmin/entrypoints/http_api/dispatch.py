"""Calls the core from an event loop: in threads where storage may block, and with a deadline (contract A20).

The lanes are executors of the standard library and not limiters of anyio: a late call keeps its thread until it ends,
so threads cannot pile up behind a hanging database. anyio would free the slot with the request.
"""

import asyncio
import os
from collections.abc import Callable, Collection, Coroutine, Hashable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Generic, TypeVar
from weakref import WeakValueDictionary

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api.errors import too_busy

Answer = TypeVar("Answer")

# Storage commits concurrent writes together; each of them waits in a thread.
_WRITING_THREADS: Final = 8
# Hashing has its own threads, so that a rush of sign-ins does not keep readers waiting.
_HASHING_THREADS: Final = 2
_RENDERING_THREADS: Final = 2
_FILE_THREADS: Final = 2
_ISSUER_THREADS: Final = 2
_JUDGING_THREADS: Final = 2
# They only wait. Other hosts may take 20 seconds, and each caller has one of the threads.
_ASKING_THREADS: Final = 8
_DECODING_THREADS: Final = 12
# Storage has its own time limits, so this one is rarely reached (contract A20: 2 s).
TIMEOUT: Final = 1.9  # seconds
# How long the next shared read waits for one that takes unusually long.
_HANGS_AFTER: Final = 0.02  # seconds
# A long call that has not started within this time is withdrawn; its client can retry.
_LONG_WAIT: Final = 30.0  # seconds


class Threads:
    """The threads for one type of call; further calls wait in order."""

    def __init__(self, name: str, threads: int) -> None:
        """Prepare the threads, which start on demand."""
        self._name, self._count = name, threads
        self._start()

    def _start(self) -> None:
        self._threads = ThreadPoolExecutor(self._count, thread_name_prefix=f"logoadmin-{self._name}")
        self._process = os.getpid()

    def submit(self, call: Callable[[], Answer]) -> "Submitted[Answer]":
        """Submit a call to a thread.

        Raises:
            HttpError: the system cannot start a thread.
        """
        if self._process != os.getpid():  # a forked process has no threads
            self._start()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Answer] = loop.create_future()
        try:
            return Submitted(answer, self._threads.submit(_call, [call], loop, answer))
        except RuntimeError:
            raise too_busy("requests") from None


class Lane(Threads):
    """Threads for calls with a deadline."""

    # Storage that never waits is called at once, unless a long call holds it.
    _waits = True
    _long_calls: Collection[object] = ()

    def __init__(self, name: str, threads: int, busy_with: str = "requests") -> None:
        """Prepare the threads; ``busy_with`` says in errors what there is too much of."""
        super().__init__(name, threads)
        self._busy_with = busy_with

    async def run(self, call: Callable[[], Answer], deadline: float | None = None) -> Answer:
        """Return the answer of a call. A call that is late continues if it has started, and its outcome is unknown.

        Args:
            call: the call.
            deadline: when the answer is due, by the event loop's clock; soon, by default.

        Raises:
            HttpError: it is late, which in a lane of storage is StorageUnavailable; or no thread can be started.
        """
        if not self._waits and not self._long_calls:
            return call()
        submitted = self.submit(call)
        try:
            async with asyncio.timeout_at(deadline or asyncio.get_running_loop().time() + TIMEOUT) as timeout:
                return await submitted.answer
        except TimeoutError:
            if not timeout.expired():
                raise
            raise self._late() from None
        finally:
            submitted.in_thread.cancel()  # unless it has begun

    def _late(self) -> Exception:
        return too_busy(self._busy_with)


class StorageLane(Lane):
    """A lane for calls of storage; of storage in memory, they run in the event loop unless a long call holds it."""

    def __init__(
        self, name: str, threads: int, gallery: LogoAdmin, long_calls: Collection[object], *, writing: bool = False
    ) -> None:
        """Prepare the threads.

        Args:
            name: the name of the lane.
            threads: how many calls may run at once.
            gallery: the gallery that is called.
            long_calls: the long calls that have not ended.
            writing: whether a late call may have changed something.
        """
        super().__init__(name, threads)
        self._gallery, self._writing = gallery, writing
        self._waits, self._long_calls = gallery.waits, long_calls

    def _late(self) -> Exception:
        return self._gallery.timed_out(writing=self._writing)


class LongLane(Threads):
    """Threads for calls that may take any time, on any storage, but start in time or never."""

    def __init__(self, name: str, threads: int, long_calls: set[Future[None]]) -> None:
        """Prepare the threads, whose calls are in ``long_calls`` until they end."""
        super().__init__(name, threads)
        self._calls = long_calls

    async def run(self, call: Callable[[], Answer]) -> Answer:
        """Return the answer of a call.

        Raises:
            HttpError: no thread became free in time.
        """
        submitted = self.submit(call)
        self._calls.add(submitted.in_thread)
        submitted.in_thread.add_done_callback(self._calls.discard)
        try:
            await asyncio.wait({submitted.answer}, timeout=_LONG_WAIT)
            if not submitted.answer.done() and submitted.in_thread.cancel():
                raise too_busy("long requests")
            return await submitted.answer
        finally:
            submitted.in_thread.cancel()  # if the client disconnected before it started


class FairLane(LongLane):
    """A long lane in which each caller has one call at a time, so that nobody waits for all calls of another one."""

    def __init__(self, name: str, threads: int, long_calls: set[Future[None]]) -> None:
        """Prepare the threads, in the same way."""
        super().__init__(name, threads, long_calls)
        self._of_callers: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()

    async def run_for(self, caller: Hashable, call: Callable[[], Answer]) -> Answer:
        """Return the answer of a call.

        Raises:
            HttpError: the calls before it of the same caller, or of others, did not end in time.
        """
        lock = self._of_callers.setdefault(caller, asyncio.Lock())
        try:
            await asyncio.wait_for(lock.acquire(), _LONG_WAIT)
        except TimeoutError:
            raise too_busy("long requests") from None
        try:
            return await self.run(call)
        finally:
            lock.release()


@dataclass(frozen=True, slots=True)
class Submitted(Generic[Answer]):
    """A submitted call. asyncio.wrap_future would keep its answer alive until the next garbage collection."""

    answer: asyncio.Future[Answer]
    in_thread: Future[None]


def _call(calls: list[Callable[[], Answer]], loop: asyncio.AbstractEventLoop, answer: asyncio.Future[Answer]) -> None:
    """Make the only call in a list, and set the result of its future in the event loop.

    The list is emptied first, so that everything the call references, such as a file, is released before it ends.
    """
    settle: Callable[[], None]
    try:
        settle = partial(_settle, answer, calls.pop()(), None)
    except BaseException as error:
        settle = partial(_settle, answer, None, error)
    with suppress(RuntimeError):  # the loop is closed
        loop.call_soon_threadsafe(settle)
    del settle  # an error refers to this frame


def _settle(answer: asyncio.Future[Any], value: object, error: BaseException | None) -> None:
    if answer.done():  # cancelled or late
        return
    if error is None:
        answer.set_result(value)
    else:
        answer.set_exception(error)


class SingleFlight:
    """Shares one call among concurrent requests for the same thing."""

    def __init__(self) -> None:
        self._tasks: dict[Hashable, asyncio.Task[Any]] = {}

    async def run(self, key: Hashable, start: Callable[[], Coroutine[Any, Any, Answer]]) -> Answer:
        """Return the answer of the call under a key, which is started if none is in progress."""
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = asyncio.create_task(start())
            task.add_done_callback(partial(self._done, key))
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


class Dispatch:
    """The lanes of an application.

    The threads are few, since more would only compete for the interpreter lock. Reads never wait for writes, for long
    calls, or for searches, which may take a thousand times as long.
    """

    def __init__(self, gallery: LogoAdmin) -> None:
        """Prepare the lanes for calls of one gallery."""
        self._long_calls = long_calls = set[Future[None]]()
        self.reading = StorageLane("reading", gallery.concurrent_reads, gallery, long_calls)
        self.searching = StorageLane("searching", gallery.concurrent_reads, gallery, long_calls)
        self.writing = StorageLane("writing", _WRITING_THREADS, gallery, long_calls, writing=True)
        # Sessions have their own write lock, and must not queue behind record writes that wait for an import.
        self.session_writing = StorageLane("session-writing", 1, gallery, long_calls, writing=True)
        self.hashing = Lane("hashing", _HASHING_THREADS, "sign-ins")
        self.long_writing = LongLane("long-writing", 1, long_calls)
        # Other hosts answer when they like, and an import must not wait for them.
        self.asking = FairLane("asking", _ASKING_THREADS, long_calls)
        # Neither must sign-ins wait for other hosts than the issuer.
        self.asking_issuer = LongLane("asking-issuer", _ISSUER_THREADS, long_calls)
        # Few threads, for the interpreter lock as well.
        self.judging = FairLane("judging", _JUDGING_THREADS, long_calls)
        # They mostly wait: pictures are decoded one at a time, in an order of the core.
        self.decoding = FairLane("decoding", _DECODING_THREADS, long_calls)
        self.exporting = LongLane("exporting", 1, long_calls)
        self.rendering = LongLane("rendering", _RENDERING_THREADS, long_calls)
        # One thread, so that only one parser at a time competes with the event loop for the interpreter lock.
        self.parsing = Lane("parsing", 1, "large bodies")
        self.files = Threads("files", _FILE_THREADS)
        # Compressing takes seconds, in which only the interpreter lock is free.
        self.compressing = Threads("compressing", 1)
        self._shared = SingleFlight()
        self._reads: dict[Hashable, asyncio.Task[Any]] = {}

    @contextmanager
    def long_call(self) -> Iterator[None]:
        """Have calls of storage in memory run in threads for as long as a thread of its own holds it."""
        call: Future[None] = Future()
        self._long_calls.add(call)
        try:
            yield
        finally:
            self._long_calls.discard(call)

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
                return await self.reading.run(call, deadline)
            finally:
                if self._reads.get(key) is this:
                    del self._reads[key]

        return await self._shared.run(key, read)
