"""Lists, and how their pages are found (contract E1 to E6, F1)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, make_dataclass, replace
from typing import Annotated, Any, Final, Generic, TypeVar

from pydantic import Field

from logoadmin.domain.kernel.errors import NotModified
from logoadmin.domain.kernel.kinds import RecordKind
from logoadmin.domain.kernel.limits import ChangeId, UnixTime, described
from logoadmin.domain.kernel.lists import Fetch, ListCommand, Listing, PageSizes, SearchedCommand, page_of
from logoadmin.domain.kernel.records import Author, Logo, Role, StoredRecord, Theme, User, version_of
from logoadmin.domain.kernel.unit_of_work import Reading, get_existing, history_in
from logoadmin.domain.kernel.use_cases import Service, storage_of

Answer = TypeVar("Answer")
Listed = TypeVar("Listed")
Record = TypeVar("Record", bound=StoredRecord)


@dataclass(frozen=True, slots=True)
class Pages(Generic[Listed]):
    """The pages of one list.

    Attributes:
        page: returns up to this many of the list after a place, in its order.
        sizes: how many are fetched at a time.
        id_of: returns the id of a record or a change.
        place_of: returns the place of a record in the list; the id by default.
        start: returns the place after which the list starts; raises NotFound if no record has this place.
    """

    page: Callable[[Any, int, Reading], tuple[Listed, ...]]
    sizes: PageSizes
    id_of: Callable[[Listed], int | str]
    place_of: Callable[[Listed], Any] | None = None
    start: Callable[[Reading, ListCommand], Any] = lambda _uow, command: command.begins_after

    def listing(self, service: Service, uow: Reading, command: ListCommand, version: int) -> Listing[Listed]:
        """Return the list up to the limit of a command, or whole; ``version`` is that of the list, read before it.

        Raises:
            NotFound: the record after which the list starts does not exist.
            NotModified: the caller has this version of the list.
        """
        if version in command.if_none_match:
            raise NotModified(version)
        start, place_of = self.start(uow, command), self.place_of or self.id_of
        if command.limit is None:
            return self.whole(service, uow, start, version)
        size = command.limit + 1  # one more, to find out whether more follow
        found, goes_on = self.sizes.collect(self._fetch(uow), place_of, start, size)
        shown = found[: command.limit]
        next_after = self.id_of(shown[-1]) if goes_on and shown else None
        return Listing(shown, place_of, version=version, next_after=next_after)

    def whole(self, service: Service, uow: Reading, after: Any, version: int) -> Listing[Listed]:
        """Return the list from a place to the end of all records."""

        def fetch(after: Any, limit: int) -> tuple[Listed, ...]:
            return storage_of(service).read(lambda uow: self.page(after, limit, uow))

        def snapshot(work: Callable[[Fetch[Listed]], Answer]) -> Answer:
            return storage_of(service).snapshot(lambda uow: work(self._fetch(uow)))

        first, place_of = self.page(after, self.sizes.first, uow), self.place_of or self.id_of
        return Listing(first, place_of, fetch, self.sizes, snapshot=snapshot, after=after, version=version)

    def _fetch(self, uow: Reading) -> Fetch[Listed]:
        return lambda after, limit: self.page(after, limit, uow)


def list_records(
    service: Service,
    uow: Reading,
    command: SearchedCommand,
    kind: RecordKind[Record],
    of: RecordKind[Any] | None = None,
) -> Listing[Record]:
    """Return a list of records (contract E), or of those of the record of the kind ``of`` whose id is in the command.

    Raises:
        NotFound: the record that they belong to does not exist, or that after which a sorted list starts.
        NotModified: the caller has this version of the list.
    """
    if of is not None:
        get_existing(uow, of, of.id_of(command))
    where, order, sort = command.filter(), command.order, command.sort

    def page(after: Any, limit: int, uow: Reading) -> tuple[Record, ...]:
        records = uow.records(kind)
        if sort == "id":
            return _shown(command, records.page(after, limit, where, order), uow)
        return _shown(command, records.sorted_page(sort, after, limit, where, order), uow)

    def start(uow: Reading, command: ListCommand) -> Record | None:
        return None if command.after is None else get_existing(uow, kind, command.after)

    pages = Pages(page, kind.page_sizes, kind.id_of)
    if sort != "id":  # the place of a record is the record itself, from which a list goes on even if it is removed
        pages = replace(pages, place_of=lambda record: getattr(record, "stored", record), start=start)
    return pages.listing(service, uow, command, kind.version_of_list(history_in(uow).last_of_kinds()))


def _shown(command: SearchedCommand, records: tuple[Record, ...], uow: Reading) -> tuple[Record, ...]:
    """Return the records of a page, with their versions if the command asks for them (contract E6)."""
    if not command.versions:
        return records
    times = history_in(uow).times([version_of(record) for record in records])
    return page_of(records, lambda record: versioned(record, times[version_of(record)]))


_CHANGED_AT: Final = described("When it last changed, as Unix time in seconds.", 1_800_000_000)


def _with_version(record: type[StoredRecord], doc: str) -> Any:
    """Return the type of records with their versions, which also have the record as it is stored."""
    added: list[tuple[str, Any, Any]] = [
        ("version", Annotated[ChangeId, described("The version of the record.", 57)], field(kw_only=True)),
        ("changed_at", Annotated[UnixTime, _CHANGED_AT], field(kw_only=True)),
        ("stored", Annotated[record, Field(exclude=True)], field(kw_only=True, repr=False)),
    ]
    named = {"__doc__": doc, "__module__": __name__}
    return make_dataclass(
        f"Versioned{record.__name__}", added, bases=(record,), namespace=named, frozen=True, slots=True
    )


VERSIONED: Final[Mapping[type[StoredRecord], Any]] = {
    User: _with_version(User, "A user with their version."),
    Role: _with_version(Role, "A role with its version."),
    Author: _with_version(Author, "An author with their version."),
    Theme: _with_version(Theme, "A theme with its version."),
    Logo: _with_version(Logo, "A logo with its version."),
}


def versioned(record: StoredRecord, changed_at: int) -> Any:
    """Return a record with its version and the time of its last change."""
    values = {each.name: getattr(record, each.name) for each in fields(record)} | {"version": version_of(record)}
    return VERSIONED[type(record)](**values, changed_at=changed_at, stored=record)
