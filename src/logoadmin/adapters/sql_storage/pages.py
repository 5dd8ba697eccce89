"""Parts of lists, in ascending id, with the filters that are asked for (contract E2, E3)."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import BindParameter, ColumnElement, Select, Table, bindparam, func

from logoadmin.adapters.sql_storage.transaction import Row, Transaction
from logoadmin.domain.lists import Filter, folded

_AFTER: Final[Any] = bindparam("after")
_LIMIT: Final[Any] = bindparam("limit")


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
        self._known: dict[tuple[str, ...], Select[Any]] = {}

    def rows(self, transaction: Transaction, after: int, limit: int, where: Filter) -> Sequence[Row]:
        """Return the rows of up to ``limit`` records with an id above ``after``."""
        wanted = where.given
        if "q" in wanted:
            wanted["q"] = folded(wanted["q"])
        return transaction.rows(self._query(tuple(wanted)), {**wanted, "after": after, "limit": limit})

    def _query(self, wanted: tuple[str, ...]) -> Select[Any]:
        query = self._known.get(wanted)
        if query is None:
            query = self._records.where(self._key > _AFTER).order_by(self._key).limit(_LIMIT)
            for name in wanted:
                query = query.where(self._condition(name))
            self._known[wanted] = query
        return query

    def _condition(self, name: str) -> ColumnElement[bool]:
        value: BindParameter[Any] = bindparam(name)
        if name == "q":
            return func.instr(self._table.c.folded, value) > 0
        if name in self._equal:
            return self._table.c[name] == value
        if name == "author_id" and self._of is not None:
            return self._of
        raise LookupError(f"{self._table.name} cannot be filtered by {name}")
