"""The states of proposals: how they are decided, and what undoing their changes means (contract R3)."""

from collections.abc import Collection
from dataclasses import replace

from logoadmin.domain.changes.notices import NOTICE_DELAY, Notices
from logoadmin.domain.changes.proposed_changes import size_of
from logoadmin.domain.kernel.records import Change, Kind
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, Reading, change_log_of, history_in, proposals_in
from logoadmin.ports.proposal_storage import ProposalState, StoredProposal


def decision(uow: AuditedUnitOfWork, proposal: StoredProposal, state: ProposalState) -> StoredProposal:
    """Return a proposal that the caller applied, declined or withdrew now."""
    has_unapplied = state is not ProposalState.APPLIED or any("submitted" in each for each in proposal.changes)
    since = uow.now if has_unapplied and proposal.changes else None
    decided = replace(proposal, state=state, decided_at=uow.now, decided_by=uow.held.user_id)
    return replace(decided, undone_change=None, unapplied_since=since)


def waiting_again(uow: AuditedUnitOfWork, proposal: StoredProposal) -> StoredProposal:
    """Return a decided proposal as one that waits again from now on."""
    undecided = replace(proposal, reason=None, decided_at=None, decided_by=None, unapplied_since=None)
    return replace(undecided, state=ProposalState.WAITING, waiting_since=uow.now)


def forget_unapplied(uow: Reading, until: int, most: int) -> bool:
    """Drop the unapplied texts of up to ``most`` proposals decided by a Unix time; return whether more may be left."""
    proposals = proposals_in(uow)
    found = proposals.unapplied(until, most)
    for each in found:
        # What the submitter proposed, if a reviewer edited it.
        changes = [{name: change[name] for name in change if name != "submitted"} for change in each.changes]
        is_applied = each.state is ProposalState.APPLIED
        kept = replace(each, changes=changes) if is_applied else replace(each, changes=(), note="")
        proposals.update(replace(kept, size=size_of(kept), unapplied_since=None, version=proposals.next_version()))
    return len(found) >= most


def follow_undoing(uow: AuditedUnitOfWork, change_ids: Collection[int], notices: Notices) -> None:
    """Update the states of proposals, some of whose changes were just undone or redone.

    A proposal is applied while any of its changes is in effect, and waits again once all are undone.
    """
    if change_ids:
        change_log_of(uow).store()
    last = 0
    for change_id in sorted(change_ids):
        proposal = proposals_in(uow).made_change(change_id) if change_id > last else None
        if proposal is not None and proposal.last_change is not None:
            last = proposal.last_change
            updated = _with_current_state(uow, proposal)
            if updated.state is not proposal.state:
                proposals_in(uow).update(replace(updated, version=proposals_in(uow).next_version()))
                # No notice was sent of a decision that was undone at once.
                if uow.now >= (proposal.decided_at or 0) + NOTICE_DELAY:
                    notices.of_proposal(uow, updated)


def _with_current_state(uow: AuditedUnitOfWork, proposal: StoredProposal) -> StoredProposal:
    """Return a proposal in the state that follows from its undone changes."""
    undoers = [_undoer_of(uow, id_) for id_ in range(proposal.first_change or 0, (proposal.last_change or 0) + 1)]
    if None in undoers:
        return decision(uow, replace(proposal, reason=None), ProposalState.APPLIED)
    if proposal.state is not ProposalState.APPLIED:
        return proposal
    undone_change = max(undoer for undoer in undoers if undoer is not None)
    return replace(waiting_again(uow, proposal), undone_change=undone_change)


def _undoer_of(uow: AuditedUnitOfWork, change_id: int) -> int | None:
    """Return the change that undid another one; None if that one is in effect."""
    undoers = [change_id]
    while undoer := history_in(uow).undoer_of(undoers[-1]):
        undoers.append(undoer[0])
    return None if len(undoers) % 2 else undoers[1]


def came_with_artwork(uow: AuditedUnitOfWork, change: Change) -> bool:
    """Return whether a change created the submitter's own author, as part of a proposal's artworks."""
    made_change = proposals_in(uow).made_change
    is_own = change.kind is Kind.AUTHOR and change.after is not None and change.after["user_id"] == change.submitter_id
    return is_own and made_change(change.change_id) is None and made_change(change.change_id + 1) is not None
