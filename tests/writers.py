"""Threads that write while a test copies, moves or ends something."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import count
from threading import Event

from logoadmin.domain.gallery.authors import CreateAuthor
from logoadmin.domain.kernel.errors import StorageUnavailable
from logoadmin.domain.logo_admin import LogoAdmin


@contextmanager
def writing(gallery: LogoAdmin, writers: int) -> Iterator[list[str]]:
    """Create authors in threads until the block ends, at least one before it begins; yield the acknowledged names."""
    names, first, stop = list[str](), Event(), Event()

    def write(writer: int) -> None:
        for number in count(1):
            if stop.is_set():
                return
            with suppress(StorageUnavailable):
                author = CreateAuthor(user_id=1_000_000 * writer + number, username=f"writer {writer}, {number}")
                names.append(gallery.authors.create(author).username)
                first.set()

    with ThreadPoolExecutor(writers) as pool:
        threads = [pool.submit(write, writer) for writer in range(1, writers + 1)]
        try:
            assert first.wait(20)
            yield names
        finally:
            stop.set()
        for each in threads:
            each.result()
