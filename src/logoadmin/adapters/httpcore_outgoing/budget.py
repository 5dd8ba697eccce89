"""What one outgoing request may take: time and bytes, over all its redirects, and bodies within it (contract L8)."""

import time
import zlib
from collections.abc import Iterable
from typing import Final

# Heads of responses, and the frames of chunks.
_OVERHEAD: Final = 256 * 1024
_GZIP: Final = 16 + zlib.MAX_WBITS


class TooLarge(Exception):
    """A response has more bytes than it may have."""


class Undecodable(Exception):
    """A body is not compressed in the way that its head says, or in one that was not asked for."""


class Budget:
    """The time and the received bytes that are left.

    Attributes:
        most: the largest body, in bytes.
        seconds: the time for everything.
    """

    def __init__(self, most: int, seconds: float) -> None:
        self.most = most
        self.seconds = seconds
        self._bytes = 2 * most + _OVERHEAD
        self._end = time.monotonic() + seconds

    def time_left(self) -> float:
        """Return the seconds that are left.

        Raises:
            TimeoutError: none are left.
        """
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def receive(self, size: int) -> None:
        """Count received bytes, of whatever kind.

        Raises:
            TooLarge: more than can belong to a response with a body that is small enough.
        """
        self._bytes -= size
        if self._bytes < 0:
            raise TooLarge


def read_body(chunks: Iterable[bytes], encoding: str, most: int) -> bytes:
    """Return a decompressed body.

    Args:
        chunks: the body as it arrives.
        encoding: the ``Content-Encoding``.
        most: the largest size, in bytes, before and after.

    Raises:
        TooLarge: the body is larger.
        Undecodable: the encoding is neither gzip nor none, or the body is damaged or incomplete.
    """
    if encoding in ("gzip", "x-gzip"):
        return _decompressed(_bounded(chunks, most), most)
    if encoding not in ("", "identity"):
        raise Undecodable
    return b"".join(_bounded(chunks, most))


def _bounded(chunks: Iterable[bytes], most: int) -> Iterable[bytes]:
    received = 0
    for chunk in chunks:
        received += len(chunk)
        if received > most:
            raise TooLarge
        yield chunk


def _decompressed(chunks: Iterable[bytes], most: int) -> bytes:
    body = bytearray()
    member = zlib.decompressobj(_GZIP)
    for chunk in chunks:
        rest = chunk
        while rest:
            if member.eof:  # files may be concatenated (RFC 1952 §2.2)
                member = zlib.decompressobj(_GZIP)
            try:
                body += member.decompress(rest, most + 1 - len(body))
            except zlib.error:
                raise Undecodable from None
            if len(body) > most:
                raise TooLarge
            rest = member.unused_data if member.eof else member.unconsumed_tail
    if not member.eof:
        raise Undecodable
    return bytes(body)
