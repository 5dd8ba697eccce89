"""Statements in the SQL of one database, each written once."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, repeat
from operator import itemgetter
from typing import Any, Final, NamedTuple

from sqlalchemy import ClauseElement, Dialect

from logoadmin.adapters.sql_storage.tables import roles, service_keys, sessions, users

Row = Sequence[Any]

# What says who may do what.
_RIGHTS: Final = {users, roles, sessions, service_keys}


def in_portions(names: Sequence[str], values: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """Yield values under names that a statement has, as many at a time as there are names.

    Where there are fewer, the last one is named again.
    """
    for start in range(0, len(values), len(names)):
        some = values[start : start + len(names)]
        yield dict(zip(names, chain(some, repeat(some[-1])), strict=False))


class Written(NamedTuple):
    """The SQL of a statement, what puts its values in order, and whether it may change what somebody may do."""

    sql: str
    ordered: Callable[[Any], Row]
    changes_rights: bool


class Statements:
    """Writes statements in the SQL of one database, each of them once.

    They run on the driver's own cursor: SQLAlchemy's way there takes as long as SQLite takes to answer.
    """

    __slots__ = ("_dialect", "_written", "refused", "together")

    def __init__(self, dialect: Dialect, *, together: bool) -> None:
        """Write for a database, and with its driver's way of naming values.

        Args:
            dialect: of the database.
            together: whether several statements can be sent at once, and are, to save round trips.
        """
        self._dialect = dialect
        self.together = together
        self._written: dict[tuple[ClauseElement, tuple[str, ...]], Written] = {}
        self.refused: type[Exception] = dialect.loaded_dbapi.IntegrityError

    def written(self, statement: ClauseElement, names: tuple[str, ...]) -> Written:
        """Return the SQL of a statement that gets values of these names."""
        known = self._written.get((statement, names))
        if known is None:
            known = self._written[statement, names] = self._write(statement, names)
        return known

    def _write(self, statement: ClauseElement, names: tuple[str, ...]) -> Written:
        compiled: Any = statement.compile(dialect=self._dialect, column_keys=list(names))
        order: tuple[str, ...] = tuple(compiled.positiontup or ())
        fixed = {name: value for name, value in compiled.params.items() if name not in names}

        def completed(values: Any) -> Row:
            return tuple({**fixed, **values}[name] for name in order)

        ordered = itemgetter(*order) if len(order) > 1 and not fixed else completed
        return Written(str(compiled), ordered, getattr(statement, "table", None) in _RIGHTS)
