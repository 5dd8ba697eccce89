"""Bodies of bounded size, compressed and decompressed (contract L8)."""

import zlib
from collections.abc import Iterable
from typing import Final

from logoadmin.adapters.httpcore_outgoing.budget import TooLarge

_GZIP: Final = 16 + zlib.MAX_WBITS


class Undecodable(Exception):
    """A body is not compressed in the way that its head says, or in one that was not asked for."""


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
