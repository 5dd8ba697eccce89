"""Parts of lists, in ascending id, with the filters that are asked for (contract E2, E3)."""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, FromClause, Select, Table, bindparam, func, select

from logoadmin.adapters.sql_storage.names import parts_that_cover
from logoadmin.adapters.sql_storage.statements import Row, in_portions
from logoadmin.adapters.sql_storage.transaction import Transaction
from logoadmin.domain.model.lists import Filter, folded

_AFTER: Final[Any] = bindparam("after")
_LIMIT: Final[Any] = bindparam("limit")
_SKIPPED: Final[Any] = bindparam("skipped")
# Which record of a track shows how soon its records come.
_SAMPLE: Final = 100
# A second part is looked for if its records are at most so many times as dense.
_AS_GOOD: Final = 4
# What parts are called in queries, of which none is made for how many of them there are, or for which is the best.
_PARTS: Final = ("part_0", "part_1")
# So many queries of a kind are known for each table. There are at most 52, with three filters beside `q`.
_KNOWN: Final = 64


class _Track(NamedTuple):
    """Where the ids of the records that meet a condition stand: in an index, or the primary key if it has no name."""

    at: FromClause
    key: ColumnElement[int]
    is_met: ColumnElement[bool]
    index_name: str | None


class Page:
    """The queries for a page of one table, one for each set of filters.

    Each condition has a track: an index in which the ids of the records that meet it stand in ascending order. A page
    is found along one of them, leaving out what the other conditions do not let through, so it costs what it takes to
    get there and not what there is. The best one is the track whose hundredth record is the farthest away. No database
    would choose it: their statistics, if they have any, do not say where in the order of ids something is.
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
        self._key, self._table, self._records, self._parts, self._links = key, table, records, parts, links
        self._all = records.where(key > _AFTER).order_by(key).limit(_LIMIT)
        self._conditions: dict[str, ColumnElement[bool]] = {name: table.c[name] == bindparam(name) for name in equal}
        self._conditions["q"] = func.instr(table.c.folded, bindparam("q")) > 0
        self._along = lru_cache(_KNOWN)(self._query_along)
        self._samples = lru_cache(_KNOWN)(self._query_samples)

    def rows(self, transaction: Transaction, after: int, limit: int, where: Filter) -> Sequence[Row]:
        """Return the rows of up to ``limit`` records with an id above ``after``, of as many as are light enough."""
        values = where.given
        wanted = tuple(values)
        filters = tuple(name for name in wanted if name != "q")
        values.update(after=after, limit=limit)
        parts: dict[str, str] = {}
        if where.q is not None:
            values["q"] = folded(where.q)
            parts = {f"part_{number}": part for number, part in enumerate(parts_that_cover(values["q"]))}
        if not filters and not parts:
            return transaction.page(self._all, values)
        best = self._best(transaction, filters, parts, values)
        names = dict(zip(filter(_is_part, best), _PARTS, strict=False))
        values.update((names[part], parts[part]) for part in names)
        return transaction.page(self._along(tuple(names.get(track, track) for track in best), wanted), values)

    def _best(
        self, transaction: Transaction, filters: tuple[str, ...], parts: dict[str, str], values: dict[str, Any]
    ) -> tuple[str, ...]:
        """Return the best track, and others that are worth a look before the records themselves."""
        tracks = (*filters, *parts)
        if len(tracks) == 1:
            return tracks
        samples = self._find_samples(transaction, filters, tuple(parts.values()), values)
        distances = (math.inf if sample is None else sample - values["after"] for sample in samples)
        (far, first), (near, second), *_ = sorted(zip(distances, tracks, strict=False), reverse=True)
        # Of a part that is about as rare, the rows are few and lie together; those of the records do not.
        also = [second] if _is_part(second) and near >= far / _AS_GOOD else []
        if "author_id" in tracks and first != "author_id":
            also.append("author_id")
        return first, *also

    def _find_samples(
        self, transaction: Transaction, filters: tuple[str, ...], parts: tuple[str, ...], values: dict[str, Any]
    ) -> Iterator[int | None]:
        """Return the hundredth id along each track, perhaps the last one twice."""
        begin = {"after": values["after"], "skipped": _SAMPLE - 1}
        asked = [transaction.ask(self._samples(filters), values | begin)] if filters else []
        asked += [transaction.ask(self._samples(_PARTS), some | begin) for some in in_portions(_PARTS, parts)]
        transaction.catch_up()
        return chain.from_iterable(row for (row,) in asked)

    def _query_samples(self, tracks: tuple[str, ...]) -> Select[Any]:
        ids = (self._ids(self._track(name)) for name in tracks)
        return select(*(each.limit(1).offset(_SKIPPED).scalar_subquery() for each in ids))

    def _query_along(self, tracks: tuple[str, ...], wanted: tuple[str, ...]) -> Select[Any]:
        first, *also = map(self._track, tracks)
        ids, tables, last = self._ids(first), first.at, first.key
        for track in also:
            ids, tables, last = ids.where(track.is_met), _then(tables, last, track.at, track.key), track.key
        others = [self._conditions[name] for name in wanted if name not in tracks]
        if others:
            ids, tables = ids.where(*others), _then(tables, last, self._table, self._key)
        # The ids by themselves: no more is to be carried about than the records of the page.
        found = _in_this_order(ids, tables).limit(_LIMIT).subquery()
        key = found.c[self._key.name]
        return _in_this_order(self._records, _then(found, key, self._table, self._key)).order_by(key)

    def _ids(self, track: _Track) -> Select[Any]:
        ids = select(track.key).where(track.is_met, track.key > _AFTER).order_by(track.key)
        # MySQL may else look for the value alone, and pass by its ids from the first one on.
        return (
            ids if track.index_name is None else ids.with_hint(track.at, f"FORCE INDEX ({track.index_name})", "mysql")
        )

    def _track(self, name: str) -> _Track:
        table, column = self._table, name
        if _is_part(name):
            table, column = self._parts, "part"
        elif name == "author_id" and self._links is not None:
            table = self._links
        at = table.alias()
        index = next((str(index.name) for index in table.indexes if index.columns[0].name == column), None)
        return _Track(at, at.c[self._key.name], at.c[column] == bindparam(name), index)


def _is_part(track: str) -> bool:
    return track.startswith("part_")


def _then(tables: FromClause, key: ColumnElement[int], another: FromClause, its: ColumnElement[int]) -> FromClause:
    # No index has the sum, so SQLite, too, cannot go the other way.
    return tables.join(another, its == key + 0)


def _in_this_order(query: Select[Any], tables: FromClause) -> Select[Any]:
    return query.prefix_with("STRAIGHT_JOIN", dialect="mysql").select_from(tables)
