"""Downloads of limited size, also after decompression, and limited time (contract L6)."""

import socket
import ssl
import threading
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Any, Final

from .signatures import ReaderError

# Seconds for any file, and the bytes for which it gets one more.
SECONDS: Final = 20.0
_BYTES_PER_SECOND: Final = 8_000
_MOST_REDIRECTS: Final = 5


@dataclass(frozen=True, slots=True)
class Downloaded:
    """A response; ``body`` is None if nothing has changed (304)."""

    body: bytes | None
    etag: str | None


class _Deadline:
    """Closes the connections of a download when its time is over, however slowly the server sends."""

    def __init__(self, seconds: float) -> None:
        self.is_over = False
        self._connection: socket.socket | None = None
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True

    def __enter__(self) -> "_Deadline":
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Remember the connection; httpx2 calls this at each of its steps."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self._connection = info["return_value"].get_extra_info("socket")
            if self.is_over:
                self._end()

    def _end(self) -> None:
        self.is_over = True
        if self._connection is not None:
            with suppress(OSError):
                self._connection.shutdown(socket.SHUT_RDWR)


def http_client() -> ModuleType:
    """Return the package httpx2, or raise ReaderError if it is not installed."""
    try:
        import httpx2
    except ImportError as error:
        raise ReaderError("reading a gallery needs httpx2: run pip install httpx2") from error
    return httpx2


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    """Return the TLS context, cached because loading all certificates takes longer than most downloads."""
    context: ssl.SSLContext = http_client().create_ssl_context()
    return context


def download(url: str, path: str, *, most: int, headers: Mapping[str, str]) -> Downloaded:
    """Read a file of at most ``most`` bytes from the folder of a published gallery, whose URL ends in ``/``.

    Raises:
        ReaderError: it cannot be read, is larger, or takes too long.
    """
    httpx2 = http_client()
    with _Deadline(SECONDS + most / _BYTES_PER_SECOND) as deadline:
        try:
            options = {"follow_redirects": True, "max_redirects": _MOST_REDIRECTS, "timeout": SECONDS}
            headers, extensions = {"accept-encoding": "gzip", **headers}, {"trace": deadline.trace}
            with (
                httpx2.Client(verify=_tls(), **options) as client,
                client.stream("GET", url + path, headers=headers, extensions=extensions) as response,
            ):
                found = _read(response, path, most)
        except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError, zlib.error) as error:  # UnicodeError: a host name
            raise ReaderError(f"{path}: {error or type(error).__name__}") from error
        if deadline.is_over:
            raise ReaderError(f"{path}: too slow")
        return found


def _read(response: Any, path: str, most: int) -> Downloaded:
    if response.status_code == 304 and "if-none-match" in response.request.headers:
        return Downloaded(None, None)
    if not response.is_success:
        raise ReaderError(f"{path}: HTTP {response.status_code}")
    is_gzip = response.headers.get("content-encoding", "identity") == "gzip"
    body = bytearray()
    for part in _decompressed(response.iter_raw(), most) if is_gzip else response.iter_raw():
        body += part
        if len(body) > most:
            raise ReaderError(f"{path}: too large")
    etag = response.headers.get("etag", "")
    return Downloaded(bytes(body), etag if etag.isascii() else None)  # others cannot be sent in a request


def _decompressed(parts: Iterator[bytes], most: int) -> Iterator[bytes]:
    """Decompress gzip; each part yields at most ``most`` bytes and one more."""
    decompressor = zlib.decompressobj(wbits=31)
    for part in parts:
        yield decompressor.decompress(part, most + 1)
