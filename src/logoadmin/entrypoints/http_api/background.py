"""The background work of an application: the sweep, the notices and the publisher (contract F3, K2, L1, O9, R6)."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any, Final

from logoadmin.domain.kernel.errors import LogoAdminError, StorageUnavailable
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.publication.publication_records import Published
from logoadmin.domain.publication.publication_service import ShowPublication
from logoadmin.entrypoints.http_api.dispatch import Dispatch, Work
from logoadmin.entrypoints.http_api.http_error import HttpError
from logoadmin.entrypoints.publisher import Publisher
from logoadmin.ports.gallery_files import GalleryFiles

log = logging.getLogger("logoadmin.http")

_INTERVAL: Final = 60.0  # seconds between sweeps
_NOTICE_INTERVAL: Final = 2.0
# After a sweep that left something, because another process held the lock.
_SHORT_INTERVAL: Final = 1.0
# Ends a sweep even if clocks disagree.
_MOST_WRITES: Final = 2_000


# Returns the seconds until the next time, None for never.
BackgroundWork = Callable[[LogoAdmin, Dispatch], Coroutine[Any, Any, float | None]]


class Background:
    """Does an application's background work while it is served.

    It begins with the lifespan or, in a mounted application that receives no lifespan events, with the first request.
    """

    def __init__(self, gallery: LogoAdmin, dispatch: Dispatch, work: Mapping[BackgroundWork, float]) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None
        self._arguments = gallery, dispatch
        self._work = work
        self._timers: list[asyncio.TimerHandle] = []
        self._tasks: list[asyncio.Task[None]] = []

    def begin(self) -> None:
        """Begin in the running event loop; tests and forks serve one application in several loops."""
        self.loop = loop = asyncio.get_running_loop()
        # Not tasks that sleep first, which would be pending when a short-lived loop ends.
        self._timers = [loop.call_later(delay, self._begin, work) for work, delay in self._work.items()]

    def _begin(self, work: BackgroundWork) -> None:
        self._tasks.append(asyncio.get_running_loop().create_task(repeat(*self._arguments, work)))

    async def end(self) -> None:
        """End the work."""
        tasks, self._tasks, self.loop = self._tasks, [], None
        for timer in self._timers:
            timer.cancel()
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def repeat(gallery: LogoAdmin, dispatch: Dispatch, work: BackgroundWork) -> None:
    """Do a piece of work again and again, until the application ends or the gallery is closed."""
    while True:
        interval: float | None = REGULAR_WORK[work]
        try:
            interval = await work(gallery, dispatch)
        except Exception as error:
            if gallery.is_closed:
                return
            if not isinstance(error, LogoAdminError | HttpError):  # storage logs that the database is unavailable
                log.exception("Cannot %s", work.__name__.replace("_", " "))  # such as "remove expired records"
        if interval is None:
            return
        await asyncio.sleep(interval)


async def remove_expired_records(gallery: LogoAdmin, dispatch: Dispatch) -> float:
    """Remove expired records, pausing after each write for as long as it took; return the seconds until the next time.

    Processes that sweep at the same time take turns holding the write lock, without waiting for each other.
    """
    loop = asyncio.get_running_loop()
    for _ in range(_MOST_WRITES):
        began = loop.time()
        found = await dispatch.run(Work.WRITING, gallery.sweep)
        if found != "more":
            return _SHORT_INTERVAL if found == "busy" else _INTERVAL
        await asyncio.sleep(loop.time() - began)
    return _SHORT_INTERVAL


async def send_notices(gallery: LogoAdmin, dispatch: Dispatch) -> float | None:
    """Send due notices; return the seconds until the next time, None if no notices are sent."""
    if not gallery.notices.is_needed:
        return None
    await dispatch.run(Work.SLOW, gallery.notices.send_due, turn="notices")
    return _NOTICE_INTERVAL


# The work of every application; each kind first waits for its interval.
REGULAR_WORK: Final[Mapping[BackgroundWork, float]] = {
    remove_expired_records: _INTERVAL,
    send_notices: _NOTICE_INTERVAL,
}


def background_publisher(gallery: LogoAdmin, files: GalleryFiles, dispatch: Dispatch) -> Publisher:
    """Return a publisher that logs each failure once, and counts publications and failures."""
    reports = _Reports(gallery, files)
    return Publisher(
        gallery, files, published=reports.published, failed=reports.failed, leased=True, holding=dispatch.long_call
    )


class _Reports:
    def __init__(self, gallery: LogoAdmin, files: GalleryFiles) -> None:
        self._gallery, self._files = gallery, files
        self._failure = ""
        self._is_known = False

    def published(self, found: Published) -> None:
        """Count a publication, including at the start one by an earlier process."""
        if found.changed or not self._is_known:
            left_out = found.left_out
            if not found.changed and not found.is_complete:
                left_out = self._gallery.publication.status(ShowPublication()).left_out
            self._gallery.metrics.gallery_generated(Counter(each.code for each in left_out))
        self._is_known = True
        if self._failure:
            log.warning("The gallery is published again")
            self._failure = ""

    def failed(self, error: Exception) -> None:
        """Log and count a failure; storage itself logs that the database is unavailable."""
        if isinstance(error, StorageUnavailable):
            return
        self._gallery.metrics.gallery_failed()
        failure = f"{type(error).__name__}: {error}"
        if failure != self._failure:
            unexpected = None if isinstance(error, LogoAdminError | OSError) else error
            log.error("The gallery cannot be published into %s: %s", self._files, error, exc_info=unexpected)
        self._failure = failure
