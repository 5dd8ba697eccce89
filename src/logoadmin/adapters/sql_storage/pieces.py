"""Logos and themes with the links to their authors: the same queries, told another pair of tables."""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, Generic

from sqlalchemy import Table, bindparam, delete, insert, select, update

from logoadmin.adapters.sql_storage.tables import authors, logo_authors, logos, theme_authors, themes
from logoadmin.adapters.sql_storage.transaction import Transaction
from logoadmin.domain.records import Author, Logo, Piece, Theme

_KEY: Final[Any] = bindparam("key")
_AFTER: Final[Any] = bindparam("after")
_LIMIT: Final[Any] = bindparam("limit")
_AUTHOR_ID: Final[Any] = bindparam("author")
_AUTHOR = (authors.c.author_id, authors.c.user_id, authors.c.username, authors.c.created_at)


class Pieces(Generic[Piece]):
    """The queries of one kind of piece.

    Attributes:
        record: makes its records.
        id_name: the field of its id.
        link_id_name: the field of the id of its links.
    """

    def __init__(self, record: type[Piece], pieces: Table, links: Table) -> None:
        """Make the queries from the tables."""
        self.record: Callable[..., Piece] = record
        (key,), (link_key,) = pieces.primary_key, links.primary_key
        self.id_name, self.link_id_name = key.name, link_key.name
        of, by = links.c[key.name], links.c.author_id
        columns = (
            key,
            *(pieces.c[name] for name in ("name", "preview_url", "target", "custom_css", "active", "created_at")),
        )
        makers = links.join(authors, authors.c.author_id == by)

        # One statement for a piece and its authors. They are put in link order here, in Python: the database would
        # write piece and CSS into a temporary table for each author to do it. The joins stand side by side: of one
        # within the other SQLite would make a temporary table, too.
        joined = pieces.outerjoin(links, of == key).outerjoin(authors, authors.c.author_id == by)
        self.get = select(*columns, link_key, *_AUTHOR).select_from(joined).where(key == _KEY)
        self.hold = select(*columns).where(key == _KEY).with_for_update()
        self.authors = select(link_key, *_AUTHOR).select_from(makers).where(of == _KEY)
        self.page = select(*columns).where(key > _AFTER).order_by(key).limit(_LIMIT)
        self.page_of = (
            select(*columns)
            .select_from(links.join(pieces, key == of))
            .where(by == _AUTHOR_ID, of > _AFTER)
            .order_by(of)
            .limit(_LIMIT)
        )
        within = of.between(bindparam("first"), bindparam("last"))
        self.authors_within = select(of, *_AUTHOR).select_from(makers).where(within).order_by(link_key)
        theirs = links.alias()
        self.authors_within_of = self.authors_within.where(
            of.in_(select(theirs.c[key.name]).where(theirs.c.author_id == _AUTHOR_ID))
        )
        self.add = insert(pieces).inline()
        self.update = update(pieces).where(key == _KEY)
        self.remove = delete(pieces).where(key == _KEY)
        self.link_of = select(link_key).where(of == _KEY, by == _AUTHOR_ID)
        self.link = insert(links).inline()
        self.unlink = delete(links).where(of == _KEY, by == _AUTHOR_ID)
        self.unlink_all = delete(links).where(of == _KEY)
        self.touch = select(key).where(key == _KEY).with_for_update()


THEMES: Final = Pieces(Theme, themes, theme_authors)
LOGOS: Final = Pieces(Logo, logos, logo_authors)


class PieceRepository(Generic[Piece]):
    """The logos, or the themes, as :class:`~logoadmin.ports.storage.Pieces` says."""

    def __init__(self, transaction: Transaction, queries: Pieces[Piece]) -> None:
        """Work in a transaction, with the queries of one kind of piece."""
        self._transaction = transaction
        self._queries: Pieces[Piece] = queries

    def next_id(self) -> int:
        """Return the id for a new piece."""
        return self._transaction.ids.next(self._queries.id_name)

    def get(self, piece_id: int) -> Piece | None:
        """Return a piece with its authors."""
        if self._transaction.writing:
            return self._hold(piece_id)
        rows = self._transaction.rows(self._queries.get, {"key": piece_id})
        if not rows:
            return None
        found = [row[7:] for row in rows] if rows[0][7] is not None else []
        return self._piece(rows[0], _in_link_order(found))

    def page(self, after: int, limit: int, author_id: int | None = None) -> tuple[Piece, ...]:
        """Return some pieces with their authors, by id: first the pieces, then all links between these ids."""
        queries, values = self._queries, {"author": author_id}
        if author_id is None:
            values, page, within = {}, queries.page, queries.authors_within
        else:
            page, within = queries.page_of, queries.authors_within_of
        rows = self._transaction.rows(page, {**values, "after": after, "limit": limit})
        if not rows:
            return ()
        makers: defaultdict[int, list[Author]] = defaultdict(list)
        known: dict[int, Author] = {}
        for link in self._transaction.rows(within, {**values, "first": rows[0][0], "last": rows[-1][0]}):
            author = known.get(link[1])
            if author is None:
                author = known[link[1]] = Author(*link[1:])
            makers[link[0]].append(author)
        return tuple(self._piece(row, tuple(makers.get(row[0], ()))) for row in rows)

    def add(self, piece: Piece) -> None:
        """Keep a new piece."""
        id_name = self._queries.id_name
        self._transaction.ids.last(id_name)
        self._transaction.change(self._queries.add, self._values(piece))
        self._transaction.ids.used(id_name, getattr(piece, id_name))
        self._note(getattr(piece, id_name), linked=False)

    def update(self, piece: Piece) -> None:
        """Give a piece new values."""
        values = self._values(piece)
        self._transaction.change(self._queries.update, {**values, "key": values[self._queries.id_name]})

    def remove(self, piece_id: int) -> bool:
        """Remove a piece; the links go by themselves."""
        return self._transaction.change(self._queries.remove, {"key": piece_id}) > 0

    def link_of(self, piece_id: int, author_id: int) -> int | None:
        """Return the id of a link."""
        row = self._transaction.row(self._queries.link_of, {"key": piece_id, "author": author_id})
        return None if row is None else int(row[0])

    def link(self, piece_id: int, author_id: int) -> int:
        """Link an author as the last one."""
        link = self._link(piece_id, author_id)
        self._transaction.change(self._queries.link, link)
        self._note(piece_id, linked=True)
        return link[self._queries.link_id_name]

    def unlink(self, piece_id: int, author_id: int) -> bool:
        """Undo a link."""
        self._may_have_links(piece_id)
        return self._transaction.change(self._queries.unlink, {"key": piece_id, "author": author_id}) > 0

    def set_authors(self, piece_id: int, author_ids: Collection[int]) -> None:
        """Make these the authors."""
        if self._may_have_links(piece_id):
            self._transaction.change(self._queries.unlink_all, {"key": piece_id})
        if author_ids:
            links = [self._link(piece_id, author_id) for author_id in author_ids]
            self._transaction.change_each(self._queries.link, links)
        self._note(piece_id, linked=bool(author_ids))

    def _hold(self, piece_id: int) -> Piece | None:
        if self._transaction.ids.never_given(self._queries.id_name, piece_id):
            return None
        # Two statements: one would keep the authors of the piece, too, from everybody else.
        row = self._transaction.row(self._queries.hold, {"key": piece_id})
        if row is None:
            return None
        makers = _in_link_order(self._transaction.rows(self._queries.authors, {"key": piece_id}))
        self._note(piece_id, linked=bool(makers))
        return self._piece(row, makers)

    def _may_have_links(self, piece_id: int) -> bool:
        """Keep others from changing the links of a piece; a new link waits for that by itself, the end of one not."""
        held = self._transaction.held.get((self._queries.link_id_name, piece_id))
        if held is None:
            self._transaction.row(self._queries.touch, {"key": piece_id})
        return held is not False

    def _note(self, piece_id: int, *, linked: bool) -> None:
        self._transaction.held[self._queries.link_id_name, piece_id] = linked

    def _link(self, piece_id: int, author_id: int) -> dict[str, int]:
        link_id = self._transaction.ids.next(self._queries.link_id_name)
        return {self._queries.link_id_name: link_id, self._queries.id_name: piece_id, "author_id": author_id}

    def _piece(self, row: Sequence[Any], makers: tuple[Author, ...]) -> Piece:
        piece_id, name, preview_url, target, custom_css, active, created_at = row[:7]
        return self._queries.record(piece_id, name, preview_url, target, custom_css, bool(active), makers, created_at)

    def _values(self, piece: Piece) -> dict[str, Any]:
        id_name = self._queries.id_name
        return {
            id_name: getattr(piece, id_name),
            "name": piece.name,
            "preview_url": piece.preview_url,
            "target": piece.target,
            "active": piece.active,
            "created_at": piece.created_at,
            "custom_css": piece.custom_css,
        }


def _in_link_order(rows: Sequence[Sequence[Any]]) -> tuple[Author, ...]:
    return tuple(Author(*row[1:]) for row in sorted(rows, key=lambda row: int(row[0])))
