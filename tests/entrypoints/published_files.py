"""A folder with invented files, and the application that serves it."""

import asyncio
import hashlib
from collections.abc import Hashable, Mapping
from types import SimpleNamespace
from typing import Any, cast

from starlette.types import ASGIApp

from logoadmin.adapters.memory_gallery_files import MemoryGalleryFiles
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.publication.files.pointer import Pointer, file_entry, signed
from logoadmin.domain.publication.publication_records import POINTER
from logoadmin.entrypoints.http_api.app import Paths
from logoadmin.entrypoints.http_api.background import Background
from logoadmin.entrypoints.http_api.endpoints import AppContext
from logoadmin.entrypoints.http_api.gallery import PublishedGallery
from logoadmin.entrypoints.http_api.published_files import PublishedFolder
from logoadmin.ports.metrics import NoMetrics
from tests.asgi import AppResponse, answer_of, scope_of

READER = b"export const open = () => {}; " * 50
SHEET = b"a { color: red } " * 100


class Key:
    """Signs nothing."""

    jwk: Mapping[str, str] = {"crv": "Ed25519", "kty": "OKP", "x": "AA"}

    def sign(self, content: bytes) -> bytes:
        return hashlib.sha512(content).digest()


class CountedFiles(MemoryGalleryFiles):
    """Files in memory, into which a test publishes.

    Attributes:
        version: the last change; issued: when the pointer is issued.
        indexes: the names of all indexes, in order.
        looks: how often somebody asked for the stamp of the pointer; reads: the names of the files that were read.
        fault: is raised by reading.
    """

    def __init__(self) -> None:
        super().__init__()
        self.version, self.issued = 12, 1_800_000_000
        self.indexes: list[str] = []
        self.looks, self.reads = 0, list[str]()
        self.fault: Exception | None = None

    def publish(self, *, keep: bool = True) -> None:
        """Publish the version; without ``keep``, delete all other files."""
        version = self.version
        index = b'{"logos":[%s]}' % b",".join(b'{"logo_id":%d}' % number for number in range(version, version + 400))
        withdrawn = b'{"withdrawn":[]}'
        named, gone = hashed(f"{version}", index), hashed("withdrawn", withdrawn)
        pointer = Pointer(
            gallery="g",
            epoch=0,
            version=version,
            issued=self.issued,
            expires=self.issued + 100,
            index=file_entry(named, index),
            withdrawn=file_entry(gone, withdrawn),
        )
        self.indexes.append(named)
        if not keep:
            self.files.clear()
        self.files |= {named: index, gone: withdrawn, "reader.js": READER}
        self.files[f"css/{hashlib.sha256(SHEET).hexdigest()}.css"] = SHEET
        self.files[POINTER] = signed(pointer, [Key()])

    def read(self, name: str) -> bytes | None:
        self.reads.append(name)
        if self.fault is not None:
            raise self.fault
        return super().read(name)

    def stamp(self, name: str) -> Any:
        self.looks += name == POINTER
        found: Hashable = super().stamp(name)
        return found


def hashed(stem: str, content: bytes) -> str:
    """Return the name of a file with its hash."""
    return f"{stem}-{hashlib.sha256(content).hexdigest()[:16]}.json"


class IdlePublisher:
    """Publishes nothing, and records when it starts and stops."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def start(self) -> None:
        self.calls.append("start")

    def close(self) -> None:
        self.calls.append("close")


class Reader:
    """Requests files, one after the other or at once, all in one event loop."""

    def __init__(self, files: MemoryGalleryFiles, *, interval: float = 0.0) -> None:
        """Request files of a process that looks for another pointer after some seconds, or at every request."""
        gallery = cast(LogoAdmin, SimpleNamespace(waits=True, concurrent_reads=1, metrics=NoMetrics()))
        context = AppContext(gallery, (), 0, from_sockets=True)
        self.folder = PublishedFolder(files, interval=interval)
        self.publisher = IdlePublisher()
        published = PublishedGallery(self.folder, cast(Any, self.publisher), NoMetrics())
        self.app: ASGIApp = Paths(context, [], [], Background(gallery, context.dispatch, {}), published)
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self.loop = self._runner.get_loop()

    def close(self) -> None:
        """End the process, with whatever it does in the background."""
        self._runner.close()

    def ask(self, name: str = "latest.json", method: str = "GET", **headers: str) -> AppResponse:
        """Return the response to one request."""
        return self.loop.run_until_complete(self.response(name, method, **headers))

    def ask_at_once(self, count: int, name: str = "latest.json") -> list[AppResponse]:
        """Return the responses to many concurrent requests."""

        async def all_of_them() -> list[AppResponse]:
            return await asyncio.gather(*(self.response(name) for _ in range(count)))

        return self.loop.run_until_complete(all_of_them())

    async def response(self, name: str, method: str = "GET", **headers: str) -> AppResponse:
        """Return the response to a request."""
        named = [(field.replace("_", "-"), value) for field, value in headers.items()]
        path = name if name.startswith("/") else f"/gallery/{name}"
        return await asyncio.wait_for(answer_of(self.app, scope_of(method, path, named)), 30)
