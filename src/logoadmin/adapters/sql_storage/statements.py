"""Statements in the SQL of one database, each written once."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from itertools import chain, repeat
from operator import itemgetter
from typing import Any, Final, NamedTuple

from sqlalchemy import ClauseElement, Dialect

from logoadmin.adapters.sql_storage.tables import roles, service_keys, sessions, users

Row = Sequence[Any]

# What says who may do what.
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


class Written(NamedTuple):
    """The SQL of a statement, what puts its values in order, and whether it may change what somebody may do."""

    sql: str
    ordered: Callable[[Any], Row]
    changes_rights: bool


class Statements:
    """Writes statements in the SQL of one database, each of them once.

    They run on the driver's own cursor: SQLAlchemy's way there takes as long as SQLite takes to answer.

    Attributes:
        written: returns the SQL of a statement that gets values of these names.
        together: whether several statements are sent at once.
        refused: what the driver raises if a key refuses a record.
    """

    __slots__ = ("_dialect", "holding_little", "refused", "together", "written")

    def __init__(
        self,
        dialect: Dialect,
        *,
        together: bool,
        holding_little: Callable[[Any], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """Write for a database, and with its driver's way of naming values.

        Args:
            dialect: of the database.
            together: whether several statements can be sent at once, and are, to save round trips.
            holding_little: has a cursor read no more rows than a page has.
        """
        self._dialect = dialect
        self.together = together
        self.written = lru_cache(_KNOWN)(self._write)
        self.holding_little = holding_little
        self.refused: type[Exception] = dialect.loaded_dbapi.IntegrityError

    def _write(self, statement: ClauseElement, names: tuple[str, ...]) -> Written:
        compiled: Any = statement.compile(dialect=self._dialect, column_keys=list(names))
        order: tuple[str, ...] = tuple(compiled.positiontup or ())
        fixed = {name: value for name, value in compiled.params.items() if name not in names}

        def completed(values: Any) -> Row:
            return tuple({**fixed, **values}[name] for name in order)

        ordered = itemgetter(*order) if len(order) > 1 and not fixed else completed
        return Written(str(compiled), ordered, getattr(statement, "table", None) in _RIGHTS)
