"""Lists of any length in flat memory (contract E1)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from logoadmin.domain.records import Logo, Theme

Record = TypeVar("Record", covariant=True)


@dataclass(frozen=True, slots=True)
class Pages:
    """How many records are fetched at a time: few at first, then as many as weigh about a mebibyte together."""

    first: int
    most: int
    weight: Callable[[Any], int] | None = None

    def following(self, page: tuple[Any, ...]) -> int:
        """Return how many to fetch after a page."""
        if self.weight is None:
            return self.most
        average = sum(map(self.weight, page)) // len(page) + 1
        return max(1, min(self.most, _WEIGHT // average))


_WEIGHT: Final = 1_048_576  # characters


def _css(piece: Logo | Theme) -> int:
    return len(piece.custom_css)


# A piece may carry a megabyte of CSS and seldom carries more than a line; the other records are small.
SMALL_RECORDS: Final = Pages(500, 500)
PIECES: Final = Pages(50, 500, _css)


class Listing(Generic[Record]):
    """A whole list in ascending id, fetched page by page while it is read.

    Nothing is held between two pages, neither a connection nor a transaction, so a slow reader is in nobody's way.
    Every record that is there from the first page to the last is in the list exactly once; one that comes or goes
    meanwhile may be in it or not.

    Reading on may raise StorageUnavailable; a list that was read to its end is complete.
    """

    def __init__(
        self, first: tuple[Record, ...], following: Callable[[Record, int], tuple[Record, ...]], pages: Pages
    ) -> None:
        """Start from the first page, and how to fetch so many that follow a record; a shorter page is the last."""
        self._first = first
        self._following = following
        self._pages = pages

    def pages(self) -> Iterator[tuple[Record, ...]]:
        """Yield the records in tuples of more than none; the first is there already."""
        page, asked = self._first, self._pages.first
        while page:
            yield page
            if len(page) < asked:
                return
            asked = self._pages.following(page)
            page = self._following(page[-1], asked)

    def __iter__(self) -> Iterator[Record]:
        """Yield the records one by one."""
        for page in self.pages():
            yield from page
