"""The links between artworks and authors, with the queries for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Select, bindparam, select

from logoadmin.adapters.sql_storage.repository import Repository
from logoadmin.adapters.sql_storage.statements import KEY, KEYS, in_portions
from logoadmin.adapters.sql_storage.tables.gallery_tables import LINK_TABLES
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, AnyArtworkKind
from logoadmin.domain.kernel.records import Kind, Link

_SOME: Final[Any] = [bindparam(key) for key in KEYS]


class LinkStatements:
    """The table of the links of one kind of artwork, and the queries for several links, in link order."""

    def __init__(self, kind: AnyArtworkKind) -> None:
        self.table = LINK_TABLES[kind.kind]
        self.id_field, self.artwork_field = kind.link_id_field, kind.id_field
        links, artwork_id = select(self.table).order_by(self.table.c[self.id_field]), self.table.c[kind.id_field]
        self.of_artwork = links.where(artwork_id == KEY)
        self.of_artworks = links.where(artwork_id.in_(_SOME))
        self.of_author = links.where(self.table.c.author_id == KEY)


@dataclass(slots=True, eq=False)
class SqlLinks(Repository):
    """The links of one kind of artwork; implements :class:`~logoadmin.ports.gallery_storage.Links`."""

    _statements: LinkStatements

    def next_id(self) -> int:
        return self._transaction.next_id(self._statements.id_field)

    def find(self, artwork_id: int, author_id: int) -> Link | None:
        row = self._find(
            *self._statements.table.c, **{self._statements.artwork_field: artwork_id, "author_id": author_id}
        )
        return None if row is None else Link(*row)

    def of_artwork(self, artwork_id: int) -> tuple[Link, ...]:
        return self._links(self._statements.of_artwork, {"key": artwork_id})

    def of_artworks(self, artwork_ids: Sequence[int]) -> tuple[Link, ...]:
        if not artwork_ids:
            return ()
        (some,) = in_portions(KEYS, artwork_ids)
        return self._links(self._statements.of_artworks, some)

    def of_author(self, author_id: int) -> tuple[Link, ...]:
        return self._links(self._statements.of_author, {"key": author_id})

    def add(self, links: Sequence[Link]) -> None:
        if links:
            rows = [(link.link_id, link.artwork_id, link.author_id) for link in links]
            self._transaction.hold_back(self._statements.table, rows)

    def remove(self, artwork_id: int, author_id: int) -> bool:
        return self._remove(
            self._statements.table, **{self._statements.artwork_field: artwork_id, "author_id": author_id}
        )

    def remove_all(self, artwork_id: int) -> None:
        self._remove(self._statements.table, **{self._statements.artwork_field: artwork_id})

    def _links(self, query: Select[Any], of: Mapping[str, Any]) -> tuple[Link, ...]:
        return tuple([Link(*row) for row in self._transaction.rows(query, of)])


LINKS: Final[Mapping[Kind, LinkStatements]] = {kind.kind: LinkStatements(kind) for kind in ARTWORK_KINDS}
