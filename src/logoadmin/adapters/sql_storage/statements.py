"""Statements, each compiled once for a database."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, repeat
from typing import Any, Final, NamedTuple

from sqlalchemy import ClauseElement, Dialect, Insert, PoolProxiedConnection, Table, bindparam

from logoadmin.adapters.sql_storage.tables import (
    REPLACED_TABLES,
    identities,
    metadata,
    roles,
    secrets,
    service_keys,
    sessions,
    users,
)

KEY: Final[Any] = bindparam("key")
# The keys of a statement for many records.
KEYS: Final = tuple(f"key{number}" for number in range(50))
ANY_KEY: Final[Any] = [bindparam(name) for name in KEYS]
LIMIT: Final[Any] = bindparam("limit")

# The tables that determine what users may do.
_RIGHTS: Final = {users, roles, sessions, service_keys, identities, secrets}
# The size of the cache. There are some three hundred statements, since none depends on values or on their number.
_KNOWN: Final = 1000


def in_portions(names: Sequence[str], values: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """Yield values under the names of a statement's parameters, as many at a time as names exist.

    The last value fills unused names.
    """
    for start in range(0, len(values), len(names)):
        some = values[start : start + len(names)]
        yield dict(zip(names, chain(some, repeat(some[-1])), strict=False))


@lru_cache(_KNOWN)
def insert_into(table: Table) -> Insert:
    """Return the statement that adds rows, which replace others in :data:`REPLACED_TABLES`."""
    return Insert(table).inline()


class CompiledStatement(NamedTuple):
    """The SQL of a statement.

    Attributes:
        sql: the text.
        order: the names of the values in the order of the text, None if the text names them.
        fixed: the constant values.
        names: the words of the text, among them the names of all tables that it reads or changes, and the names of
            those whose rows refer to rows that it changes, or the other way round.
        changes_rights: whether it may change the rights of users.
    """

    sql: str
    order: tuple[str, ...] | None
    fixed: Mapping[str, Any]
    names: frozenset[str]
    changes_rights: bool


class StatementCompiler:
    """Compiles statements for one database, and caches them.

    They run on the driver's cursor, which takes half the time of SQLAlchemy's.

    Attributes:
        compiled: the same as :meth:`compile`, from the cache.
        insert: returns the SQL that adds whole rows to a table.
        page_cursor: see :class:`~logoadmin.adapters.sql_storage.databases.Dialect`.
        refused: what the driver raises if a key refuses a record.
    """

    def __init__(self, dialect: Dialect, page_cursor: Callable[[PoolProxiedConnection], Any]) -> None:
        """Compile for a database, with the parameter style of its driver."""
        self._dialect = dialect
        self.compiled = lru_cache(_KNOWN)(self.compile)
        self.insert = lru_cache(_KNOWN)(self._insert)
        self.page_cursor = page_cursor
        self.refused: type[Exception] = dialect.loaded_dbapi.IntegrityError

    def compile(self, statement: ClauseElement, names: tuple[str, ...]) -> CompiledStatement:
        """Compile a statement with parameters of these names."""
        compiled: Any = statement.compile(dialect=self._dialect, column_keys=list(names))
        order: tuple[str, ...] = tuple(compiled.positiontup or ())
        fixed = {name: value for name, value in compiled.params.items() if name not in names}
        changed, sql = getattr(statement, "table", None), str(compiled)
        if isinstance(statement, Insert) and changed in REPLACED_TABLES:  # by the same name in all databases
            sql = sql.replace("INSERT", "REPLACE", 1)
        return CompiledStatement(
            sql=sql,
            order=None if order == names else order,
            fixed=fixed,
            names=frozenset([*re.findall(r"\w+", sql), *_neighbours(changed)]),
            changes_rights=changed in _RIGHTS,
        )

    def _insert(self, table: Table) -> str:
        return self.compile(insert_into(table), tuple(table.c.keys())).sql


def _neighbours(table: Table | None) -> Iterator[str]:
    """Yield the names of the tables to which rows of a table refer, and of those whose rows refer to it."""
    for other in metadata.tables.values():
        for key in other.foreign_keys:
            if other is table:
                yield key.column.table.name
            elif key.column.table is table:
                yield other.name
