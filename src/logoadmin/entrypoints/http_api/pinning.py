"""Fetching imported style sheets in the background: no publication waits for their origins (contract L5)."""

import logging
import threading
import time
from math import inf
from typing import Final

from logoadmin.domain.kernel.errors import LogoAdminError
from logoadmin.domain.logo_admin import LogoAdmin

log = logging.getLogger("logoadmin.http")

# Origins that failed are not asked again earlier.
_INTERVAL: Final = 600.0  # seconds
# After this time, the sheets so far are published, and the others are fetched afterwards.
_STEP: Final = 10.0  # seconds


class BackgroundPinning:
    """Pins imports in a thread of its own, which ends when nothing is left to fetch, or with the process.

    Attributes:
        has_news: whether anything was pinned, or could not be, since this was last set to False.
    """

    def __init__(self, gallery: LogoAdmin) -> None:
        self.has_news = False
        self._gallery = gallery
        self._thread: threading.Thread | None = None
        self._not_before = -inf

    def start(self, *, at_once: bool) -> None:
        """Begin unless it is under way.

        Args:
            at_once: whether records have changed; otherwise it begins only if it is time to ask failed origins again.
        """
        is_running = self._thread is not None and self._thread.is_alive()
        if is_running or not (at_once or time.monotonic() >= self._not_before):
            return
        # A daemon, since it may wait for an origin while the program ends: each pin is stored whole or not at all.
        self._thread = threading.Thread(target=self._run, name="logoadmin-pinning", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            while self._gallery.pins.pin_missing(_STEP):
                self.has_news = True
        except LogoAdminError as error:  # the database is out of reach, or the gallery was closed
            log.info("Imported style sheets are fetched later: %s", error)
        except Exception:
            log.exception("Imported style sheets cannot be fetched")
        finally:
            self._not_before = time.monotonic() + _INTERVAL
