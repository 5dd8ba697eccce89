"""Lists: whole lists in constant memory, pages, order and filters (contract E1 to E4)."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Annotated, Any, Final, Generic, Literal, TypeVar
from unicodedata import normalize

from logoadmin.domain.kernel.command import Command, Input
from logoadmin.domain.kernel.limits import MAX_ID, Flag, Id, PageSize, Query, described
from logoadmin.domain.kernel.records import Kind

Record = TypeVar("Record")
Row = TypeVar("Row")
Listed = TypeVar("Listed", covariant=True)
Answer = TypeVar("Answer")

# Ascending or descending (contract E4).
Order = Literal["asc", "desc"]
# By id, by name or by the last change (contract E5).
SortKey = Literal["name", "changed"]
Sort = Literal["id", SortKey]


def before_all(order: Order) -> int:
    """Return a number that all ids follow in this order."""
    return -1 if order == "asc" else MAX_ID + 1


class ListCommand(Command):
    """A list by id: the whole list, or ``limit`` records after the id ``after`` in its order (contract E2, E4)."""

    limit: PageSize | None = None
    after: Annotated[Id, described("The id after which the page starts, in the requested order.", 57)] | None = None
    order: Annotated[Order, described("Ascending (`asc`) or descending (`desc`) order.", "desc")] = "asc"

    @property
    def begins_after(self) -> int:
        """The id after which the list starts; a number before all ids by default."""
        return before_all(self.order) if self.after is None else self.after


class SearchedCommand(ListCommand):
    """A list of records, which can be searched for a part ``q`` of their names, ignoring case (contract E3).

    It is by id unless ``sort`` asks for another order, in which ``after`` is still the id of the last record seen; that
    record must exist (contract E5). With ``versions``, each record has its version, so that it can be changed
    (contract E6).
    """

    sort: Annotated[
        Sort,
        described(
            "The order: by `id`, by `name` (ignoring case), or by the time of the last change (`changed`).", "name"
        ),
    ] = "id"
    q: Query | None = None
    versions: Annotated[
        Flag, described("Whether to return the `version` and the `changed_at` of each record.", True)
    ] = False

    def filter(self) -> "Filter":
        """Return the filters of the list."""
        wanted = {name: getattr(self, name) for name in Filter.__slots__ if getattr(self, name, None) is not None}
        return Filter(**wanted) if wanted else EVERYTHING

    @property
    def searches(self) -> bool:
        """Whether the filters need more than one index, so that records are compared one by one."""
        given = self.filter().given
        return "q" in given or len(given) > (1 if self.sort == "id" else 0)


def search_form(text: str) -> str:
    """Return a name, or a part of one, as searches and sorted lists compare it: whatever its case and normal form.

    Some characters stand for up to 18 others; no more are kept than three for each, so that a column can hold them.
    """
    return normalize("NFKC", normalize("NFKD", text).casefold())[: 3 * len(text)]


class _Filters:
    __slots__: tuple[str, ...] = ()

    @property
    def given(self) -> dict[str, Any]:
        """The given filters, by name."""
        return {name: value for name in self.__slots__ if (value := getattr(self, name)) is not None}


@dataclass(frozen=True, slots=True)
class Filter(_Filters):
    """The filters of a list of records, None for any value (contract E3); those of artworks come last.

    A part ``q`` of the name or username is compared as :func:`search_form` returns it. ``origin`` is the id that an
    artwork had elsewhere.
    """

    q: str | None = None
    role_id: int | None = None
    user_id: int | None = None
    target: str | None = None
    active: bool | None = None
    author_id: int | None = None
    tag: str | None = None
    origin: str | None = None


EVERYTHING: Final = Filter()


@dataclass(frozen=True, slots=True)
class ChangeFilter(_Filters):
    """The filters of a list of changes, None for any value (contract G3); an id never comes without the kind.

    ``since`` and ``until`` are the earliest and the latest Unix time.
    """

    kind: Kind | None = None
    id: int | None = None
    user_id: int | None = None
    action: str | None = None
    request_id: str | None = None
    since: int | None = None
    until: int | None = None


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


def page_of(rows: Iterable[Row], record: Callable[[Row], Record]) -> tuple[Record, ...]:
    """Return the records of a page of rows."""
    return TruncatedPage(map(record, rows)) if isinstance(rows, TruncatedPage) else tuple(map(record, rows))


def text_length(value: object) -> int:
    """Return the approximate number of characters in a record or a value."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Input):
        return text_length({name: member for name, member in value if member})
    if is_dataclass(value):
        return sum(text_length(getattr(value, each.name)) for each in fields(value))
    if isinstance(value, Mapping):
        return sum(map(text_length, value.values())) + sum(map(text_length, value))
    return sum(map(text_length, value)) if isinstance(value, tuple | list) else _NO_TEXT


@dataclass(frozen=True, slots=True)
class PageSizes:
    """How many records are fetched at a time: few at first, in case their texts are long."""

    first: int
    most: int

    def collect(
        self, fetch: "Fetch[Record]", cursor_of: Callable[[Record], Any], after: Any, size: int
    ) -> tuple[tuple[Record, ...], bool]:
        """Return up to ``size`` records after a cursor, and whether more may follow.

        Long texts may end the list before ``size``.
        """
        found: tuple[Record, ...] = ()
        asked, goes_on, length = min(size, self.first), True, 0
        while goes_on and len(found) < size and length <= _MAX_ANSWER_TEXT:
            page = fetch(after, asked)
            goes_on = _goes_on(page, asked)
            found += page
            if goes_on:
                after, length = cursor_of(page[-1]), length + text_length(page)
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


# Returns up to a number of records that follow a cursor, the place of a record in the list: in lists by id the id, in
# others the record itself.
Fetch = Callable[[Any, int], tuple[Listed, ...]]


# Runs work that reads a list at one moment, in a transaction of its own; it may run again from its start.
SnapshotOf = Callable[[Callable[[Fetch[Listed]], Any]], Any]


@dataclass(slots=True, eq=False, repr=False)
class Listing(Generic[Listed]):
    """A list in some order, fetched page by page while it is read.

    Between two pages it holds neither a connection nor a transaction, so slow readers are in nobody's way. Every record
    that exists from the first page to the last, in the same place of the order, is listed exactly once; one that is
    created, removed or moved meanwhile may be listed or not. :meth:`at_one_moment` reads the list without such records.

    Reading on may raise StorageUnavailable; a list that was read to its end is complete.

    Attributes:
        first: the first page, which follows the cursor ``after``.
        cursor_of: returns the cursor of a record.
        fetch: returns the records that follow a cursor; without it, the first page is all. The last page is shorter
            than was asked for, and not truncated.
        version: the version of the list; the records may be newer (contract F1).
        next_after: the last id, if a ``limit`` was given and more follows; otherwise None (contract E2). Untyped, so
            that it can be the ``after`` of the next command: a string for pictures, otherwise a number.
    """

    first: tuple[Listed, ...]
    cursor_of: Callable[[Listed], Any]
    fetch: Fetch[Listed] | None = None
    page_sizes: PageSizes = RECORD_PAGE_SIZES
    snapshot: SnapshotOf[Listed] | None = field(default=None, kw_only=True)
    after: Any = field(default=-1, kw_only=True)
    version: int = field(default=0, kw_only=True)
    next_after: Any = field(default=None, kw_only=True)

    def __bool__(self) -> bool:
        """Return whether anything is listed."""
        return bool(self.first)

    @property
    def goes_on(self) -> bool:
        """Whether more may follow the first page that belongs to the same response."""
        return self.fetch is not None and _goes_on(self.first, self.page_sizes.first)

    def at_one_moment(self, write: Callable[[Iterator[tuple[Listed, ...]]], Answer]) -> Answer:
        """Return the answer of work on the pages of the list as it is at one moment; it may run again."""
        if self.snapshot is None or not self.goes_on:
            return write(self.pages())
        size = self.page_sizes.first
        answer: Answer = self.snapshot(lambda fetch: write(self._pages(fetch(self.after, size), fetch)))
        return answer

    def pages(self) -> Iterator[tuple[Listed, ...]]:
        """Yield the pages; the first one is already loaded."""
        return self._pages(self.first, self.fetch)

    def _pages(self, page: tuple[Listed, ...], fetch: Fetch[Listed] | None) -> Iterator[tuple[Listed, ...]]:
        asked = self.page_sizes.first
        while fetch is not None and _goes_on(page, asked):
            yield page
            asked = self.page_sizes.following(page)
            page = fetch(self.cursor_of(page[-1]), asked)
        yield page

    def __iter__(self) -> Iterator[Listed]:
        """Yield the records one by one."""
        for page in self.pages():
            yield from page
