"""Writes the size and the call paths of the code into docs/modules.md: ``python -m benchmarks.structure``."""

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
# Counted as part of the enclosing function, although the interpreter creates a frame for some of them.
_IN_A_FUNCTION: Final = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}
_CACHED_PROPERTY: Final = cached_property.__get__.__code__
# Lists maintained by hand and verified here, such as "**Files of a new field:** `domain/kernel/records.py`, `...`."
_FILES_TO_CHANGE: Final = re.compile(r"^\*\*Files of a new (\w+):\*\*((?:.+\n)+)", re.MULTILINE)
# Comments in JavaScript refer to modules only for their types.
_JS_COMMENT: Final = re.compile(r"/\*.*?\*/|^\s*//.*?$", re.DOTALL | re.MULTILINE)
# Static and dynamic imports of a JavaScript module.
_JS_IMPORT: Final = re.compile(r"""(?:from|import)\s*\(?\s*["'](\.{1,2}/[^"']+\.js)["']""")

# Ordered from the core outwards.
_ORDER: Final = ("domain", "ports", "adapters", "entrypoints", "settings")
# The references in a docstring.
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
    """The calls of the package's functions during one request or one library call, in all threads.

    Not counted: coroutines and generators that resume; comprehensions and generator expressions, which are part of
    their function; the lambda of a ``cached_property``, which represents an attribute; and functions without source
    text, such as those of dataclasses.

    Attributes:
        calls: the number of calls.
        changes: how often a call is in a different file from the call before.
        files: the files, in the order of their first calls.
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
    """Follows calls into the package in this thread and in all threads that start while it is installed."""

    def __init__(self) -> None:
        self._path: CallPath | None = None
        self._names: dict[str, str | None] = {}

    def __enter__(self) -> "Profiler":
        threading.setprofile(self._profile)
        sys.setprofile(self._profile)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def follow(self, work: Callable[[], object]) -> CallPath:
        """Do the work, and return its calls."""
        path = self._path = CallPath()
        try:
            work()
        finally:
            self._path = None
        return path

    def _profile(self, frame: FrameType, event: str, _: object) -> None:
        if self._path is None or event != "call" or not _is_new_call(frame):
            return
        file = frame.f_code.co_filename
        if file not in self._names:
            inside = Path(file).is_relative_to(PACKAGE)
            self._names[file] = Path(file).relative_to(PACKAGE).as_posix() if inside else None
        name = self._names[file]
        if name is not None:
            self._path.add(name)


def _is_new_call(frame: FrameType) -> bool:
    """Return whether a frame that starts or resumes is counted as a call, see :class:`CallPath`."""
    code: CodeType = frame.f_code
    if code.co_name in _IN_A_FUNCTION:
        return False
    if code.co_name == "<lambda>":
        return frame.f_back is None or frame.f_back.f_code is not _CACHED_PROPERTY
    # The argument of RESUME is 0 at the start of a function; otherwise it is what the function waited for.
    return code.co_code[frame.f_lasti + 1] & 3 == 0


def library_paths() -> Mapping[str, CallPath]:
    """Return the call paths of the library on SQLite, after warming up."""
    create = logoadmin.CreateLogo(**_LOGO)
    get = logoadmin.GetLogo(logo_id=1)
    with (
        Profiler() as profiler,
        tempfile.TemporaryDirectory() as directory,
        logoadmin.connect(f"sqlite:///{directory}/gallery.db") as gallery,
    ):
        files = folder(Path(directory) / "published")
        for _ in range(2):
            gallery.logos.create(create)
            gallery.logos.get(get)
            gallery.publication.publish(files)
        return {
            "`gallery.logos.create`": profiler.follow(lambda: gallery.logos.create(create)),
            "`gallery.logos.get`": profiler.follow(lambda: gallery.logos.get(get)),
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
            RuntimeError: the status is an error.
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
    """Return the call paths of requests on SQLite, from the ASGI application to the database, after warming up."""
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
                # The preceding write has invalidated the cache.
                "`GET /api/logos/1`, not cached": profiler.follow(lambda: client.request("GET", "/api/logos/1")),
                "`GET /api/logos/1`, cached": profiler.follow(lambda: client.request("GET", "/api/logos/1")),
            }
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()


def modules_in_cycles(imports: Mapping[str, set[str]]) -> set[str]:
    """Return the modules of a graph that are in an import cycle or between two cycles."""
    left = {name: set(imported) for name, imported in imports.items()}
    while True:
        imported_by_some = set().union(*left.values()) if left else set()
        ends = {name for name, imported in left.items() if not imported & left.keys() or name not in imported_by_some}
        if not ends:
            return set(left)
        left = {name: imported - ends for name, imported in left.items() if name not in ends}


def python_imports() -> Mapping[str, set[str]]:
    """Return the modules that each module of the package imports."""
    graph = grimp.build_graph("logoadmin", cache_dir=None)
    return {name: set(graph.find_modules_directly_imported_by(name)) for name in graph.modules}


def console_imports() -> Mapping[str, set[str]]:
    """Return the modules that each module of the console imports, including dynamic imports."""
    files = [file for file in CONSOLE.rglob("*.js") if "vendor" not in file.parts]
    return {
        str(file): {
            os.path.normpath(file.parent / name)
            for name in _JS_IMPORT.findall(_JS_COMMENT.sub("", file.read_text(encoding="utf-8")))
        }
        for file in files
    }


def callables() -> tuple[int, int]:
    """Return the number of function parameters that are callables, and of calls to ``partial``."""
    parameters = partials = 0
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.arg) and node.annotation is not None:
                parameters += "Callable[" in ast.unparse(node.annotation)
            if isinstance(node, ast.Call):
                partials += ast.unparse(node.func) in {"partial", "functools.partial"}
    return parameters, partials


def files_to_change() -> Mapping[str, tuple[str, ...]]:
    """Return the files to change for a new field, kind or operation, as listed in docs/extend.md."""
    text = (ROOT / "docs" / "extend.md").read_text(encoding="utf-8")
    found = {what: tuple(re.findall(r"`([^`]+)`", files)) for what, files in _FILES_TO_CHANGE.findall(text)}
    missing = [name for files in found.values() for name in files if not (PACKAGE / name).exists()]
    if missing:
        raise FileNotFoundError(f"docs/extend.md names files that do not exist: {missing}")
    return found


def block() -> str:
    """Return the figures in the form of docs/modules.md."""
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
    python, console = (len(modules_in_cycles(imports)) for imports in (python_imports(), console_imports()))
    yield f"- Modules in import cycles: Python {python}, console {console}"
    yield f"- Parameters that are callables: {parameters}; calls of `partial`: {partials}"
    new = ", ".join(f"{what} {len(names)}" for what, names in files_to_change().items())
    yield f"- Files that something new touches, beside tests and docs: {new}"
    yield from ("", "")


def _packages(folder: Path, depth: int = 2) -> Iterator[Path]:
    """Yield a package and its subpackages down to a depth, from the core outwards."""
    yield folder
    inner = [path.parent for path in folder.glob("*/__init__.py")] if depth else []
    for package in sorted(inner, key=lambda path: (_ORDER.index(path.name) if path.name in _ORDER else 0, path.name)):
        yield from _packages(package, depth - 1)


def _item(package: Path) -> str:
    """Return the line for a package: its size including subpackages, and the start of its docstring."""
    docstring = ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8"))) or ""
    start = _RULES.sub("", docstring.partition("\n\n")[0].replace("\n", " "))
    contents = re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"`\1`", start).replace("``", "`").removesuffix(".")
    return f"- `{package.relative_to(PACKAGE.parent).as_posix()}`, {_lines_in(package)}: {contents}"


def _lines_in(folder: Path) -> str:
    return f"{sum(len(file.read_text(encoding='utf-8').splitlines()) for file in folder.rglob('*.py')):,}"


def written() -> str:
    """Return the current figures in docs/modules.md."""
    found = _BLOCK.search(PAGE.read_text(encoding="utf-8"))
    return found[0] if found else ""


if __name__ == "__main__":
    now = block()
    PAGE.write_text(_BLOCK.sub(lambda _: now, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
