"""Calls the core from an event loop: in threads where storage may block, and with a deadline (contract A20).

The lanes are executors of the standard library and not limiters of anyio: a late call keeps its thread until it ends,
so threads cannot pile up behind a hanging database. anyio would free the slot with the request.
"""

import asyncio
import os
from collections.abc import Callable, Coroutine, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Generic, TypeVar

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api.errors import HttpError, too_busy
from logoadmin.entrypoints.http_api.request_state import RequestState

Answer = TypeVar("Answer")

# Storage commits concurrent writes together; each of them waits in a thread.
_WRITING_THREADS: Final = 8
# Hashing has its own threads, so that a rush of sign-ins does not keep readers waiting.
_HASHING_THREADS: Final = 2
_RENDERING_THREADS: Final = 2
_FILE_THREADS: Final = 2
# Storage has its own time limits, so this deadline is rarely reached (contract A20: 2 s).
_DEADLINE: Final = 1.9  # seconds
# A long call that has not started within this time is withdrawn; its client can retry.
_LONG_WAIT: Final = 30.0  # seconds


def deadline_of(state: RequestState) -> float:
    """Return when the response is due, by the event loop's clock; the first call sets it."""
    if state.deadline is None:
        state.deadline = asyncio.get_running_loop().time() + _DEADLINE
    return state.deadline


def _late_hashing() -> HttpError:
    return too_busy("sign-ins")


class Lane:
    """The threads for one type of call; further calls wait in order."""

    def __init__(self, name: str, threads: int) -> None:
        """Prepare the threads, which start on demand."""
        self._new_threads = partial(ThreadPoolExecutor, threads, thread_name_prefix=f"logoadmin-{name}")
        self._threads, self._process = self._new_threads(), os.getpid()

    def submit(self, call: Callable[[], Answer]) -> "_Submitted[Answer]":
        """Submit a call to a thread.

        Raises:
            HttpError: the system cannot start a thread.
        """
        if self._process != os.getpid():  # a forked process has no threads
            self._threads, self._process = self._new_threads(), os.getpid()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Answer] = loop.create_future()
        try:
            return _Submitted(answer, self._threads.submit(_call, [call], loop, answer))
        except RuntimeError:
            raise too_busy("requests") from None

    async def run(
        self, call: Callable[[], Answer], late: Callable[[], Exception], deadline: float | None = None
    ) -> Answer:
        """Return the answer of a call, or raise ``late()`` at the deadline; a started call continues."""
        submitted = self.submit(call)
        try:
            async with asyncio.timeout_at(deadline or asyncio.get_running_loop().time() + _DEADLINE) as timeout:
                return await submitted.answer
        except TimeoutError:
            if not timeout.expired():
                raise
            raise late() from None
        finally:
            submitted.in_thread.cancel()  # unless it has begun


@dataclass(frozen=True, slots=True)
class _Submitted(Generic[Answer]):
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

    async def run(self, key: Hashable, start: Callable[[Callable[[], object]], Coroutine[Any, Any, Answer]]) -> Answer:
        """Return the answer of the call under a key, which is started if none is in progress.

        Args:
            key: identifies the call.
            start: starts the call; its argument is a function that closes the call to further requests.
        """
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = asyncio.create_task(start(partial(self._tasks.pop, key, None)))
            task.add_done_callback(partial(self._done, key))
        answer: Answer = await asyncio.shield(task)  # a client that disconnects does not cancel the call for others
        return answer

    def _done(self, key: Hashable, task: asyncio.Task[Any]) -> None:
        if self._tasks.get(key) is task:
            del self._tasks[key]
        if not task.cancelled():
            task.exception()  # all clients may have disconnected


class Dispatch:
    """Calls the core: in threads where storage may block, otherwise in the event loop.

    The threads are few, since more would only compete for the interpreter lock. Reads never wait for writes, for long
    calls, or for searches, which may take a thousand times as long.
    """

    def __init__(self, gallery: LogoAdmin) -> None:
        """Call the core of one gallery."""
        self._gallery = gallery
        self._reading = Lane("reading", gallery.concurrent_reads)
        self._searching = Lane("searching", gallery.concurrent_reads)
        self._writing = Lane("writing", _WRITING_THREADS)
        # Sessions have their own write lock, and must not queue behind record writes that wait for an import.
        self._session_writing = Lane("session-writing", 1)
        self._hashing = Lane("hashing", _HASHING_THREADS)
        self._long_writing = Lane("long-writing", 1)
        self._exporting = Lane("exporting", 1)
        self._rendering = Lane("rendering", _RENDERING_THREADS)
        # One thread, so that only one parser at a time competes with the event loop for the interpreter lock.
        self._parsing = Lane("parsing", 1)
        self._files = Lane("files", _FILE_THREADS)
        self._long_calls: set[object] = set()
        self._shared = SingleFlight()

    # Methods that only choose a lane return the coroutine of the call, without another one around it.
    def reading(self, call: Callable[[], Answer], deadline: float | None = None) -> Coroutine[Any, Any, Answer]:
        """Return the answer of a call that reads and does not search.

        Raises:
            StorageUnavailable: it missed the deadline; the call continues.
        """
        return self._from_storage(self._reading, call, deadline, writing=False)

    def searching(self, call: Callable[[], Answer], deadline: float | None = None) -> Coroutine[Any, Any, Answer]:
        """Return the answer of a call that searches, in the same way."""
        return self._from_storage(self._searching, call, deadline, writing=False)

    async def reading_once(self, key: Hashable, call: Callable[[], Answer], deadline: float) -> Answer:
        """Return the answer of a read, shared by all requests that arrive before it starts."""

        async def start(begin: Callable[[], object]) -> Answer:
            def begun() -> Answer:
                begin()
                return call()

            return await self.reading(begun, deadline)

        return await self._shared.run(key, start)

    def writing(self, call: Callable[[], Answer]) -> Coroutine[Any, Any, Answer]:
        """Return the answer of a call that changes records.

        Raises:
            StorageUnavailable: it missed the deadline; the call continues, and its outcome is unknown.
        """
        return self._from_storage(self._writing, call, writing=True)

    def session_writing(self, call: Callable[[], Answer]) -> Coroutine[Any, Any, Answer]:
        """Return the answer of a call that only changes sessions or keys, in the same way."""
        return self._from_storage(self._session_writing, call, writing=True)

    def long_writing(self, call: Callable[[], Answer]) -> Coroutine[Any, Any, Answer]:
        """Return the answer of a large write without a deadline, in a thread on any storage.

        Raises:
            HttpError: no thread became free in time.
        """
        return self._long(self._long_writing, call)

    def exporting(self, call: Callable[[], Answer]) -> Coroutine[Any, Any, Answer]:
        """Return the answer of a call that exports records, in the same way."""
        return self._long(self._exporting, call)

    def rendering(self, call: Callable[[], Answer]) -> Coroutine[Any, Any, Answer]:
        """Return the answer of a call that renders a long response, in the same way."""
        return self._long(self._rendering, call)

    def hashing(self, call: Callable[[], Answer]) -> Coroutine[Any, Any, Answer]:
        """Return the answer of a call that hashes a password.

        Raises:
            HttpError: it did not end in time; if it has started, it continues, and its outcome is unknown.
        """
        return self._hashing.run(call, _late_hashing)

    def parsing(self, call: Callable[[], Answer]) -> Coroutine[Any, Any, Answer]:
        """Return the answer of a call that parses a large body.

        Raises:
            HttpError: no thread became free in time.
        """
        return self._parsing.run(call, partial(too_busy, "large bodies"))

    async def file_reading(self, call: Callable[[], Answer]) -> Answer:
        """Return the answer of a call that reads a file, without blocking the event loop."""
        return await self._files.submit(call).answer

    async def _from_storage(
        self, lane: Lane, call: Callable[[], Answer], deadline: float | None = None, *, writing: bool
    ) -> Answer:
        # While a long call holds memory storage, other calls wait in threads and not in the event loop.
        if not (self._gallery.waits or self._long_calls):
            return call()
        return await lane.run(call, partial(self._gallery.timed_out, writing=writing), deadline)

    async def _long(self, lane: Lane, call: Callable[[], Answer]) -> Answer:
        submitted, long_call = lane.submit(call), object()
        self._long_calls.add(long_call)
        submitted.in_thread.add_done_callback(lambda _: self._long_calls.discard(long_call))
        try:
            await asyncio.wait({submitted.answer}, timeout=_LONG_WAIT)
            if not submitted.answer.done() and submitted.in_thread.cancel():
                raise too_busy("long requests")
            return await submitted.answer
        finally:
            submitted.in_thread.cancel()  # if the client disconnected before it started
