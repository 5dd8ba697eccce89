"""Conditional requests and gzip compression (contract F1, K8, RFC 9110 §12.5.3 and §13.1)."""

import gzip
import hashlib
import re
from functools import lru_cache
from typing import Final

from logoadmin.entrypoints.http_api.request import Request
from logoadmin.entrypoints.http_api.response import Fields, Response, unmodified

# Shorter bodies fit into one packet anyway.
SHORT: Final = 1_024  # bytes
GZIP: Final = (b"content-encoding", b"gzip")
# The suffix of the entity tag of a compressed body, which has the same version (contract F1).
SUFFIX: Final = "-gzip"
# A higher level takes twice as long and saves 2 %.
LEVEL: Final = 6
# For content that is compressed once and sent often.
BEST_LEVEL: Final = 9

# The number of cached header values; clients of one version all send the same.
_CACHE_SIZE: Final = 64


def accepts_gzip(request: Request) -> bool:
    """Return whether a client accepts gzip with a weight above 0 (RFC 9110 §12.5.3)."""
    return accepts(request, "gzip", "x-gzip", "*")


def accepts(request: Request, *codings: str) -> bool:
    """Return whether a client accepts a coding, which may have several names, with a weight above 0."""
    sent = request.headers.get(b"accept-encoding")
    return _accepts_one_of(",".join(sent), codings) if sent else False  # repeated headers are one list (RFC 9110 §5.3)


@lru_cache(_CACHE_SIZE)
def _accepts_one_of(header: str, codings: tuple[str, ...]) -> bool:
    weights: dict[str, str] = {}
    for each in header.lower().split(","):
        coding, _, parameter = each.partition(";")
        weights[coding.strip()] = parameter.replace(" ", "")
    wanted = next((weights[name] for name in codings if name in weights), "q=0")
    return not wanted or wanted.rstrip("0.") not in {"q=", "q"}


def in_gzip(content: bytes, level: int = LEVEL) -> bytes:
    """Return content compressed with gzip; the output is deterministic."""
    return gzip.compress(content, level, mtime=0)


_TAG: Final = re.compile(r'(W/)?"([!#-~\x80-\xff]*)"')
_TAGS: Final = re.compile(rf"[\s,]*{_TAG.pattern}(?:\s*,[\s,]*{_TAG.pattern})*[\s,]*")
# Compressed responses have the same version (contract K8).
_VERSION: Final = re.compile(f"(0|[1-9][0-9]{{0,18}})(?:{SUFFIX})?", re.ASCII)


@lru_cache(_CACHE_SIZE)
def _tags_in(*sent: str, weak: bool) -> frozenset[str] | None:
    """Return the opaque parts of the entity tags in a header's values; None for ``*``, which matches any version.

    An invalid list has no tags. Without ``weak``, weak tags are left out (RFC 9110 §8.8.3.2).
    """
    text = ", ".join(sent).strip()
    if text == "*":
        return None
    if _TAGS.fullmatch(text) is None:
        return frozenset()
    return frozenset(tag for is_weak, tag in _TAG.findall(text) if weak or not is_weak)


def if_none_match(request: Request) -> frozenset[int] | None:
    """Return the versions that the client has cached; None for any."""
    sent = request.headers.get(b"if-none-match")
    return _versions(_tags_in(*sent, weak=True)) if sent else frozenset()


def if_match(request: Request) -> frozenset[int] | None:
    """Return the versions that the client accepts; None for any."""
    sent = request.headers.get(b"if-match")
    return _versions(_tags_in(*sent, weak=False)) if sent else None


def known_tag(request: Request, etag: bytes) -> bytes | None:
    """Return the entity tag of the client's cached copy, compressed or not; None if it has none."""
    sent = request.headers.get(b"if-none-match")
    if not sent:
        return None
    tags = _tags_in(*sent, weak=True)
    tag = etag.decode("latin-1").strip('"')
    if tags is None or tag in tags:
        return etag
    plain = tag.removesuffix(SUFFIX)
    others = (plain, f"{plain}{SUFFIX}")
    return next((f'"{other}"'.encode("latin-1") for other in others if other in tags), None)


def conditional(request: Request, etag: bytes, fields: Fields, body: bytes) -> tuple[int, Fields, bytes]:
    """Return status, header fields and body of a response, without the body for HEAD or if the client has it."""
    if (known := known_tag(request, etag)) is not None:
        return 304, unmodified(fields, known), b""
    return 200, fields, b"" if request.method == "HEAD" else body


class StaticFile:
    """A file with its header fields; a longer one also compressed with gzip, which takes a moment.

    Its fields are those of the uncompressed content, its size is that of all codings.
    """

    def __init__(self, content: bytes, fields: Fields, *, is_compressed: bool = False) -> None:
        """With ``is_compressed``, the content is sent only as it is."""
        tag = hashlib.sha256(content).hexdigest()[:32]
        fields = [*fields, (b"vary", b"Accept-Encoding")]
        self._plain = self._in_gzip = f'"{tag}"'.encode(), _with_size(fields, f'"{tag}"', content), content
        self.fields, self.size = self._plain[1], len(content)
        if len(content) > SHORT and not is_compressed:
            compressed, tag = in_gzip(content, BEST_LEVEL), f'"{tag}{SUFFIX}"'
            self._in_gzip = tag.encode(), _with_size([*fields, GZIP], tag, compressed), compressed
            self.size += len(compressed)

    def response(self, request: Request) -> Response:
        """Return the response in the best coding; 304 for a client whose cached copy is current."""
        etag, fields, body = self._in_gzip if accepts_gzip(request) else self._plain
        return Response(*conditional(request, etag, fields, body))


def _with_size(fields: Fields, tag: str, body: bytes) -> Fields:
    return [*fields, (b"content-length", b"%d" % len(body)), (b"etag", tag.encode())]


def _versions(tags: frozenset[str] | None) -> frozenset[int] | None:
    """Return the versions in entity tags; tags of another form match nothing."""
    return None if tags is None else frozenset(int(found[1]) for tag in tags if (found := _VERSION.fullmatch(tag)))
