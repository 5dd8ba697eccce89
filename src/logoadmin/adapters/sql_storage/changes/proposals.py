"""The repository of proposals."""

import json
from collections.abc import Collection, Sequence
from dataclasses import fields
from typing import Any, Final

from pydantic_core import to_json
from sqlalchemy import bindparam, func, or_, select, true

from logoadmin.adapters.sql_storage.keyset_pages import IndexPath, KeysetPages
from logoadmin.adapters.sql_storage.repository import Repository
from logoadmin.adapters.sql_storage.statements import KEY, KEYS, Row, in_portions
from logoadmin.adapters.sql_storage.tables.changes_tables import proposals
from logoadmin.domain.kernel.lists import Order, page_of
from logoadmin.ports.proposal_storage import ListedProposal, ProposalState, StoredProposal, Viewer

_FIELDS: Final = tuple(field.name for field in fields(StoredProposal))
_LISTED: Final = tuple(field.name for field in fields(ListedProposal))
_COLUMNS: Final = tuple(proposals.c[name] for name in _FIELDS)
LISTED_COLUMNS: Final = tuple(proposals.c[name] for name in _LISTED)
_JSON: Final = ("summary", "changes")
_OWN = (proposals.c.user_id == bindparam("viewer_id")) & (proposals.c.user_since == bindparam("since"))
_OTHERS = proposals.c.kinds.bitwise_and(bindparam("hidden_kinds")) == 0
_PAGES = KeysetPages(
    select(*LISTED_COLUMNS),
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
    .where(proposals.c.user_id.in_([bindparam(key) for key in KEYS]), proposals.c.state == bindparam("state"))
    .distinct()
)
_UNAPPLIED = (
    select(*_COLUMNS)
    .where(proposals.c.unapplied_since <= bindparam("until"))
    .order_by(proposals.c.unapplied_since, proposals.c.proposal_id)
    .limit(bindparam("limit"))
)
_LAST_OF_USER = select(func.max(proposals.c.version)).where(proposals.c.user_id == KEY)
_MADE_CHANGE = (
    select(*_COLUMNS).where(proposals.c.first_change <= KEY).order_by(proposals.c.first_change.desc()).limit(1)
)
_WAITING = select(func.count(), func.min(proposals.c.waiting_since)).where(proposals.c.state == bindparam("state"))


def _proposal(row: Row) -> StoredProposal:
    return StoredProposal(**_deserialized(_FIELDS, row))


def listed(row: Row) -> ListedProposal:
    """Return the proposal in a row of ``LISTED_COLUMNS``."""
    return ListedProposal(**_deserialized(_LISTED, row))


def _deserialized(names: Sequence[str], row: Row) -> dict[str, Any]:
    values = dict(zip(names, row, strict=True))
    read = {name: json.loads(values[name] or "{}") for name in _JSON if name in values}
    return values | read | {"state": ProposalState(values["state"])}


class SqlProposals(Repository):
    """Implements :class:`~logoadmin.ports.proposal_storage.Proposals`."""

    def next_id(self) -> int:
        return self._transaction.next_id("proposal_id")

    def next_version(self) -> int:
        return self._transaction.next_id("proposal_version")

    def last_version(self) -> int:
        return self._transaction.last("proposal_version")

    def last_version_of(self, user_id: int) -> int:
        ((version,),) = self._transaction.rows(_LAST_OF_USER, {"key": user_id})
        return int(version or 0)

    def get(self, proposal_id: int) -> StoredProposal | None:
        row = self._find(*_COLUMNS, proposal_id=proposal_id)
        return None if row is None else _proposal(row)

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
            # No user has the id -1.
            viewer_id = -1 if viewer.user_id is None else viewer.user_id
            given |= {"viewer_id": viewer_id, "since": viewer.since, "hidden_kinds": viewer.hidden_kinds}
        given = {name: value for name, value in given.items() if value is not None}
        return page_of(_PAGES.rows(self._transaction, after, limit, given, order), listed)

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
        return tuple(map(_proposal, self._transaction.rows(_UNAPPLIED, {"until": until, "limit": limit})))

    def waiting(self) -> tuple[int, int | None]:
        ((count, since),) = self._transaction.rows(_WAITING, {"state": ProposalState.WAITING.value})
        return int(count), since


def _values(proposal: StoredProposal) -> dict[str, Any]:
    values = {name: getattr(proposal, name) for name in _FIELDS}
    serialized = {name: to_json(values[name]).decode() for name in _JSON}
    return values | serialized | {"state": proposal.state.value}
