"""Work in the background of an application: the sweep, and the notices (contract C1, F3, O2, O9, R6)."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final

from logoadmin.domain.kernel.errors import LogoAdminError
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api.dispatch import Dispatch
from logoadmin.entrypoints.http_api.errors import HttpError

log = logging.getLogger("logoadmin.http")

_INTERVAL: Final = 60.0  # seconds
_NOTICE_INTERVAL: Final = 2.0
# The same while something is left, because another process held the lock.
_SHORT_INTERVAL: Final = 1.0
# Bounds a round where clocks disagree, so that it ends.
_MOST_WRITES: Final = 2_000


class Background:
    """Does an application's work in the background while it is served.

    It begins a minute after the lifespan or, in an application that is mounted and sees none, after the first request.

    Attributes:
        loop: the event loop in which it has begun, if any.
    """

    def __init__(self, *work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Do the work, all of it at the same time, once it begins."""
        self.loop: asyncio.AbstractEventLoop | None = None
        self._work = work
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Begin a minute from now in the running event loop; tests and forks serve one application in several."""
        self.loop = asyncio.get_running_loop()
        self._timer = self.loop.call_later(_INTERVAL, self._begin)

    def _begin(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._all())

    async def _all(self) -> None:
        await asyncio.gather(*(work() for work in self._work))

    async def end(self) -> None:
        """End the work."""
        task, self._task, self.loop = self._task, None, None
        if self._timer is not None:
            self._timer.cancel()
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def sweep_regularly(gallery: LogoAdmin, dispatch: Dispatch) -> None:
    """Remove what has expired, once a minute, until the application ends or the gallery is closed.

    Processes that sweep at the same time take turns at the lock of sessions, and none waits for another.
    """
    while True:
        try:
            interval = _SHORT_INTERVAL if await _swept(gallery, dispatch) else _INTERVAL
        except (LogoAdminError, HttpError):  # the database is out of reach, which storage logs
            interval = _INTERVAL
        except RuntimeError:  # the gallery was closed
            return
        except Exception:
            interval = _INTERVAL
            log.exception("What has expired cannot be removed")
        await asyncio.sleep(interval)


async def send_notices(gallery: LogoAdmin, dispatch: Dispatch) -> None:
    """Send the notices that are due, every two seconds, until the application ends or the gallery is closed."""
    while gallery.notices.is_needed:
        try:
            await dispatch.asking.run_for(send_notices, gallery.notices.send_due)
        except (LogoAdminError, HttpError):  # the database is out of reach, which storage logs
            pass
        except RuntimeError:  # the gallery was closed
            return
        except Exception:
            log.exception("Notices cannot be sent")
        await asyncio.sleep(_NOTICE_INTERVAL)


async def _swept(gallery: LogoAdmin, dispatch: Dispatch) -> bool:
    """Remove what has expired, with as long a pause after each write as it took; return whether anything is left."""
    loop = asyncio.get_running_loop()
    for _ in range(_MOST_WRITES):
        began = loop.time()
        found = await dispatch.session_writing.run(gallery.sweep)
        if found != "more":
            return found == "busy"
        await asyncio.sleep(loop.time() - began)
    return True
