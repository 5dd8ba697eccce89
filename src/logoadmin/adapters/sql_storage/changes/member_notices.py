"""The sources of notices for members, and what each has seen."""

from typing import Any, Final

from sqlalchemy import Select, bindparam, select, union_all

from logoadmin.adapters.sql_storage.changes.proposals import LISTED_COLUMNS, listed
from logoadmin.adapters.sql_storage.repository import Repository
from logoadmin.adapters.sql_storage.statements import KEY
from logoadmin.adapters.sql_storage.tables.changes_tables import proposals, seen_notices
from logoadmin.adapters.sql_storage.tables.gallery_tables import ARTWORK_TABLES, LINK_TABLES, authors
from logoadmin.adapters.sql_storage.tables.publication_tables import withdrawals
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, AnyArtworkKind
from logoadmin.domain.kernel.records import Kind
from logoadmin.ports.proposal_storage import BlockedWork, ListedProposal, ProposalState, SeenNotices

_LIMIT: Any = bindparam("limit")
_OF_USER: Final = (proposals.c.user_id == KEY, proposals.c.user_since == bindparam("since"))
_DECIDED = (
    select(*LISTED_COLUMNS)
    .where(*_OF_USER, proposals.c.decided_at > 0, proposals.c.state != ProposalState.WITHDRAWN.value)
    .with_hint(proposals, "ix_proposals_user_id_decided_at")
    .order_by(proposals.c.decided_at.desc(), proposals.c.proposal_id.desc())
    .limit(_LIMIT)
)
_UNDONE = (
    select(*LISTED_COLUMNS)
    .where(*_OF_USER, proposals.c.state == ProposalState.WAITING.value, proposals.c.undone_change > 0)
    .with_hint(proposals, "ix_proposals_user_id_state")
    .order_by(proposals.c.waiting_since.desc(), proposals.c.proposal_id.desc())
    .limit(_LIMIT)
)


def _blocked(kind: AnyArtworkKind) -> Select[Any]:
    """Return the query for the blocked artworks of one kind that a user made."""
    artworks, links = ARTWORK_TABLES[kind.kind], LINK_TABLES[kind.kind]
    # In this form, every database begins with the works of the author, and not with everything that is blocked.
    own = select(links.c[kind.id_field]).join(authors, authors.c.author_id == links.c.author_id)
    record_id = withdrawals.c.record_id
    columns = (withdrawals.c.kind, record_id, artworks.c.name, withdrawals.c.at, withdrawals.c.reason)
    return (
        select(*columns)
        .join(artworks, artworks.c[kind.id_field] == record_id)
        .where(withdrawals.c.kind == kind.kind.value, record_id.in_(own.where(authors.c.user_id == KEY)))
        .where(withdrawals.c.reason.is_not(None))
    )


_ALL_BLOCKED: Final = union_all(*map(_blocked, ARTWORK_KINDS)).subquery()
_BLOCKED: Final = (
    select(_ALL_BLOCKED).order_by(*(_ALL_BLOCKED.c[name].desc() for name in ("at", "kind", "record_id"))).limit(_LIMIT)
)


class SqlMemberNotices(Repository):
    """Implements :class:`~logoadmin.ports.proposal_storage.MemberNotices`."""

    def decided(self, user_id: int, since: int, limit: int) -> tuple[ListedProposal, ...]:
        return self._proposals(_DECIDED, user_id, since, limit)

    def undone(self, user_id: int, since: int, limit: int) -> tuple[ListedProposal, ...]:
        return self._proposals(_UNDONE, user_id, since, limit)

    def blocked(self, user_id: int, limit: int) -> tuple[BlockedWork, ...]:
        rows = self._transaction.rows(_BLOCKED, {"key": user_id, "limit": limit})
        return tuple(BlockedWork(Kind(kind), *values) for kind, *values in rows)

    def seen(self, user_id: int) -> SeenNotices | None:
        row = self._find(seen_notices.c.at, seen_notices.c.of_that_second, user_id=user_id)
        return None if row is None else SeenNotices(row[0], frozenset(row[1].split()))

    def set_seen(self, user_id: int, seen: SeenNotices) -> None:
        words = " ".join(sorted(seen.of_that_second))
        self._put(seen_notices, {"user_id": user_id}, {"at": seen.at, "of_that_second": words})

    def _proposals(self, query: Select[Any], user_id: int, since: int, limit: int) -> tuple[ListedProposal, ...]:
        rows = self._transaction.rows(query, {"key": user_id, "since": since, "limit": limit})
        return tuple(map(listed, rows))
