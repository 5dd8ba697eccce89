"""The repositories of proposals, of notices, and of the sources of notices for members."""

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, fields
from typing import Any, Final

from pydantic_core import to_json
from sqlalchemy import Select, bindparam, func, or_, select, true, union_all

from logoadmin.adapters.sql_storage.record_tables import ARTWORK_TABLES, LINK_TABLES, authors, withdrawals
from logoadmin.adapters.sql_storage.repository import IndexPath, KeysetPages, RecordReader, Repository, optional
from logoadmin.adapters.sql_storage.statements import ANY_KEY, KEY, KEYS, LIMIT, in_portions
from logoadmin.adapters.sql_storage.tables import notices, proposals, seen_notices
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, AnyArtworkKind
from logoadmin.domain.kernel.lists import Order, page_of
from logoadmin.domain.kernel.records import Kind
from logoadmin.ports.proposal_storage import (
    BlockedWork,
    ListedProposal,
    ProposalState,
    SeenNotices,
    StoredNotice,
    StoredProposal,
    Viewer,
)

_JSON: Final = ("summary", "changes")
_FIELDS, _LISTED = ([each.name for each in fields(record)] for record in (StoredProposal, ListedProposal))
_conversions: Final[Mapping[str, Callable[[Any], object]]] = {
    "state": ProposalState,
    "summary": optional(json.loads),
    "changes": json.loads,
}
_proposal: Final = RecordReader(StoredProposal, map(proposals.c.__getitem__, _FIELDS), _FIELDS, **_conversions)
_listed: Final = RecordReader(ListedProposal, map(proposals.c.__getitem__, _LISTED), _LISTED, **_conversions)
_OWN = (proposals.c.user_id == bindparam("viewer_id")) & (proposals.c.user_since == bindparam("since"))
_OTHERS = proposals.c.kinds.bitwise_and(bindparam("hidden_kinds")) == 0
_PAGES = KeysetPages(
    select(*_listed.columns),
    proposals.c.proposal_id,
    {
        "state": proposals.c.state == bindparam("state"),
        "user_id": proposals.c.user_id == bindparam("user_id"),
        "viewer_id": or_(_OWN, _OTHERS),
        # Parameters of the condition above.
        **dict.fromkeys(("since", "hidden_kinds"), true()),
    },
    [
        IndexPath(frozenset({"user_id", "state"}), proposals.c.proposal_id, "ix_proposals_user_id_state"),
        IndexPath(frozenset({"state"}), proposals.c.proposal_id, "ix_proposals_state"),
    ],
)
_WAITING_OF = select(func.count(), func.coalesce(func.sum(proposals.c.size), 0)).where(
    proposals.c.user_id == KEY, proposals.c.user_since == bindparam("since"), proposals.c.state == bindparam("state")
)
_SUCCESSFUL = (
    select(proposals.c.user_id, proposals.c.user_since)
    .where(proposals.c.user_id.in_(ANY_KEY), proposals.c.state == bindparam("state"))
    .distinct()
)
_UNAPPLIED = (
    select(*_proposal.columns)
    .where(proposals.c.unapplied_since <= bindparam("until"))
    .order_by(proposals.c.unapplied_since, proposals.c.proposal_id)
    .limit(LIMIT)
)
_LAST_OF_USER = select(func.max(proposals.c.version)).where(proposals.c.user_id == KEY)
_MADE_CHANGE = (
    select(*_proposal.columns).where(proposals.c.first_change <= KEY).order_by(proposals.c.first_change.desc()).limit(1)
)
_WAITING = select(func.count(), func.min(proposals.c.waiting_since)).where(proposals.c.state == bindparam("state"))


class SqlProposals(Repository):
    """Implements :class:`~logoadmin.ports.proposal_storage.Proposals`."""

    def next_id(self) -> int:
        return self._transaction.counters.next_id("proposal_id")

    def next_version(self) -> int:
        return self._transaction.counters.next_id("proposal_version")

    def last_version(self, user_id: int | None = None) -> int:
        if user_id is None:
            return self._transaction.last["proposal_version"]
        return self._number(_LAST_OF_USER, key=user_id)

    def get(self, proposal_id: int) -> StoredProposal | None:
        return self._get(_proposal, proposal_id=proposal_id)

    def made_change(self, change_id: int) -> StoredProposal | None:
        # Those of others lie before it or after it, never around it.
        row = self._transaction.row(_MADE_CHANGE, {"key": change_id})
        found = None if row is None else _proposal(row)
        return None if found is None or (found.last_change or 0) < change_id else found

    def add(self, proposal: StoredProposal) -> None:
        self._add(proposals, _values(proposal))

    def update(self, proposal: StoredProposal) -> None:
        self._update(proposals, {"proposal_id": proposal.proposal_id}, _values(proposal))

    def page(
        self,
        after: int,
        limit: int,
        state: ProposalState | None = None,
        user_id: int | None = None,
        viewer: Viewer | None = None,
        order: Order = "asc",
    ) -> tuple[ListedProposal, ...]:
        given: dict[str, Any] = {"user_id": user_id, "state": state and state.value}
        if viewer is not None:
            given |= {"viewer_id": viewer.user_id, "since": viewer.since, "hidden_kinds": viewer.hidden_kinds}
        given = {name: value for name, value in given.items() if value is not None}
        return page_of(_PAGES.rows(self._transaction, after, limit, given, order), _listed)

    def waiting_of(self, user_id: int, since: int) -> tuple[int, int]:
        given = {"key": user_id, "since": since, "state": ProposalState.WAITING.value}
        ((count, size),) = self._transaction.rows(_WAITING_OF, given)
        return int(count), int(size)

    def successful(self, user_ids: Collection[int]) -> frozenset[tuple[int, int]]:
        found: set[tuple[int, int]] = set()
        for some in in_portions(KEYS, sorted(user_ids)):
            rows = self._transaction.rows(_SUCCESSFUL, {**some, "state": ProposalState.APPLIED.value})
            found |= {(user_id, since) for user_id, since in rows}
        return frozenset(found)

    def unapplied(self, until: int, limit: int) -> tuple[StoredProposal, ...]:
        return self._all(_proposal, _UNAPPLIED, {"until": until, "limit": limit})

    def waiting(self) -> tuple[int, int | None]:
        ((count, since),) = self._transaction.rows(_WAITING, {"state": ProposalState.WAITING.value})
        return int(count), since


def _values(proposal: StoredProposal) -> dict[str, Any]:
    values = {field.name: getattr(proposal, field.name) for field in fields(proposal)}
    serialized = {name: to_json(values[name]).decode() for name in _JSON}
    return values | serialized | {"state": proposal.state.value}


_NOW: Any = bindparam("now")
_notice: Final = RecordReader(StoredNotice, notices.c, notices.c.keys())
_DUE: Final = (
    select(*_notice.columns).where(notices.c.due_at <= _NOW).order_by(notices.c.due_at, notices.c.notice_id).limit(1)
)


class SqlNotices(Repository):
    """Implements :class:`~logoadmin.ports.proposal_storage.Notices`."""

    def next_id(self) -> int:
        return self._transaction.counters.next_id("notice_id")

    def add(self, notice: StoredNotice) -> None:
        self._add(notices, asdict(notice))

    def due(self, now: int) -> StoredNotice | None:
        row = self._transaction.row(_DUE, {"now": now})
        return None if row is None else _notice(row)

    def attempt(self, notice_id: int, due_at: int, attempts: int) -> None:
        self._update(notices, {"notice_id": notice_id}, {"due_at": due_at, "attempts": attempts})

    def remove(self, notice_id: int) -> None:
        self._remove(notices, notice_id=notice_id)


_OF_USER: Final = (proposals.c.user_id == KEY, proposals.c.user_since == bindparam("since"))
_DECIDED = (
    select(*_listed.columns)
    .where(*_OF_USER, proposals.c.decided_at > 0, proposals.c.state != ProposalState.WITHDRAWN.value)
    .with_hint(proposals, "ix_proposals_user_id_decided_at")
    .order_by(proposals.c.decided_at.desc(), proposals.c.proposal_id.desc())
    .limit(LIMIT)
)
_UNDONE = (
    select(*_listed.columns)
    .where(*_OF_USER, proposals.c.state == ProposalState.WAITING.value, proposals.c.undone_change > 0)
    .with_hint(proposals, "ix_proposals_user_id_state")
    .order_by(proposals.c.waiting_since.desc(), proposals.c.proposal_id.desc())
    .limit(LIMIT)
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
    select(_ALL_BLOCKED).order_by(*(_ALL_BLOCKED.c[name].desc() for name in ("at", "kind", "record_id"))).limit(LIMIT)
)


class SqlMemberNotices(Repository):
    """Implements :class:`~logoadmin.ports.proposal_storage.MemberNotices`."""

    def decided(self, user_id: int, since: int, limit: int) -> tuple[ListedProposal, ...]:
        given = {"key": user_id, "since": since, "limit": limit}
        return self._all(_listed, _DECIDED, given) + self._all(_listed, _UNDONE, given)

    def blocked(self, user_id: int, limit: int) -> tuple[BlockedWork, ...]:
        rows = self._transaction.rows(_BLOCKED, {"key": user_id, "limit": limit})
        return tuple(BlockedWork(Kind(kind), *values) for kind, *values in rows)

    def seen(self, user_id: int) -> SeenNotices | None:
        row = self._find(seen_notices.c.at, seen_notices.c.of_that_second, user_id=user_id)
        return None if row is None else SeenNotices(row[0], frozenset(row[1].split()))

    def set_seen(self, user_id: int, seen: SeenNotices) -> None:
        words = " ".join(sorted(seen.of_that_second))
        self._put(seen_notices, {"user_id": user_id}, {"at": seen.at, "of_that_second": words})
