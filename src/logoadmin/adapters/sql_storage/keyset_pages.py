"""Pages of lists by ascending or descending id, each found along one index (contract E2 to E4, G3)."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from sqlalchemy import Column, ColumnElement, FromClause, Select, Table, bindparam, select

from logoadmin.adapters.sql_storage.statements import Row
from logoadmin.adapters.sql_storage.transaction import Transaction
from logoadmin.domain.model.lists import Order

_AFTER: Final[Any] = bindparam("after")
_LIMIT: Final[Any] = bindparam("limit")


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
        follows = key > _AFTER if order == "asc" else key < _AFTER
        return query.where(follows, *conditions).order_by(_by(key, order)).limit(_LIMIT)


def _by(key: ColumnElement[int], order: Order) -> ColumnElement[int]:
    return key if order == "asc" else key.desc()
