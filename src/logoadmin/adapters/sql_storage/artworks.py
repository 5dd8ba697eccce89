"""Logos and themes with the links to their authors: the same queries, told another pair of tables."""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from operator import itemgetter
from typing import Any, Final, Generic

from sqlalchemy import Table, bindparam, delete, insert, select, update

from logoadmin.adapters.sql_storage.names import Names
from logoadmin.adapters.sql_storage.pages import Page
from logoadmin.adapters.sql_storage.statements import Row, in_portions
from logoadmin.adapters.sql_storage.tables import (
    authors,
    logo_authors,
    logo_name_parts,
    logos,
    theme_authors,
    theme_name_parts,
    themes,
)
from logoadmin.adapters.sql_storage.transaction import Transaction
from logoadmin.domain.model.lists import EVERYTHING, Filter, folded, page_of
from logoadmin.domain.model.records import Artwork, Author, Link, Logo, Theme

_KEY: Final[Any] = bindparam("key")
_AUTHOR_ID: Final[Any] = bindparam("author_id")
_AUTHOR = (authors.c.author_id, authors.c.user_id, authors.c.username, authors.c.created_at, authors.c.version)
_COLUMNS = ("name", "preview_url", "target", "custom_css", "active", "created_at", "version")

# How far apart the ids of a page may be on average, so that the links between the first and the last are read at once.
_NEAR = 4
# Of artworks far apart, the links of so many are read at once.
_KEYS: Final = tuple(f"key{number}" for number in range(50))


class Artworks(Generic[Artwork]):
    """The queries of one kind of artwork.

    Attributes:
        record: makes its records.
        id_name: the field of its id.
        link_id_name: the field of the id of its links.
    """

    def __init__(self, record: type[Artwork], artworks: Table, links: Table, parts: Table) -> None:
        """Make the queries from the tables."""
        self.record: Callable[..., Artwork] = record
        (key,), (link_key,) = artworks.primary_key, links.primary_key
        self.id_name, self.link_id_name = key.name, link_key.name
        of, by = links.c[key.name], links.c.author_id
        columns = (key, *(artworks.c[name] for name in _COLUMNS))
        makers = links.join(authors, authors.c.author_id == by)

        # One statement for an artwork and its authors. They are put in link order here, in Python: the database would
        # write artwork and CSS into a temporary table for each author to do it. The joins stand side by side: of one
        # within the other SQLite would make a temporary table, too.
        joined = artworks.outerjoin(links, of == key).outerjoin(authors, authors.c.author_id == by)
        self.get = select(*columns, link_key, *_AUTHOR).select_from(joined).where(key == _KEY)
        self.page = Page(select(*columns), artworks, parts, ("target", "active"), links)
        self.names = Names(artworks, parts)
        within = of.between(bindparam("first"), bindparam("last"))
        # Links first: where there are few authors, MySQL may begin with them and look at all they ever made.
        of_links = select(of, *_AUTHOR).prefix_with("STRAIGHT_JOIN", dialect="mysql").select_from(makers)
        self.authors_within = of_links.where(within).order_by(link_key)
        of_some = of.in_([bindparam(key) for key in _KEYS])
        self.authors_of = of_links.where(of_some).order_by(link_key)
        self.add = insert(artworks).inline()
        self.update = update(artworks).where(key == _KEY)
        self.remove = delete(artworks).where(key == _KEY)
        self.touch = update(artworks).where(key == _KEY)
        self.link_of = select(link_key).where(of == _KEY, by == _AUTHOR_ID)
        self.links = select(link_key, of, by).where(of == _KEY).order_by(link_key)
        self.links_of = select(link_key, of, by).where(by == _AUTHOR_ID).order_by(link_key)
        self.link = insert(links).inline()
        self.unlink = delete(links).where(of == _KEY, by == _AUTHOR_ID)
        self.unlink_all = delete(links).where(of == _KEY)


THEMES: Final = Artworks(Theme, themes, theme_authors, theme_name_parts)
LOGOS: Final = Artworks(Logo, logos, logo_authors, logo_name_parts)


class ArtworkRepository(Generic[Artwork]):
    """The logos, or the themes, as :class:`~logoadmin.ports.storage.Records` says."""

    def __init__(self, transaction: Transaction, queries: Artworks[Artwork]) -> None:
        """Work in a transaction, with the queries of one kind of artwork."""
        self._transaction = transaction
        self._queries = queries

    def next_id(self) -> int:
        """Return the id for a new artwork."""
        return self._transaction.counters.next(self._queries.id_name)

    def get(self, artwork_id: int) -> Artwork | None:
        """Return an artwork with its authors."""
        if self._transaction.counters.never_given(self._queries.id_name, artwork_id):
            return None
        rows = self._transaction.rows(self._queries.get, {"key": artwork_id})
        if not rows:
            return None
        authors_at = 1 + len(_COLUMNS)
        links = [row[authors_at:] for row in rows if row[authors_at] is not None]
        return self._artwork(rows[0], tuple(Author(*link[1:]) for link in sorted(links, key=itemgetter(0))))

    def page(self, after: int, limit: int, where: Filter = EVERYTHING) -> tuple[Artwork, ...]:
        """Return some artworks with their authors, by id: first the artworks, then the links of all of them."""
        rows = self._queries.page.rows(self._transaction, after, limit, where)
        if not rows:
            return ()
        makers: defaultdict[int, list[Author]] = defaultdict(list)
        known: dict[int, Author] = {}
        for link in self._links_of_page([row[0] for row in rows], everything=not where.given):
            author = known.get(link[1])
            if author is None:
                author = known[link[1]] = Author(*link[1:])
            makers[link[0]].append(author)
        return page_of(rows, lambda row: self._artwork(row, tuple(makers.get(row[0], ()))))

    def _links_of_page(self, artwork_ids: Sequence[int], *, everything: bool) -> Sequence[Row]:
        first, last = artwork_ids[0], artwork_ids[-1]
        # Between the ids of artworks that a filter let through there may be a million others.
        if everything or last - first < _NEAR * len(artwork_ids):
            return self._transaction.rows(self._queries.authors_within, {"first": first, "last": last})
        rows: list[Row] = []
        for some in in_portions(_KEYS, artwork_ids):
            rows += self._transaction.rows(self._queries.authors_of, some)
        return rows

    def add(self, artwork: Artwork) -> None:
        """Keep a new artwork."""
        id_name, values = self._queries.id_name, self._values(artwork)
        self._transaction.change(self._queries.add, values)
        self._queries.names.change(self._transaction, values[id_name], (), values["folded"])
        self._transaction.counters.used(id_name, values[id_name])

    def update(self, artwork: Artwork) -> None:
        """Give an artwork new values."""
        values = self._values(artwork)
        artwork_id = values[self._queries.id_name]
        name = self._queries.names.ask(self._transaction, artwork_id)
        self._transaction.change(self._queries.update, {**values, "key": artwork_id})
        self._queries.names.change(self._transaction, artwork_id, name, values["folded"])

    def touch(self, artwork_ids: Collection[int], version: int) -> None:
        """Give artworks another version."""
        for artwork_id in artwork_ids:
            self._transaction.change(self._queries.touch, {"key": artwork_id, "version": version})

    def remove(self, artwork_id: int) -> bool:
        """Remove an artwork; the links go by themselves."""
        name = self._queries.names.ask(self._transaction, artwork_id)
        removed = self._transaction.change(self._queries.remove, {"key": artwork_id})
        self._queries.names.change(self._transaction, artwork_id, name, "")
        return removed > 0

    def _artwork(self, row: Sequence[Any], makers: tuple[Author, ...]) -> Artwork:
        artwork_id, name, preview_url, target, custom_css, active, created_at, version = row[: 1 + len(_COLUMNS)]
        return self._queries.record(
            artwork_id, name, preview_url, target, custom_css, bool(active), makers, created_at, version
        )

    def _values(self, artwork: Artwork) -> dict[str, Any]:
        id_name = self._queries.id_name
        return {
            id_name: getattr(artwork, id_name),
            "name": artwork.name,
            "preview_url": artwork.preview_url,
            "target": artwork.target,
            "active": artwork.active,
            "created_at": artwork.created_at,
            "custom_css": artwork.custom_css,
            "version": artwork.version,
            "folded": folded(artwork.name),
        }


class LinkRepository:
    """The links of one kind of artwork, as :class:`~logoadmin.ports.storage.Links` says."""

    def __init__(self, transaction: Transaction, queries: Artworks[Any]) -> None:
        """Work in a transaction, with the queries of one kind of artwork."""
        self._transaction = transaction
        self._queries = queries

    def next_id(self) -> int:
        """Return the id for a new link."""
        return self._transaction.counters.next(self._queries.link_id_name)

    def find(self, artwork_id: int, author_id: int) -> Link | None:
        """Return a link."""
        row = self._transaction.row(self._queries.link_of, {"key": artwork_id, "author_id": author_id})
        return None if row is None else Link(row[0], artwork_id, author_id)

    def of_artwork(self, artwork_id: int) -> tuple[Link, ...]:
        """Return the links of an artwork, in link order."""
        return tuple(Link(*row) for row in self._transaction.rows(self._queries.links, {"key": artwork_id}))

    def of_author(self, author_id: int) -> tuple[Link, ...]:
        """Return the links of an author, in link order."""
        return tuple(Link(*row) for row in self._transaction.rows(self._queries.links_of, {"author_id": author_id}))

    def add(self, links: Sequence[Link]) -> None:
        """Bring back links."""
        id_names = self._queries.link_id_name, self._queries.id_name, "author_id"
        for link in links:
            values = dict(zip(id_names, (link.link_id, link.artwork_id, link.author_id), strict=True))
            self._transaction.change(self._queries.link, values)

    def remove(self, artwork_id: int, author_id: int) -> bool:
        """Undo a link."""
        return self._transaction.change(self._queries.unlink, {"key": artwork_id, "author_id": author_id}) > 0

    def remove_all(self, artwork_id: int) -> None:
        """Undo all links of an artwork."""
        self._transaction.change(self._queries.unlink_all, {"key": artwork_id})
