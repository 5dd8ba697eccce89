"""A published gallery as readers see it: the last verified state, and the changes since (contract L6)."""

import hashlib
import json
import logging
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from .download import Downloaded, download, http_client
from .folder import FolderStore, MemoryStore, Store
from .index import Contents, Record, read_contents, read_records
from .signatures import Jwk, ReaderError, parsed, verified

_PATH: Final = re.compile(r"([0-9]+|withdrawn)-[0-9a-f]{16}\.json")
_SHA256: Final = re.compile("[0-9a-f]{64}")
_LOG: Final = logging.getLogger(__package__)
_MOST_POINTER: Final = 8192
# Seconds after which a stored state is checked, and by which a pointer may be ahead of the local clock.
_OLD: Final = 300
_MOST_AHEAD: Final = 86_400
_PICTURE: Final = re.compile(r"pictures/([0-9a-f]{64})\.webp", re.ASCII)
_MOST_PICTURE: Final = 2**24
# The number of concurrent downloads while verifying.
_DOWNLOADS: Final = 8


@dataclass(frozen=True, slots=True)
class _State:
    """The state, stored in two files, so that the index is written only when it has changed."""

    root: str  # the configured keys from which ``keys`` were learned
    keys: tuple[Jwk, ...]  # the keys to trust
    etag: str | None = None  # of ``latest``
    latest: str | None = None  # the newest verified ``latest.json``
    withdrawn: str = ""  # the file of withdrawn records
    index: str = ""  # that of ``latest``, or an earlier one if that could not be read
    hash: str = ""  # the SHA-256 of the stored index
    # The name of the stored index: one of two, so that a program that ends between two writes leaves a whole state.
    place: str = ""
    checked: float = 0  # when it was stored, as Unix time
    early: Sequence[Record] = ()  # the blocks of a later pointer that was rejected because it is issued in the future


def open_gallery(url: str, *, key: Jwk | Sequence[Jwk], store: str | Path | None = None) -> "Gallery":
    """Open a published gallery (contract L6).

    With an empty store, the gallery is read. A stored state older than five minutes is checked in the background.

    Args:
        url: the URL of the folder, such as ``https://gallery.example/gallery/``.
        key: the public key of the gallery as a JWK, or several: ``logoadmin gallery-key show`` prints them.
        store: a folder for the last good state; None to keep it in memory.

    Raises:
        ReaderError: httpx2 is missing; a key is not a JWK; or nothing is stored, and the gallery cannot be read or
            verified.
    """
    http_client()
    keys = (key,) if isinstance(key, Mapping) else tuple(key)
    if not all(each.get("x") for each in keys):
        raise ReaderError("key: not a JWK")
    return Gallery(url, keys, MemoryStore() if store is None else FolderStore(Path(store)))


class Gallery:
    """A published gallery. Threads may share it; reads never wait for the network, except those of long CSS."""

    def __init__(self, url: str, keys: tuple[Jwk, ...], store: Store) -> None:
        """Use the stored state, or read the gallery if nothing is stored: see :func:`open_gallery`."""
        self._url = url.rstrip("/") + "/"
        self._configured_keys = keys
        self._root = ",".join(str(key.get("x")) for key in keys)
        self._store = store
        self._state = _State(self._root, keys)
        self._contents: Contents | None = None
        self._listeners: dict[str, dict[object, Callable[[Any], object]]] = {"change": {}, "withdrawn": {}}
        self._lock = threading.Lock()
        self._checking: Future[int] | None = None
        self._checker = 0  # the thread that checks
        self._changes = self._reported = 0
        self._load()
        if not self._state.index:
            self._look()
        self._reported = self._changes
        if abs(time.time() - self._state.checked) > _OLD:
            threading.Thread(target=self._look_quietly, name="logoadmin reader", daemon=True).start()

    @property
    def latest(self) -> Mapping[str, Any]:
        """The payload of the newest verified ``latest.json`` (contract L2)."""
        return self._contents.pointer if self._contents else {}

    def logos(self, *, target: str | None = None) -> list[Record]:
        """Return the logos, by id: see :meth:`get`."""
        return self._list("logo", target)

    def themes(self, *, target: str | None = None) -> list[Record]:
        """Return the themes, by id: see :meth:`get`."""
        return self._list("theme", target)

    def get(self, kind: str, record_id: int) -> Record | None:
        """Return a copy of an ``author``, ``logo`` or ``theme`` (contract L2); artworks have their ``authors``.

        None if it does not exist, is not active or was withdrawn: it must not be applied any more.
        """
        contents = self._contents
        return None if contents is None else contents.record(kind, record_id)

    def css(self, record: Record | None) -> str | None:
        """Return the CSS of a logo or theme; None without a record or if it was withdrawn. Long CSS is downloaded once.

        Raises:
            ReaderError: long CSS is neither stored nor readable.
        """
        if record is None or self._is_hidden(record):
            return None
        file = record.get("custom_css_file")
        return str(record["custom_css"]) if file is None else self._sheet(str(file["sha256"]), int(file["size"]))

    def verify(self) -> None:
        """Read all files that the publication references: the long CSS and the pictures of all records.

        Raises:
            ReaderError: a file is missing or wrong; the message names the record that needs it.
        """
        with ThreadPoolExecutor(_DOWNLOADS) as pool:
            for _ in pool.map(self._verify, [*self.logos(), *self.themes()]):
                pass

    def on(self, event: Literal["change", "withdrawn"], listener: Callable[[Any], object]) -> Callable[[], None]:
        """Call a function whenever something changes.

        Args:
            event: ``change``, with the version of the new index; or ``withdrawn``, with a list of new entries (contract
                L3), which must not be applied any more.
            listener: called in the thread that checks; its exceptions are logged.

        Returns:
            A function that removes the listener.
        """
        listeners, added = self._listeners[event], object()
        listeners[added] = listener

        def stop() -> None:
            listeners.pop(added, None)

        return stop

    def check(self) -> bool:
        """Look for changes, with one conditional request if there are none. Concurrent calls share one check.

        Returns:
            Whether anything is new since the last successful check, or since the gallery was opened, even if another
            program with the same store or a background check found it; False for a listener, which is called during a
            check.

        Raises:
            ReaderError: the gallery cannot be read or verified; the last good state stays, without records that a
                verified ``latest.json`` blocks.
        """
        before = self._reported
        changes = self._look()
        if changes is None:
            return False
        self._reported = changes
        return changes > before

    def _look(self) -> int | None:
        """Check, and return the number of changes so far; None for a listener."""
        with self._lock:
            running = self._checking
            mine = self._checking = running or Future()
            if running is None:
                self._checker = threading.get_ident()
        if running is not None:
            return None if self._checker == threading.get_ident() else running.result()
        try:
            self._check()
            mine.set_result(self._changes)
        except BaseException as error:
            mine.set_exception(error)
        finally:
            with self._lock:
                self._checking = None
        return mine.result()

    def _look_quietly(self) -> None:
        with suppress(ReaderError):
            self._look()

    def _check(self) -> None:
        now = time.time()
        self._load()
        is_conditional = self._state.etag and self.latest["expires"] > now
        found = self._download(
            "latest.json", _MOST_POINTER, {"if-none-match": self._state.etag or ""} if is_conditional else {}
        )
        latest = self._state.latest if found.body is None else _text("latest.json", found.body)
        if latest is not None and latest != self._state.latest:
            good = verified(latest, self._state.keys)
            # Its blocks apply even if it has expired or is rejected.
            if good.pointer["issued"] > now + _MOST_AHEAD:
                self._use_early_blocks(good.pointer)
                raise ReaderError("latest.json: issued in the future")
            state = replace(self._state, latest=latest, keys=good.keys, etag=found.etag, early=())
            if self._use(state, good.pointer):
                self._save()
        if self.latest["expires"] <= now:
            raise ReaderError("latest.json: expired")
        try:
            withdrawn = self._file(self.latest["withdrawn"], self._state.withdrawn)
            index = self._file(self.latest["index"], self._state.index)
        except (KeyError, TypeError, AttributeError) as error:
            raise ReaderError("latest.json: malformed") from error
        if (withdrawn, index) != (self._state.withdrawn, self._state.index):
            self._use(replace(self._state, withdrawn=withdrawn, index=index), self.latest)
            self._save()

    def _use_early_blocks(self, pointer: Mapping[str, Any]) -> None:
        """Use the blocks of a pointer issued in the future, if it is later than the last good one."""
        old = self._contents
        if old is not None and not self._is_older(pointer, old.pointer):
            self._use(replace(self._state, early=pointer["blocked"]), old.pointer)
            self._save()

    def _is_older(self, pointer: Mapping[str, Any], than: Mapping[str, Any]) -> bool:
        """Return whether a pointer is older, by epoch, version and time; refuse that of another gallery."""
        if pointer.get("gallery") != than.get("gallery"):
            raise ReaderError("latest.json: of another gallery")
        return _order(pointer) < _order(than)

    def _use(self, state: _State, pointer: Mapping[str, Any]) -> bool:
        """Use a whole state and its verified pointer, unless that is older; return whether they were used."""
        old = self._contents
        if old is not None and self._is_older(pointer, old.pointer):
            return False
        is_new = state.index != self._state.index
        try:
            records = read_records(state.index) if is_new or old is None else old.records
            contents = read_contents(pointer, records, state.early, state.withdrawn)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ReaderError("the index or the withdrawn records are malformed") from error
        self._state = state
        self._contents = contents
        news = [entry for name, entry in contents.withdrawn.items() if old is None or name not in old.withdrawn]
        self._changes += bool(news or is_new)
        if news:
            self._emit("withdrawn", news)
        if is_new:
            self._emit("change", pointer["version"])
        return True

    def _emit(self, event: str, value: object) -> None:
        for listener in tuple(self._listeners[event].values()):
            try:
                listener(value)
            except Exception:
                _LOG.exception("A listener of a published gallery failed")

    def _load(self) -> None:
        """Use the state that another process stored, if it is newer; an unreadable one counts as missing."""
        try:
            state = _State(**parsed(self._stored("state")))
            if state.latest is None or state.latest == self._state.latest:
                return
            index = self._stored(state.place) if state.place else ""
            # Learned keys are only as good as the keys from which they were learned.
            keys = state.keys if state.root == self._root else self._configured_keys
            pointer = verified(state.latest, keys).pointer
            # The service may issue two pointers for one version within an hour: the stored one may be the earlier one.
            if self._contents is None or _order(pointer) > _order(self._contents.pointer):
                self._use(replace(state, root=self._root, keys=keys, index=index), pointer)
        except (ValueError, TypeError, AttributeError, ReaderError):
            return

    def _stored(self, name: str) -> str:
        """Return a text from the store, which has its hash in front; raise ValueError unless it is intact."""
        stored = (self._store.get(name) or b"").decode()
        if _sha256(stored[64:].encode()) != stored[:64]:
            raise ValueError(name)
        return stored[64:]

    def _save(self) -> None:
        self._load()
        state = replace(self._state, checked=time.time())
        found = _sha256(state.index.encode()) if state.index else ""
        if found != state.hash:
            state = replace(state, hash=found, place="other" if state.place == "index" else "index")
            self._store.set(state.place, (found + state.index).encode())
            try:
                self._stored(state.place)
            except ValueError:  # such as on a full disk: the stored state stays
                return
        text = json.dumps({**asdict(state), "index": ""})
        self._store.set("state", (_sha256(text.encode()) + text).encode())
        self._state = state

    def _download(self, path: str, most: int, headers: Mapping[str, str] | None = None) -> Downloaded:
        return download(self._url, path, most=most, headers=headers or {})

    def _download_checked(self, path: str, most: int, sha256: str) -> bytes:
        body = self._download(path, most).body
        if body is None or _sha256(body) != sha256:
            raise ReaderError(f"{path}: wrong content")
        return body

    def _verify(self, record: Record) -> None:
        try:
            self.css(record)
            self._verify_picture(record.get("picture"))
        except ReaderError as error:
            kind = "logo" if "logo_id" in record else "theme"
            raise ReaderError(f"{error}, of {kind} {record[f'{kind}_id']}") from None

    def _verify_picture(self, picture: Mapping[str, Any] | None) -> None:
        if picture is None:
            return
        path, thumbnail = str(picture["path"]), str(picture["thumbnail"])
        found = _PICTURE.fullmatch(path)
        if found is None or thumbnail != f"pictures/{found[1]}-320.webp":
            raise ReaderError("unexpected path of a picture")
        self._download_checked(path, _MOST_PICTURE, found[1])
        if self._download(thumbnail, _MOST_PICTURE).body is None:
            raise ReaderError(f"{thumbnail}: wrong content")

    def _file(self, entry: Mapping[str, Any], known: str = "") -> str:
        """Return a file by its entry in a pointer, or ``known`` if it is that file."""
        path, size, sha256 = str(entry["path"]), entry["size"], entry["sha256"]
        if _sha256(known.encode()) == sha256:
            return known
        if not _PATH.fullmatch(path):
            raise ReaderError("latest.json: unexpected path")
        body = self._download_checked(path, size, sha256)
        if len(body) != size:
            raise ReaderError(f"{path}: wrong size")
        try:
            parsed(text := _text(path, body))
        except ValueError as error:
            raise ReaderError(f"{path}: malformed") from error
        return text

    def _list(self, kind: str, target: str | None) -> list[Record]:
        contents = self._contents
        found = (contents.record(kind, record_id) for record_id in contents.records[kind]) if contents else ()
        return [record for record in found if record and target in (None, record["target"])]

    def _is_hidden(self, record: Record) -> bool:
        hidden = self._contents.hidden if self._contents else ()
        return any((kind, record.get(f"{kind}_id")) in hidden for kind in ("logo", "theme"))

    def _sheet(self, sha256: str, size: int) -> str:
        path, name = f"css/{sha256}.css", f"{sha256}.css"
        if not _SHA256.fullmatch(sha256):
            raise ReaderError("unexpected path of a style sheet")
        content = self._store.get(name)
        if content is None or _sha256(content) != sha256:
            content = self._download_checked(path, size, sha256)
            self._store.set(name, content)
        return _text(path, content)


def _order(pointer: Mapping[str, Any]) -> tuple[int, int, int]:
    return pointer["epoch"], pointer["version"], pointer["issued"]


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _text(path: str, content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise ReaderError(f"{path}: malformed") from error
