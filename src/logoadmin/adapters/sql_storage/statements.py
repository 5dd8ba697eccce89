"""Statements in the SQL of one database, each compiled once."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, repeat
from typing import Any, Final, NamedTuple

from sqlalchemy import ClauseElement, Dialect, PoolProxiedConnection, bindparam

from logoadmin.adapters.sql_storage.tables import roles, service_keys, sessions, users

Row = Sequence[Any]

KEY: Final[Any] = bindparam("key")
# Many keys for one statement.
KEYS: Final = tuple(f"key{number}" for number in range(50))

# The tables that say what somebody may do.
_RIGHTS: Final = {users, roles, sessions, service_keys}
# So many statements are known at a time. There are some three hundred, whatever is asked for: none is made for a value,
# or for how many values there are.
_KNOWN: Final = 1000


def in_portions(names: Sequence[str], values: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """Yield values under names that a statement has, as many at a time as there are names.

    Where there are fewer, the last one is named again.
    """
    for start in range(0, len(values), len(names)):
        some = values[start : start + len(names)]
        yield dict(zip(names, chain(some, repeat(some[-1])), strict=False))


class CompiledStatement(NamedTuple):
    """The SQL of a statement.

    Attributes:
        sql: the text.
        order: the names of the values in the order in which the text has them, None if they are given in it.
        fixed: the values that are always the same.
        changes_rights: whether it may change what somebody may do.
    """

    sql: str
    order: tuple[str, ...] | None
    fixed: Mapping[str, Any]
    changes_rights: bool


class StatementCompiler:
    """Compiles statements for one database, and keeps what it compiled.

    They run on the driver's cursor: SQLAlchemy's way there is twice as long.

    Attributes:
        compiled: returns the SQL of a statement that gets values of these names.
        page_cursor: see :class:`~logoadmin.adapters.sql_storage.databases.dialect.Dialect`.
        refused: what the driver raises if a key refuses a record.
    """

    __slots__ = ("_dialect", "compiled", "page_cursor", "refused")

    def __init__(self, dialect: Dialect, page_cursor: Callable[[PoolProxiedConnection], Any]) -> None:
        """Compile for a database, and with its driver's way of naming values."""
        self._dialect = dialect
        self.compiled = lru_cache(_KNOWN)(self._compile)
        self.page_cursor = page_cursor
        self.refused: type[Exception] = dialect.loaded_dbapi.IntegrityError

    def _compile(self, statement: ClauseElement, names: tuple[str, ...]) -> CompiledStatement:
        compiled: Any = statement.compile(dialect=self._dialect, column_keys=list(names))
        order: tuple[str, ...] = tuple(compiled.positiontup or ())
        fixed = {name: value for name, value in compiled.params.items() if name not in names}
        changes_rights = getattr(statement, "table", None) in _RIGHTS
        return CompiledStatement(str(compiled), None if order == names else order, fixed, changes_rights)
