"""The repository of proposals."""

import json
from dataclasses import fields
from typing import Any, Final

from pydantic_core import to_json
from sqlalchemy import bindparam, func, or_, select, true

from logoadmin.adapters.sql_storage.keyset_pages import IndexPath, KeysetPages
from logoadmin.adapters.sql_storage.repository import Repository
from logoadmin.adapters.sql_storage.statements import KEY, Row
from logoadmin.adapters.sql_storage.tables.changes_tables import proposals
from logoadmin.domain.kernel.lists import Order, page_of
from logoadmin.ports.changes.proposal_storage import ProposalState, StoredProposal, Viewer

_FIELDS: Final = tuple(field.name for field in fields(StoredProposal))
_COLUMNS: Final = tuple(proposals.c[name] for name in _FIELDS)
_OWN = (proposals.c.user_id == bindparam("viewer_id")) & (proposals.c.created_at >= bindparam("since"))
_OTHERS = proposals.c.kinds.bitwise_and(bindparam("hidden_kinds")) == 0
_PAGES = KeysetPages(
    select(*_COLUMNS),
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
_MADE_SINCE = select(func.count()).where(proposals.c.user_id == KEY, proposals.c.created_at >= bindparam("since"))
_WAITING_SINCE = _MADE_SINCE.where(proposals.c.state == bindparam("state"))
_LAST_OF_USER = select(func.max(proposals.c.version)).where(proposals.c.user_id == KEY)
_MADE_CHANGE = (
    select(*_COLUMNS).where(proposals.c.first_change <= KEY).order_by(proposals.c.first_change.desc()).limit(1)
)
_WAITING = select(func.count(), func.min(proposals.c.waiting_since)).where(proposals.c.state == bindparam("state"))


def _proposal(row: Row) -> StoredProposal:
    values = dict(zip(_FIELDS, row, strict=True))
    state, changes = ProposalState(values.pop("state")), json.loads(values.pop("changes"))
    return StoredProposal(state=state, changes=changes, **values)


class SqlProposals(Repository):
    """Implements :class:`~logoadmin.ports.changes.proposal_storage.Proposals`."""

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
    ) -> tuple[StoredProposal, ...]:
        given: dict[str, Any] = {"user_id": user_id, "state": state and state.value}
        if viewer is not None:
            # No user has the id -1.
            viewer_id = -1 if viewer.user_id is None else viewer.user_id
            given |= {"viewer_id": viewer_id, "since": viewer.since, "hidden_kinds": viewer.hidden_kinds}
        given = {name: value for name, value in given.items() if value is not None}
        return page_of(_PAGES.rows(self._transaction, after, limit, given, order), _proposal)

    def waiting_of(self, user_id: int, since: int) -> int:
        given = {"key": user_id, "since": since, "state": ProposalState.WAITING.value}
        ((count,),) = self._transaction.rows(_WAITING_SINCE, given)
        return int(count)

    def made_since(self, user_id: int, since: int) -> int:
        ((count,),) = self._transaction.rows(_MADE_SINCE, {"key": user_id, "since": since})
        return int(count)

    def waiting(self) -> tuple[int, int | None]:
        ((count, since),) = self._transaction.rows(_WAITING, {"state": ProposalState.WAITING.value})
        return int(count), since


def _values(proposal: StoredProposal) -> dict[str, Any]:
    values = {name: getattr(proposal, name) for name in _FIELDS}
    return values | {"state": proposal.state.value, "changes": to_json(proposal.changes).decode()}
