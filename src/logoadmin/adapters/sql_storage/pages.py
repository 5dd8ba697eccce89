"""Parts of lists, in ascending id, with the filters that are asked for (contract E2, E3)."""

import math
from collections.abc import Sequence
from functools import cache
from heapq import nlargest
from typing import Any, Final

from sqlalchemy import ColumnElement, FromClause, Select, Table, bindparam, func, select

from logoadmin.adapters.sql_storage.names import MOST_PARTS, parts_that_cover
from logoadmin.adapters.sql_storage.statements import Row
from logoadmin.adapters.sql_storage.transaction import Transaction
from logoadmin.domain.lists import Filter, folded

_AFTER: Final[Any] = bindparam("after")
_LIMIT: Final[Any] = bindparam("limit")
# Which record of a track shows how soon its records come.
_SAMPLE: Final = 100
# A second part is looked for if its records are at most so many times as dense.
_AS_GOOD: Final = 4


class Page:
    """The queries for a page of one table, one for each set of filters.

    Each condition has a track: an index in which the ids of the records that meet it stand in ascending order. A page
    is found along one of them, leaving out what the other conditions do not let through, so it costs what it takes to
    get there and not what there is. The best one is the track whose hundredth record is the farthest away. No database
    would choose it: SQLite keeps no statistics, and those of a server do not say where in the order of ids something
    is.
    """

    def __init__(
        self, records: Select[Any], table: Table, parts: Table, equal: tuple[str, ...] = (), links: Table | None = None
    ) -> None:
        """Select pages of records.

        Args:
            records: all of them, in any order.
            table: whose id they are in the order of.
            parts: the parts of their names.
            equal: the columns that a filter of the same name asks for the value of; each has an index.
            links: to the authors, whom ``author_id`` asks for, of records that have some.
        """
        (key,) = table.primary_key
        self._key, self._table, self._records = key, table, records
        self._all = records.where(key > _AFTER).order_by(key).limit(_LIMIT)
        self._conditions: dict[str, ColumnElement[bool]] = {"q": func.instr(table.c.folded, bindparam("q")) > 0}
        self._parts = parts
        self._tracks = {f"part_{number}": self._track(parts, "part", f"part_{number}") for number in range(MOST_PARTS)}
        for name in equal:
            self._conditions[name] = table.c[name] == bindparam(name)
            self._tracks[name] = self._track(table, name, name)
        if links is not None:
            theirs = select(links.c[key.name]).where(links.c.author_id == bindparam("author_id"))
            self._conditions["author_id"] = key.in_(theirs)
            self._tracks["author_id"] = self._track(links, "author_id", "author_id")
        self._along = cache(self._query_along)
        self._samples = cache(self._query_samples)

    def rows(self, transaction: Transaction, after: int, limit: int, where: Filter) -> Sequence[Row]:
        """Return the rows of up to ``limit`` records with an id above ``after``."""
        values = where.given
        wanted = tuple(values)
        tracks = tuple(name for name in wanted if name != "q")
        values.update(after=after, limit=limit)
        if where.q is not None:
            values["q"] = folded(where.q)
            parts = {f"part_{number}": part for number, part in enumerate(parts_that_cover(values["q"]))}
            values.update(parts)
            tracks += tuple(parts)
        if not tracks:
            return transaction.rows(self._all, values)
        return transaction.rows(self._along(*self._best(transaction, tracks, values), wanted), values)

    def _best(
        self, transaction: Transaction, tracks: tuple[str, ...], values: dict[str, Any]
    ) -> tuple[str, str | None]:
        """Return the best track, and another one that is worth a look before the names themselves, if there is one."""
        if len(tracks) == 1:
            return tracks[0], None
        (samples,) = transaction.rows(self._samples(tracks), values)
        distances = (math.inf if sample is None else sample - values["after"] for sample in samples)
        (far, first), (near, second) = nlargest(2, zip(distances, tracks, strict=True))
        return first, second if second.startswith("part_") and near >= far / _AS_GOOD else None

    def _query_samples(self, tracks: tuple[str, ...]) -> Select[Any]:
        return select(*(self._tracks[name].limit(1).offset(_SAMPLE - 1).scalar_subquery() for name in tracks))

    def _query_along(self, track: str, second: str | None, wanted: tuple[str, ...]) -> Select[Any]:
        ids = self._tracks[track]
        (key,) = ids.selected_columns
        tables, last = key.table, key
        if second is not None:
            also = self._parts.alias()
            tables, last = tables.join(also, also.c[self._key.name] == last), also.c[self._key.name]
            ids = ids.where(also.c.part == bindparam(second))
        others = [self._conditions[name] for name in wanted if name != track]
        if others:
            ids = _in_this_order(ids.where(*others), tables.join(self._table, self._key == last))
        # The ids by themselves: no more is to be carried about than the records of the page.
        found = ids.limit(_LIMIT).subquery().c[self._key.name]
        return _in_this_order(self._records, found.table.join(self._table, self._key == found)).order_by(found)

    def _track(self, index: Table, column: str, value: str) -> Select[Any]:
        at: FromClause = index.alias()
        key = at.c[self._key.name]
        return select(key).where(at.c[column] == bindparam(value), key > _AFTER).order_by(key)


def _in_this_order(query: Select[Any], tables: FromClause) -> Select[Any]:
    # Or else MySQL may walk through the last table and look for each id among those that the others have.
    return query.prefix_with("STRAIGHT_JOIN", dialect="mysql").select_from(tables)
