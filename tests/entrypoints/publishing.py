"""A service that publishes made-up files, as fast or slowly as a test wants, and the application in front of it."""

import asyncio
import hashlib
import threading
from collections.abc import Mapping
from typing import cast

from starlette.types import ASGIApp, Receive, Scope, Send

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.publication.files.pointer import Pointer, file_entry, signed
from logoadmin.domain.publication.publication_records import Publication
from logoadmin.entrypoints.http_api.dispatch import Dispatch
from logoadmin.entrypoints.http_api.errors import HttpError, error_response
from logoadmin.entrypoints.http_api.gallery import PublishedGallery
from logoadmin.entrypoints.http_api.publications import Publications
from logoadmin.ports.kernel.metrics import NoMetrics
from tests.asgi import AppResponse, answer_of, scope_of

READER = b"export const open = () => {}; " * 50
SHEET = b"a { color: red } " * 100


class Key:
    """Signs nothing."""

    jwk: Mapping[str, str] = {"crv": "Ed25519", "kty": "OKP", "x": "AA"}

    def sign(self, content: bytes) -> bytes:
        return hashlib.sha512(content).digest()


class CountedMetrics(NoMetrics):
    """Notes each generation."""

    def __init__(self) -> None:
        self.generated: list[Mapping[str, int]] = []
        self.failed = 0

    def gallery_generated(self, left_out: Mapping[str, int]) -> None:
        self.generated.append(left_out)

    def gallery_failed(self) -> None:
        self.failed += 1


class Publishing:
    """Stands in for a gallery and for its publication service; one of several processes may share the version.

    Attributes:
        version: the last change; issued: when pointers are issued.
        looks: how often somebody asked for changes; generations: how often something was generated.
        fault: is raised in either case.
        may_go_on: generating waits for it.
        older: the hashes of all indexes by name; stored: their contents by hash; differences: those between them;
            comparisons: how often these were asked for.
    """

    waits = True
    concurrent_reads = 2

    def __init__(self) -> None:
        self.version, self.issued = 12, 1_800_000_000
        self.looks = self.generations = 0
        self.fault: Exception | None = None
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self.older: dict[str, str] = {}
        self.stored: dict[str, bytes] = {}
        self.differences: dict[str, bytes] = {}
        self.comparisons = 0
        self.publication = self
        self.metrics = CountedMetrics()

    def is_current(self, publication: Publication) -> bool:
        self.looks += 1
        if self.fault is not None:
            raise self.fault
        return publication.pointer == self.made().pointer

    def generate(self) -> Publication:
        self.generations += 1
        assert self.may_go_on.wait(30)
        if self.fault is not None:
            raise self.fault
        made = self.made()
        content = made.files[index_of(made)]
        self.older[index_of(made)] = hashlib.sha256(content).hexdigest()
        self.stored[self.older[index_of(made)]] = content
        return made

    def stored_index(self, sha256: str) -> bytes | None:
        if self.fault is not None:
            raise self.fault
        return self.stored.get(sha256)

    def stored_differences(self) -> Mapping[str, bytes]:
        self.comparisons += 1
        return self.differences

    def timed_out(self, *, writing: bool) -> Exception:
        raise AssertionError(writing)

    def made(self) -> Publication:
        """Return the current publication."""
        version, issued = self.version, self.issued
        index = b'{"logos":[%s]}' % b",".join(b'{"logo_id":%d}' % number for number in range(version, version + 400))
        withdrawn, delta = b'{"withdrawn":[]}', b'{"from":%d}' % (version - 1)
        named, gone, difference = (
            hashed(f"{version}", index),
            hashed("withdrawn", withdrawn),
            hashed(f"from-{version - 1}", delta),
        )
        pointer = Pointer(
            gallery="g",
            epoch=0,
            version=version,
            issued=issued,
            expires=issued + 100,
            index=file_entry(named, index),
            withdrawn=file_entry(gone, withdrawn),
            deltas={str(version - 1): {**file_entry(difference, delta), "from_sha256": "0" * 64}},
        )
        files: dict[str, bytes] = {named: index, gone: withdrawn, difference: delta, "reader.js": READER}
        files[f"css/{hashlib.sha256(SHEET).hexdigest()}.css"] = SHEET
        return Publication(version, signed(pointer, [Key()]), files, dict(self.older))


def hashed(stem: str, content: bytes) -> str:
    """Return the name of a file with its hash."""
    return f"{stem}-{hashlib.sha256(content).hexdigest()[:16]}.json"


def index_of(publication: Publication) -> str:
    """Return the name of the index."""
    return next(name for name in publication.files if name.startswith(f"{publication.version}-"))


class Reader:
    """Requests files, one after the other or at once, all in one event loop."""

    def __init__(self, publishing: Publishing) -> None:
        gallery = cast(LogoAdmin, publishing)
        self.publications = Publications(gallery, Dispatch(gallery))
        self.app: ASGIApp = PublishedGallery(_elsewhere, self.publications, publishing.metrics)
        self.loop = asyncio.new_event_loop()

    def close(self) -> None:
        """End the process, with whatever it does in the background."""
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.loop.run_until_complete(asyncio.sleep(0))
        self.loop.close()

    def ask(self, name: str = "latest.json", method: str = "GET", **headers: str) -> AppResponse:
        """Return the response to one request."""
        return self.loop.run_until_complete(self.response(name, method, **headers))

    def ask_at_once(self, count: int, name: str = "latest.json") -> list[AppResponse]:
        """Return the responses to many requests that are made at once."""

        async def all_of_them() -> list[AppResponse]:
            return await asyncio.gather(*(self.response(name) for _ in range(count)))

        return self.loop.run_until_complete(all_of_them())

    async def response(self, name: str, method: str = "GET", **headers: str) -> AppResponse:
        """Return the response to a request."""
        named = [(field.replace("_", "-"), value) for field, value in headers.items()]
        path = name if name.startswith("/") else f"/gallery/{name}"
        return await asyncio.wait_for(answer_of(self.app, scope_of(method, path, named)), 30)


async def _elsewhere(scope: Scope, receive: Receive, send: Send) -> None:
    await error_response(HttpError(404, "elsewhere"))(scope, receive, send)
