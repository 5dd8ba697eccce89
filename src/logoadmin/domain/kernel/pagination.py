"""Lists of records and of changes, and how their pages are found (contract E1 to E6, F1, G3)."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any, Generic, TypeVar

from logoadmin.domain.identity.events.event_records import Event
from logoadmin.domain.kernel.access import Caller, Rights
from logoadmin.domain.kernel.audited_records import MOST_LOADED
from logoadmin.domain.kernel.audited_unit_of_work import get_existing
from logoadmin.domain.kernel.errors import NotModified
from logoadmin.domain.kernel.kinds import USERS, RecordKind
from logoadmin.domain.kernel.lists import (
    CHANGE_PAGE_SIZES,
    EVERY_CHANGE,
    RECORD_PAGE_SIZES,
    ChangeFilter,
    Fetch,
    ListCommand,
    Listing,
    Order,
    PageSizes,
    SearchedCommand,
    SortKey,
    TruncatedPage,
    page_of,
)
from logoadmin.domain.kernel.records import Change, Kind, StoredRecord, version_of
from logoadmin.domain.kernel.use_cases import Transactions
from logoadmin.domain.kernel.versioned import versioned
from logoadmin.ports.storage import UnitOfWork

Answer = TypeVar("Answer")
Listed = TypeVar("Listed")
Record = TypeVar("Record", bound=StoredRecord)

# The version of a list, the place after which it starts, its first page, and whether more may follow.
_First = tuple[int, Any, tuple[Listed, ...], bool]


def list_records(
    transactions: Transactions,
    command: SearchedCommand,
    caller: Caller,
    kind: RecordKind[Record, Any],
    of: RecordKind[Any, Any] | None = None,
) -> Listing[Record]:
    """Return a list of records (contract E).

    Args:
        transactions: where it is read.
        command: which part of the list.
        caller: who asks.
        kind: the kind of the records.
        of: the kind of the record that they belong to, whose id is in the command.

    Raises:
        NotFound: the record that they belong to does not exist, or that after which a sorted list starts.
        NotModified: the caller has this version of the list.
    """
    pages = _RecordPages if command.sort == "id" else _SortedPages
    return _listing(transactions, command, caller, pages(command, kind, of))


def list_changes(
    transactions: Transactions, command: ListCommand, caller: Caller, where: ChangeFilter
) -> Listing[Change]:
    """Return a list of changes, in the same way."""
    return _listing(transactions, command, caller, _ChangePages(where, command.order))


def list_events(
    transactions: Transactions,
    command: ListCommand,
    caller: Caller,
    visible: Callable[[UnitOfWork, Rights | None], tuple[int | None, int]],
) -> Listing[Event]:
    """Return a list of events; ``visible`` returns the user whose events the caller gets, or None, and since when."""

    def first(uow: UnitOfWork, command: ListCommand, held: Rights | None) -> tuple[_EventPages, _First[Event]]:
        pages = _EventPages(*visible(uow, held), command.order)
        return pages, pages.first(uow, command)

    pages, found = transactions.snapshot_with_rights(command, caller, first)
    return _listed(transactions, command, pages, found)


def changes_between(transactions: Transactions, after: int, last: int) -> Listing[Change]:
    """Return the changes after one id up to another, for the caller who made them."""
    pages = _ChangesUpTo(last)
    first = transactions.storage.read(lambda uow: pages.page(after, pages.sizes.first, uow))
    return _whole(transactions, first, pages, after, last)


def _listing(
    transactions: Transactions, command: ListCommand, caller: Caller, pages: "_ListPages[Listed]"
) -> Listing[Listed]:
    return _listed(transactions, command, pages, transactions.read(command, caller, pages.first))


def _listed(
    transactions: Transactions, command: ListCommand, pages: "_ListPages[Listed]", found: _First[Listed]
) -> Listing[Listed]:
    version, start, first, goes_on = found
    if command.limit is None:
        return _whole(transactions, first, pages, start, version)
    shown = first[: command.limit]
    next_after = pages.id_of(shown[-1]) if goes_on and shown else None
    return Listing(shown, pages.cursor_of, version=version, next_after=next_after)


def _whole(
    transactions: Transactions, first: tuple[Listed, ...], pages: "_ListPages[Listed]", after: Any, version: int
) -> Listing[Listed]:
    """Return the list that begins with a page and goes on to the end of all records."""

    def fetch(after: Any, limit: int) -> tuple[Listed, ...]:
        return transactions.storage.read(lambda uow: pages.page(after, limit, uow))

    def snapshot(work: Callable[[Fetch[Listed]], Answer]) -> Answer:
        return transactions.storage.snapshot(lambda uow: work(partial(pages.page, uow=uow)))

    return Listing(first, pages.cursor_of, fetch, pages.sizes, snapshot=snapshot, after=after, version=version)


class _ListPages(ABC, Generic[Listed]):
    """The pages of one list.

    Attributes:
        sizes: how many are fetched at a time.
        id_of: returns the id of a record or a change.
    """

    sizes: PageSizes
    id_of: Callable[[Listed], int]

    @property
    def cursor_of(self) -> Callable[[Listed], Any]:
        """What returns the place of a record in the list."""
        return self.id_of

    def first(self, uow: UnitOfWork, command: ListCommand) -> _First[Listed]:
        """Return the beginning of the list.

        Raises:
            NotFound: the record that the list belongs to does not exist, or that after which it starts.
            NotModified: the caller has this version of the list.
        """
        # The version first: a list that is newer than its version is fetched again, an older list would not be.
        version = self.version(uow, command)
        if version in command.if_none_match:
            raise NotModified(version)
        start = self.start(uow, command)
        if command.limit is None:
            return version, start, self.page(start, self.sizes.first, uow), True
        fetch, size = partial(self.page, uow=uow), command.limit + 1  # one more, to find out whether more follow
        return version, start, *self.sizes.collect(fetch, self.cursor_of, start, size)

    def start(self, uow: UnitOfWork, command: ListCommand) -> Any:  # noqa: ARG002 (other lists need it)
        """Return the place after which the list starts.

        Raises:
            NotFound: no record has this place.
        """
        return command.begins_after

    @abstractmethod
    def version(self, uow: UnitOfWork, command: ListCommand) -> int:
        """Return the version of the list.

        Raises:
            NotFound: the record that the list belongs to does not exist.
        """

    @abstractmethod
    def page(self, after: Any, limit: int, uow: UnitOfWork) -> tuple[Listed, ...]:
        """Return up to ``limit`` of them after a place, in the order of the list."""


class _RecordPages(_ListPages[Record]):
    """A list of the records of one kind, all or those of one author or artwork."""

    def __init__(
        self, command: SearchedCommand, kind: RecordKind[Record, Any], of: RecordKind[Any, Any] | None
    ) -> None:
        """List records of a kind for a command; ``of`` is the kind of the record that they belong to, if any."""
        self._where, self._order, self._kind, self._of = command.filter(), command.order, kind, of
        self._sort, self._versions = command.sort, command.versions
        self.sizes, self.id_of = kind.page_sizes, kind.id_of

    def version(self, uow: UnitOfWork, command: ListCommand) -> int:
        """Return the last change of the kinds that lists of this kind show."""
        if self._of is not None:
            get_existing(uow, self._of, self._of.id_of(command))
        return self._kind.version_of_list(uow.changes.last_of_kinds())

    def page(self, after: Any, limit: int, uow: UnitOfWork) -> tuple[Record, ...]:
        """Return records that match the filter, by id."""
        return self._shown(uow.records(self._kind).page(after, limit, self._where, self._order), uow)

    def _shown(self, records: tuple[Record, ...], uow: UnitOfWork) -> tuple[Record, ...]:
        """Return the records of a page, with their versions if the command asks for them (contract E6)."""
        if not self._versions:
            return records
        times = uow.changes.times([version_of(record) for record in records])
        return page_of(records, lambda record: versioned(record, times[version_of(record)]))


class _SortedPages(_RecordPages[Record]):
    """The same by name or by last change; the place of a record is the record itself (contract E5)."""

    @property
    def cursor_of(self) -> Callable[[Record], Any]:
        """What returns a record as its own place, from which a list goes on even if the record was removed since."""
        return _stored

    def start(self, uow: UnitOfWork, command: ListCommand) -> Record | None:
        """Return the record after which the list starts, None for its beginning."""
        return None if command.after is None else get_existing(uow, self._kind, command.after)

    def page(self, after: Record | None, limit: int, uow: UnitOfWork) -> tuple[Record, ...]:
        """Return records that match the filter, in the order of the list."""
        by: SortKey = "name" if self._sort == "name" else "changed"
        return self._shown(uow.records(self._kind).sorted_page(by, after, limit, self._where, self._order), uow)


def _stored(record: Any) -> Any:
    return getattr(record, "stored", record)


class _ChangePages(_ListPages[Change]):
    """A list of the history, the oldest change first unless asked otherwise."""

    sizes = CHANGE_PAGE_SIZES
    id_of = attrgetter("change_id")

    def __init__(self, where: ChangeFilter = EVERY_CHANGE, order: Order = "asc") -> None:
        """List the changes that match a filter."""
        self._where, self._order = where, order

    def version(self, uow: UnitOfWork, command: ListCommand) -> int:  # noqa: ARG002 (other lists need it)
        """Return the last change of the record or the kind in the filter, and of any user, whose name they show."""
        if self._where.kind is None:
            return uow.changes.last_id()
        last_of_kinds = uow.changes.last_of_kinds()
        if self._where.id is None:
            last = last_of_kinds.get(self._where.kind, 0)
        else:
            last = uow.changes.last_of(self._where.kind, self._where.id)
        return max(last, last_of_kinds.get(Kind.USER, 0))

    def page(self, after: Any, limit: int, uow: UnitOfWork) -> tuple[Change, ...]:
        """Return changes that match the filter, by id, with the names of their users."""
        changes = uow.changes.page(after, limit, self._where, self._order)
        names = _names_of({change.user_id for change in changes if change.user_id is not None}, uow)
        return page_of(changes, lambda change: replace(change, user_name=names.get(change.user_id)))


class _ChangesUpTo(_ChangePages):
    """The list of changes, up to one."""

    def __init__(self, last: int) -> None:
        super().__init__()
        self._last = last

    def page(self, after: Any, limit: int, uow: UnitOfWork) -> tuple[Change, ...]:
        """Return changes by id, up to the last one."""
        limit = min(limit, self._last - after)
        return super().page(after, limit, uow) if limit > 0 else ()


class _EventPages(_ListPages[Event]):
    """A list of events, of all users or of one."""

    sizes = RECORD_PAGE_SIZES
    id_of = attrgetter("event_id")

    def __init__(self, user_id: int | None, since: int, order: Order) -> None:
        self._user_id, self._since, self._order = user_id, since, order

    def version(self, uow: UnitOfWork, command: ListCommand) -> int:  # noqa: ARG002 (other lists need them)
        """Return no version: events are no changes."""
        return 0

    def page(self, after: Any, limit: int, uow: UnitOfWork) -> tuple[Event, ...]:
        """Return events by id, in the order of the list."""
        return uow.events.page(after, limit, self._user_id, self._order, self._since)


def _names_of(user_ids: Iterable[int], uow: UnitOfWork) -> dict[int | None, str]:
    """Return the names of those users that exist, with one query for up to :data:`MOST_LOADED` of them."""
    names: dict[int | None, str] = {}
    left = sorted(user_ids)
    while left:
        found = uow.records(USERS).get_many(left[:MOST_LOADED])
        names.update({user.user_id: user.username for user in found})
        # A page that is too long ends early; the users after its last one are still to be read.
        read = left[:MOST_LOADED] if not isinstance(found, TruncatedPage) else [found[-1].user_id]
        left = [user_id for user_id in left if user_id > read[-1]]
    return names
