"""Publishes each change as files, for the service and for ``publish --watch`` (contract L1)."""

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from math import inf
from typing import Final

from logoadmin.domain.kernel.errors import LogoAdminError
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.publication.publication_records import Links, Published
from logoadmin.ports.gallery_files import GalleryFiles

# How often the last change is read, which is one row of the database.
_LOOK_EVERY: Final = 0.5  # seconds
# How often everything is compared, since new keys and the age of the pointer are not changes.
_COMPARE_EVERY: Final = 10.0  # seconds
_RETRY_EVERY: Final = 1.0  # seconds
# The same after an unexpected error, which would probably occur again.
_RETRY_LATER: Final = 10.0  # seconds
# How long the program waits at its end for a publication in progress.
_PATIENCE: Final = 2.0  # seconds


class Publisher:
    """Publishes each change of a gallery until it is closed."""

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
        """Prepare to publish into ``files``.

        Args:
            published, failed: called after each comparison of everything, and with the error of each failed attempt.
            leased: whether the files belong to the service, whose process with the lease publishes.
            links: the links in the files, by default those of the service.
            holding: returns a context for each long call.
        """
        self._gallery, self.files = gallery, files
        self._published, self._failed, self._holding = published, failed, holding
        self._is_leased, self._links = leased, links
        self._is_own = leased and gallery.publication.rules.owns_files
        self._lease: AbstractContextManager[object] | None = None
        self._version: int | None = None
        self._compare_at = -inf
        self._stopping = threading.Event()
        self._publishing_thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread, which ends with the gallery or the program."""
        # A daemon, since it may be waiting for the disk or the database when the program ends.
        self._publishing_thread = threading.Thread(target=self._run, name="logoadmin-publisher", daemon=True)
        self._publishing_thread.start()

    def close(self) -> None:
        """Stop, and wait a moment for a publication in progress."""
        self._stopping.set()
        if self._publishing_thread is not None:
            self._publishing_thread.join(_PATIENCE)

    def _run(self) -> None:
        """Publish until :meth:`close`, or until the gallery is closed."""
        with ExitStack() as stack:
            while not self._stopping.is_set():
                self._stopping.wait(self._attempt(stack))

    def _attempt(self, stack: ExitStack) -> float:
        """Check for changes once; return the seconds until the next attempt."""
        try:
            if self._is_leased and self._lease is None:
                self._lease = self.files.lease()
                if self._lease is None:
                    return _LOOK_EVERY
                stack.enter_context(self._lease)
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
        if version == self._version and now < self._compare_at:
            return
        with self._holding():
            found = self._gallery.publication.publish(self.files, is_own=self._is_own, links=self._links)
        self._version, self._compare_at = version, now + _COMPARE_EVERY
        self._published(found)
