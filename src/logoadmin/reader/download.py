"""Downloads with a bound on their size, also after decompression, and on their time (contract L6)."""

import ssl
import time
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Final

from logoadmin.reader.signatures import ReaderError

# Seconds for any file, and bytes per second beyond.
SECONDS: Final = 20.0
_BYTES_PER_SECOND: Final = 8_000
_MOST_REDIRECTS: Final = 5


@dataclass(frozen=True, slots=True)
class Downloaded:
    """A response; ``body`` is None if nothing has changed (304)."""

    body: bytes | None
    etag: str | None


def http_client() -> ModuleType:
    """Return the package httpx2.

    Raises:
        ReaderError: it is not installed.
    """
    try:
        import httpx2
    except ImportError as error:
        raise ReaderError("reading a gallery needs httpx2: pip install 'logoadmin[client]'") from error
    return httpx2


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    """Return how servers are verified; reading all certificates takes longer than most downloads."""
    context: ssl.SSLContext = http_client().create_ssl_context()
    return context


def download(url: str, path: str, *, most: int, headers: Mapping[str, str]) -> Downloaded:
    """Read a file of a published gallery.

    Args:
        url: of the folder, ending in ``/``.
        path: the name of the file in it.
        most: bytes.
        headers: of the request.

    Raises:
        ReaderError: it cannot be read, is larger, or takes too long.
    """
    httpx2 = http_client()
    seconds = SECONDS + most / _BYTES_PER_SECOND
    end = time.monotonic() + seconds
    sent = {"accept-encoding": "gzip", **headers}
    try:
        with (
            httpx2.Client(
                verify=_tls(), timeout=SECONDS, follow_redirects=True, max_redirects=_MOST_REDIRECTS
            ) as client,
            client.stream("GET", url + path, headers=sent) as response,
        ):
            if response.status_code == 304:
                return Downloaded(None, None)
            if not response.is_success:
                raise ReaderError(f"{path}: HTTP {response.status_code}")
            is_gzip = response.headers.get("content-encoding", "identity") == "gzip"
            body = bytearray()
            for part in _decompressed(response.iter_raw(), most) if is_gzip else response.iter_raw():
                body += part
                if len(body) > most:
                    raise ReaderError(f"{path}: too large")
                if time.monotonic() > end:
                    raise ReaderError(f"{path}: not within {seconds:.0f} s")
            return Downloaded(bytes(body), response.headers.get("etag"))
    except (httpx2.HTTPError, httpx2.InvalidURL, zlib.error) as error:
        raise ReaderError(f"{path}: {error or type(error).__name__}") from error


def _decompressed(parts: Iterator[bytes], most: int) -> Iterator[bytes]:
    """Decompress gzip; of a part that becomes more than ``most`` bytes, only one more is made."""
    decompressor = zlib.decompressobj(wbits=31)
    for part in parts:
        yield decompressor.decompress(part, most + 1)
