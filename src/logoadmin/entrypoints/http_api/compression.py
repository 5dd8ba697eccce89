"""Responses in gzip or Brotli, for clients that accept it (contract K8, RFC 1952, RFC 7932)."""

import functools
import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol

import brotli

from logoadmin.entrypoints.http_api.request import Request

# A shorter body fits one packet anyway.
SHORT: Final = 1_024  # bytes
# The suffix of the entity tag of a gzip body, which is of the same version (contract F1).
SUFFIX: Final = "-gzip"
# The same for Brotli.
BROTLI_SUFFIX: Final = "-br"

# The number of `Accept-Encoding` headers whose meaning is remembered.
_REMEMBERED: Final = 64
# A higher level takes twice as long for 2 % less.
_LEVEL: Final = 6
# For content that is compressed once and sent often: 3,000 logos take 2 s in Brotli, and a fifth less than in gzip.
_BEST_LEVEL: Final = 9
_BEST_BROTLI: Final = 11
# Longer content takes minutes at that level, and a fiftieth of it at this one.
_LONG: Final = 4_194_304  # bytes
_BROTLI_FOR_LONG: Final = 9


class Writer(Protocol):
    """Something to which bytes can be written."""

    def write(self, content: bytes, /) -> object:
        """Write at the end."""


class _GzipWriter:
    """Compresses into a file; unlike GzipFile, it writes nothing more to a file that has failed."""

    def __init__(self, file: Writer) -> None:
        self._file = file
        self._compressor = zlib.compressobj(_LEVEL, wbits=31)  # with the head and the end of gzip

    def write(self, content: bytes, /) -> None:
        self._file.write(self._compressor.compress(content))

    def end(self) -> None:
        self._file.write(self._compressor.flush())


def accepts_gzip(request: Request) -> bool:
    """Return whether a client accepts gzip, other than as a last resort (RFC 9110 §12.5.3).

    Several lines of the header are one list (RFC 9110 §5.3).
    """
    sent = request.headers.get(b"accept-encoding")
    return _accepts(",".join(sent), ("gzip", "x-gzip", "*")) if sent else False


def accepts_brotli(request: Request) -> bool:
    """Return whether a client names Brotli, other than as a last resort."""
    sent = request.headers.get(b"accept-encoding")
    return _accepts(",".join(sent), ("br",)) if sent else False


@functools.lru_cache(_REMEMBERED)
def _accepts(header: str, names: tuple[str, ...]) -> bool:
    weights: dict[str, str] = {}
    for each in header.lower().split(","):
        coding, _, parameter = each.partition(";")
        weights[coding.strip()] = parameter.replace(" ", "")
    wanted = next((weights[name] for name in names if name in weights), "q=0")
    return not wanted or wanted.rstrip("0.") not in {"q=", "q"}


def in_gzip(content: bytes) -> bytes:
    """Return content in gzip; the same content is always the same bytes."""
    return gzip.compress(content, _LEVEL, mtime=0)


def in_best_gzip(content: bytes) -> bytes:
    """Return content in gzip, as short as gzip can make it."""
    return gzip.compress(content, _BEST_LEVEL, mtime=0)


def in_best_brotli(content: bytes) -> bytes:
    """Return content in Brotli, which may take seconds; other threads go on in the meantime."""
    quality = _BEST_BROTLI if len(content) <= _LONG else _BROTLI_FOR_LONG
    compressed: bytes = brotli.compress(content, quality=quality)
    return compressed


@contextmanager
def gzip_writer(file: Writer) -> Iterator[Writer]:
    """Yield a writer that compresses into a file; without a name and a time, so equal contents are equal bytes."""
    writer = _GzipWriter(file)
    yield writer
    writer.end()
