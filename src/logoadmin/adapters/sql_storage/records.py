"""The repository of records, with the statements for the table of each kind."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final, Generic, TypeVar

from sqlalchemy import Column, ColumnElement, Select, bindparam, func, select, update

from logoadmin.adapters.sql_storage.record_tables import LINK_TABLES, TAG_TABLES, authors, column_name, filter_indexes
from logoadmin.adapters.sql_storage.repository import IndexPath, KeysetPages, RecordReader, Repository, SortedPages
from logoadmin.adapters.sql_storage.statements import ANY_KEY, KEY, KEYS, in_portions, insert_into
from logoadmin.adapters.sql_storage.tables import TABLES
from logoadmin.adapters.sql_storage.transaction import Row
from logoadmin.domain.kernel.details import Details
from logoadmin.domain.kernel.errors import DuplicateEntry, DuplicateUpdate
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, AUTHORS, KINDS, ROLES, AnyArtworkKind, AnyKind
from logoadmin.domain.kernel.limits import MAX_COUNTED_ID
from logoadmin.domain.kernel.lists import EVERYTHING, Filter, Order, SortKey, page_of, search_form
from logoadmin.domain.kernel.records import Author, Kind, Role, StoredRecord

Record = TypeVar("Record", bound=StoredRecord)

_VALUE: Final[Any] = bindparam("value")
# The maximum average gap between ids of a page up to which the links from the first to the last are read at once.
_NEAR: Final = 4


def _reader(kind: AnyKind) -> RecordReader[Any]:
    names = (*kind.stored_fields, "version")
    columns = [TABLES[kind.kind].c[name] for name in names]
    # Scope-tokens hold no space, so a scope is stored as one text.
    return RecordReader(kind.record, columns, names, scope=lambda scope: tuple(scope.split()), details=Details.parsed)


_author: Final[RecordReader[Author]] = _reader(AUTHORS)


def _conditions(kind: AnyKind) -> dict[str, ColumnElement[bool]]:
    table, links = TABLES[kind.kind], LINK_TABLES.get(kind.kind)
    conditions: dict[str, ColumnElement[bool]] = {name: table.c[name] == bindparam(name) for name in kind.filters}
    conditions["q"] = func.instr(table.c.name_casefold, bindparam("q")) > 0
    if links is not None:
        conditions["author_id"] = links.c.author_id == bindparam("author_id")
        conditions["tag"] = TAG_TABLES[kind.kind].c.tag == bindparam("tag")
        conditions["origin"] = table.c.origin == bindparam("origin")
    return conditions


def _filtered_elsewhere(kind: AnyKind) -> dict[str, Column[int]]:
    """Return the filters by another table, with its column for the ids of records, which comes last in an index."""
    if kind not in ARTWORK_KINDS:
        return {}
    tables = {"author_id": LINK_TABLES[kind.kind], "tag": TAG_TABLES[kind.kind]}
    return {name: table.c[kind.id_field] for name, table in tables.items()}


def _pages(kind: AnyKind, records: Select[Any]) -> KeysetPages:
    table = TABLES[kind.kind]
    key = table.c[kind.id_field]
    paths = [
        IndexPath(frozenset({name}), column, f"ix_{column.table.name}_{name}_{column.name}")
        for name, column in _filtered_elsewhere(kind).items()
    ]
    paths += [IndexPath(frozenset({"q"}), key, f"ix_{table.name}_name_casefold")]
    indexes = {frozenset(names): f"ix_{table.name}_{'_'.join(names)}" for names in filter_indexes(kind)}
    paths += [IndexPath(names, key, index) for names, index in indexes.items()]
    return KeysetPages(records, key, _conditions(kind), paths)


def _sorted_pages(kind: AnyKind, records: Select[Any]) -> dict[SortKey, SortedPages]:
    table, elsewhere = TABLES[kind.kind], _filtered_elsewhere(kind)
    columns: dict[SortKey, Column[Any]] = {"name": table.c.name_casefold, "changed": table.c.version}
    return {
        sort: SortedPages(records, table.c[kind.id_field], column, _conditions(kind), elsewhere)
        for sort, column in columns.items()
    }


class _Statements:
    """The statements about the records of one kind."""

    def __init__(self, kind: AnyKind) -> None:
        table, self.reader = TABLES[kind.kind], _reader(kind)
        key, columns = table.c[kind.id_field], self.reader.columns
        self.kind, self.table = kind, table
        self.row_of: Callable[[dict[str, Any]], Row] = itemgetter(*table.c.keys())
        self._prepare(select(*columns))
        self.get_many = select(*columns).where(key.in_(ANY_KEY)).order_by(key)
        self.pages = _pages(kind, select(*columns))
        self.sorted_pages = _sorted_pages(kind, select(*columns))
        self.touch = update(table).where(key.in_(ANY_KEY))
        self.taken = {
            field: select(key).where(table.c[column_name(field)] == _VALUE, key != KEY) for field in kind.unique
        }
        if kind.id_field in self.taken:
            self.taken[kind.id_field] = select(key).where(key == _VALUE)

    def _prepare(self, records: Select[Any]) -> None:
        """Prepare to read one record, as ``records`` reads all."""
        self.get = records.where(self.table.c[self.kind.id_field] == KEY)
        unique = {field: self.table.c[column_name(field)] for field in self.kind.unique}
        self.find = {field: records.where(column == _VALUE) for field, column in unique.items()}


@dataclass(slots=True, eq=False)
class SqlRecords(Repository, Generic[Record]):
    """The records of one kind, as :class:`~logoadmin.ports.record_storage.Records` says."""

    _statements: _Statements

    def next_id(self) -> int:
        return self._transaction.counters.next_id(self._statements.kind.id_field)

    def get(self, id_: int, /) -> Record | None:
        if self._transaction.counters.is_above_all(self._statements.kind.id_field, id_):
            return None
        row = self._transaction.row(self._statements.get, {"key": id_})
        return None if row is None else self._statements.reader(row)

    def find(self, field: str, value: Any, /) -> Record | None:
        row = self._transaction.row(self._statements.find[field], {"value": value})
        return None if row is None else self._statements.reader(row)

    def get_many(self, ids: Sequence[int]) -> tuple[Record, ...]:
        return page_of(self._rows_of(ids), self._statements.reader)

    def page(self, after: int, limit: int, where: Filter = EVERYTHING, order: Order = "asc") -> tuple[Record, ...]:
        return page_of(self._rows(after, limit, where, order), self._statements.reader)

    def sorted_page(
        self, sort: SortKey, after: Record | None, limit: int, where: Filter = EVERYTHING, order: Order = "asc"
    ) -> tuple[Record, ...]:
        return page_of(self._sorted_rows(sort, after, limit, where, order), self._statements.reader)

    def add(self, record: Record, /) -> None:
        kind, values = self._statements.kind, self._values(record)
        try:
            self._transaction.change(insert_into(self._statements.table), values)
        except self._transaction.refused:
            duplicate = self._duplicate(values, kind.unique, DuplicateEntry)
            if duplicate is None:
                raise
        else:
            if kind.gives_ids and values[kind.id_field] <= MAX_COUNTED_ID:
                self._transaction.counters.count(values[kind.id_field], kind.id_field)
            return
        # Outside the except block, so that the error does not reference the driver's text with other spellings of the
        # value.
        raise duplicate

    def update(self, record: Record, /) -> None:
        kind, values = self._statements.kind, self._values(record)
        try:
            self._update(self._statements.table, {kind.id_field: values[kind.id_field]}, values)
        except self._transaction.refused:
            others = [field for field in kind.unique if field != kind.id_field]
            duplicate = self._duplicate(values, others, DuplicateUpdate)
            if duplicate is None:
                raise
        else:
            return
        raise duplicate

    def remove(self, id_: int, /) -> bool:
        return self._remove(self._statements.table, **{self._statements.kind.id_field: id_})

    def touch(self, ids: Collection[int], version: int) -> None:
        for some in in_portions(KEYS, list(ids)):
            self._transaction.change(self._statements.touch, {**some, "version": version})

    def _rows_of(self, ids: Sequence[int]) -> Sequence[Row]:
        id_field = self._statements.kind.id_field
        wanted = [id_ for id_ in ids if not self._transaction.counters.is_above_all(id_field, id_)]
        if not wanted:
            return ()
        (some,) = in_portions(KEYS, wanted)
        return self._transaction.page(self._statements.get_many, some)

    def _rows(self, after: int, limit: int, where: Filter, order: Order) -> Sequence[Row]:
        return self._statements.pages.rows(self._transaction, after, limit, _folded(where), order)

    def _sorted_rows(
        self, sort: SortKey, after: Record | None, limit: int, where: Filter, order: Order
    ) -> Sequence[Row]:
        kind, place = self._statements.kind, None
        if after is not None:
            value = search_form(getattr(after, kind.name_field)) if sort == "name" else after.version
            place = (value, kind.id_of(after))
        return self._statements.sorted_pages[sort].rows(self._transaction, place, limit, _folded(where), order)

    def _duplicate(
        self, values: dict[str, Any], fields: Sequence[str], error: type[DuplicateEntry]
    ) -> DuplicateEntry | None:
        """Return the error for values that a key refused, queried only after the refusal."""
        for field in fields:
            value = values[column_name(field)]
            asked = {"value": value, "key": values[self._statements.kind.id_field]}
            if self._transaction.rows(self._statements.taken[field], asked):
                return error(value, field)
        return None

    def _values(self, record: Record) -> dict[str, Any]:
        kind = self._statements.kind
        values = dict(zip(kind.stored_fields, kind.values_of(record), strict=True))
        values["version"] = record.version
        values["name_casefold"] = search_form(values[kind.name_field])
        return values


class SqlRoles(SqlRecords[Role]):
    """The roles."""

    def _values(self, record: Role) -> dict[str, Any]:
        return {**super()._values(record), "scope": " ".join(record.scope)}


class _ArtworkStatements(_Statements):
    """The statements about one kind of artwork, with its authors."""

    def __init__(self, kind: AnyArtworkKind) -> None:
        super().__init__(kind)
        artworks, links = TABLES[kind.kind], LINK_TABLES[kind.kind]
        key, link_key, of = artworks.c[kind.id_field], links.c[kind.link_id_field], links.c[kind.id_field]
        makers, author = authors.c.author_id == links.c.author_id, _author.columns
        # One statement for an artwork and its authors. Python sorts the links: the database would write artwork and CSS
        # into a temporary table for each author. The joins are not nested, since some databases would create a
        # temporary table for that as well.
        joined = artworks.outerjoin(links, of == key).outerjoin(authors, makers)
        self._prepare(select(*self.reader.columns, link_key, *author).select_from(joined))
        # Links first: with few authors, a database might start with them and read all their works. Every link has an
        # author; an outer join is read from the left.
        of_links = select(of, *author).select_from(links.outerjoin(authors, makers)).order_by(link_key)
        self.authors_within = of_links.where(of.between(bindparam("first"), bindparam("last")))
        self.authors_of = of_links.where(of.in_(ANY_KEY))
        self.width = len(self.reader.columns)
        self.tags = TAG_TABLES[kind.kind]


class SqlArtworks(SqlRecords[Any]):
    """The artworks of one kind, with their authors."""

    _statements: _ArtworkStatements

    def get(self, artwork_id: int, /) -> Any:
        if self._transaction.counters.is_above_all(self._statements.kind.id_field, artwork_id):
            return None
        return self._whole(self._transaction.rows(self._statements.get, {"key": artwork_id}))

    def find(self, field: str, value: Any, /) -> Any:
        return self._whole(self._transaction.rows(self._statements.find[field], {"value": value}))

    def _whole(self, rows: Sequence[Row]) -> Any:
        """Return the artwork of these rows, one for each of its authors."""
        if not rows:
            return None
        width = self._statements.width
        links = sorted([row[width:] for row in rows if row[width] is not None], key=itemgetter(0))
        return self._statements.reader(rows[0][:width], authors=tuple([_author(link[1:]) for link in links]))

    def page(self, after: int, limit: int, where: Filter = EVERYTHING, order: Order = "asc") -> tuple[Any, ...]:
        """Return a page, with one query for the artworks and one for all their links."""
        return self._with_authors(self._rows(after, limit, where, order), everything=not where.given)

    def sorted_page(
        self, sort: SortKey, after: Any, limit: int, where: Filter = EVERYTHING, order: Order = "asc"
    ) -> tuple[Any, ...]:
        return self._with_authors(self._sorted_rows(sort, after, limit, where, order), everything=False)

    def get_many(self, ids: Sequence[int]) -> tuple[Any, ...]:
        return self._with_authors(self._rows_of(ids), everything=False)

    def add(self, artwork: Any, /) -> None:
        """Store an artwork, in one statement with others if no key can refuse it."""
        id_ = self._statements.kind.id_of(artwork)
        if artwork.details.origin or not self._transaction.counters.take_unused(self._statements.kind.id_field, id_):
            super().add(artwork)
        else:
            self._transaction.hold_back(self._statements.table, [self._statements.row_of(self._values(artwork))])
        self._tag(artwork)

    def update(self, artwork: Any, /) -> None:
        super().update(artwork)
        kind = self._statements.kind
        self._remove(self._statements.tags, **{kind.id_field: kind.id_of(artwork)})
        self._tag(artwork)

    def _tag(self, artwork: Any) -> None:
        """Add the tags of an artwork that has none in the table of tags."""
        if artwork.details.tags:
            id_ = self._statements.kind.id_of(artwork)
            self._transaction.hold_back(self._statements.tags, [(id_, tag) for tag in artwork.details.tags])

    def _values(self, record: Any) -> dict[str, Any]:
        details = record.details
        return {**super()._values(record), "details": details.canonical(), "origin": details.origin}

    def _with_authors(self, rows: Sequence[Row], *, everything: bool) -> tuple[Any, ...]:
        if not rows:
            return ()
        makers: defaultdict[int, list[Author]] = defaultdict(list)
        known: dict[int, Author] = {}
        for link in self._links_of_page([row[0] for row in rows], everything=everything):
            author = known.get(link[1])
            if author is None:
                author = known[link[1]] = _author(link[1:])
            makers[link[0]].append(author)
        return page_of(rows, lambda row: self._statements.reader(row, authors=tuple(makers.get(row[0], ()))))

    def _links_of_page(self, artwork_ids: Sequence[int], *, everything: bool) -> Sequence[Row]:
        first, last = min(artwork_ids), max(artwork_ids)
        # There may be a million other ids between two artworks that match a filter.
        if everything or last - first < _NEAR * len(artwork_ids):
            return self._transaction.rows_in_time(self._statements.authors_within, {"first": first, "last": last})
        rows: list[Row] = []
        for some in in_portions(KEYS, artwork_ids):
            rows += self._transaction.rows_in_time(self._statements.authors_of, some)
        return rows


def _folded(where: Filter) -> dict[str, Any]:
    """Return the given filters, with the part of a name as it is compared."""
    given = where.given
    return {**given, "q": search_form(given["q"])} if "q" in given else given


RECORDS: Final[Mapping[Kind, tuple[type[SqlRecords[Any]], _Statements]]] = {
    **{kind.kind: (SqlRecords, _Statements(kind)) for kind in KINDS.values()},
    Kind.ROLE: (SqlRoles, _Statements(ROLES)),
    **{kind.kind: (SqlArtworks, _ArtworkStatements(kind)) for kind in ARTWORK_KINDS},
}
