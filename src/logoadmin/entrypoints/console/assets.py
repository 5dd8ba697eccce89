"""The static assets of the console: files of the package, comments aside, under an address that changes with them."""

import functools
import gzip
import hashlib
import posixpath
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Final

_DIRECTORY: Final = Path(__file__).parent
_TYPES: Final[Mapping[str, str]] = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
}
# What a module needs before it can run; what it loads later is in parentheses.
_IMPORTED: Final = re.compile(r"""^(?:import|export)\b[^"'();]*["'](\.[^"']+)["']""", re.MULTILINE)
# Comments that have lines of their own. Nothing else in our modules looks so, as a test makes sure.
_COMMENTS: Final = re.compile(rb"^[ \t]*(?:/\*\*(?:(?!\*/).)*\*/|//[^\n]*)[ \t]*$", re.MULTILINE | re.DOTALL)
# A view: its path, the module that shows it, and the sheets that it has for itself; and those of views that name none.
_VIEW: Final = re.compile(r"""path: "([^"]*)", load: \(\) => import\("\./([^"]+)"\)(?:, styles: \[([^\]]*)\])?""")
_NO_VIEW: Final = "/"  # what is written in no row of the table
_STYLES: Final = re.compile(r"STYLES = \[([^\]]*)\]")
# A look at the folder takes milliseconds, in which nobody is answered, and a page asks for fifty files.
_FRESH: Final = 1.0  # seconds


@dataclass(frozen=True)
class Asset:
    """A file of the console.

    Attributes:
        media_type: what it is.
        body: what is in it.
        compressed: the same in gzip.
    """

    media_type: str
    body: bytes

    @functools.cached_property
    def compressed(self) -> bytes:
        """The body in gzip, made when it is first asked for."""
        return gzip.compress(self.body, mtime=0)


@dataclass(frozen=True)
class Assets:
    """All files of the console at one moment.

    Attributes:
        digest: changes whenever one of them does.
        by_name: the files, by their paths in the folder.
    """

    digest: str
    by_name: Mapping[str, Asset]
    _needed: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False)

    def preloads(self, path: str) -> tuple[str, ...]:
        """Return what the view at a path needs at once, each module after the one that names it.

        So all of it loads at the same time: modules, and the sheets of the view.
        """
        view = re.sub(r"\d+", ":", path.rstrip("/"))
        if view not in self._views:
            view = _NO_VIEW
        if view not in self._needed:
            self._needed[view] = self._needed_by(view)
        return self._needed[view]

    def _needed_by(self, view: str) -> tuple[str, ...]:
        modules, sheets = self._views.get(view, ((), ()))
        found: dict[str, None] = {}
        # What the first one needs comes first: it asks for records while the others still come.
        for first in ("start.js", "app.js", *modules):
            waiting = [first]
            while waiting:
                name = waiting.pop(0)
                if name not in found:
                    found[name] = None
                    waiting += self._imports(name)
        return (*found, *sheets)

    @functools.cached_property
    def _views(self) -> Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]:
        """The module and the sheets of each view, by its path, in which a colon is any number."""
        source = self.by_name["views.js"].body.decode()
        usual = "".join(_STYLES.findall(source))
        found = {}
        for path, module, styles in (row.groups() for row in _VIEW.finditer(source)):
            names = re.findall(r"\w+", usual if styles is None else styles)
            found[re.sub(r":\w+", ":", path)] = ((module,), tuple(f"style/{name}.css" for name in names))
        return found

    def _imports(self, module: str) -> Iterator[str]:
        for reference in _IMPORTED.findall(self.by_name[module].body.decode()):
            name = posixpath.normpath(posixpath.join(posixpath.dirname(module), reference))
            if name in self.by_name:
                yield name


class AssetFolder:
    """The folder of the console; who changes a file there sees it a second later at the latest."""

    def __init__(self, made: Mapping[str, bytes]) -> None:
        """Read the folder, to which some files are added that are made, by their names."""
        self._made = made
        self._seen: object = None
        self._fresh_until = -inf
        self._assets = self.assets()

    def assets(self) -> Assets:
        """Return the files as they are, or were a moment ago."""
        if time.monotonic() >= self._fresh_until:
            self._look()
            self._fresh_until = time.monotonic() + _FRESH
        return self._assets

    def _look(self) -> None:
        found = {path: path.stat().st_mtime_ns for path in sorted(_DIRECTORY.rglob("*")) if path.suffix in _TYPES}
        if found != self._seen:
            bodies = {path.relative_to(_DIRECTORY).as_posix(): path.read_bytes() for path in found} | dict(self._made)
            digest = hashlib.sha256()
            for name, body in bodies.items():
                digest.update(b"%s %d " % (name.encode(), len(body)) + body)
            by_name = {name: Asset(_TYPES[Path(name).suffix], body) for name, body in bodies.items()}
            by_name |= {name: _without_comments(asset) for name, asset in by_name.items() if _is_ours(name)}
            self._seen, self._assets = found, Assets(digest.hexdigest()[:16], by_name)


def _is_ours(name: str) -> bool:
    return name.endswith(".js") and not name.startswith("vendor/")


def _without_comments(module: Asset) -> Asset:
    """Return a module without its comments, which are a third of it; each line keeps its number."""
    return Asset(module.media_type, _COMMENTS.sub(lambda found: b"\n" * found[0].count(b"\n"), module.body))
