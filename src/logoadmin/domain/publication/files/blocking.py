"""Remove blocked artworks from the pages before anything else is published (contract L1, Q1)."""

import errno
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from logoadmin.domain.publication.publication_records import FEED, PAGE, SITEMAP, GeneratedFile
from logoadmin.ports.gallery_files import GalleryFiles

_FULL: Final = (errno.ENOSPC, errno.EDQUOT)
# Text of the templates: links from the page of an artwork or an author, and entries of pages, feed and sitemap.
_LINK: Final = re.compile(rb'href="(?:\.\./)+((?:authors|logos|themes)/[0-9]+/)"')
# An entry begins at the start of a run of white space: a work's text may have thousands of spaces.
_ENTRY: Final = re.compile(rb'(?<!\s)\s*<(?:li class="card"|entry|url)>.*?</(?:li|entry|url)>', re.DOTALL)
_LISTED: Final = re.compile(rb'(?:href="|<loc>)(?:[^"<]*/)?((?:logos|themes)/[0-9]+/)["<]')
# Twice as many works as a page lists per author: works may have come and gone since it was written.
_NEAR: Final = 8


def is_full(error: OSError) -> bool:
    """Return whether a file could not be written because the disk is full."""
    return error.errno in _FULL


def replace_pages(files: GalleryFiles, names: set[str], pages: Sequence[GeneratedFile]) -> None:
    """Remove blocked artworks from other pages, the feed and the sitemap, then replace their own pages.

    In this order, a run after an interrupted one still finds the pages that list them. If the disk is full, the page of
    a blocked artwork is removed, and pages that only list it wait for the next publication.
    """
    blocked = {page.name.removesuffix(PAGE).encode() for page in pages}
    for name, content in _without(files, names, blocked):
        try:
            files.write(name, content)
        except OSError as error:
            if not is_full(error):
                raise
    for page in pages:
        try:
            files.write(page.name, page.content() or b"")
            names.add(page.name)
        except OSError as error:
            if not is_full(error):
                raise
            files.remove(page.name)
            names.discard(page.name)


def _without(files: GalleryFiles, names: Collection[str], blocked: set[bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield the files that list artworks with these paths, each with its content without them."""

    def unless_blocked(entry: re.Match[bytes]) -> bytes:
        listed = _LISTED.search(entry[0])
        return b"" if listed is not None and listed[1] in blocked else entry[0]

    for name in _listing(files, names, blocked):
        content = files.read(name) or b""
        without = _ENTRY.sub(unless_blocked, content)
        if without != content:
            yield name, without


def _listing(files: GalleryFiles, names: Collection[str], blocked: set[bytes]) -> list[str]:
    """Return the files that may list these artworks: feed, sitemap, and pages of their authors and of other works."""
    if not blocked:
        return []

    def linked(path: bytes) -> list[bytes]:
        return _LINK.findall(files.read(f"{path.decode()}{PAGE}") or b"")

    paths: set[bytes] = set()
    for path in blocked:
        for author in {each for each in linked(path) if each.startswith(b"authors/")}:
            paths |= {author, *_near(path, linked(author))}
    found = [FEED, SITEMAP, *(f"{path.decode()}{PAGE}" for path in sorted(paths - blocked))]
    return [name for name in found if name in names]


def _near(path: bytes, works: Sequence[bytes]) -> Iterator[bytes]:
    """Yield the works of an author whose pages may list a work: a page lists the next works of its authors.

    They follow the work on the author's page, newest first. If the work is no longer there, as after an interrupted
    run, all works are yielded.
    """
    if path not in works:
        yield from works
        return
    place = works.index(path)
    yield from (works[(place + step) % len(works)] for step in range(1, _NEAR + 1))
