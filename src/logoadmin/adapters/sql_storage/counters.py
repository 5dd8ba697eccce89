"""The last ids that were given and the last changes of each kind, which all stand in one row."""

from collections.abc import Callable
from typing import Final

from sqlalchemy import select, update

from logoadmin.adapters.sql_storage.statements import Row
from logoadmin.adapters.sql_storage.tables import COUNTED, state
from logoadmin.domain.model.errors import Conflict
from logoadmin.domain.model.limits import MAX_ID

READ: Final = select(*(state.c[name] for name in COUNTED))
HOLD: Final = READ.with_for_update()
HOLD_AT_ONCE: Final = READ.with_for_update(nowait=True)
KEEP: Final = update(state)


class Counters:
    """The last ids that were given and the last changes of each kind, which all stand in one row.

    The database's own numbers would not do as ids: they stay used when the work is undone, and each database counts
    on differently. Whoever writes takes the row first and keeps it from others to the end, so there is one write at a
    time: changes are kept in the order of their ids, and no other row needs a lock.

    Attributes:
        are_held: whether the row is ours.
    """

    __slots__ = ("_found", "_look", "_now", "are_held")

    def __init__(self, look: Callable[[], None]) -> None:
        """Count in a transaction, which looks for the row when it is needed and calls :meth:`held` or :meth:`seen`."""
        self._look = look
        self._found: dict[str, int] = {}
        self._now: dict[str, int] = {}
        self.are_held = False

    def held(self, row: Row) -> None:
        """Take note of the row, which is ours until the end."""
        self.seen(row)
        self._found = dict(self._now)
        self.are_held = True

    def seen(self, row: Row | None) -> None:
        """Take note of the row, which others may change."""
        if row is None:
            raise LookupError("the table of counters has lost its row")
        self._now = dict(zip(COUNTED, row, strict=True))

    def next(self, name: str) -> int:
        """Return the next id, named as its field is.

        Raises:
            Conflict: there is none left (contract A2).
        """
        id_ = self.last(name) + 1
        if id_ > MAX_ID:
            raise Conflict(f"No {name} is left")
        self._now[name] = id_
        return id_

    def last(self, name: str) -> int:
        """Return the highest id that was ever given, or the last change of a kind."""
        if not self._now:
            self._look()
        return self._now[name]

    def never_given(self, name: str, id_: int) -> bool:
        """Tell whether an id is known, without asking the database, to be of no record at all."""
        return self.are_held and id_ > self._now[name]

    def used(self, name: str, number: int) -> None:
        """Take note of an id that was not given here, or of a change of a kind."""
        if number > self.last(name):
            self._now[name] = number

    def noted(self) -> dict[str, int]:
        """Return what is counted by now."""
        return dict(self._now)

    def take_back(self, noted: dict[str, int]) -> None:
        """Count from there again."""
        self._now = dict(noted or self._found)

    def changed(self) -> dict[str, int]:
        """Return what was counted since it was held."""
        return {name: number for name, number in self._now.items() if self.are_held and number != self._found[name]}
