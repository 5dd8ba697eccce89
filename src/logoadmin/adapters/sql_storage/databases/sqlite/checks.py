"""Looking at a file of SQLite: who may read and write it, what it lies on, and whether it is sound (contract K4)."""

import errno
import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection

from logoadmin.domain.model.causes import Cause
from logoadmin.domain.model.checks import Result, ok, warning, wrong

# The WAL-reset bug: https://www.sqlite.org/wal.html#walresetbug
_CURED: Final = (3, 51, 3)
_CURED_BEFORE: Final = {(3, 44): 6, (3, 50): 7}
_MIB: Final = 2**20
_LITTLE: Final = 64 * _MIB
_LONG_LOG: Final = 256 * _MIB
# What is written to find out whether there is room: more than a commit takes.
_TRIAL: Final = 256 * 1024
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
_REFUSED: Final = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
_MOUNTS: Final = Path("/proc/self/mounts")
_NETWORK: Final = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "fuse.glusterfs", "fuse.sshfs", "lustre"}
)


def look_outside(file: Path) -> Iterator[Result]:
    """Look at a file and its directory without opening the file, which is not this process's to lock."""
    directory = file.parent
    if not directory.is_dir():
        yield wrong(
            "directory", f"there is no directory {directory}", "create it, or correct the path in the database URL"
        )
        return
    yield _library(sqlite3.sqlite_version_info)
    yield _directory(directory)
    yield _room(directory)
    yield _file_system(directory)
    if not file.exists():
        cure = "if that is its name, logoadmin init makes it, and so does the first start"
        yield warning("file", f"there is no file {file.name} yet", cure)
        return
    if (process := _process_with_old_file(file)) is not None:
        text = f"process {process} uses the file that {file.name} has replaced; its -wal would undo the replacement"
        yield wrong("database", text, f"stop it, delete {file.name}-wal and {file.name}-shm, and run doctor again")
    elif file.is_file():
        yield from _file(file)


def _process_with_old_file(file: Path) -> str | None:
    """Return a process that has an earlier file of this name open, as far as Linux shows it."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if any(os.readlink(handle) == f"{file.resolve()} (deleted)" for handle in (process / "fd").iterdir()):
                return process.name
    return None


def may(path: str | Path, mode: int) -> bool:
    """Return whether this process may do with a file what ``os.access`` names, as far as the system tells."""
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)


def looks_inside(
    file: Path, opened: Callable[[], sqlite3.Connection]
) -> dict[str, Callable[[Connection], Iterable[Result]]]:
    """Return looks at what is in a file, by their names.

    Args:
        file: where it is.
        opened: opens it for a look that takes long.
    """
    return {
        "pages": lambda _: _pages(opened),
        "journal": lambda connection: [_journal(connection, file.with_name(f"{file.name}-wal"))],
    }


def _library(version: tuple[int, ...]) -> Result:
    """Whether SQLite itself has the cure of the bug that loses a write or damages a file in WAL mode."""
    number = ".".join(map(str, version))
    cured_from = _CURED_BEFORE.get((version[0], version[1]))
    if version >= _CURED or (cured_from is not None and version[2] >= cured_from):
        return ok("SQLite", f"{number} has the cure of the WAL-reset bug")
    return warning(
        "SQLite",
        f"{number} may, very rarely, lose a write or damage the file (the WAL-reset bug)",
        "use a Python with SQLite 3.51.3 or newer, 3.50.7 or 3.44.6, unless who packaged yours has put the cure in; "
        "keep backups",
    )


def _directory(directory: Path) -> Result:
    """Whether the log can be made beside the file, and nobody else can replace it."""
    mode = directory.stat().st_mode
    if not may(directory, os.W_OK | os.X_OK):
        cure = "let the user of the service write there: the log of the database is made beside it"
        return wrong("directory", f"{directory} cannot be written", cure)
    if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        return warning(
            "directory", f"everybody may write {directory}, and so replace the database", f"chmod o-w {directory}"
        )
    return ok("directory", f"{directory} can be written")


def _room(directory: Path) -> Result:
    """Whether the disk takes what is written, as a quota or a limit of the process may not let it."""
    try:
        with tempfile.TemporaryFile(dir=directory) as trial:
            trial.write(bytes(_TRIAL))
            trial.flush()
            os.fsync(trial.fileno())
    except OSError as error:
        refused = Cause.READ_ONLY if error.errno in _REFUSED else Cause.IO_ERROR
        cause = Cause.DISK_FULL if error.errno in _FULL else refused
        return wrong("disk", f"{cause.text} ({error.strerror})", cause.cure)
    free = shutil.disk_usage(directory).free
    told = f"{free // _MIB} MiB are free"
    if free < _LITTLE:
        return warning("disk", told, "make room there before writes fail; a backup on the same disk takes room, too")
    return ok("disk", told)


def _file_system(directory: Path) -> Result:
    """Whether the file is on this machine, where its locks and its shared memory work."""
    kind = _kind_of(directory.resolve())
    if kind in _NETWORK:
        return wrong(
            "file system",
            f"{directory} is on {kind}, where the locks of SQLite fail and the file is damaged sooner or later",
            "keep the database on a disk of this machine",
        )
    return ok("file system", f"{kind or 'not known here'}")


def _kind_of(directory: Path) -> str | None:
    """Return the kind of file system that a directory is on, None where the system does not tell."""
    found = {}
    with suppress(OSError):
        for line in _MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines():
            _, place, kind, *_ = line.split()
            found[Path(place.encode().decode("unicode_escape"))] = kind
    return next((found[place] for place in (directory, *directory.parents) if place in found), None)


def _file(file: Path) -> Iterator[Result]:
    """Whether the user of this process may use the file, and nobody else may read it."""
    found = file.stat()
    if not may(file, os.R_OK):
        yield wrong("file", f"{file.name} cannot be read", Cause.CANNOT_OPEN.cure)
        return
    if not may(file, os.W_OK):
        yield wrong("file", f"{file.name} cannot be written", Cause.READ_ONLY.cure)
        return
    if found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        who = "everybody on this machine" if found.st_mode & stat.S_IRWXO else "its group"
        text = f"{who} may read or write {file.name}, which has the key for tokens and the password hashes"
        yield warning("file", text, f"chmod 600 {file}, and its -wal and -shm")
    else:
        yield ok("file", f"{file.name}, {found.st_size // 1024} KiB, is its owner's alone")
    if os.name == "posix" and os.geteuid() == 0 != found.st_uid:
        text = f"root may do everything, and the file belongs to user {found.st_uid}"
        yield warning("user", text, "look again as the user of the service: sudo -u NAME logoadmin doctor")


def _pages(opened: Callable[[], sqlite3.Connection]) -> Iterator[Result]:
    """Whether all pages are what they should be."""
    connection = opened()
    try:
        sound: list[Any] = connection.execute("PRAGMA quick_check(1)").fetchall()
        dangling = connection.execute("PRAGMA foreign_key_check").fetchone()
    finally:
        connection.close()
    if sound != [("ok",)] or dangling is not None:
        yield wrong("pages", Cause.CORRUPT.text, Cause.CORRUPT.cure)
    else:
        yield ok("pages", "none is damaged")


def _journal(connection: Connection, log: Path) -> Result:
    """Whether changes go to a log first, and that is emptied."""
    mode = connection.exec_driver_sql("PRAGMA journal_mode").scalar()
    if mode != "wal":
        return wrong(
            "journal", f"its mode is {mode}, not wal", "let the user of the service write the file's directory"
        )
    size = log.stat().st_size if log.exists() else 0
    if size > _LONG_LOG:
        cure = "look for a program that has been reading for long, such as an export that nobody takes"
        return warning("journal", f"the log has grown to {size // _MIB} MiB, and slows reads down", cure)
    return ok("journal", "changes go to a log first")
