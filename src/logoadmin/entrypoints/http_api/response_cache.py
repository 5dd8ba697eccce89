"""The response cache: stores responses to public reads (contract E1, F1, F2)."""

import asyncio
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final

from cachetools import LRUCache
from starlette.types import Send

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api.conditions import accepts_gzip, conditional
from logoadmin.entrypoints.http_api.dispatch import TIMEOUT, Dispatch
from logoadmin.entrypoints.http_api.operation import Operation
from logoadmin.entrypoints.http_api.request import Request, count_response
from logoadmin.entrypoints.http_api.response import Fields, Response
from logoadmin.ports.metrics import Metrics

# The maximum size of a stored response, since a slow reader keeps it in memory, and of all stored responses.
_LARGEST: Final = 65_536
_MOST: Final = 16_777_216
# The memory of an entry in addition to its body.
_OVERHEAD: Final = 2_048
# Longer paths and queries are not cached: honest clients do not send them, and anyone could fill the memory with them.
_LONGEST_REQUEST: Final = 512


class DataVersion:
    """Reads the version of all records, on which cached responses depend.

    A response is stored under the version that was read before it was rendered, and served again only while a new read
    returns the same version. A version is a distinct object, not a number, because a number may recur with different
    records, for example after a restore.
    """

    def __init__(self, gallery: LogoAdmin, dispatch: Dispatch, *, from_sockets: bool = False) -> None:
        self._gallery = gallery
        self._from_sockets = from_sockets
        self._dispatch = dispatch
        self._seen: tuple[int | None, object] = None, object()
        self._current: object | None = None

    def nonblocking(self, request: Request) -> object | None:
        """Return the version for a request if storage can return it without waiting, otherwise None.

        Requests from sockets that are handled in the same iteration of the event loop all arrived before it, so they
        share one read. A request from the same process may follow a change in the same iteration.
        """
        version = self._current
        if version is None:
            number = self._gallery.data_version()
            if number is None:
                return None
            version = self._version(number)
            if self._from_sockets:
                self._current = version
                asyncio.get_running_loop().call_soon(self._forget_current)
        request.version = version
        return version

    def _forget_current(self) -> None:
        self._current = None

    async def of(self, request: Request) -> object:
        """Return the version for a request; repeated calls share one read and the deadline of the response.

        The records are read afterwards, so they may be newer than the version, but not older.

        Raises:
            StorageUnavailable: storage is unavailable, or did not respond before the deadline.
        """
        if request.deadline is None:
            request.deadline = asyncio.get_running_loop().time() + TIMEOUT
        if request.version is None and self.nonblocking(request) is None:
            number = await self._dispatch.reading_once(self, self._gallery.changes.version, request.deadline)
            request.version = self._version(number)
        return request.version

    def _version(self, number: int) -> object:
        seen = self._seen
        if seen[0] != number:
            self._seen = seen = number, object()
        return seen[1]


@dataclass(frozen=True, slots=True)
class _Stored:
    """A response body with its header fields, and the version of the records from which it was rendered."""

    version: object
    fields: Fields
    etag: bytes
    body: bytes
    operation: Operation | None


class ResponseCache(LRUCache[Hashable, _Stored]):
    """Serves stored responses by :func:`key_of` until a record changes; drops the least recently used.

    The version of the records is read for each request, so stale responses are never served.
    """

    def __init__(self, data_version: DataVersion, metrics: Metrics) -> None:
        super().__init__(_MOST, lambda stored: len(stored.body) + _OVERHEAD)
        self._data_version, self._metrics = data_version, metrics

    def keep(self, request: Request, version: object, response: Response, fields: Fields) -> None:
        """Store the response to a GET for all clients, if it has a version, and is short and in memory.

        The version of the records was read before them. ``fields`` are additional header fields.
        """
        etag = dict(response.fields).get(b"etag")
        is_short = len(response.body) <= _LARGEST
        is_usual = request.method == "GET" and len(request.path) + len(request.query) <= _LONGEST_REQUEST
        if response.status == 200 and etag is not None and is_short and is_usual:
            self._metrics.response_stored()
            fields = [*response.fields, *fields]
            self[key_of(request)] = _Stored(version, fields, etag, response.body, request.operation)

    async def serves(self, request: Request, send: Send) -> bool:
        """Respond to a GET or HEAD if a response of the current version is stored; return whether one is."""
        stored = self.get(key_of(request))
        if stored is None:
            return False
        version = self._data_version.nonblocking(request) or await self._awaited_version(request)
        if version is not stored.version:
            return False
        request.operation = stored.operation
        status, fields, body = conditional(request, stored.etag, stored.fields, stored.body)
        fields = [*fields, (b"x-request-id", request.id.text.encode())]
        try:
            await send({"type": "http.response.start", "status": status, "headers": fields})
            await send({"type": "http.response.body", "body": body})
        finally:
            if self._metrics.enabled:
                count_response(self._metrics, request, status, len(body), from_cache=True)
        return True

    async def _awaited_version(self, request: Request) -> object | None:
        """Return the version, waiting for storage if necessary."""
        self._metrics.request_started()
        try:
            return await self._data_version.of(request)
        except Exception:
            return None  # the application fails in the same way, and responds accordingly
        finally:
            self._metrics.request_ended()


def key_of(request: Request) -> Hashable:
    """Return the cache key of a request; the prefix is included, since links in the response contain it."""
    # Including the raw path, since an escaped slash makes it a different path.
    return request.prefix, request.path, request.raw_path, request.query, accepts_gzip(request)
