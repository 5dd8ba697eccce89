"""Responses in gzip, for clients that accept it (contract K8, RFC 1952)."""

import functools
import gzip
from typing import Final

from logoadmin.entrypoints.http_api.request import Request

# A shorter body fits one packet anyway.
SHORT: Final = 1_024  # bytes
# The suffix of the entity tag of a gzip body, which is of the same version (contract F1).
SUFFIX: Final = "-gzip"
# A higher level takes twice as long for 2 % less.
LEVEL: Final = 6
# For content that is compressed once and sent often.
_BEST_LEVEL: Final = 9

# The number of `Accept-Encoding` headers whose meaning is remembered.
_REMEMBERED: Final = 64


def accepts_gzip(request: Request) -> bool:
    """Return whether a client accepts gzip, other than as a last resort (RFC 9110 §12.5.3).

    Several lines of the header are one list (RFC 9110 §5.3).
    """
    sent = request.headers.get(b"accept-encoding")
    return _accepts(",".join(sent)) if sent else False


@functools.lru_cache(_REMEMBERED)
def _accepts(header: str) -> bool:
    weights: dict[str, str] = {}
    for each in header.lower().split(","):
        coding, _, parameter = each.partition(";")
        weights[coding.strip()] = parameter.replace(" ", "")
    wanted = next((weights[name] for name in ("gzip", "x-gzip", "*") if name in weights), "q=0")
    return not wanted or wanted.rstrip("0.") not in {"q=", "q"}


def in_gzip(content: bytes) -> bytes:
    """Return content in gzip; the same content is always the same bytes."""
    return gzip.compress(content, LEVEL, mtime=0)


def in_best_gzip(content: bytes) -> bytes:
    """Return content in gzip, as short as gzip can make it."""
    return gzip.compress(content, _BEST_LEVEL, mtime=0)
