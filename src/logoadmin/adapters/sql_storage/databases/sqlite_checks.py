"""Checks of an SQLite file: its permissions, its file system and its integrity (contract K4)."""

import errno
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from logoadmin.checks import Result, free_space, ok, warning, wrong
from logoadmin.domain.kernel.causes import Cause

# The WAL-reset bug: https://www.sqlite.org/wal.html#walresetbug
_CURED: Final = (3, 51, 3)
_CURED_BEFORE: Final = {(3, 44): 6, (3, 50): 7}
_MIB: Final = 2**20
LITTLE: Final = 64 * _MIB
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
_REFUSED: Final = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
MOUNTS: Final = Path("/proc/self/mounts")
_NETWORK: Final = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "fuse.glusterfs", "fuse.sshfs", "lustre"}
)


def look_outside(file: Path) -> Iterator[Result]:
    """Check a file and its directory without opening the file, whose locks belong to other processes."""
    file = file.absolute()
    directory = file.parent
    if os.path.exists(file) and not os.path.isfile(file):
        return  # opening it fails, with a better reason than any about its directory
    if not os.path.isdir(directory):  # is_dir() raises where a parent cannot be entered
        cure = "create it, correct the path in the database URL, or run doctor as the user of the service"
        yield wrong("directory", f"this user finds no directory {directory}", cure)
        return
    if not may(directory, os.X_OK):
        yield _directory(directory)
        return
    yield _library(sqlite3.sqlite_version_info)
    yield _directory(directory)
    yield _room(directory)
    yield _file_system(directory)
    if not file.exists():
        if file.with_name(f"{file.name}-wal").exists():
            text = f"{file} is gone, but its log {file}-wal exists"
            yield wrong("file", text, "keep a copy of the log, delete it, and restore a backup")
            return
        cure = "if there was one, restore a backup; otherwise logoadmin init or the first start creates it"
        yield warning("file", f"there is no file {file} yet", f"{cure}. Then set create = false")
        return
    yield _file(file)


def may(path: str | Path, mode: int) -> bool:
    """Return whether this process has access to a file, in a mode of ``os.access``."""
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)


def _library(version: tuple[int, ...]) -> Result:
    """Check that SQLite has the fix for the bug that can lose a write or damage a file in WAL mode."""
    number = ".".join(map(str, version))
    cured_from = _CURED_BEFORE.get((version[0], version[1]))
    if version >= _CURED or (cured_from is not None and version[2] >= cured_from):
        return ok("SQLite", f"{number} has the fix for the WAL-reset bug")
    return warning(
        "SQLite",
        f"{number} may, very rarely, lose a write or damage the file (the WAL-reset bug)",
        "use a Python with SQLite 3.51.3 or newer, 3.50.7 or 3.44.6, unless your distribution has backported the fix; "
        "keep backups",
    )


def _directory(directory: Path) -> Result:
    """Check that the log can be created beside the file, and that others cannot replace the file."""
    mode = directory.stat().st_mode
    if not may(directory, os.W_OK | os.X_OK):
        cure = "give the user of the service write access: the log of the database is created there"
        return wrong("directory", f"{directory} cannot be written", cure)
    if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        return warning(
            "directory", f"all users can write to {directory}, and replace the database", f"chmod o-w {directory}"
        )
    return ok("directory", f"{directory} can be written")


def _room(directory: Path) -> Result:
    """Check that writes succeed, which a full disk, a quota or a process limit can prevent."""
    try:
        free = free_space(directory)
    except OSError as error:
        refused = Cause.READ_ONLY if error.errno in _REFUSED else Cause.IO_ERROR
        cause = Cause.DISK_FULL if error.errno in _FULL else refused
        return wrong("disk", f"{cause.text} ({error.strerror})", cause.cure)
    told = f"{free // _MIB} MiB are free"
    if free < LITTLE:
        return warning("disk", told, "free space before writes fail; a backup on the same disk also needs space")
    return ok("disk", told)


def _file_system(directory: Path) -> Result:
    """Check that the file is on a local disk, where its locks and its shared memory work."""
    kind = _kind_of(directory.resolve())
    if kind in _NETWORK:
        return wrong(
            "file system",
            f"{directory} is on {kind}, where the locks of SQLite fail and the file will be damaged",
            "keep the database on a disk of this machine",
        )
    return ok("file system", f"{kind or 'not known here'}")


def _kind_of(directory: Path) -> str | None:
    """Return the type of the file system of a directory, None if unknown."""
    found = {}
    with suppress(OSError):
        for line in MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines():
            _, place, kind, *_ = line.split()
            found[Path(place.encode("latin-1", "backslashreplace").decode("unicode_escape"))] = kind
    return next((found[place] for place in (directory, *directory.parents) if place in found), None)


def _file(file: Path) -> Result:
    """Check that the user of this process can use the file, and that others cannot read it."""
    found = file.stat()
    if not may(file, os.R_OK):
        return wrong("file", f"{file} cannot be read", Cause.CANNOT_OPEN.cure)
    if not may(file, os.W_OK):
        return wrong("file", f"{file} cannot be written", Cause.READ_ONLY.cure)
    if found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        who = "all users of this machine" if found.st_mode & stat.S_IRWXO else "its group"
        text = f"{who} can read or write {file}, which contains the token key and the password hashes"
        return warning("file", text, f"chmod 600 {file}, and its -wal and -shm")
    return ok("file", f"{file}, {found.st_size // 1024} KiB, is private to its owner")


def check_pages(connection: sqlite3.Connection) -> Result:
    """Check that all pages are intact."""
    sound: list[Any] = connection.execute("PRAGMA quick_check(1)").fetchall()
    dangling = connection.execute("PRAGMA foreign_key_check").fetchone()
    if sound != [("ok",)] or dangling is not None:
        return wrong("pages", Cause.CORRUPT.text, Cause.CORRUPT.cure)
    return ok("pages", "all are intact")
