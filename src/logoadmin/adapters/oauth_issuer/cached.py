"""A document of the issuer, kept for a while (contract O7)."""

from collections.abc import Callable
from threading import Lock
from typing import Final, Generic, TypeVar

from logoadmin.domain.kernel.errors import IssuerUnavailable

Document = TypeVar("Document")

LIFETIME: Final = 3_600.0  # seconds
# A failure is remembered, so that visitors of the sign-in page do not ask an issuer that is down one by one.
_FAILURE: Final = 10.0  # seconds


class Cached(Generic[Document]):
    """A document that is read by one thread at a time, while the others wait for it."""

    def __init__(self, read: Callable[[], Document], monotonic: Callable[[], float]) -> None:
        self._read, self._monotonic = read, monotonic
        self._lock = Lock()
        self._known: tuple[float, Document] | None = None
        self._failed: tuple[float, IssuerUnavailable] | None = None

    def get(self, oldest: float = LIFETIME) -> Document:
        """Return the document, read at most ``oldest`` seconds ago.

        Raises:
            IssuerUnavailable: it cannot be read.
        """
        with self._lock:
            now = self._monotonic()
            if self._known is not None and now - self._known[0] < oldest:
                return self._known[1]
            if self._failed is not None and now - self._failed[0] < min(oldest, _FAILURE):
                raise IssuerUnavailable(self._failed[1].host, self._failed[1].reason, self._failed[1].cure)
            try:
                document = self._read()
            except IssuerUnavailable as error:
                self._failed = self._monotonic(), error.with_traceback(None)
                raise
            self._known = self._monotonic(), document
            return document
