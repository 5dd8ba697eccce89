"""Answers in gzip, for clients that take it (contract K8, RFC 1952).

A long answer is compressed in parts, each by itself, so that all readers can share them. They are the blocks of one
stream: nothing in a part refers to the part before it, and what ends the stream follows from sums that add up.
"""

import functools
import gzip
import struct
import zlib
from typing import Final, NamedTuple

from starlette.types import Scope

# What is shorter fits one packet anyway.
SHORT: Final = 1_024  # bytes
# What an entity tag ends with if the body is in gzip; it names the same version (contract F1).
SUFFIX: Final = "-gzip"

# As so many kinds of clients as there are at a time ask for it.
_KNOWN: Final = 64
# Those who read a list that is kept ask for the same again, each of them for every part.
_SUMS: Final = 2_048
_RAW: Final = -zlib.MAX_WBITS
# Above it, it takes twice as long for 2 % less.
_LEVEL: Final = 6
# No name and no time, so that the same content is always the same bytes.
_HEAD: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
# The last block of the stream, with nothing in it.
_LAST: Final = b"\x03\x00"
_ZEROS: Final = bytes(65_536)


def accepts_gzip(scope: Scope) -> bool:
    """Return whether a client takes gzip, and does not only put up with it (RFC 9110 §12.5.3).

    Several lines of the header are one list (RFC 9110 §5.3).
    """
    sent = [value for name, value in scope["headers"] if name == b"accept-encoding"]
    return _accepts(b",".join(sent)) if sent else False


@functools.lru_cache(_KNOWN)
def _accepts(header: bytes) -> bool:
    weights: dict[str, str] = {}
    for each in header.decode("latin-1").lower().split(","):
        coding, _, parameter = each.partition(";")
        weights[coding.strip()] = parameter.replace(" ", "")
    wanted = next((weights[name] for name in ("gzip", "x-gzip", "*") if name in weights), "q=0")
    return not wanted or wanted.rstrip("0.") not in {"q=", "q"}


def in_gzip(content: bytes) -> bytes:
    """Return content in gzip; the same content is always the same bytes."""
    return gzip.compress(content, _LEVEL, mtime=0)


class Sums(NamedTuple):
    """What the end of a stream must tell of the content of a part."""

    checksum: int
    size: int


def deflated(content: bytes) -> tuple[bytes, Sums]:
    """Return content as blocks that can follow any others, and what is to be told of it."""
    compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, _RAW)
    blocks = compressor.compress(content) + compressor.flush(zlib.Z_SYNC_FLUSH)
    return blocks, Sums(zlib.crc32(content), len(content))


class Stream:
    """A gzip stream that is made of parts, of which each is sent in chunks."""

    def __init__(self) -> None:
        self._has_begun = False
        self._checksum = 0
        self._size = 0

    def framed(self, chunk: bytes, sums: Sums, *, at_end: bool, is_last: bool) -> bytes:
        """Return a chunk of a part with what the stream has before and after it.

        Args:
            chunk: some of the part's blocks.
            sums: those of the part.
            at_end: whether the chunk ends the part.
            is_last: whether the part ends the stream.
        """
        if not self._has_begun:
            self._has_begun, chunk = True, _HEAD + chunk
        if not at_end:
            return chunk
        self._checksum = _joined(self._checksum, sums.checksum, sums.size)
        self._size += sums.size
        return chunk + _LAST + struct.pack("<LL", self._checksum, self._size & 0xFFFFFFFF) if is_last else chunk


def _joined(first: int, second: int, size: int) -> int:
    """Return the checksum of two contents, the second of which is so long, from the checksums of both.

    A CRC is linear but for how it begins: to go on from the first over as many zeros shifts it into its place, and what
    a beginning of its own would have made of those zeros is taken out again.
    """
    return second ^ _over_zeros(first, size) ^ _over_zeros(0, size)


@functools.lru_cache(_SUMS)
def _over_zeros(checksum: int, size: int) -> int:
    for length in (len(_ZEROS),) * (size // len(_ZEROS)) + (size % len(_ZEROS),):
        checksum = zlib.crc32(memoryview(_ZEROS)[:length], checksum)
    return checksum
