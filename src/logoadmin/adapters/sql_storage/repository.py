"""The base class of repositories, with the statements that find rows by the values of columns."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import (
    Column,
    ColumnElement,
    Delete,
    Select,
    Table,
    Update,
    bindparam,
    delete,
    select,
)
from sqlalchemy import (
    update as update_rows,
)

from logoadmin.adapters.sql_storage.statements import Row, insert_into
from logoadmin.adapters.sql_storage.transaction import Transaction

# More than there are statements.
_KNOWN: Final = 100
# The prefix of the parameters that find rows; an update has others for the new values of the same columns.
_BY: Final = "by_"


@dataclass(slots=True, eq=False)
class Repository:
    """Rows of one or several tables, in one transaction."""

    _transaction: Transaction

    def _find(self, *columns: Column[Any], **by: Any) -> Row | None:
        """Return the values of columns in the first row with these values, or None."""
        return self._transaction.row(_select(columns, tuple(by)), _found(by))

    def _add(self, table: Table, values: Mapping[str, Any]) -> None:
        """Add a row."""
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
