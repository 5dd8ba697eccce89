"""Statements in the SQL of one database, each compiled once."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, repeat
from typing import Any, Final, NamedTuple

from sqlalchemy import ClauseElement, Dialect, Insert, PoolProxiedConnection, Table, bindparam
from sqlalchemy.ext.compiler import compiles

from logoadmin.adapters.sql_storage.tables.all_tables import REPLACED_TABLES, metadata
from logoadmin.adapters.sql_storage.tables.identity_tables import roles, service_keys, sessions, users
from logoadmin.adapters.sql_storage.tables.sign_in_tables import identities

Row = Sequence[Any]

KEY: Final[Any] = bindparam("key")
# The keys of a statement for many records.
KEYS: Final = tuple(f"key{number}" for number in range(50))

# The tables that determine the rights of users.
_RIGHTS: Final = {users, roles, sessions, service_keys, identities}
# The size of the cache. There are some three hundred statements, since none depends on values or on their number.
_KNOWN: Final = 1000


def in_portions(names: Sequence[str], values: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """Yield values under the names of a statement's parameters, as many at a time as names exist.

    The last value fills unused names.
    """
    for start in range(0, len(values), len(names)):
        some = values[start : start + len(names)]
        yield dict(zip(names, chain(some, repeat(some[-1])), strict=False))


class _Replace(Insert):
    """Adds rows in place of those with the same key, which SQLite, MariaDB and MySQL call by the same name."""

    inherit_cache = False


@compiles(_Replace)
def _replace(statement: _Replace, compiler: Any, **options: Any) -> str:
    inserted: str = compiler.visit_insert(statement, **options)
    return inserted.replace("INSERT", "REPLACE", 1)


@lru_cache(_KNOWN)
def insert_into(table: Table) -> Insert:
    """Return the statement that adds rows, which replace others in :data:`REPLACED_TABLES`."""
    return (_Replace if table in REPLACED_TABLES else Insert)(table).inline()


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
        compiled: returns the SQL of a statement with parameters of these names.
        page_cursor: see :class:`~logoadmin.adapters.sql_storage.databases.dialect.Dialect`.
        refused: what the driver raises if a key refuses a record.
    """

    def __init__(self, dialect: Dialect, page_cursor: Callable[[PoolProxiedConnection], Any]) -> None:
        """Compile for a database, with the parameter style of its driver."""
        self._dialect = dialect
        self.compiled = lru_cache(_KNOWN)(self._compile)
        self.page_cursor = page_cursor
        self.refused: type[Exception] = dialect.loaded_dbapi.IntegrityError

    def _compile(self, statement: ClauseElement, names: tuple[str, ...]) -> CompiledStatement:
        compiled: Any = statement.compile(dialect=self._dialect, column_keys=list(names))
        order: tuple[str, ...] = tuple(compiled.positiontup or ())
        fixed = {name: value for name, value in compiled.params.items() if name not in names}
        changed = getattr(statement, "table", None)
        return CompiledStatement(
            sql=str(compiled),
            order=None if order == names else order,
            fixed=fixed,
            names=frozenset([*re.findall(r"\w+", str(compiled)), *_neighbours(changed)]),
            changes_rights=changed in _RIGHTS,
        )


def _neighbours(table: Table | None) -> Iterator[str]:
    """Yield the names of the tables to which rows of a table refer, and of those whose rows refer to it."""
    for other in metadata.tables.values():
        for key in other.foreign_keys:
            if other is table:
                yield key.column.table.name
            elif key.column.table is table:
                yield other.name
