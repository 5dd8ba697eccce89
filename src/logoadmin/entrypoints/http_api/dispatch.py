"""Calling the core from an event loop: in threads where storage waits, and never for longer than it may (contract A20).

What waits at the same time is not done one by one where that can be helped: calls that change something are kept
together, with one commit, and what many want to know at the same moment is looked up once.
"""

import asyncio
import functools
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Final, Generic, TypeVar

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.model.causes import Cause
from logoadmin.domain.model.errors import StorageUnavailable
from logoadmin.entrypoints.http_api.errors import HttpError

Answer = TypeVar("Answer")
Item = TypeVar("Item")
# What a call answered, or else what it raised.
Outcome = tuple[Any, BaseException | None]

# Hashing has threads of its own, so that a rush of sign-ins does not keep the readers waiting.
_HASHING_THREADS: Final = 2
# Storage answers or gives up within this (contract A20: 2 s); it is seldom needed, because storage has limits too.
_DEADLINE: Final = 1.9  # seconds
# No more changes than this are kept together, so that none waits long for those that were taken with it.
_MOST: Final = 32


class Dispatch:
    """Makes the calls of the core: in threads of its own where storage waits, else right here.

    Few threads: more of them only fight over the interpreter lock. Those who read do not wait for those who write, nor
    for those who search, which may take a thousand times as long.
    """

    def __init__(self, gallery: LogoAdmin) -> None:
        """Serve one gallery. Threads start when they are needed."""
        self._gallery = gallery
        self._readers: _WorkQueue[Callable[[], None]] = _WorkQueue(gallery.at_once, "reading", _call)
        self._searchers: _WorkQueue[Callable[[], None]] = _WorkQueue(gallery.at_once, "searching", _call)
        self._writers: _WorkQueue[_Waiting[Any]] = _WorkQueue(1, "writing", self._write, most=_MOST)
        self._hashing: _WorkQueue[Callable[[], None]] = _WorkQueue(_HASHING_THREADS, "hashing", _call)
        # One: while it holds the interpreter lock, the event loop waits for no other of its kind.
        self._parsers: _WorkQueue[Callable[[], None]] = _WorkQueue(1, "parsing", _call)
        self._looking: list[_Waiting[int]] = []
        self._look_lock = threading.Lock()

    def deadline(self, seconds: float = _DEADLINE) -> float:
        """Return until when a request that begins to ask storage now has its answer, by the event loop's clock."""
        return asyncio.get_running_loop().time() + seconds

    async def reading(self, call: Callable[[], Answer], deadline: float | None = None) -> Answer:
        """Return the answer of a call that reads, and does not search.

        Raises:
            StorageUnavailable: it took longer than storage may; what it does goes on.
        """
        return await self._answer(self._readers, call, deadline)

    async def searching(self, call: Callable[[], Answer], deadline: float | None = None) -> Answer:
        """Return the answer of a call that searches, in the same way."""
        return await self._answer(self._searchers, call, deadline)

    async def _answer(
        self, lane: "_WorkQueue[Callable[[], None]]", call: Callable[[], Answer], deadline: float | None
    ) -> Answer:
        if not self._gallery.waits:
            return call()
        waiting = _Waiting(call)
        lane.put(waiting.perform)
        return await waiting.answer(deadline or self.deadline(), self._late)

    async def writing(self, call: Callable[[], Answer]) -> Answer:
        """Return the answer of a call that changes something.

        Raises:
            StorageUnavailable: it took longer than storage may; what it does goes on, and its outcome is unknown.
        """
        if not self._gallery.waits:
            return call()
        waiting = _Waiting(call)
        self._writers.put(waiting)
        return await waiting.answer(self.deadline(), functools.partial(self._gallery.late, writing=True))

    async def hashing(self, call: Callable[[], Answer]) -> Answer:
        """Return the answer of a call that hashes a password.

        Raises:
            HttpError: there are so many of them that it took longer than storage may; what it does, if it had begun,
                goes on, and its outcome is unknown.
        """
        waiting = _Waiting(call)
        self._hashing.put(waiting.perform)
        return await waiting.answer(self.deadline(), _no_time_to_hash)

    async def parsing(self, call: Callable[[], Answer]) -> Answer:
        """Return the answer of a call that parses a large body.

        Raises:
            HttpError: there are so many of them that it took longer than storage may.
        """
        waiting = _Waiting(call)
        self._parsers.put(waiting.perform)
        return await waiting.answer(self.deadline(), _no_time_to_parse)

    async def version(self, deadline: float) -> int:
        """Return the version of all records together, from a look that begins after this was called.

        All who ask before it begins share it.

        Raises:
            StorageUnavailable: it took longer than storage may.
        """
        if not self._gallery.waits:
            return self._gallery.changes.version()
        waiting = _Waiting(self._gallery.changes.version)
        with self._look_lock:
            self._looking.append(waiting)
            is_first = len(self._looking) == 1
        if is_first:
            try:
                self._readers.put(self._look)
            except RuntimeError:
                with self._look_lock:
                    self._looking = []  # or else all who come wait for a look that nobody takes
                raise
        return await waiting.answer(deadline, self._late)

    def _late(self) -> StorageUnavailable:
        return self._gallery.late(writing=False)

    def _look(self) -> None:
        with self._look_lock:
            looking, self._looking = self._looking, []
        outcome = looking[0].outcome()
        for waiting in looking:
            waiting.tell(outcome)

    def _write(self, taken: "list[_Waiting[Any]]") -> None:
        """Make calls so that one commit keeps what all of them change; nobody is answered before that."""
        calls = [waiting for waiting in taken if not waiting.has_given_up]

        def outcomes() -> list[Outcome]:
            return [waiting.outcome() for waiting in calls]

        try:
            found = self._gallery.atomic(outcomes) if len(calls) > 1 else outcomes()
        except StorageUnavailable as error:
            found = [(None, error)] * len(calls)
        except Exception:
            # Something that only one of them can be to blame for: now each stands alone.
            found = outcomes()
        for waiting, outcome in zip(calls, found, strict=True):
            waiting.tell(outcome)


class _WorkQueue(Generic[Item]):
    """What waits for its turn in some threads."""

    def __init__(self, threads: int, name: str, perform: Callable[[list[Item]], None], *, most: int = 1) -> None:
        """Have up to so many at once performed by something that raises nothing."""
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=f"logoadmin-{name}")
        self._idle = threads
        self._perform = perform
        self._most = most
        self._waiting: deque[Item] = deque()
        self._lock = threading.Lock()

    def put(self, item: Item) -> None:
        """Have something performed.

        Raises:
            RuntimeError: the system has no thread for it.
        """
        with self._lock:
            self._waiting.append(item)
            if not self._idle:
                return
            self._idle -= 1
        try:
            self._threads.submit(self._work)
        except RuntimeError:
            with self._lock:
                self._idle += 1
                self._waiting.remove(item)
            raise

    def _work(self) -> None:
        while taken := self._take():
            self._perform(taken)

    def _take(self) -> list[Item]:
        with self._lock:
            if not self._waiting:
                self._idle += 1
            return [self._waiting.popleft() for _ in range(min(len(self._waiting), self._most))]


def _too_many(what: str) -> HttpError:
    return HttpError(503, f"Too many {what} at once; try again", {"retry-after": "1"}, Cause.TOO_BUSY)


def _no_time_to_hash() -> HttpError:
    return _too_many("passwords")


def _no_time_to_parse() -> HttpError:
    return _too_many("large bodies")


def _call(taken: list[Callable[[], None]]) -> None:
    for perform in taken:
        perform()


class _Waiting(Generic[Answer]):
    """Somebody in an event loop who waits for a call that a thread makes.

    Attributes:
        has_given_up: whether nobody waits any more, so that the call need not be made.
    """

    __slots__ = ("_call", "_future", "has_given_up")

    def __init__(self, call: Callable[[], Answer]) -> None:
        self._call = call
        self._future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.has_given_up = False

    async def answer(self, deadline: float, late: Callable[[], Exception]) -> Answer:
        """Return the answer, or raise an error if it does not come in time."""
        timer = self._future.get_loop().call_at(deadline, lambda: self._settle((None, late())))
        try:
            return await self._future
        finally:
            self.has_given_up = True
            timer.cancel()

    def perform(self) -> None:
        """Make the call, in a thread, and tell what came of it."""
        if not self.has_given_up:
            self.tell(self.outcome())

    def outcome(self) -> Outcome:
        """Make the call, in a thread."""
        try:
            return self._call(), None
        except BaseException as error:
            return None, error

    def tell(self, outcome: Outcome) -> None:
        """Give the answer, from a thread."""
        with suppress(RuntimeError):  # the loop is closed, so nobody waits any more
            self._future.get_loop().call_soon_threadsafe(self._settle, outcome)

    def _settle(self, outcome: Outcome) -> None:
        if self._future.done():
            return
        answer, error = outcome
        if error is None:
            self._future.set_result(answer)
        else:
            self._future.set_exception(error)
