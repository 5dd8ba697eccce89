"""The files of the console, read from the package and served under an address that changes with them."""

import functools
import gzip
import hashlib
import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Final

DIRECTORY: Final = Path(__file__).parent
_TYPES: Final[Mapping[str, str]] = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
    ".woff2": "font/woff2",
}
_BROTLI: Final = ".br"
_KEPT: Final = frozenset((*_TYPES, _BROTLI))
# Checking the folder takes milliseconds, and a page requests dozens of files.
_CHECK_INTERVAL: Final = 1.0  # seconds


@dataclass(frozen=True)
class Asset:
    """A file of the console.

    Attributes:
        media_type: its type, without parameters.
        body: its content.
        in_brotli: the body in Brotli at level 11, which a bundle has beside the file.
    """

    media_type: str
    body: bytes
    in_brotli: bytes | None = None

    @functools.cached_property
    def in_gzip(self) -> bytes:
        """The body in gzip."""
        return gzip.compress(self.body, mtime=0)


@dataclass(frozen=True)
class Assets:
    """All files of the console at one moment.

    Attributes:
        digest: changes whenever a file changes.
        by_name: the files, by their paths in the folder.
    """

    digest: str
    by_name: Mapping[str, Asset]

    def preloads(self, path: str) -> Sequence[str]:
        """Return the modules and style sheets that the view at a path needs, so that all of them load at once.

        A bundle says so in ``bundle.json``. Plain modules, as a checkout has them, are found one after the other.
        """
        view = re.sub(r"\d+", ":", path.rstrip("/"))
        return [*self._bundle.get("*", ()), *self._bundle.get(view, ())]

    @functools.cached_property
    def _bundle(self) -> Mapping[str, Sequence[str]]:
        """What ``tools/console/bundle.js`` wrote beside the files, if that made them."""
        bundle = self.by_name.get("bundle.json")
        found: Mapping[str, Sequence[str]] = json.loads(bundle.body) if bundle else {}
        return found


class AssetFolder:
    """The folder of the console; changes to its files are served after a second at the latest."""

    def __init__(self, generated: Mapping[str, bytes]) -> None:
        """Read the folder, and add generated files by their names."""
        self._generated = generated
        self._seen: object = None
        self._next_check = -inf
        self._assets = self.assets()

    def assets(self) -> Assets:
        """Return the files as they are, or were a moment ago."""
        if time.monotonic() >= self._next_check:
            self._check()
            self._next_check = time.monotonic() + _CHECK_INTERVAL
        return self._assets

    def _check(self) -> None:
        files = [path for path in sorted(DIRECTORY.rglob("*")) if path.suffix in _KEPT]
        found = {path: path.stat().st_mtime_ns for path in files}
        if found == self._seen:
            return
        contents = {path.relative_to(DIRECTORY).as_posix(): path.read_bytes() for path in files}
        bodies = {name: body for name, body in contents.items() if not name.endswith(_BROTLI)}
        bodies |= self._generated
        digest = hashlib.sha256()
        for name, body in bodies.items():
            digest.update(b"%s %d " % (name.encode(), len(body)) + body)
        by_name = {
            name: Asset(_TYPES[Path(name).suffix], body, contents.get(f"{name}{_BROTLI}"))
            for name, body in bodies.items()
        }
        self._seen, self._assets = found, Assets(digest.hexdigest()[:16], by_name)
