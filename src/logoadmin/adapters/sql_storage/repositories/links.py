"""The links between artworks and authors, with the queries for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Select, bindparam, delete, insert, select

from logoadmin.adapters.sql_storage.statements import KEY, KEYS, in_portions
from logoadmin.adapters.sql_storage.tables import LINK_TABLES
from logoadmin.adapters.sql_storage.transaction import Repository
from logoadmin.domain.model.kinds import ARTWORK_KINDS, AnyArtworkKind
from logoadmin.domain.model.records import Kind, Link

_SOME: Final[Any] = [bindparam(key) for key in KEYS]


class LinkStatements:
    """The statements about the links of one kind of artwork."""

    def __init__(self, kind: AnyArtworkKind) -> None:
        links = LINK_TABLES[kind.kind]
        self.id_field = kind.link_id_field
        self.fields = (kind.link_id_field, kind.id_field, "author_id")
        link_key, of, by = (links.c[field] for field in self.fields)
        both, every = (of == KEY, by == bindparam("author")), select(link_key, of, by).order_by(link_key)
        self.find = every.where(*both)
        self.of_artwork = every.where(of == KEY)
        self.of_artworks = every.where(of.in_(_SOME))
        self.of_author = every.where(by == KEY)
        self.add = insert(links).inline()
        self.remove = delete(links).where(*both)
        self.remove_all = delete(links).where(of == KEY)


@dataclass(slots=True, eq=False)
class SqlLinks(Repository):
    """The links of one kind of artwork; implements :class:`~logoadmin.ports.storage.Links`."""

    _statements: LinkStatements

    def next_id(self) -> int:
        return self._transaction.next_id(self._statements.id_field)

    def find(self, artwork_id: int, author_id: int) -> Link | None:
        row = self._transaction.row(self._statements.find, {"key": artwork_id, "author": author_id})
        return None if row is None else Link(*row)

    def of_artwork(self, artwork_id: int) -> tuple[Link, ...]:
        return self._links(self._statements.of_artwork, artwork_id)

    def of_artworks(self, artwork_ids: Sequence[int]) -> tuple[Link, ...]:
        if not artwork_ids:
            return ()
        (some,) = in_portions(KEYS, artwork_ids)
        return tuple([Link(*row) for row in self._transaction.rows(self._statements.of_artworks, some)])

    def of_author(self, author_id: int) -> tuple[Link, ...]:
        return self._links(self._statements.of_author, author_id)

    def add(self, links: Sequence[Link]) -> None:
        if links:
            rows = [(link.link_id, link.artwork_id, link.author_id) for link in links]
            self._transaction.hold_back(self._statements.add, self._statements.fields, rows)

    def remove(self, artwork_id: int, author_id: int) -> bool:
        return self._transaction.change(self._statements.remove, {"key": artwork_id, "author": author_id}) > 0

    def remove_all(self, artwork_id: int) -> None:
        self._transaction.change(self._statements.remove_all, {"key": artwork_id})

    def _links(self, statement: Select[Any], of: int) -> tuple[Link, ...]:
        return tuple([Link(*row) for row in self._transaction.rows(statement, {"key": of})])


LINKS: Final[Mapping[Kind, LinkStatements]] = {kind.kind: LinkStatements(kind) for kind in ARTWORK_KINDS}
