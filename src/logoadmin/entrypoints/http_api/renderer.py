"""Renders the answers of use cases as responses (contract E1, E2, F1, F2)."""

import threading
import zlib
from collections.abc import Hashable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from http import HTTPStatus
from io import BytesIO
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlencode

from cachetools import LRUCache

from logoadmin.domain.kernel.access import Caller
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import NotModified
from logoadmin.domain.kernel.lists import Listing
from logoadmin.domain.kernel.records import version_of
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.publication.css.verdict import Verdict
from logoadmin.entrypoints.http_api.bodies import TemporaryFile
from logoadmin.entrypoints.http_api.conditions import (
    GZIP,
    LEVEL,
    SHORT,
    SUFFIX,
    accepts_gzip,
    if_none_match,
    in_gzip,
    known_tag,
)
from logoadmin.entrypoints.http_api.http_error import HttpError
from logoadmin.entrypoints.http_api.operation import JSON, Operation
from logoadmin.entrypoints.http_api.request import Request
from logoadmin.entrypoints.http_api.response import SLICE, Fields, Response

# The longest list, before compression.
MAX_LIST: Final = 256 * 1024 * 1024  # bytes


class LongResponses:
    """Keeps long responses to public reads, up to twice the size of the longest list, for further readers.

    Thread-safe.
    """

    def __init__(self, max_list: int = MAX_LIST) -> None:
        self.max_list = max_list
        self._stored: LRUCache[Hashable, tuple[object, Response]] = LRUCache(
            2 * max_list, lambda stored: len(stored[1].body)
        )
        self._lock = threading.Lock()

    def get(self, key: Hashable, version: object) -> Response | None:
        """Return the stored response for a key, if it was made from this version of the records."""
        with self._lock:
            stored = self._stored.get(key)
        return stored[1] if stored is not None and stored[0] is version else None

    def keep(self, key: Hashable, version: object, response: Response) -> None:
        """Store a response that is longer than a slice, in place of that of another version."""
        if len(response.body) > SLICE:
            with self._lock, suppress(ValueError):  # too large to keep
                self._stored[key] = version, response


_JSON: Final = (b"content-type", JSON.encode())
_VARY: Final = (b"vary", b"Accept-Encoding")


@dataclass(frozen=True, slots=True)
class LongList:
    """The response with a whole list of several pages, which may exceed the usual deadline."""

    listing: Listing[Any]
    renderer: "Renderer"
    fields: Fields
    gzip: bool

    def render(self, key: Hashable, version: object) -> Response:
        """Return the response with a snapshot of the list, or a stored one of this version; None for private lists.

        Raises:
            HttpError: the list is too long.
            StorageUnavailable: the database is unavailable.
        """
        responses = self.renderer.long_responses
        stored = None if version is None else responses.get(key, version)
        if stored is not None:
            return stored
        response = self.renderer.whole(self.listing.at_one_moment(self._body), self.fields, is_gzip=self.gzip)
        if version is not None:
            responses.keep(key, version, response)
        return response

    def _body(self, pages: Iterator[tuple[Any, ...]]) -> bytes:
        """Return the list in JSON, compressed page by page, so that it is in memory only once."""
        body, length, part = BytesIO(), 0, b"["
        compressor = zlib.compressobj(LEVEL, wbits=31)  # with the header and trailer of gzip
        for page in pages:
            if page:
                part += self.renderer.json(page)[1:-1]
                length += len(part)
                if length > self.renderer.long_responses.max_list:
                    raise HttpError(413, "This list is too long; use limit")
                body.write(compressor.compress(part) if self.gzip else part)
                part = b","
        end = b"[]" if part == b"[" else b"]"
        body.write(compressor.compress(end) + compressor.flush() if self.gzip else end)
        return body.getvalue()


class Renderer:
    """Calls the use case of one operation, and renders its answers as bytes."""

    def __init__(
        self, operation: Operation, gallery: LogoAdmin, cache_seconds: int, long_responses: LongResponses
    ) -> None:
        self._operation = operation
        self._gallery = gallery
        self._reads = operation.method == "GET"
        self.json = operation.renderer().serializer.to_json
        self.long_responses = long_responses
        # A new artwork has no links, whose versions would count towards its own.
        self._is_new = operation.success == HTTPStatus.CREATED and operation.kind is not None
        cached = f"public, max-age={cache_seconds}" if operation.is_public_read else "no-store"
        self._fields = [(b"x-content-type-options", b"nosniff"), (b"cache-control", cached.encode())]
        if self._reads:
            self._fields.append(_VARY)

    def response(self, command: Command, caller: Caller, request: Request) -> "Response | LongList":
        """Call the use case, and return the response; a list of several pages is rendered later."""
        try:
            answer = self._operation.use_case_of(self._gallery)(command, caller)
        except NotModified as error:
            return self._unmodified(error.version, request)
        if self._operation.shown is not None:
            answer = self._operation.shown(answer, self._gallery.public_url)
        fields = [*self._fields, _JSON]
        if self._operation.is_versioned:
            version = answer.version if self._is_new else _version(answer)
            if version is not None:
                if self._reads and if_none_match(request) is None:
                    return self._unmodified(version, request)
                fields.append((b"etag", b'"%d"' % version))
        gzip = self._reads and accepts_gzip(request)
        if isinstance(answer, Listing):
            if answer.goes_on:
                return LongList(answer, self, fields, gzip)
            if answer.next_after is not None:
                fields.append((b"link", f'<{_next(request, answer.next_after)}>; rel="next"'.encode()))
            answer = answer.first
        content = self.json(answer)
        gzip = gzip and len(content) > SHORT
        return self.whole(in_gzip(content) if gzip else content, fields, is_gzip=gzip)

    def short_response(self, answer: Any) -> Response:
        """Return the response with a short answer, uncompressed and without a version."""
        response = self.whole(self.json(answer), [*self._fields, _JSON], is_gzip=False)
        existing = self._operation.existing
        return replace(response, status=existing) if existing is not None and answer.existed else response

    def file_response(self, file: TemporaryFile, media_type: str, name: str) -> Response:
        """Return the response with a file to download under a name."""
        attachment = f'attachment; filename="{name}"'.encode()
        fields = [*self._fields, (b"content-disposition", attachment), (b"content-type", media_type.encode())]
        fields.append((b"content-length", b"%d" % file.size))
        return Response(self._operation.success, fields, file=file)

    def whole(self, content: bytes, fields: Fields, *, is_gzip: bool) -> Response:
        """Return the response with a body."""
        fields = [*(_compressed(fields) if is_gzip else fields), (b"content-length", b"%d" % len(content))]
        return Response(self._operation.success, fields, content)

    def _unmodified(self, version: int, request: Request) -> Response:
        tag = b'"%d"' % version
        return Response(304, [*self._fields, (b"etag", known_tag(request, tag) or tag)])


def _version(answer: Any) -> int | None:
    """Return the version of an answer; a verdict that is not of a stored artwork, or took too long, has none."""
    if isinstance(answer, Verdict):
        return answer.version or None
    return answer.version if isinstance(answer, Listing) else version_of(answer)


def _compressed(fields: Fields) -> Fields:
    """Return the header fields of the response compressed with gzip."""
    suffix = f'{SUFFIX}"'.encode()
    return [GZIP, *((name, value[:-1] + suffix) if name == b"etag" else (name, value) for name, value in fields)]


def _next(request: Request, after: int | str) -> str:
    """Return the path of the next page, which is correct under any host and scheme of a proxy."""
    parameters = [(name, value) for name, value in parse_qsl(request.query.decode("latin-1")) if name != "after"]
    prefix = "" if request.path.startswith(f"{request.prefix}/") else request.prefix
    return f"{quote(prefix + request.path)}?{urlencode([*parameters, ('after', after)])}"
