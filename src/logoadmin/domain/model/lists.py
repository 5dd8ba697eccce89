"""Lists: whole ones of any length in flat memory, pages of them, and filters (contract E1 to E3)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from logoadmin.domain.model.command import Command
from logoadmin.domain.model.limits import Id, PageSize, Query
from logoadmin.domain.model.records import Change, Logo, Theme

Record = TypeVar("Record")
Listed = TypeVar("Listed", covariant=True)


class ListCommand(Command):
    """A list, in ascending id: all of it, or ``limit`` records that follow the id ``after`` (contract E2)."""

    limit: PageSize | None = None
    after: Id | None = None

    def filter(self) -> "Filter":
        """Return what is asked of the records of the list."""
        wanted = {name: getattr(self, name) for name in Filter.__slots__ if getattr(self, name, None) is not None}
        return Filter(**wanted) if wanted else EVERYTHING

    @property
    def searches(self) -> bool:
        """Whether records are compared one by one: what is asked is not, or not alone, what an index has."""
        given = self.filter().given
        return "q" in given or len(given) > 1


class SearchedCommand(ListCommand):
    """A list of records with names, of which ``q`` is a part, in whatever case (contract E3)."""

    q: Query | None = None


@dataclass(frozen=True, slots=True)
class Filter:
    """What is asked of the records of a list; None where it does not matter (contract E3).

    Attributes:
        q: a part of the name or username; upper and lower case are the same (Unicode's full case folding).
        role_id: of users.
        user_id: of authors.
        target: of logos and themes.
        active: of logos and themes.
        author_id: of logos and themes, one of those who made them.
    """

    q: str | None = None
    role_id: int | None = None
    user_id: int | None = None
    target: str | None = None
    active: bool | None = None
    author_id: int | None = None

    @property
    def given(self) -> dict[str, Any]:
        """What is asked, by name."""
        return {name: value for name in self.__slots__ if (value := getattr(self, name)) is not None}


EVERYTHING: Final = Filter()


def folded(text: str) -> str:
    """Return a name as it is searched for."""
    return text.casefold()


@dataclass(frozen=True, slots=True)
class Pages:
    """How many records are fetched at a time: few at first, then as many as weigh about a mebibyte together."""

    first: int
    most: int
    weight: Callable[[Any], int] | None = None

    def gathered(
        self,
        fetch: Callable[[int, int], tuple[Record, ...]],
        id_of: Callable[[Record], int],
        after: int,
        size: int,
    ) -> tuple[tuple[Record, ...], bool]:
        """Return up to ``size`` records that follow an id, and whether there may be more.

        There are fewer, and more to come, if they weigh so much together that one answer should hold no more of them.
        """
        asked = min(size, self.first)
        found = fetch(after, asked)
        goes_on = len(found) == asked
        while goes_on and len(found) < size and not self._is_heavy(found):
            asked = min(size - len(found), self.following(found))
            more = fetch(id_of(found[-1]), asked)
            goes_on = len(more) == asked
            found += more
        return found, goes_on

    def _is_heavy(self, records: tuple[Any, ...]) -> bool:
        return self.weight is not None and sum(map(self.weight, records)) > _HEAVY

    def following(self, page: tuple[Any, ...]) -> int:
        """Return how many to fetch after a page."""
        if self.weight is None:
            return self.most
        average = sum(map(self.weight, page)) // len(page) + 1
        return max(1, min(self.most, _WEIGHT // average))


_WEIGHT: Final = 1_048_576  # characters
_HEAVY: Final = 4 * _WEIGHT


def _css(artwork: Logo | Theme) -> int:
    return len(artwork.custom_css)


def _said(change: Change) -> int:
    return sum(len(said.get("custom_css", "")) for said in (change.before, change.after) if said is not None)


# An artwork may carry a megabyte of CSS and seldom carries more than a line; the other records are small.
SMALL_RECORDS: Final = Pages(500, 500)
ARTWORKS: Final = Pages(50, 500, _css)
CHANGES: Final = Pages(50, 500, _said)


class Listing(Generic[Listed]):
    """A list in ascending id, fetched page by page while it is read.

    Nothing is held between two pages, neither a connection nor a transaction, so a slow reader is in nobody's way.
    Every record that is there from the first page to the last is in the list exactly once; one that comes or goes
    meanwhile may be in it or not.

    Reading on may raise StorageUnavailable; a list that was read to its end is complete.

    Attributes:
        version: the version of the list; what is read may be newer (contract F1).
        next_after: the last id, if a ``limit`` was given and more follows; else None (contract E2).
    """

    def __init__(
        self,
        first: tuple[Listed, ...],
        following: Callable[[Listed, int], tuple[Listed, ...]] | None = None,
        pages: Pages = SMALL_RECORDS,
        *,
        version: int = 0,
        next_after: int | None = None,
    ) -> None:
        """Start from the first page, and how to fetch so many that follow a record; a shorter page is the last.

        Without ``following``, the first page is the whole.
        """
        self._first = first
        self._following = following
        self._pages = pages
        self.version = version
        self.next_after = next_after

    def pages(self) -> Iterator[tuple[tuple[Listed, ...], bool]]:
        """Yield the records in tuples, and whether there may be more; the first tuple is there already."""
        page, asked = self._first, self._pages.first
        while self._following is not None and len(page) == asked:
            yield page, True
            asked = self._pages.following(page)
            page = self._following(page[-1], asked)
        yield page, False

    def __iter__(self) -> Iterator[Listed]:
        """Yield the records one by one."""
        for page, _ in self.pages():
            yield from page
