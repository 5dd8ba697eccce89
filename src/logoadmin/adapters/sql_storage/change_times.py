"""When changes were made: finding those of a time without looking at all others (contract G3).

Ids of changes rise, and so does their time, unless a clock was set back, so nothing here relies on it. Of each block of
ids it is known when the first and the last of its changes were made, of large blocks and of the small ones in them.
Whoever looks for a time passes by blocks that have none of it.
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, bindparam, not_, or_, select

from logoadmin.adapters.sql_storage.tables import CHANGE_BLOCKS, change_times
from logoadmin.adapters.sql_storage.transaction import Transaction
from logoadmin.domain.model.lists import Order

# Which of the sizes, and how many of its blocks are in one of the next size.
_SMALLEST, _LARGEST = 0, len(CHANGE_BLOCKS) - 1
_IN_ONE: Final = CHANGE_BLOCKS[1] // CHANGE_BLOCKS[0]
_FOREVER: Final = 2**63 - 1


class _Search(NamedTuple):
    """Queries for the first block of a size, of those from one to another, in the order that is looked in.

    Attributes:
        small: of the smallest blocks, those that are looked for.
        large: of others, those that may have one of these in them.
        finds_times: whether it is for changes of the time, and not for an end of them.
    """

    small: Select[Any]
    large: Select[Any]
    finds_times: bool


def _first(condition: ColumnElement[bool], order: Order) -> Select[Any]:
    block = change_times.c.block
    blocks = select(block).where(
        change_times.c.size == bindparam("size"),
        block >= bindparam("lowest"),
        block <= bindparam("highest"),
        condition,
    )
    return blocks.order_by(block if order == "asc" else block.desc()).limit(1)


def _searches(order: Order) -> tuple[_Search, _Search]:
    since: Any = bindparam("since")
    until: Any = bindparam("until")
    earliest, latest = change_times.c.earliest, change_times.c.latest
    may_meet = and_(latest >= since, earliest <= until)
    met = _first(may_meet, order)
    return (
        _Search(met, met, finds_times=True),
        _Search(_first(not_(may_meet), order), _first(or_(earliest < since, latest > until), order), finds_times=False),
    )


_SEARCHES: Final = {"asc": _searches("asc"), "desc": _searches("desc")}


class ChangeTimes:
    """Finds where in the history there may be changes of a time."""

    def __init__(self, transaction: Transaction, since: int | None, until: int | None, order: Order) -> None:
        """Look for changes from one time to another, both inclusive, in an order of ids."""
        self._transaction = transaction
        self._times = {"since": 0 if since is None else since, "until": _FOREVER if until is None else until}
        self._is_ascending = order == "asc"
        self._found, self._passed = _SEARCHES[order]
        self._last = transaction.last("change_id")

    def ranges(self, after: int) -> Iterator[tuple[int, int]]:
        """Yield ranges in which there may be some, and between which there are none: the ids before and after each.

        As long as no clock is set back, there is one range at most, with few others at its ends.
        """
        find, step, end = (self._above, 1, self._last + 1) if self._is_ascending else (self._below, -1, 0)
        place = find(after + 1 if self._is_ascending else min(after - 1, self._last), self._found)
        while place is not None:
            passed = find(place, self._passed)
            yield place - step, end if passed is None else passed
            place = None if passed is None else find(passed, self._found)

    def _above(self, place: int, search: _Search) -> int | None:
        """Return the first id of the first block that is looked for, from an id on; None if there is none."""
        level, block = _SMALLEST, place // CHANGE_BLOCKS[_SMALLEST]
        while True:
            size = CHANGE_BLOCKS[level]
            whole = (self._last + 1) // size
            end = whole if level == _LARGEST else min(whole, (block // _IN_ONE + 1) * _IN_ONE)
            found = self._look(search, level, block, end - 1)
            if found is None and end < whole:
                level, block = level + 1, end // _IN_ONE
            elif level > _SMALLEST:
                # Also of the block that is not whole yet, where the search may go on.
                level, block = level - 1, (max(block, whole) if found is None else found) * _IN_ONE
            elif found is None and not search.finds_times:
                return None
            else:
                place = max(place, (whole if found is None else found) * size)
                return place if place <= self._last else None

    def _below(self, place: int, search: _Search) -> int | None:
        """Return the last id of the first block that is looked for, from an id downwards; None if there is none."""
        level, block = _SMALLEST, place // CHANGE_BLOCKS[_SMALLEST]
        whole = (self._last + 1) // CHANGE_BLOCKS[_SMALLEST]
        if block >= whole:
            if search.finds_times:
                return place
            block = whole - 1
        while True:
            size = CHANGE_BLOCKS[level]
            begin = 0 if level == _LARGEST else block // _IN_ONE * _IN_ONE
            found = self._look(search, level, begin, block)
            if found is not None and level == _SMALLEST:
                return min(place, (found + 1) * size - 1)
            if found is not None:
                level, block = level - 1, (found + 1) * _IN_ONE - 1
            elif begin == 0:
                return None
            else:
                level, block = level + 1, begin // _IN_ONE - 1

    def _look(self, search: _Search, level: int, lowest: int, highest: int) -> int | None:
        if lowest > highest:
            return None
        blocks = {"size": CHANGE_BLOCKS[level], "lowest": lowest, "highest": highest}
        row = self._transaction.row(search.small if level == _SMALLEST else search.large, blocks | self._times)
        return None if row is None else int(row[0])
