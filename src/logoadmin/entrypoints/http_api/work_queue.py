"""Calls that wait for a thread, and how those who wait for them in an event loop are told what came of them."""

import asyncio
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, Final

Future = asyncio.Future[Any]
# What a call answered, or else what it raised.
Outcome = tuple[Any, BaseException | None]

# So long what is done may wait for what is done next: to wake an event loop costs more than most reads do.
_HELD: Final = 0.001  # seconds


class Job:
    """A call, and the futures of those who wait for it."""

    __slots__ = ("_call", "futures", "key")

    def __init__(self, call: Callable[[], Any], future: Future, key: Hashable | None) -> None:
        self._call = call
        self.futures = [future]
        self.key = key

    def is_wanted(self) -> bool:
        """Tell whether anybody still waits for it."""
        return any(not future.done() for future in self.futures)

    def outcome(self) -> Outcome:
        """Make the call, and return its answer or what it raised, whatever that is."""
        try:
            return self._call(), None
        except BaseException as error:
            return None, error


Done = list[tuple[Job, Outcome]]


def one_by_one(jobs: list[Job]) -> Done:
    """Make calls, each for itself."""
    return [(job, job.outcome()) for job in jobs]


class WorkQueue:
    """Calls that wait for their turn in some threads. What is done while others wait is told together with theirs."""

    def __init__(
        self, threads: int, name: str, perform: Callable[[list[Job]], Done] = one_by_one, *, most: int = 1
    ) -> None:
        """Have up to so many calls performed together by something that raises nothing."""
        self._new_threads = partial(ThreadPoolExecutor, threads, thread_name_prefix=f"logoadmin-{name}")
        self._most_threads = threads
        self._perform = perform
        self._most = most
        self._lock = threading.Lock()
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._threads = self._new_threads()
        self._idle = self._most_threads
        self._waiting: deque[Job] = deque()
        self._by_key: dict[Hashable, Job] = {}

    def put(self, call: Callable[[], Any], future: Future, key: Hashable | None = None) -> None:
        """Have a call made, and what comes of it told; those who ask under the same key before it begins share it."""
        with self._lock:
            if self._process != os.getpid():
                self._begin()  # a fork takes no threads along
            if key in self._by_key:
                self._by_key[key].futures.append(future)
                return
            job = Job(call, future, key)
            self._waiting.append(job)
            if key is not None:
                self._by_key[key] = job
            if not self._idle:
                return
            self._idle -= 1
        try:
            self._threads.submit(self._work)
        except RuntimeError as error:  # the system has no thread for it
            self._refuse(job, error)

    def withdraw(self, future: Future) -> bool:
        """Have nobody wait by a future for a call that has not begun; tell whether that was so.

        A call for which nobody waits is not made.
        """
        with self._lock:
            for job in self._waiting:
                if future in job.futures:
                    job.futures.remove(future)
                    return True
        return False

    def _refuse(self, job: Job, error: RuntimeError) -> None:
        with self._lock:
            self._idle += 1
            if job not in self._waiting:
                return  # another thread has it
            self._waiting.remove(job)
            self._by_key.pop(job.key, None)
        _tell([(job, (None, error))])

    def _work(self) -> None:
        done: Done = []
        since = time.monotonic()
        while jobs := self._take():
            done += self._perform([job for job in jobs if job.is_wanted()])
            if not self._waiting or time.monotonic() - since > _HELD:
                _tell(done)
                done, since = [], time.monotonic()
        _tell(done)

    def _take(self) -> list[Job]:
        with self._lock:
            jobs = [self._waiting.popleft() for _ in range(min(len(self._waiting), self._most))]
            for job in jobs:
                self._by_key.pop(job.key, None)
            self._idle += not jobs
            return jobs


def _tell(done: Iterable[tuple[Job, Outcome]]) -> None:
    """Tell those who wait what came of their calls, from a thread; each event loop is woken once."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[Future, Outcome]]] = {}
    for job, outcome in done:
        for future in job.futures:
            by_loop.setdefault(future.get_loop(), []).append((future, outcome))
    for loop, told in by_loop.items():
        with suppress(RuntimeError):  # it is closed, so nobody waits any more
            loop.call_soon_threadsafe(_settle, told)


def _settle(told: list[tuple[Future, Outcome]]) -> None:
    for future, (answer, error) in told:
        if future.done():  # who waited does so no longer
            continue
        if error is None:
            future.set_result(answer)
        else:
            future.set_exception(error)
