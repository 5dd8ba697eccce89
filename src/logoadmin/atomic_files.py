"""Write files that get their name only when they are complete and on the disk."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def atomic_file(
    target: Path, name: Callable[[Path, Path], object] = os.replace, *, durable: bool = True
) -> Iterator[Path]:
    """Create a file under a temporary name, and rename it at the end, when it is on the disk.

    Only its owner may read it. If the block raises, no file is left; a killed program may leave a hidden file whose
    name begins with that of the target.

    Args:
        target: the file; a link is followed.
        name: renames the first file to the second; by default, an existing file is replaced.
        durable: whether the file is on the disk at the end; otherwise, the caller must see to that.

    Yields:
        An empty file to write, which must be closed at the end.

    Raises:
        OSError: the file cannot be created, or not flushed to the disk.
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
        # In this order, so that a power cut leaves no empty file under this name.
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
