"""Lists: whole lists in constant memory, pages, order and filters (contract E1 to E4)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Annotated, Any, Final, Generic, Literal, TypeVar

from logoadmin.domain.model.command import Command
from logoadmin.domain.model.limits import MAX_ID, Id, PageSize, Query, described
from logoadmin.domain.model.records import Kind

Record = TypeVar("Record")
Row = TypeVar("Row")
Listed = TypeVar("Listed", covariant=True)

# By ascending or descending id (contract E4).
Order = Literal["asc", "desc"]


def before_all(order: Order) -> int:
    """Return a number that all ids follow in this order."""
    return -1 if order == "asc" else MAX_ID + 1


class ListCommand(Command):
    """A list by id: the whole list, or ``limit`` records after the id ``after`` in its order (contract E2, E4)."""

    limit: PageSize | None = None
    after: Annotated[Id, described("The id after which the page starts, in the requested order.", 57)] | None = None
    order: Annotated[Order, described("Ascending (`asc`) or descending (`desc`) ids.", "desc")] = "asc"

    @property
    def begins_after(self) -> int:
        """The id after which the list starts; a number before all ids by default."""
        return before_all(self.order) if self.after is None else self.after


class SearchedCommand(ListCommand):
    """A list of records, which can be searched for a part ``q`` of their names, ignoring case (contract E3)."""

    q: Query | None = None

    def filter(self) -> "Filter":
        """Return the filters of the list."""
        wanted = {name: getattr(self, name) for name in Filter.__slots__ if getattr(self, name, None) is not None}
        return Filter(**wanted) if wanted else EVERYTHING

    @property
    def searches(self) -> bool:
        """Whether the filters need more than one index, so that records are compared one by one."""
        given = self.filter().given
        return "q" in given or len(given) > 1


@dataclass(frozen=True, slots=True)
class Filter:
    """The filters of a list of records, None for any value (contract E3).

    Attributes:
        q: a part of the name or username, compared after ``str.casefold``, Unicode's full case folding.
        role_id: of users.
        user_id: of authors.
        target: of logos and themes.
        active: of logos and themes.
        author_id: of logos and themes, one of their authors.
    """

    q: str | None = None
    role_id: int | None = None
    user_id: int | None = None
    target: str | None = None
    active: bool | None = None
    author_id: int | None = None

    @property
    def given(self) -> dict[str, Any]:
        """The given filters, by name."""
        return {name: value for name in self.__slots__ if (value := getattr(self, name)) is not None}


EVERYTHING: Final = Filter()


@dataclass(frozen=True, slots=True)
class ChangeFilter:
    """The filters of a list of changes, None for any value (contract G3).

    Attributes:
        kind: the kind of record.
        id: its id, never without the kind.
        user_id: the user who made the change.
        action: the action, such as ``logo.created``.
        request_id: the id of the request.
        since: the earliest time, Unix time in seconds.
        until: the latest time.
    """

    kind: Kind | None = None
    id: int | None = None
    user_id: int | None = None
    action: str | None = None
    request_id: str | None = None
    since: int | None = None
    until: int | None = None

    @property
    def given(self) -> dict[str, Any]:
        """The given filters, by name."""
        return {name: value for name in self.__slots__ if (value := getattr(self, name)) is not None}


EVERY_CHANGE: Final = ChangeFilter()


# A page ends before its texts exceed this number of characters, unless it has one record.
MAX_PAGE_TEXT: Final = 65_536
# A response with a limit ends with the page that exceeds it.
_MAX_ANSWER_TEXT: Final = 1_048_576
_NO_TEXT: Final = 8  # what a number counts


class TruncatedPage(tuple[Record, ...]):
    """A page that may end before its limit because of the length of its texts, so that more may follow."""

    __slots__ = ()


def truncated_page(rows: Iterable[Row], text_length: Callable[[Row], int]) -> tuple[Row, ...]:
    """Return the rows of a page, at least one, without reading many more."""
    taken: list[Row] = []
    length = 0
    for row in rows:
        length += text_length(row)
        if length > MAX_PAGE_TEXT:
            return TruncatedPage(taken or [row])
        taken.append(row)
    return tuple(taken)


def joined_pages(rows: Sequence[Row], more: Sequence[Row], text_length: Callable[[Row], int]) -> Sequence[Row]:
    """Join two parts of a page, which ends where its texts are too long."""
    page = truncated_page([*rows, *more], text_length)
    return TruncatedPage(page) if isinstance(more, TruncatedPage) else page


def page_of(rows: Iterable[Row], record: Callable[[Row], Record]) -> tuple[Record, ...]:
    """Return the records of a page of rows."""
    return TruncatedPage(map(record, rows)) if isinstance(rows, TruncatedPage) else tuple(map(record, rows))


def text_length(value: object) -> int:
    """Return the approximate number of characters in a record or a value."""
    if isinstance(value, str):
        return len(value)
    if is_dataclass(value):
        return sum(text_length(getattr(value, field.name)) for field in fields(value))
    if isinstance(value, Mapping):
        return sum(map(text_length, value.values())) + sum(map(text_length, value))
    return sum(map(text_length, value)) if isinstance(value, tuple | list) else _NO_TEXT


@dataclass(frozen=True, slots=True)
class PageSizes:
    """How many records are fetched at a time: few at first, in case their texts are long."""

    first: int
    most: int

    def collect(
        self,
        fetch: Callable[[int, int], tuple[Record, ...]],
        id_of: Callable[[Record], int],
        after: int,
        size: int,
    ) -> tuple[tuple[Record, ...], bool]:
        """Return up to ``size`` records after an id, and whether more may follow.

        Long texts may end the list before ``size``.
        """
        found: tuple[Record, ...] = ()
        asked, goes_on, length = min(size, self.first), True, 0
        while goes_on and len(found) < size and length <= _MAX_ANSWER_TEXT:
            page = fetch(after, asked)
            goes_on = _goes_on(page, asked)
            found += page
            if goes_on:
                after, length = id_of(page[-1]), length + text_length(page)
                asked = min(size - len(found), self.following(page))
        return found, goes_on

    def following(self, page: tuple[Any, ...]) -> int:
        """Return how many records to fetch after a page."""
        return min(self.most, 2 * len(page)) if isinstance(page, TruncatedPage) else self.most


def _goes_on(page: tuple[Any, ...], asked: int) -> bool:
    return len(page) == asked or isinstance(page, TruncatedPage)


# Logos, themes and changes may have a megabyte of CSS in them and seldom have more than a line.
RECORD_PAGE_SIZES: Final = PageSizes(500, 500)
ARTWORK_PAGE_SIZES: Final = PageSizes(50, 200)
CHANGE_PAGE_SIZES: Final = ARTWORK_PAGE_SIZES


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a list: after which id, and how many records are asked for there."""

    after: int
    asked: int


class Listing(Generic[Listed]):
    """A list in the order of ids, fetched page by page while it is read.

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
        page_sizes: PageSizes = RECORD_PAGE_SIZES,
        *,
        after: int = -1,
        version: int = 0,
        next_after: int | None = None,
    ) -> None:
        """Start from the first page, which follows an id, and how to fetch so many that follow another one.

        Without ``fetch``, the first page is the whole. The last page is shorter than was asked, and not truncated.
        """
        self.first = first
        self._id_of = id_of
        self._fetch = fetch
        self._page_sizes = page_sizes
        self.start = Place(after, page_sizes.first)
        self.version = version
        self.next_after = next_after

    @property
    def is_whole(self) -> bool:
        """Whether it is read on to the end of all records, and not one page of them."""
        return self._fetch is not None

    def without_records(self) -> "Listing[Listed]":
        """Return the same list, whose first page is not there yet; it can only be read place by place."""
        after = self.start.after
        return Listing((), self._id_of, self._fetch, self._page_sizes, after=after, version=self.version)

    def page(self, place: Place) -> tuple[Listed, ...]:
        """Return the records at a place, as they are now."""
        return self.first if self._fetch is None else self._fetch(place.after, place.asked)

    def following(self, place: Place, page: tuple[Listed, ...]) -> Place | None:
        """Return the place after a page that was found at another one, None where that was the last."""
        if self._fetch is None or not _goes_on(page, place.asked):
            return None
        return Place(self._id_of(page[-1]), self._page_sizes.following(page))

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
