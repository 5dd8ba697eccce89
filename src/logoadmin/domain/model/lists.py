"""Lists: whole ones of any length in flat memory, pages of them, and filters (contract E1 to E3)."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Final, Generic, TypeVar

from logoadmin.domain.model.command import Command
from logoadmin.domain.model.limits import Id, PageSize, Query

Record = TypeVar("Record")
Row = TypeVar("Row")
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


# A page ends before its texts have more characters than this, unless it is of one record.
PAGE_TEXT: Final = 65_536
# An answer to who gave a limit ends with the page with which it has more.
_ANSWER_TEXT: Final = 1_048_576
_NO_TEXT: Final = 8  # what a number counts


class HeavyPage(tuple[Record, ...]):
    """Records of a page that may end before its limit because of the length of their texts, so that more may follow."""

    __slots__ = ()


def light_enough(rows: Iterable[Row], text_of: Callable[[Row], int]) -> tuple[Row, ...]:
    """Return as many rows as make a page, at least one; those that follow are not held together with them."""
    taken: list[Row] = []
    weight = 0
    for row in rows:
        weight += text_of(row)
        if weight > PAGE_TEXT:
            return HeavyPage(taken or [row])
        taken.append(row)
    return tuple(taken)


def page_of(rows: Iterable[Row], record: Callable[[Row], Record]) -> tuple[Record, ...]:
    """Return the records of a page of rows."""
    return HeavyPage(map(record, rows)) if isinstance(rows, HeavyPage) else tuple(map(record, rows))


def text_of(value: object) -> int:
    """Return about how many characters there are in a record, or in what it holds."""
    if isinstance(value, str):
        return len(value)
    if is_dataclass(value):
        return sum(text_of(getattr(value, field.name)) for field in fields(value))
    if isinstance(value, Mapping):
        return sum(map(text_of, value.values())) + sum(map(text_of, value))
    return sum(map(text_of, value)) if isinstance(value, tuple | list) else _NO_TEXT


@dataclass(frozen=True, slots=True)
class Pages:
    """How many records are asked for at a time: few at first, in case they are heavy."""

    first: int
    most: int

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
        found: tuple[Record, ...] = ()
        asked, goes_on, weight = min(size, self.first), True, 0
        while goes_on and len(found) < size and weight <= _ANSWER_TEXT:
            page = fetch(after, asked)
            goes_on = _goes_on(page, asked)
            found += page
            if goes_on:
                after, weight = id_of(page[-1]), weight + text_of(page)
                asked = min(size - len(found), self.following(page))
        return found, goes_on

    def following(self, page: tuple[Any, ...]) -> int:
        """Return how many to ask for after a page."""
        return min(self.most, 2 * len(page)) if isinstance(page, HeavyPage) else self.most


def _goes_on(page: tuple[Any, ...], asked: int) -> bool:
    return len(page) == asked or isinstance(page, HeavyPage)


# Logos, themes and changes may have a megabyte of CSS in them and seldom have more than a line.
SMALL_RECORDS: Final = Pages(500, 500)
ARTWORKS: Final = Pages(50, 200)
CHANGES: Final = ARTWORKS


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a list: after which id, and how many records are asked for there."""

    after: int
    asked: int


class Listing(Generic[Listed]):
    """A list in ascending id, fetched page by page while it is read.

    Nothing is held between two pages, neither a connection nor a transaction, so a slow reader is in nobody's way.
    Every record that is there from the first page to the last is in the list exactly once; one that comes or goes
    meanwhile may be in it or not.

    Reading on may raise StorageUnavailable; a list that was read to its end is complete.

    Attributes:
        first: the first page.
        start: where it begins.
        version: the version of the list; what is read may be newer (contract F1).
        next_after: the last id, if a ``limit`` was given and more follows; else None (contract E2).
    """

    def __init__(
        self,
        first: tuple[Listed, ...],
        id_of: Callable[[Listed], int],
        fetch: Callable[[int, int], tuple[Listed, ...]] | None = None,
        pages: Pages = SMALL_RECORDS,
        *,
        after: int = -1,
        version: int = 0,
        next_after: int | None = None,
    ) -> None:
        """Start from the first page, which follows an id, and how to fetch so many that follow another one.

        Without ``fetch``, the first page is the whole. A page that is shorter than was asked and not heavy is the last.
        """
        self.first = first
        self._id_of = id_of
        self._fetch = fetch
        self._pages = pages
        self.start = Place(after, pages.first)
        self.version = version
        self.next_after = next_after

    @property
    def is_whole(self) -> bool:
        """Whether it is read on to the end of all records, and not one page of them."""
        return self._fetch is not None

    def without_records(self) -> "Listing[Listed]":
        """Return the same list, whose first page is not there yet; it can only be read place by place."""
        after = self.start.after
        return Listing((), self._id_of, self._fetch, self._pages, after=after, version=self.version)

    def page(self, place: Place) -> tuple[Listed, ...]:
        """Return the records at a place, as they are now."""
        return self.first if self._fetch is None else self._fetch(place.after, place.asked)

    def following(self, place: Place, page: tuple[Listed, ...]) -> Place | None:
        """Return the place after a page that was found at another one, None where that was the last."""
        if self._fetch is None or not _goes_on(page, place.asked):
            return None
        return Place(self._id_of(page[-1]), self._pages.following(page))

    def half(self, page: tuple[Listed, ...]) -> tuple[tuple[Listed, ...], Place]:
        """Return the first half of a page, and the place after it."""
        half = page[: len(page) // 2]
        return half, Place(self._id_of(half[-1]), len(half))

    def pages(self) -> Iterator[tuple[tuple[Listed, ...], bool]]:
        """Yield the records in tuples, and whether there may be more; the first tuple is there already."""
        page, place = self.first, self.start
        while (following := self.following(place, page)) is not None:
            yield page, True
            place, page = following, self.page(following)
        yield page, False

    def __iter__(self) -> Iterator[Listed]:
        """Yield the records one by one."""
        for page, _ in self.pages():
            yield from page
