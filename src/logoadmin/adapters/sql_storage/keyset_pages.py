"""Pages of lists, each found along one index (contract E2 to E5, G3)."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from sqlalchemy import Column, ColumnElement, FromClause, Select, Table, bindparam, select, union_all

from logoadmin.adapters.sql_storage.statements import Row
from logoadmin.adapters.sql_storage.transaction import Transaction
from logoadmin.domain.kernel.lists import Order

_AFTER: Final[Any] = bindparam("after")
_LIMIT: Final[Any] = bindparam("limit")
# The name or the version of the record after which a sorted page starts.
_PLACE: Final[Any] = bindparam("place")


class IndexPath(NamedTuple):
    """An index with the ids of records that match some filters, in order.

    Attributes:
        filters: the names of these filters.
        key: the column with the ids, in the table of the index.
        index_name: the name of the index.
    """

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
        """Describe a list.

        Args:
            records: all records, in any order.
            key: their id.
            conditions: the condition of each filter, with its value as a parameter of the same name.
            paths: the indexes, the first one that covers no more than the given filters is used.
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
        return query.where(_follows(key, _AFTER, order), *conditions).order_by(_by(key, order)).limit(_LIMIT)


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
        """Describe a list.

        Args:
            records: all records, in any order.
            key: their id.
            by: the column of the order, which has an index.
            conditions: the condition of each filter, with its value as a parameter of the same name.
            elsewhere: of filters on another table, its column with the ids of the records.
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
            found = select(both.c.id, both.c.place).order_by(*in_order).limit(_LIMIT).subquery()
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
        return ids.where(*conditions).order_by(_by(self._by, order), _by(self._key, order)).limit(_LIMIT)


def _follows(column: ColumnElement[Any], place: ColumnElement[Any], order: Order) -> ColumnElement[bool]:
    return column > place if order == "asc" else column < place


def _by(key: ColumnElement[Any], order: Order) -> ColumnElement[Any]:
    return key if order == "asc" else key.desc()
