"""Publishing each change into files, for the service and for ``publish --watch`` (contract L1, L5)."""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from math import inf
from typing import Final

from logoadmin.domain.kernel.errors import LogoAdminError
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.publication.publication_records import Links, Published
from logoadmin.domain.publication.publication_service import ShowPublication
from logoadmin.ports.publication.gallery_files import GalleryFiles

log = logging.getLogger("logoadmin.publisher")

# How often the database is asked for the last change, which is one row.
_LOOK_EVERY: Final = 0.5  # seconds
# Keys, first pins of other processes and the age of the pointer are no changes: everything is compared this often.
_COMPARE_EVERY: Final = 10.0  # seconds
_RETRY_EVERY: Final = 1.0  # seconds
# The same after an unexpected error, which the next attempt would probably meet as well.
_RETRY_LATER: Final = 10.0  # seconds
# Origins that failed are asked again after this time.
_PIN_EVERY: Final = 600.0  # seconds
# The sheets that were fetched in this time are published before the others are fetched.
_PIN_STEP: Final = 10.0  # seconds
# How long the end of the program waits for a publication that is being written.
_PATIENCE: Final = 2.0  # seconds


class Publisher:
    """Publishes a gallery until it is closed: each change, then the imports that it needs, as they are fetched.

    Origins of imports that hang delay nothing: they are asked in a thread of their own.
    """

    def __init__(
        self,
        gallery: LogoAdmin,
        files: GalleryFiles,
        *,
        published: Callable[[Published], object],
        failed: Callable[[Exception], object],
        leased: bool = False,
        links: Links | None = None,
        holding: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        """Prepare to publish.

        Args:
            gallery: the gallery.
            files: where it is published.
            published: is called after each look that compared everything, with the records that are left out if
                these or their reasons may have changed.
            failed: is called with the error of each failed attempt.
            leased: whether the files belong to the service: of its processes, the one with the lease publishes.
            links: the links in the files, by default those of the service.
            holding: returns a context for each call that may take long.
        """
        self._gallery, self.files = gallery, files
        self._published, self._failed, self._holding = published, failed, holding
        self._is_leased, self._links = leased, links
        self._is_own = leased and gallery.publication.rules.owns_files
        self._lease: AbstractContextManager[object] | None = None
        self._version: int | None = None
        self._compare_at, self._has_news, self._is_complete = -inf, False, True
        self._stopping, self._waking, self._pinning = threading.Event(), threading.Event(), threading.Event()
        self._publishing_thread: threading.Thread | None = None
        self._pinning_thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def start(self) -> None:
        """Begin in a thread, unless it has begun. The thread ends with the gallery, or with the program."""
        with self._starting:
            if self._publishing_thread is None:
                self._publishing_thread = _started(self._run, "logoadmin-publisher")

    def close(self) -> None:
        """End, and wait a moment for a publication that is being written."""
        self._stopping.set()
        self._waking.set()
        self._pinning.set()
        if self._publishing_thread is not None:
            self._publishing_thread.join(_PATIENCE)

    def _run(self) -> None:
        """Publish until :meth:`close`, or until the gallery is closed."""
        with ExitStack() as held:
            while not self._stopping.is_set():
                pause = self._attempt(held)
                self._waking.wait(pause)
                self._waking.clear()
        self._pinning.set()

    def _attempt(self, held: ExitStack) -> float:
        """Look once; return the seconds until the next look."""
        try:
            if self._is_leased and self._lease is None:
                self._lease = self.files.lease()
                if self._lease is None:
                    return _LOOK_EVERY
                held.enter_context(self._lease)
            self._look()
        except Exception as error:
            if self._gallery.is_closed:
                self._stopping.set()
            if self._stopping.is_set():
                return 0
            self._failed(error)
            return _RETRY_EVERY if isinstance(error, LogoAdminError | OSError) else _RETRY_LATER
        return _LOOK_EVERY

    def _look(self) -> None:
        version, now = self._gallery.changes.version(), time.monotonic()
        if version == self._version and not self._has_news and now < self._compare_at:
            return
        has_news, self._has_news = self._has_news or self._version is None, False
        try:
            with self._holding():
                found = self._gallery.publication.publish(self.files, is_own=self._is_own, links=self._links)
                if has_news and not found.changed and not found.is_complete:  # for other reasons than before
                    found = replace(found, left_out=self._gallery.publication.status(ShowPublication()).left_out)
        except Exception:
            self._has_news = has_news
            raise
        self._version, self._compare_at, self._is_complete = version, now + _COMPARE_EVERY, found.is_complete
        self._published(found)
        if found.is_complete:
            return
        if found.changed or self._pinning_thread is None:
            self._pinning.set()
        if self._pinning_thread is None:
            self._pinning_thread = _started(self._pin, "logoadmin-pinning")

    def _pin(self) -> None:
        """Fetch missing imports after each change that needs it, and those that failed after a while."""
        while not self._stopping.is_set():
            self._pinning.wait(_PIN_EVERY)
            self._pinning.clear()
            if self._is_complete:
                continue
            try:
                while not self._stopping.is_set() and self._gallery.pins.pin_missing(_PIN_STEP):
                    self._has_news = True
                    self._waking.set()
            except LogoAdminError as error:
                log.info("Imported style sheets are fetched later: %s", error)
            except Exception:
                if self._gallery.is_closed:
                    return
                log.exception("Imported style sheets cannot be fetched")


def _started(work: Callable[[], None], name: str) -> threading.Thread:
    # A daemon, since it may wait for an origin or the database while the program ends.
    thread = threading.Thread(target=work, name=name, daemon=True)
    thread.start()
    return thread
