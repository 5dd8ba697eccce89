"""Measure how much there is to read, and write it into docs/modules.md: ``python -m benchmarks.structure``."""

import ast
import asyncio
import json
import os
import re
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

import grimp

import logoadmin
from logoadmin.starting import folder

ROOT: Final = Path(__file__).parent.parent
PACKAGE: Final = ROOT / "src" / "logoadmin"
CONSOLE: Final = PACKAGE / "entrypoints" / "console"
PAGE: Final = ROOT / "docs" / "modules.md"
_BLOCK: Final = re.compile(r"(?<=<!-- structure -->\n).*?(?=<!-- end of structure -->)", re.DOTALL)
# Parts of the function that they stand in, although the interpreter gives some of them a frame.
_IN_A_FUNCTION: Final = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}
_OF_ATTRIBUTE: Final = cached_property.__get__.__code__
# Lists kept by hand, verified here, as in "**Files of a new field:** `domain/kernel/records.py`, `...`."
_TOUCHED: Final = re.compile(r"^\*\*Files of a new (\w+):\*\*((?:.+\n)+)", re.MULTILINE)
# Comments of JavaScript name modules for their types alone.
_JS_COMMENT: Final = re.compile(r"/\*.*?\*/|^\s*//.*?$", re.DOTALL | re.MULTILINE)
# Static and dynamic imports of a JavaScript module.
_JS_IMPORT: Final = re.compile(r"""(?:from|import)\s*\(?\s*["'](\.{1,2}/[^"']+\.js)["']""")

# From the core outwards.
_ROOMS: Final = ("domain", "ports", "adapters", "entrypoints", "settings")
# The rules that a docstring names.
_RULES: Final = re.compile(r"\s*\((?:contract|spec) [^)]*\)")
_PASSWORD: Final = "a password for measuring"
_LOGO: Final[dict[str, Any]] = {
    "name": "Aurora",
    "preview_url": "https://example.org/a.png",
    "target": "forum",
    "custom_css": "",
}


@dataclass
class CallPath:
    """The calls of the package's functions that one request or one library call makes, in all threads.

    Not counted are coroutines and generators that go on, comprehensions and generator expressions, which are part of
    their function, the lambda of a ``cached_property``, which stands for its attribute, and functions that have no text
    in a file, such as those of dataclasses.

    Attributes:
        calls: number of calls.
        changes: how often the next call is in another file.
        files: the files, in the order of their first call.
    """

    calls: int = 0
    changes: int = 0
    files: dict[str, None] = field(default_factory=dict)
    _last: str = ""

    def add(self, name: str) -> None:
        """Count a call in a file."""
        self.calls += 1
        self.changes += name != self._last
        self.files[name] = None
        self._last = name


class Profiler:
    """Follows calls into the package in this thread and in every thread that starts while it is installed."""

    def __init__(self) -> None:
        self._path: CallPath | None = None
        self._names: dict[str, str | None] = {}

    def __enter__(self) -> "Profiler":
        threading.setprofile(self._look)
        sys.setprofile(self._look)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def follow(self, work: Callable[[], object]) -> CallPath:
        """Do the work and return the path that it took."""
        path = self._path = CallPath()
        try:
            work()
        finally:
            self._path = None
        return path

    def _look(self, frame: FrameType, event: str, _: object) -> None:
        if self._path is None or event != "call" or not _is_call(frame):
            return
        file = frame.f_code.co_filename
        if file not in self._names:
            inside = Path(file).is_relative_to(PACKAGE)
            self._names[file] = Path(file).relative_to(PACKAGE).as_posix() if inside else None
        name = self._names[file]
        if name is not None:
            self._path.add(name)


def _is_call(frame: FrameType) -> bool:
    """Return whether a frame that begins or goes on is a call, see :class:`CallPath`."""
    code: CodeType = frame.f_code
    if code.co_name in _IN_A_FUNCTION:
        return False
    if code.co_name == "<lambda>":
        return frame.f_back is None or frame.f_back.f_code is not _OF_ATTRIBUTE
    # The argument of RESUME is 0 at the beginning of a function, and says else what it waited for.
    return code.co_code[frame.f_lasti + 1] & 3 == 0


def library_paths() -> Mapping[str, CallPath]:
    """Return the paths of calls of the library on SQLite, once everything is warm."""
    command = logoadmin.CreateLogo(**_LOGO)
    asked = logoadmin.GetLogo(logo_id=1)
    with (
        Profiler() as profiler,
        tempfile.TemporaryDirectory() as directory,
        logoadmin.connect(f"sqlite:///{directory}/gallery.db") as gallery,
    ):
        files = folder(Path(directory) / "published")
        for _ in range(2):
            gallery.logos.create(command)
            gallery.logos.get(asked)
            gallery.publication.publish(files)
        return {
            "`gallery.logos.create`": profiler.follow(lambda: gallery.logos.create(command)),
            "`gallery.logos.get`": profiler.follow(lambda: gallery.logos.get(asked)),
            "`gallery.publication.publish`, one change": profiler.follow(lambda: gallery.publication.publish(files)),
        }


class _Client:
    """Sends requests to an ASGI application, without a server."""

    def __init__(self, app: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._app = app
        self._loop = loop
        self.token = ""

    def request(self, method: str, path: str, values: Mapping[str, Any] | None = None) -> Any:
        """Return the JSON of the response.

        Raises:
            RuntimeError: the status is not that of success.
        """
        body = b"" if values is None else json.dumps(values).encode()
        headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
        headers += [(b"content-length", b"%d" % len(body))] if body else []
        headers += [(b"authorization", b"Bearer " + self.token.encode())] if self.token else []
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": b"",
            "headers": headers,
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
            "state": {},
        }
        return self._loop.run_until_complete(self._response(scope, body))

    async def _response(self, scope: dict[str, Any], body: bytes) -> Any:
        sent: list[Any] = []
        received = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def receive() -> Any:
            try:
                return next(received)
            except StopIteration:
                await asyncio.sleep(3600)  # the client stays connected

        async def send(message: Any) -> None:
            sent.append(message)

        await self._app(scope, receive, send)
        if sent[0]["status"] >= 400:
            raise RuntimeError(f"{scope['method']} {scope['path']}: {sent}")
        return json.loads(b"".join(message.get("body", b"") for message in sent[1:]))


def http_paths() -> Mapping[str, CallPath]:
    """Return the paths of requests on SQLite, from the ASGI application to the database, once everything is warm."""
    loop = asyncio.new_event_loop()
    try:
        with (
            Profiler() as profiler,
            tempfile.TemporaryDirectory() as directory,
            logoadmin.connect(f"sqlite:///{directory}/gallery.db", access="open", admin_password=_PASSWORD) as gallery,
        ):
            client = _Client(logoadmin.asgi(gallery), loop)
            sign_in = partial(client.request, "POST", "/api/auth/token", {"username": "admin", "password": _PASSWORD})
            client.token = sign_in()["access_token"]
            users = ({"user_id": id_, "username": f"user {id_}", "password": _PASSWORD} for id_ in range(3))
            for _ in range(2):
                client.request("POST", "/api/logos", _LOGO)
                client.request("POST", "/api/users", next(users))
                client.request("GET", "/api/logos/1")
            return {
                "`POST /api/auth/token`": profiler.follow(sign_in),
                "`POST /api/users`": profiler.follow(lambda: client.request("POST", "/api/users", next(users))),
                "`POST /api/logos`": profiler.follow(lambda: client.request("POST", "/api/logos", _LOGO)),
                # The write before it has emptied the cache.
                "`GET /api/logos/1`, not cached": profiler.follow(lambda: client.request("GET", "/api/logos/1")),
                "`GET /api/logos/1`, cached": profiler.follow(lambda: client.request("GET", "/api/logos/1")),
            }
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()


def in_cycles(imports: Mapping[str, set[str]]) -> set[str]:
    """Return the modules of a graph that are in an import cycle, or between two."""
    left = {name: set(imported) for name, imported in imports.items()}
    while True:
        imported_by_some = set().union(*left.values()) if left else set()
        ends = {name for name, imported in left.items() if not imported & left.keys() or name not in imported_by_some}
        if not ends:
            return set(left)
        left = {name: imported - ends for name, imported in left.items() if name not in ends}


def python_imports() -> Mapping[str, set[str]]:
    """Return which modules of the package import which."""
    graph = grimp.build_graph("logoadmin", cache_dir=None)
    return {name: set(graph.find_modules_directly_imported_by(name)) for name in graph.modules}


def console_imports() -> Mapping[str, set[str]]:
    """Return which modules of the console import which, also those that are loaded later."""
    files = [file for file in CONSOLE.rglob("*.js") if "vendor" not in file.parts]
    return {
        str(file): {
            os.path.normpath(file.parent / name)
            for name in _JS_IMPORT.findall(_JS_COMMENT.sub("", file.read_text(encoding="utf-8")))
        }
        for file in files
    }


def callables() -> tuple[int, int]:
    """Return how many parameters of functions are callables, and how often ``partial`` is called."""
    parameters = partials = 0
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.arg) and node.annotation is not None:
                parameters += "Callable[" in ast.unparse(node.annotation)
            if isinstance(node, ast.Call):
                partials += ast.unparse(node.func) in {"partial", "functools.partial"}
    return parameters, partials


def touched() -> Mapping[str, tuple[str, ...]]:
    """Return the files that a new field, kind or operation touches, as docs/extend.md lists them."""
    text = (ROOT / "docs" / "extend.md").read_text(encoding="utf-8")
    found = {what: tuple(re.findall(r"`([^`]+)`", files)) for what, files in _TOUCHED.findall(text)}
    missing = [name for files in found.values() for name in files if not (PACKAGE / name).exists()]
    if missing:
        raise FileNotFoundError(f"docs/extend.md names files that do not exist: {missing}")
    return found


def block() -> str:
    """Return the figures as docs/modules.md shows them."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield ""
    yield from (_item(folder) for folder in _packages(PACKAGE))
    yield f"- `tests`, {_lines_in(ROOT / 'tests')}: [The tests](testing.md)"
    yield from ("", "| On SQLite | Files | Calls | Changes of file |", "|---|---|---|---|")
    followed = {**http_paths(), **library_paths()}
    for what, path in followed.items():
        yield f"| {what} | {len(path.files)} | {path.calls} | {path.changes} |"
    parameters, partials = callables()
    yield ""
    python, console = (len(in_cycles(imports)) for imports in (python_imports(), console_imports()))
    yield f"- Modules in import cycles: Python {python}, console {console}"
    yield f"- Parameters that are callables: {parameters}; calls of `partial`: {partials}"
    new = ", ".join(f"{what} {len(names)}" for what, names in touched().items())
    yield f"- Files that something new touches, beside tests and docs: {new}"
    yield from ("", "")


def _packages(folder: Path, depth: int = 2) -> Iterator[Path]:
    """Yield a package and those in it down to a depth, from the core outwards."""
    yield folder
    inner = [path.parent for path in folder.glob("*/__init__.py")] if depth else []
    for package in sorted(inner, key=lambda path: (_ROOMS.index(path.name) if path.name in _ROOMS else 0, path.name)):
        yield from _packages(package, depth - 1)


def _item(package: Path) -> str:
    """Return the line of a package: its size with the packages in it, and the start of its docstring."""
    docstring = ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8"))) or ""
    start = _RULES.sub("", docstring.partition("\n\n")[0].replace("\n", " "))
    contents = re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"`\1`", start).replace("``", "`").removesuffix(".")
    return f"- `{package.relative_to(PACKAGE.parent).as_posix()}`, {_lines_in(package)}: {contents}"


def _lines_in(folder: Path) -> str:
    return f"{sum(len(file.read_text(encoding='utf-8').splitlines()) for file in folder.rglob('*.py')):,}"


def written() -> str:
    """Return the figures that docs/modules.md has now."""
    found = _BLOCK.search(PAGE.read_text(encoding="utf-8"))
    return found[0] if found else ""


if __name__ == "__main__":
    now = block()
    PAGE.write_text(_BLOCK.sub(lambda _: now, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
