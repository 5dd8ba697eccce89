"""Parts of lists, by rising or falling id, with the filters that are asked for (contract E2 to E4, G3)."""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from sqlalchemy import Column, ColumnElement, FromClause, Select, Table, and_, bindparam, select

from logoadmin.adapters.sql_storage.dialects import force_index, join_last, straight_join
from logoadmin.adapters.sql_storage.ngrams import ngrams_that_cover
from logoadmin.adapters.sql_storage.statements import Row, in_portions
from logoadmin.adapters.sql_storage.tables import ngrams
from logoadmin.adapters.sql_storage.transaction import Transaction
from logoadmin.domain.model.limits import MAX_ID
from logoadmin.domain.model.lists import Order, before_all
from logoadmin.domain.model.records import Kind

_AFTER: Final[Any] = bindparam("after")
_BEFORE: Final[Any] = bindparam("before")
_LIMIT: Final[Any] = bindparam("limit")
_SKIPPED: Final[Any] = bindparam("skipped")
# Which record of an index path shows how soon its records come.
_SAMPLE: Final = 100
# A second n-gram is looked for if its records are at most so many times as dense.
_AS_GOOD: Final = 4
# What n-grams are called in queries, of which none is made for how many of them there are, or for which is the best:
# two, or many, are asked about at once.
_GRAMS: Final = tuple(f"gram_{number}" for number in range(8))
# So many queries of a kind are known for each table. There are at most 106, with three filters beside `q`.
_KNOWN: Final = 128


class IndexedFilter(NamedTuple):
    """A filter that has an index: the columns, and the names of the values with which they are compared.

    Beside these columns, the index has the ids of the records; the primary key has them by itself.
    """

    table: Table
    values: Mapping[str, str]


class _IndexPath(NamedTuple):
    """Where the ids of the records that meet a condition stand: in an index, or the primary key if it has no name."""

    at: FromClause
    key: ColumnElement[int]
    is_met: ColumnElement[bool]
    index_name: str | None


class PageQuery:
    """The queries for a page of one list, one for each set of filters and each order.

    Each condition has an index path: an index in which the ids of the records that meet it stand in order. A page is
    found along one of them, leaving out what the other conditions do not let through, so it costs what it takes to get
    there and not what there is. The best is the one whose hundredth record is the farthest away. No database would
    choose it: their statistics, if they have any, do not say where in the order of ids something is.
    """

    def __init__(
        self,
        records: Select[Any],
        key: Column[int],
        indexed: Mapping[str, IndexedFilter],
        others: Mapping[str, ColumnElement[bool]],
        kind: Kind | None = None,
    ) -> None:
        """Select pages of records.

        Args:
            records: all of them, in any order.
            key: their id.
            indexed: the filters that have an index, by name.
            others: conditions that have no index.
            kind: whose names are searched by n-grams; a list without names has an end instead, see :meth:`rows`.
        """
        self._records, self._key, self._table, self._indexed, self._kind = records, key, key.table, indexed, kind
        self._conditions = {name: _met(key.table, each) for name, each in indexed.items() if each.table is key.table}
        self._conditions.update(others)
        self._newest = select(key).order_by(key.desc()).limit(1)
        self._along = lru_cache(_KNOWN)(self._query_along)
        self._samples = lru_cache(_KNOWN)(self._query_samples)

    def rows(
        self,
        transaction: Transaction,
        after: int,
        limit: int,
        given: Mapping[str, Any],
        order: Order = "asc",
        before: int | None = None,
    ) -> Sequence[Row]:
        """Return the rows of up to ``limit`` records that follow an id, of as many as are light enough.

        Args:
            transaction: where they are looked for.
            after: the id that they follow in the order.
            limit: how many there may be.
            given: the filters, by name.
            order: of the ids.
            before: the id before which the list ends, of a list without names.
        """
        values: dict[str, Any] = {"after": after, "limit": limit}
        if self._kind is None:
            values["before"] = before_all("desc" if order == "asc" else "asc") if before is None else before
        if not given:
            return transaction.page(self._along((), (), order), values)
        values.update(given)
        grams: dict[str, str] = {}
        if self._kind is not None and "q" in given:
            values["q"] = given["q"].casefold()
            grams = {f"gram_{number}": gram for number, gram in enumerate(ngrams_that_cover(self._kind, values["q"]))}
        best = self._best(transaction, (*self._best_filters(given), *grams), grams, values, order)
        names = dict(zip(filter(_is_gram, best), _GRAMS, strict=False))
        values.update((names[gram], grams[gram]) for gram in names)
        paths = tuple(names.get(path, path) for path in best)
        return transaction.page(self._along(paths, tuple(given), order), values)

    def _best_filters(self, given: Mapping[str, Any]) -> Iterator[str]:
        """Yield the filters that have an index, unless another one has the same columns and more."""
        asked = {name: self._indexed[name].values.keys() for name in given if name in self._indexed}
        return (name for name in asked if not any(asked[name] < other for other in asked.values()))

    def _best(
        self,
        transaction: Transaction,
        paths: tuple[str, ...],
        grams: dict[str, str],
        values: dict[str, Any],
        order: Order,
    ) -> tuple[str, ...]:
        """Return the best index path, and others that are worth a look before the records themselves."""
        if len(paths) <= 1:
            return paths
        begin = values["after"]
        if begin > MAX_ID:
            begin = (transaction.row(self._newest, {}) or [0])[0]
        filters = tuple(path for path in paths if path not in grams)
        samples = self._find_samples(transaction, filters, grams, values, order)
        distances = (math.inf if sample is None else abs(sample - begin) for sample in samples)
        (far, first), (near, second), *_ = sorted(zip(distances, paths, strict=False), reverse=True)
        # Of an n-gram that is about as rare, the rows are few and lie together; those of the records do not.
        also = [second] if _is_gram(second) and near >= far / _AS_GOOD else []
        if "author_id" in paths and first != "author_id":
            also.append("author_id")
        return first, *also

    def _find_samples(
        self,
        transaction: Transaction,
        filters: tuple[str, ...],
        grams: dict[str, str],
        values: dict[str, Any],
        order: Order,
    ) -> Iterator[int | None]:
        """Return the hundredth id along each index path, perhaps the last one several times."""
        begin = {name: values[name] for name in ("after", "before") if name in values} | {"skipped": _SAMPLE - 1}
        asked: dict[tuple[str, ...], list[dict[str, Any]]] = {}
        if filters:
            needed = {name for path in filters for name in self._indexed[path].values.values()}
            asked[filters] = [{name: values[name] for name in needed}]
        if grams:
            names = _GRAMS[:2] if len(grams) <= len(_GRAMS[:2]) else _GRAMS
            asked[names] = list(in_portions(names, tuple(grams.values())))
        for paths, portions in asked.items():
            for some in portions:
                yield from transaction.rows(self._samples(paths, order), some | begin)[0]

    def _query_samples(self, paths: tuple[str, ...], order: Order) -> Select[Any]:
        ids = (self._ids(self._path(name), order) for name in paths)
        return select(*(each.limit(1).offset(_SKIPPED).scalar_subquery() for each in ids))

    def _query_along(self, paths: tuple[str, ...], wanted: tuple[str, ...], order: Order) -> Select[Any]:
        met = {name for path in paths if path in self._indexed for name in self._indexed[path].values.values()}
        others = [self._conditions[name] for name in wanted if name not in met and name in self._conditions]
        if not paths:
            return self._in_order(self._records.where(*others), self._key, order).limit(_LIMIT)
        first, *also = map(self._path, paths)
        ids, tables, last = self._ids(first, order), first.at, first.key
        for path in also:
            ids, tables, last = ids.where(path.is_met), join_last(tables, last, path.at, path.key), path.key
        if others:
            ids, tables = ids.where(*others), join_last(tables, last, self._table, self._key)
        # The ids by themselves: no more is to be carried about than the records of the page.
        found = straight_join(ids, tables).limit(_LIMIT).subquery()
        key = found.c[self._key.name]
        return straight_join(self._records, join_last(found, key, self._table, self._key)).order_by(_by(key, order))

    def _ids(self, path: _IndexPath, order: Order) -> Select[Any]:
        ids = self._in_order(select(path.key.label(self._key.name)).where(path.is_met), path.key, order)
        return ids if path.index_name is None else force_index(ids, path.at, path.index_name)

    def _in_order(self, ids: Select[Any], key: ColumnElement[int], order: Order) -> Select[Any]:
        """Return those of some ids that follow one, and come before the end if there is one, in order."""
        ids = ids.where(key > _AFTER if order == "asc" else key < _AFTER).order_by(_by(key, order))
        if self._kind is not None:
            return ids
        return ids.where(key < _BEFORE if order == "asc" else key > _BEFORE)

    def _path(self, name: str) -> _IndexPath:
        if _is_gram(name):
            at = ngrams.alias()
            return _IndexPath(at, at.c.record_id, at.c.gram == bindparam(name), None)
        indexed = self._indexed[name]
        at = indexed.table.alias()
        return _IndexPath(at, at.c[self._key.name], _met(at, indexed), self._index_of(indexed))

    def _index_of(self, indexed: IndexedFilter) -> str | None:
        """Return the name of the index that has the columns of a filter, and beside them no more than the ids."""
        needed = set(indexed.values)
        for index in indexed.table.indexes:
            columns = {column.name for column in index.columns}
            if needed <= columns <= needed | {self._key.name}:
                return str(index.name)
        return None


def _met(table: FromClause, indexed: IndexedFilter) -> ColumnElement[bool]:
    return and_(*(table.c[column] == bindparam(name) for column, name in indexed.values.items()))


def _by(key: ColumnElement[int], order: Order) -> ColumnElement[int]:
    return key if order == "asc" else key.desc()


def _is_gram(path: str) -> bool:
    return path.startswith("gram_")
