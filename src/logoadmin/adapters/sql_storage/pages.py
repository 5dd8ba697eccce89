"""Parts of lists, in ascending id, with the filters that are asked for (contract E2, E3)."""

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from sqlalchemy import BindParameter, ColumnElement, Select, Table, bindparam, func, literal_column, select

from logoadmin.adapters.sql_storage.statements import Row
from logoadmin.adapters.sql_storage.transaction import Transaction
from logoadmin.domain.limits import MAX_ID
from logoadmin.domain.lists import Filter, folded

_AFTER: Final[Any] = bindparam("after")
_LIMIT: Final[Any] = bindparam("limit")
_SKIPPED: Final[Any] = bindparam("skipped")
_ONE: Final[Any] = literal_column("1")
# More than there can be. A limit, however high, keeps a planner from looking into a subquery and thinking better of it.
_ALL: Final[Any] = literal_column(str(MAX_ID + 1))
# No text of the same length follows one that is filled up with it, whether code points are compared or their UTF-8.
_HIGHEST: Final = "\U0010ffff"

# Up to so many names of a prefix are put in the order of their ids in the time of a few pages.
FEW: Final = 10_000
# Of more, so many records for each of the page are looked at first: with luck, enough of them have the prefix.
NEAR: Final = 20
# Up to so many names are worth a look at their records where there are other filters, which may have better indexes.
MANY: Final = 100_000


class Page:
    """The queries for a page of one table, one for each set of filters."""

    def __init__(
        self, records: Select[Any], table: Table, equal: tuple[str, ...], *, of: ColumnElement[bool] | None = None
    ) -> None:
        """Select pages of records.

        Args:
            records: all of them, in any order.
            table: whose id they are in the order of.
            equal: the columns that a filter of the same name asks for the value of.
            of: what is asked for whenever ``author_id`` is.
        """
        (key,) = table.primary_key
        self._key, self._table, self._equal, self._of = key, table, equal, of
        self._records = records
        self._folded: Any = table.c.folded
        begin = select(key).where(self._folded.between(bindparam("prefix"), bindparam("last")))
        self._begin = begin.limit(_ALL).subquery().c[key.name]
        self._another_begins = begin.limit(_ONE).offset(_SKIPPED)
        self._another_id = select(key).where(key > _AFTER).order_by(key).limit(_ONE).offset(_SKIPPED)
        self._by_id = cache(self._query_by_id)
        self._by_name = cache(self._query_by_name)

    def rows(self, transaction: Transaction, after: int, limit: int, where: Filter) -> Sequence[Row]:
        """Return the rows of up to ``limit`` records with an id above ``after``."""
        wanted = where.given
        for name in ("q", "prefix"):
            if name in wanted:
                wanted[name] = folded(wanted[name])
        values = {**wanted, "after": after, "limit": limit}
        if where.prefix is None:
            return transaction.rows(self._by_id(tuple(wanted)), values)
        return self._rows_of_prefix(transaction, tuple(wanted), values)

    def _rows_of_prefix(
        self, transaction: Transaction, wanted: tuple[str, ...], values: dict[str, Any]
    ) -> Sequence[Row]:
        """Return the rows in the cheapest way; all of them lead to the same."""
        others = tuple(name for name in wanted if name != "prefix")
        values["last"] = values["prefix"].ljust(self._folded.type.length, _HIGHEST)

        def are_more_than(number: int) -> bool:
            return transaction.row(self._another_begins, {**values, "skipped": number}) is not None

        if are_more_than(FEW):
            until = transaction.row(self._another_id, {**values, "skipped": NEAR * values["limit"]})
            near = transaction.rows(self._by_id((*wanted, "until")), {**values, "until": until[0] if until else MAX_ID})
            if until is None or len(near) == values["limit"]:
                return near
            if others and are_more_than(MANY):
                return transaction.rows(self._by_id(wanted), values)
        return transaction.rows(self._by_name(others), values)

    def _query_by_id(self, wanted: tuple[str, ...]) -> Select[Any]:
        conditions = map(self._condition, wanted)
        return self._records.where(self._key > _AFTER, *conditions).order_by(self._key).limit(_LIMIT)

    def _query_by_name(self, others: tuple[str, ...]) -> Select[Any]:
        ids = select(self._begin).where(self._begin > _AFTER)
        if others:
            ids = self._joined(ids, self._begin).where(*map(self._condition, others))
        # The ids by themselves: no more is to be carried about than the records of the page.
        key = ids.order_by(self._begin).limit(_LIMIT).subquery().c[self._key.name]
        return self._joined(self._records, key).order_by(key)

    def _joined(self, query: Select[Any], key: Any) -> Select[Any]:
        # Or else MySQL may walk through the table and look for each id among those that were found.
        in_this_order = query.prefix_with("STRAIGHT_JOIN", dialect="mysql")
        return in_this_order.select_from(key.table.join(self._table, key == self._key))

    def _condition(self, name: str) -> ColumnElement[bool]:
        value: BindParameter[Any] = bindparam(name)
        if name == "q":
            return func.instr(self._folded, value) > 0
        if name == "prefix":
            # Not a range: no planner is to take the index for it.
            return func.instr(self._folded, value) == 1
        if name == "until":
            return self._key <= value
        if name in self._equal:
            return self._table.c[name] == value
        if name == "author_id" and self._of is not None:
            return self._of
        raise LookupError(f"{self._table.name} cannot be filtered by {name}")
