"""Proposals whose changes were undone: they wait again (contract R3)."""

from collections.abc import Collection
from dataclasses import replace

from logoadmin.domain.changes.change_list import undoer_of
from logoadmin.domain.changes.notices import NOTICE_DELAY, Notices
from logoadmin.domain.changes.proposal_rules import decision
from logoadmin.domain.kernel.records import Change, Kind
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, change_log_of, history_in, proposals_in
from logoadmin.ports.proposal_storage import ProposalState, StoredProposal


def follow_undoing(uow: AuditedUnitOfWork, change_ids: Collection[int], notices: Notices) -> None:
    """Store the states of proposals, given the changes of theirs that were just undone, or that hold again.

    A proposal is applied while any of its changes holds. It waits again once all of them were undone.
    """
    if change_ids:
        change_log_of(uow).store()
    last = 0
    for change_id in sorted(change_ids):
        proposal = proposals_in(uow).made_change(change_id) if change_id > last else None
        if proposal is not None and proposal.last_change is not None:
            last = proposal.last_change
            followed = _followed(uow, proposal)
            if followed.state is not proposal.state:
                proposals_in(uow).update(replace(followed, version=proposals_in(uow).next_version()))
                # Nobody has heard of a decision that was undone at once.
                if uow.now >= (proposal.decided_at or 0) + NOTICE_DELAY:
                    notices.of_proposal(uow, followed, uow.now)


def original_of(uow: AuditedUnitOfWork, change: Change) -> Change:
    """Return the change that a change undid or made hold again, or else the change itself."""
    while change.undoes is not None and (undone := history_in(uow).get(change.undoes)) is not None:
        change = undone
    return change


def came_with_artwork(uow: AuditedUnitOfWork, change: Change) -> bool:
    """Return whether a change created the submitter's own author for the artworks of a proposal, as a part of these."""
    made_change = proposals_in(uow).made_change
    is_own = change.kind is Kind.AUTHOR and change.after is not None and change.after["user_id"] == change.submitter_id
    return is_own and made_change(change.change_id) is None and made_change(change.change_id + 1) is not None


def _followed(uow: AuditedUnitOfWork, proposal: StoredProposal) -> StoredProposal:
    """Return a proposal in the state that follows from which of its changes were undone."""
    undoers = [undoer_of(uow, id_) for id_ in range(proposal.first_change or 0, (proposal.last_change or 0) + 1)]
    if None in undoers:
        return decision(replace(proposal, reason=None), ProposalState.APPLIED, uow.now, uow.held.user_id)
    if proposal.state is not ProposalState.APPLIED:
        return proposal
    undone_change = max(undoer[0] for undoer in undoers if undoer is not None)
    waiting = replace(proposal, state=ProposalState.WAITING, waiting_since=uow.now, undone_change=undone_change)
    return replace(waiting, decided_at=None, decided_by=None, unapplied_since=None)
