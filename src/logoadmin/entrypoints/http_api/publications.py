"""The publication that this process serves: generated once per version, and looked after in the background."""

import asyncio
import logging
import re
import time
import zlib
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from math import inf
from typing import Final

from cachetools import LRUCache, TTLCache

from logoadmin.domain.kernel.errors import StorageUnavailable
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.publication.publication_records import POINTER, Publication
from logoadmin.entrypoints.http_api.dispatch import TIMEOUT, Dispatch, SingleFlight
from logoadmin.entrypoints.http_api.errors import HttpError
from logoadmin.entrypoints.http_api.gallery_files import PublishedFile, files_of
from logoadmin.entrypoints.http_api.pinning import BackgroundPinning

log = logging.getLogger("logoadmin.http")

# How often the database is asked whether anything has changed.
_INTERVAL: Final = 1.0  # seconds
# The same after an unexpected error, which the next attempt would probably meet as well.
_LONG_INTERVAL: Final = 10.0
# How long readers wait for a new publication while an earlier one exists.
_PATIENCE: Final = 2.0  # seconds
# The same while the database is out of reach: enough to notice that it is back.
_LITTLE_PATIENCE: Final = 0.2
# Brotli takes seconds, in vain if the gallery changes in the meantime.
_QUIET: Final = 3.0  # seconds
# Files that are no longer named, for readers with an earlier pointer: as long as caches may serve one, and some more.
# All are kept in gzip, and those that were requested as they are sent.
_EARLIER_SECONDS: Final = 600.0
_EARLIER_BYTES: Final = 67_108_864
_REQUESTED_BYTES: Final = 33_554_432
_IMMUTABLE: Final = re.compile(r"(?:[0-9]{1,19}|from-[0-9]{1,19}|withdrawn)-[0-9a-f]{16}\.json|css/[0-9a-f]{64}\.css")


class Publications:
    """Looks up files of the current publication, and of earlier ones. Only for use in the event loop."""

    def __init__(self, gallery: LogoAdmin, dispatch: Dispatch) -> None:
        """Serve the publications of a gallery; nothing is generated before a file is requested."""
        self._gallery = gallery
        self._dispatch = dispatch
        self._pinning = BackgroundPinning(gallery)
        self._flight = SingleFlight()
        self._publication: Publication | None = None
        self._files: Mapping[str, PublishedFile] = {}
        self._earlier: TTLCache[str, bytes] = TTLCache(_EARLIER_BYTES, _EARLIER_SECONDS, getsizeof=len)
        self._requested: LRUCache[str, PublishedFile] = LRUCache(_REQUESTED_BYTES, lambda file: file.size)
        # Once per publication, so that nobody can have the indexes compared again and again.
        self._stored_differences: Mapping[str, bytes] | None = None
        self._next_look = -inf
        self._began: float | None = None
        self._has_failed = self._is_at_fault = False
        self._compression: asyncio.Task[None] | None = None

    def at_hand(self, name: str) -> PublishedFile | None:
        """Return a file of the current publication, unless it is time to look for changes."""
        return self._files.get(name) if time.monotonic() < self._next_look else None

    async def file(self, name: str) -> PublishedFile | None:
        """Return a file by its name relative to ``/gallery/``, or None.

        A name that only another process knows is looked for as well.

        Raises:
            StorageUnavailable: nothing was published before the database went out of reach.
            HttpError: nothing could be published.
        """
        may_exist = name in self._files or _IMMUTABLE.fullmatch(name) is not None
        if may_exist and name not in self._files:
            await self.look_now()
        elif self._publication is None or time.monotonic() >= self._next_look:
            await self.look()
        return self._files.get(name) or (await self._earlier_file(name) if may_exist else None)

    async def look_now(self) -> None:
        """Look for changes up to this moment, which a look that is under way may miss.

        Raises:
            StorageUnavailable, HttpError: as above.
        """
        if self._began is not None:
            await self.look()
        await self.look()

    async def look(self) -> None:
        """Look for changes; with an earlier publication, wait only as long as readers would, and survive failures.

        Raises:
            StorageUnavailable, HttpError: as above.
        """
        if self._publication is None:
            if time.monotonic() < self._next_look and self._is_at_fault:
                raise HttpError(500)
            await self._flight.run(POINTER, self._look)
            return
        patience = _LITTLE_PATIENCE if self._has_failed else _PATIENCE
        began = self._began or time.monotonic()
        with suppress(Exception):  # logged and counted where it was met
            async with asyncio.timeout(began + patience - time.monotonic()):
                await self._flight.run(POINTER, self._look)

    async def _look(self) -> None:
        """Generate a publication if the current one is outdated."""
        self._began, interval = time.monotonic(), _INTERVAL
        try:
            current = self._publication
            if current is None or self._pinning.has_news or not await self._is_current(current):
                await self._generate()
            elif current.left_out:
                self._pinning.start(at_once=False)
            self._has_failed = self._is_at_fault = False
        except (StorageUnavailable, HttpError):  # storage itself logs why; no thread became free
            self._has_failed = True
            raise
        except Exception:
            self._has_failed = self._is_at_fault = True
            interval = _LONG_INTERVAL
            log.exception("The gallery cannot be published")
            raise HttpError(500) from None
        finally:
            self._began, self._next_look = None, time.monotonic() + interval

    async def _is_current(self, publication: Publication) -> bool:
        loop = asyncio.get_running_loop()
        return await self._dispatch.reading.run(
            partial(self._gallery.publication.is_current, publication), loop.time() + TIMEOUT
        )

    async def _generate(self) -> None:
        had_news, self._pinning.has_news = self._pinning.has_news, False
        try:
            publication, files = await self._dispatch.publishing.run(self._generated)
        except Exception:
            self._pinning.has_news |= had_news
            self._gallery.metrics.gallery_failed()
            raise
        for name, file in self._files.items():
            if name not in files:
                with suppress(ValueError):  # it is too large
                    self._earlier[name] = file.packed
        self._publication, self._files, self._stored_differences = publication, files, None
        self._gallery.metrics.gallery_generated(Counter(each.code for each in publication.left_out))
        if publication.left_out:
            self._pinning.start(at_once=True)
        if self._compression is not None:
            self._compression.cancel()
        self._compression = asyncio.create_task(self._compress(files))

    def _generated(self) -> tuple[Publication, Mapping[str, PublishedFile]]:
        publication = self._gallery.publication.generate()
        return replace(publication, files={}), files_of(publication, self._files)

    async def _compress(self, files: Mapping[str, PublishedFile]) -> None:
        """Compress the files further, one at a time, once the gallery has not changed for a while."""
        await asyncio.sleep(_QUIET)
        for file in files.values():
            await self._dispatch.compressing.submit(file.compress_further).answer

    async def _earlier_file(self, name: str) -> PublishedFile | None:
        """Return a file of an earlier publication, which this process or another one may have served."""
        if name in self._requested:
            return self._requested[name]
        packed = self._earlier.get(name)
        if packed is not None:
            make = partial(PublishedFile.unpacked, name, packed)
        else:
            content = await self._stored(name)
            if content is None:
                return None
            make = partial(PublishedFile, name, content)
        file = await self._dispatch.compressing.submit(make).answer
        with suppress(ValueError):  # it is too large
            self._requested[name] = file
        return file

    async def _stored(self, name: str) -> bytes | None:
        """Return a file that a pointer of another process named, if the database has its content."""
        publication = self._publication
        if publication is None:
            return None
        if name in publication.older:
            service = self._gallery.publication
            return await self._dispatch.reading.run(partial(service.stored_index, publication.older[name]))
        version = name.removeprefix("from-").partition("-")[0]
        if not name.startswith("from-") or all(index.partition("-")[0] != version for index in publication.older):
            return None
        if self._stored_differences is None:
            self._stored_differences = await self._flight.run("differences", self._read_differences)
        packed = self._stored_differences.get(name)
        return None if packed is None else zlib.decompress(packed)

    async def _read_differences(self) -> Mapping[str, bytes]:
        """Compare the stored indexes with one another; of no use to a reader who holds the current publication."""
        return await self._dispatch.publishing.run(self._differences)

    def _differences(self) -> Mapping[str, bytes]:
        found = self._gallery.publication.stored_differences()
        return {name: zlib.compress(content) for name, content in found.items()}
