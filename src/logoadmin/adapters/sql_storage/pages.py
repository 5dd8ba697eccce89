"""Parts of lists, in ascending id, with the filters that are asked for (contract E2, E3)."""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, FromClause, Select, Table, bindparam, func, select

from logoadmin.adapters.sql_storage.dialects import in_this_order, then, through_index
from logoadmin.adapters.sql_storage.ngrams import ngrams_that_cover
from logoadmin.adapters.sql_storage.statements import Row, in_portions
from logoadmin.adapters.sql_storage.tables import ngrams
from logoadmin.adapters.sql_storage.transaction import Transaction
from logoadmin.domain.model.kinds import AnyKind
from logoadmin.domain.model.lists import EVERYTHING, Filter, folded

_AFTER: Final[Any] = bindparam("after")
_LIMIT: Final[Any] = bindparam("limit")
_SKIPPED: Final[Any] = bindparam("skipped")
# Which record of an index path shows how soon its records come.
_SAMPLE: Final = 100
# A second n-gram is looked for if its records are at most so many times as dense.
_AS_GOOD: Final = 4
# What n-grams are called in queries, of which none is made for how many of them there are, or for which is the best:
# two, or many, are asked about at once.
_GRAMS: Final = tuple(f"gram_{number}" for number in range(8))
# So many queries of a kind are known for each table. There are at most 52, with three filters beside `q`.
_KNOWN: Final = 64


class _IndexPath(NamedTuple):
    """Where the ids of the records that meet a condition stand: in an index, or the primary key if it has no name."""

    at: FromClause
    key: ColumnElement[int]
    is_met: ColumnElement[bool]
    index_name: str | None


class Page:
    """The queries for a page of one kind, one for each set of filters.

    Each condition has an index path: an index in which the ids of the records that meet it stand in ascending order. A
    page is found along one of them, leaving out what the other conditions do not let through, so it costs what it takes
    to get there and not what there is. The best is the one whose hundredth record is the farthest away. No database
    would choose it: their statistics, if they have any, do not say where in the order of ids something is.
    """

    def __init__(self, kind: AnyKind, table: Table, records: Select[Any], links: Table | None = None) -> None:
        """Select pages of records.

        Args:
            kind: of the records.
            table: where they are.
            records: all of them, in any order.
            links: to the authors, whom ``author_id`` asks for, of records that have some.
        """
        self._kind, self._table, self._records, self._links = kind.kind, table, records, links
        self._key = key = table.c[kind.id_field]
        self._all = records.where(key > _AFTER).order_by(key).limit(_LIMIT)
        self._conditions: dict[str, ColumnElement[bool]] = {
            name: table.c[name] == bindparam(name) for name in kind.filters
        }
        self._conditions["q"] = func.instr(table.c.folded, bindparam("q")) > 0
        self._along = lru_cache(_KNOWN)(self._query_along)
        self._samples = lru_cache(_KNOWN)(self._query_samples)

    def rows(self, transaction: Transaction, after: int, limit: int, where: Filter) -> Sequence[Row]:
        """Return the rows of up to ``limit`` records with an id above ``after``, of as many as are light enough."""
        if where is EVERYTHING:
            return transaction.page(self._all, {"after": after, "limit": limit})
        values = where.given
        wanted = tuple(values)
        filters = tuple(name for name in wanted if name != "q")
        values.update(after=after, limit=limit)
        grams: dict[str, str] = {}
        if where.q is not None:
            values["q"] = folded(where.q)
            grams = {f"gram_{number}": gram for number, gram in enumerate(ngrams_that_cover(self._kind, values["q"]))}
        if not filters and not grams:
            return transaction.page(self._all, values)
        best = self._best(transaction, filters, grams, values)
        names = dict(zip(filter(_is_gram, best), _GRAMS, strict=False))
        values.update((names[gram], grams[gram]) for gram in names)
        return transaction.page(self._along(tuple(names.get(path, path) for path in best), wanted), values)

    def _best(
        self, transaction: Transaction, filters: tuple[str, ...], grams: dict[str, str], values: dict[str, Any]
    ) -> tuple[str, ...]:
        """Return the best index path, and others that are worth a look before the records themselves."""
        paths = (*filters, *grams)
        if len(paths) == 1:
            return paths
        samples = self._find_samples(transaction, filters, tuple(grams.values()), values)
        distances = (math.inf if sample is None else sample - values["after"] for sample in samples)
        (far, first), (near, second), *_ = sorted(zip(distances, paths, strict=False), reverse=True)
        # Of an n-gram that is about as rare, the rows are few and lie together; those of the records do not.
        also = [second] if _is_gram(second) and near >= far / _AS_GOOD else []
        if "author_id" in paths and first != "author_id":
            also.append("author_id")
        return first, *also

    def _find_samples(
        self, transaction: Transaction, filters: tuple[str, ...], grams: tuple[str, ...], values: dict[str, Any]
    ) -> Iterator[int | None]:
        """Return the hundredth id along each index path, perhaps the last one several times."""
        begin = {"after": values["after"], "skipped": _SAMPLE - 1}
        asked = {filters: [{name: values[name] for name in filters}]} if filters else {}
        if grams:
            names = _GRAMS[:2] if len(grams) <= len(_GRAMS[:2]) else _GRAMS
            asked[names] = list(in_portions(names, grams))
        for paths, portions in asked.items():
            for some in portions:
                yield from transaction.rows(self._samples(paths), some | begin)[0]

    def _query_samples(self, paths: tuple[str, ...]) -> Select[Any]:
        ids = (self._ids(self._path(name)) for name in paths)
        return select(*(each.limit(1).offset(_SKIPPED).scalar_subquery() for each in ids))

    def _query_along(self, paths: tuple[str, ...], wanted: tuple[str, ...]) -> Select[Any]:
        first, *also = map(self._path, paths)
        ids, tables, last = self._ids(first), first.at, first.key
        for path in also:
            ids, tables, last = ids.where(path.is_met), then(tables, last, path.at, path.key), path.key
        others = [self._conditions[name] for name in wanted if name not in paths]
        if others:
            ids, tables = ids.where(*others), then(tables, last, self._table, self._key)
        # The ids by themselves: no more is to be carried about than the records of the page.
        found = in_this_order(ids, tables).limit(_LIMIT).subquery()
        key = found.c[self._key.name]
        return in_this_order(self._records, then(found, key, self._table, self._key)).order_by(key)

    def _ids(self, path: _IndexPath) -> Select[Any]:
        ids = select(path.key.label(self._key.name)).where(path.is_met, path.key > _AFTER).order_by(path.key)
        return ids if path.index_name is None else through_index(ids, path.at, path.index_name)

    def _path(self, name: str) -> _IndexPath:
        if _is_gram(name):
            at = ngrams.alias()
            return _IndexPath(at, at.c.record_id, at.c.gram == bindparam(name), None)
        table = self._links if name == "author_id" and self._links is not None else self._table
        at = table.alias()
        index = next((str(index.name) for index in table.indexes if index.columns[0].name == name), None)
        return _IndexPath(at, at.c[self._key.name], at.c[name] == bindparam(name), index)


def _is_gram(path: str) -> bool:
    return path.startswith("gram_")
