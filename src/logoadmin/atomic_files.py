"""Writes files that get their name only once they are complete and on the disk."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def atomic_file(
    target: Path, name: Callable[[Path, Path], object] = os.replace, *, durable: bool = True
) -> Iterator[Path]:
    """Let a file be made under another name, which gets its own at the end, when it is on the disk.

    Only its owner may read it. If its making raises, nothing of it is left; after a kill there may be a hidden file
    whose name begins with that of the target.

    Args:
        target: the file; of a link, what it leads to.
        name: gives the first file the name of the second, by default also in the place of another.
        durable: whether the file is on the disk at the end; otherwise the caller sees to that.

    Yields:
        An empty file to make it in, which nobody has open at the end.

    Raises:
        OSError: there can be no file, or not on the disk.
    """
    path = target.resolve()
    try:
        handle, made = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from None
    os.close(handle)
    part = Path(made)
    try:
        yield part
        # In this order: a power cut leaves no name of a file that is empty.
        if durable:
            _sync(part)
        name(part, path)
        if not durable:
            return
        with suppress(PermissionError):  # a directory that is writable but not readable
            _sync(path.parent)
    finally:
        part.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
