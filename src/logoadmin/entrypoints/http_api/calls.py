"""Calling the core from an event loop: in threads where storage waits, and never for longer than it may (contract A20).

Handing a call over to a thread and its answer back costs as much as reading a small record. So a thread takes its
share of all calls that wait, and what many want to know at the same moment is looked up once.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Final, Generic, TypeVar

from logoadmin.domain.errors import StorageUnavailable
from logoadmin.domain.logo_admin import LogoAdmin

Answer = TypeVar("Answer")

# Hashing has threads of its own, so that a rush of sign-ins does not keep the readers waiting.
_HASHING_THREADS: Final = 2
# Storage answers or gives up within this (contract A20: 2 s); it is seldom needed, because storage has limits too.
_DEADLINE: Final = 1.9  # seconds
# A thread takes no more calls than this at once, so that none waits long for those that were taken with it.
_MOST: Final = 32


class Calls:
    """Makes the calls of the core: in threads of its own where storage waits, else right here.

    Few threads: more of them only fight over the interpreter lock. Those who read do not wait for those who write.
    """

    def __init__(self, gallery: LogoAdmin) -> None:
        """Serve one gallery. Threads start when they are needed."""
        self._gallery = gallery
        self._readers = _Lane(gallery.at_once, "reading")
        self._writers = _Lane(1, "writing")
        self._hashing = _Lane(_HASHING_THREADS, "hashing")
        self._looking: list[_Waiting[int]] = []
        self._look_lock = threading.Lock()

    async def reading(self, call: Callable[[], Answer]) -> Answer:
        """Return the answer of a call that reads.

        Raises:
            StorageUnavailable: it took longer than storage may; what it does goes on.
        """
        return await self._in_turn(self._readers, call) if self._gallery.waits else call()

    async def writing(self, call: Callable[[], Answer]) -> Answer:
        """Return the answer of a call that changes something.

        Raises:
            StorageUnavailable: it took longer than storage may; what it does goes on, and its outcome is unknown.
        """
        return await self._in_turn(self._writers, call) if self._gallery.waits else call()

    async def hashing(self, call: Callable[[], Answer]) -> Answer:
        """Return the answer of a call that hashes a password.

        Raises:
            StorageUnavailable: it took longer than storage may; what it does goes on, and its outcome is unknown.
        """
        return await self._in_turn(self._hashing, call)

    async def version(self) -> int:
        """Return the version of what everybody may read, from a look that begins after this was called.

        All who ask before it begins share it.

        Raises:
            StorageUnavailable: it took longer than storage may.
        """
        if not self._gallery.waits:
            return self._gallery.changes.version()
        waiting: _Waiting[int] = _Waiting()
        with self._look_lock:
            self._looking.append(waiting)
            is_first = len(self._looking) == 1
        if is_first:
            self._readers.put(self._look)
        return await waiting.answer(self._gallery.server)

    def _look(self) -> None:
        with self._look_lock:
            looking, self._looking = self._looking, []
        outcome = _outcome(self._gallery.changes.version)
        for waiting in looking:
            waiting.tell(*outcome)

    async def _in_turn(self, lane: "_Lane", call: Callable[[], Answer]) -> Answer:
        waiting: _Waiting[Answer] = _Waiting()

        def perform() -> None:
            if not waiting.has_given_up:
                waiting.tell(*_outcome(call))

        lane.put(perform)
        return await waiting.answer(self._gallery.server)


def _outcome(call: Callable[[], Answer]) -> tuple[Answer | None, BaseException | None]:
    """Return what a call answers, or else raises."""
    try:
        return call(), None
    except BaseException as error:
        return None, error


class _Lane:
    """Work that waits for its turn in some threads."""

    def __init__(self, threads: int, name: str) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=f"logoadmin-{name}")
        self._count = self._idle = threads
        self._waiting: deque[Callable[[], None]] = deque()
        self._lock = threading.Lock()

    def put(self, perform: Callable[[], None]) -> None:
        """Have something done that raises nothing."""
        with self._lock:
            self._waiting.append(perform)
            if not self._idle:
                return
            self._idle -= 1
        self._threads.submit(self._work)

    def _work(self) -> None:
        while taken := self._take():
            for perform in taken:
                perform()

    def _take(self) -> list[Callable[[], None]]:
        with self._lock:
            share = min(-(-len(self._waiting) // self._count), _MOST)
            if not share:
                self._idle += 1
            return [self._waiting.popleft() for _ in range(share)]


class _Waiting(Generic[Answer]):
    """Somebody in an event loop who waits for what a thread finds out."""

    __slots__ = ("_future", "has_given_up")

    def __init__(self) -> None:
        self._future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.has_given_up = False

    async def answer(self, server: str) -> Answer:
        """Return the answer, or raise StorageUnavailable if it does not come in time."""
        timer = self._future.get_loop().call_later(_DEADLINE, self._give_up, server)
        try:
            return await self._future
        finally:
            self.has_given_up = True
            timer.cancel()

    def tell(self, answer: Answer | None, error: BaseException | None) -> None:
        """Give the answer, from any thread."""
        with suppress(RuntimeError):  # the loop is closed, so nobody waits any more
            self._future.get_loop().call_soon_threadsafe(self._settle, answer, error)

    def _give_up(self, server: str) -> None:
        self._settle(None, StorageUnavailable(server))

    def _settle(self, answer: Any, error: BaseException | None) -> None:
        if self._future.done():
            return
        if error is None:
            self._future.set_result(answer)
        else:
            self._future.set_exception(error)
