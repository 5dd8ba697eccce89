"""The base class of repositories, and pages of lists, each found along one index (contract E2 to E5, G3)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Generic, NamedTuple, TypeVar

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    Delete,
    FromClause,
    Select,
    Table,
    Update,
    bindparam,
    delete,
    select,
    union_all,
)
from sqlalchemy import update as update_rows

from logoadmin.adapters.sql_storage.statements import LIMIT, insert_into
from logoadmin.adapters.sql_storage.transaction import Row, Transaction
from logoadmin.domain.kernel.lists import Order

Stored = TypeVar("Stored")

# More than there are statements.
_KNOWN: Final = 100
# The prefix of the parameters that find rows; an update has others for the new values of the same columns.
_BY: Final = "by_"


class RecordReader(Generic[Stored]):
    """Makes records from rows; the columns are the fields of the record, in order, or the fields in ``names``."""

    def __init__(
        self,
        record: Callable[..., Stored],
        columns: Iterable[Column[Any]],
        names: Sequence[str] = (),
        **conversions: Callable[[Any], object],
    ) -> None:
        """Convert the values of some columns; booleans are stored as numbers."""
        self.columns = tuple(columns)
        self._record, self._names = record, names
        named = [(at, conversions.get(column.name)) for at, column in enumerate(self.columns)]
        self._conversions = [
            (at, convert or bool) for at, convert in named if convert or isinstance(self.columns[at].type, Boolean)
        ]

    def __call__(self, row: Row, **others: Any) -> Stored:
        values = list(row)
        for at, convert in self._conversions:
            values[at] = convert(values[at])
        if not self._names:
            return self._record(*values)
        return self._record(**dict(zip(self._names, values, strict=True)), **others)


def optional(convert: Callable[[Any], object]) -> Callable[[Any], object]:
    """Return a conversion that leaves None as it is."""
    return lambda value: None if value is None else convert(value)


@dataclass(slots=True, eq=False)
class Repository:
    """Rows of one or several tables, in one transaction."""

    _transaction: Transaction

    def _get(self, reader: RecordReader[Stored], **by: Any) -> Stored | None:
        """Return the first record with these values in its row, or None."""
        row = self._find(*reader.columns, **by)
        return None if row is None else reader(row)

    def _all(self, reader: RecordReader[Stored], query: Select[Any], values: Mapping[str, Any]) -> tuple[Stored, ...]:
        """Return the records that a query for their columns finds."""
        return tuple(map(reader, self._transaction.rows(query, values)))

    def _number(self, query: Select[Any], **values: Any) -> int:
        """Return the number that a query finds, 0 for none."""
        ((number,),) = self._transaction.rows(query, values)
        return int(number or 0)

    def _find(self, *columns: Column[Any], **by: Any) -> Row | None:
        """Return the values of columns in the first row with these values, or None."""
        return self._transaction.row(_select(columns, tuple(by)), _found(by))

    def _add(self, table: Table, values: Mapping[str, Any]) -> None:
        self._transaction.change(insert_into(table), values)

    def _update(self, table: Table, by: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
        """Change the rows with the values ``by``, and return whether any exist."""
        return self._transaction.change(_update(table, tuple(by)), {**_found(by), **values}) > 0

    def _put(self, table: Table, by: Mapping[str, Any], values: Mapping[str, Any]) -> None:
        """Change the row with the values ``by``, or add it."""
        if not self._update(table, by, values):
            self._add(table, {**by, **values})

    def _remove(self, table: Table, **by: Any) -> bool:
        """Remove the rows with these values; return whether any existed."""
        return self._transaction.change(_delete(table, tuple(by)), _found(by)) > 0

    def _remove_ended(self, ends_at: Column[int], now: int, most: int) -> int:
        """Remove up to ``most`` rows that ended at ``now`` or earlier; return how many."""
        ended = self._transaction.rows(_ended(ends_at), {"now": now, "most": most})
        for (key,) in ended:
            self._remove(ends_at.table, **{_key(ends_at).name: key})
        return len(ended)

    def _end_by(self, ends_at: Column[int], latest: int, most: int) -> int:
        """Let up to ``most`` rows that end after ``latest`` end then; return how many."""
        late = self._transaction.rows(_late(ends_at), {"latest": latest, "most": most})
        for (key,) in late:
            self._update(ends_at.table, {_key(ends_at).name: key}, {ends_at.name: latest})
        return len(late)


@lru_cache(_KNOWN)
def _select(columns: tuple[Column[Any], ...], by: tuple[str, ...]) -> Select[Any]:
    return select(*columns).where(*_equal(columns[0].table, by))


@lru_cache(_KNOWN)
def _update(table: Table, by: tuple[str, ...]) -> Update:
    return update_rows(table).where(*_equal(table, by))


@lru_cache(_KNOWN)
def _delete(table: Table, by: tuple[str, ...]) -> Delete:
    return delete(table).where(*_equal(table, by))


@lru_cache(_KNOWN)
def _ended(ends_at: Column[int]) -> Select[Any]:
    return select(_key(ends_at)).where(ends_at <= bindparam("now")).limit(bindparam("most"))


@lru_cache(_KNOWN)
def _late(ends_at: Column[int]) -> Select[Any]:
    return select(_key(ends_at)).where(ends_at > bindparam("latest")).limit(bindparam("most"))


def _equal(table: Any, names: Iterable[str]) -> list[ColumnElement[bool]]:
    return [table.c[name] == bindparam(_BY + name) for name in names]


def _found(by: Mapping[str, Any]) -> dict[str, Any]:
    return {_BY + name: value for name, value in by.items()}


def _key(column: Column[Any]) -> Column[Any]:
    (key,) = column.table.primary_key
    return key


_AFTER: Final[Any] = bindparam("after")
# The name or the version of the record after which a sorted page starts.
_PLACE: Final[Any] = bindparam("place")


class IndexPath(NamedTuple):
    """An index with the ids of records that match some filters, in order; ``key`` is the column with the ids."""

    filters: frozenset[str]
    key: Column[int]
    index_name: str


class KeysetPages:
    """The queries for the pages of one list, one for each set of filters and each order."""

    def __init__(
        self,
        records: Select[Any],
        key: Column[int],
        conditions: Mapping[str, ColumnElement[bool]],
        paths: Sequence[IndexPath],
    ) -> None:
        """Describe a list of records, which have an id as their key.

        The condition of each filter has its value as a parameter of the same name. The first of the indexes that covers
        no more than the given filters is used.
        """
        self._records, self._key, self._conditions, self._paths = records, key, conditions, paths
        self._query = lru_cache(128)(self._make_query)

    def rows(
        self, transaction: Transaction, after: int, limit: int, given: Mapping[str, Any], order: Order = "asc"
    ) -> Sequence[Row]:
        """Return the rows of up to ``limit`` records after an id, bounded by the size of a page."""
        return transaction.page(self._query(tuple(given), order), {"after": after, "limit": limit, **given})

    def _make_query(self, given: tuple[str, ...], order: Order) -> Select[Any]:
        path = next((path for path in self._paths if path.filters <= set(given)), None)
        if path is None:
            return self._in_order(self._records, self._key, given, order)
        table: Table = path.key.table
        tables: FromClause = table
        if table is not self._key.table and set(given) - path.filters:
            # No index has the sum, so that no database begins with the other table.
            tables = table.join(self._key.table, self._key == path.key + 0)
        for other in self._paths:
            if other.filters <= set(given) - path.filters and other.key.table not in {table, self._key.table}:
                tables = tables.join(other.key.table, other.key == path.key + 0)
        ids = self._in_order(select(path.key.label("id")).select_from(tables), path.key, given, order)
        # Only the ids, since a sort would otherwise copy the texts of records. By the hinted index: the statistics of
        # databases do not show where matching ids lie.
        found = ids.with_hint(table, path.index_name).subquery()
        # Every id has a record; an outer join is read from the left.
        page = self._records.select_from(found.outerjoin(self._key.table, self._key == found.c.id))
        return page.order_by(_by(found.c.id, order))

    def _in_order(
        self, query: Select[Any], key: ColumnElement[int], given: tuple[str, ...], order: Order
    ) -> Select[Any]:
        conditions = [self._conditions[name] for name in given]
        return query.where(_follows(key, _AFTER, order), *conditions).order_by(_by(key, order)).limit(LIMIT)


class SortedPages:
    """The queries for the pages of one list in the order of a column, then of the ids."""

    def __init__(
        self,
        records: Select[Any],
        key: Column[int],
        by: Column[Any],
        conditions: Mapping[str, ColumnElement[bool]],
        elsewhere: Mapping[str, Column[int]],
    ) -> None:
        """Describe a list of records, in the order of the column ``by``, which has an index.

        The condition of each filter has its value as a parameter of the same name; ``elsewhere`` has, for filters on
        another table, its column with the ids of the records.
        """
        self._records, self._key, self._by = records, key, by
        self._conditions, self._elsewhere = conditions, elsewhere
        self._query = lru_cache(128)(self._make_query)

    def rows(
        self,
        transaction: Transaction,
        after: tuple[Any, int] | None,
        limit: int,
        given: Mapping[str, Any],
        order: Order = "asc",
    ) -> Sequence[Row]:
        """Return the rows of up to ``limit`` records after a place in the order, bounded by the size of a page."""
        places = {} if after is None else {"place": after[0], "after": after[1]}
        query = self._query(tuple(given), order, after is None)
        return transaction.page(query, {"limit": limit, **places, **given})

    def _make_query(self, given: tuple[str, ...], order: Order, is_first: bool) -> Select[Any]:
        table: Table = self._key.table
        if is_first:
            found = self._ids(given, order).subquery()
        else:
            # Two ranges of the index, each in order: SQLite would sort a condition of both, or read all equal records.
            equal = self._ids(given, order).where(self._by == _PLACE, _follows(self._key, _AFTER, order))
            later = self._ids(given, order).where(_follows(self._by, _PLACE, order))
            both = union_all(select(equal.subquery()), select(later.subquery())).subquery()
            in_order = (_by(both.c.place, order), _by(both.c.id, order))
            found = select(both.c.id, both.c.place).order_by(*in_order).limit(LIMIT).subquery()
        page = self._records.select_from(found.outerjoin(table, self._key == found.c.id))
        return page.order_by(_by(found.c.place, order), _by(found.c.id, order))

    def _ids(self, given: tuple[str, ...], order: Order) -> Select[Any]:
        """Return the query for the ids and places of the first records that match the filters."""
        table: Table = self._key.table
        ids = select(self._key.label("id"), self._by.label("place"))
        if linked := [column for name, column in self._elsewhere.items() if name in given]:
            tables: FromClause = linked[0].table.join(table, self._key == linked[0] + 0)
            for column in linked[1:]:
                tables = tables.join(column.table, column == self._key + 0)
            ids = ids.select_from(tables)
        if not set(given) - {"q"}:
            # The index of the order; otherwise the database finds those that match the filters and sorts their ids.
            ids = ids.with_hint(table, f"ix_{table.name}_{self._by.name}")
        conditions = [self._conditions[name] for name in given]
        return ids.where(*conditions).order_by(_by(self._by, order), _by(self._key, order)).limit(LIMIT)


def _follows(column: ColumnElement[Any], place: ColumnElement[Any], order: Order) -> ColumnElement[bool]:
    return column > place if order == "asc" else column < place


def _by(key: ColumnElement[Any], order: Order) -> ColumnElement[Any]:
    return key if order == "asc" else key.desc()
