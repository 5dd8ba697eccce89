"""Lists of any length in flat memory (contract E1)."""

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

Record = TypeVar("Record", covariant=True)

# How many records are fetched at a time. A piece may carry a megabyte of CSS, the other records are small.
SMALL_RECORDS_A_PAGE = 500
PIECES_A_PAGE = 40


class Listing(Generic[Record]):
    """A whole list in ascending id, fetched page by page while it is read.

    Nothing is held between two pages, neither a connection nor a transaction, so a slow reader is in nobody's way.
    Every record that is there from the first page to the last is in the list exactly once; one that comes or goes
    meanwhile may be in it or not.

    Reading on may raise StorageUnavailable; a list that was read to its end is complete.
    """

    def __init__(
        self, first: tuple[Record, ...], following: Callable[[Record], tuple[Record, ...]], page_size: int
    ) -> None:
        """Start from the first page, and how to fetch the one that follows a record; a shorter page is the last."""
        self._first = first
        self._following = following
        self._page_size = page_size

    @property
    def is_one_page(self) -> bool:
        """Whether the first page is all there is."""
        return len(self._first) < self._page_size

    def pages(self) -> Iterator[tuple[Record, ...]]:
        """Yield the records in tuples of more than none; the first is there already."""
        page = self._first
        while page:
            yield page
            page = self._following(page[-1]) if len(page) == self._page_size else ()

    def __iter__(self) -> Iterator[Record]:
        """Yield the records one by one."""
        for page in self.pages():
            yield from page
