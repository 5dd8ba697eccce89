"""Proposals as callers see them, and which ones they see (contract R1)."""

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any, Final

from logoadmin.domain.changes.change_list import users_of
from logoadmin.domain.changes.proposal_commands import ListProposals
from logoadmin.domain.changes.proposal_records import AppliedArtwork, Proposal, ProposalSummary, ProposedChange
from logoadmin.domain.changes.proposal_rules import Values, after, bits_of
from logoadmin.domain.kernel.access import AllRights, Held, Scope
from logoadmin.domain.kernel.errors import NotFound
from logoadmin.domain.kernel.kinds import KINDS, USERS
from logoadmin.domain.kernel.lists import RECORD_PAGE_SIZES, ListCommand, page_of
from logoadmin.domain.kernel.pagination import Pages
from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.kernel.unit_of_work import AnyUnitOfWork, Reading, history_in, proposals_in
from logoadmin.ports.history_storage import creation_of
from logoadmin.ports.proposal_storage import ListedProposal, ProposalState, StoredProposal, Viewer

# An entity tag has the version of a proposal, and above it a number that rises with what else the response depends on,
# such as the name of the submitter. Only versions are compared.
VERSION_BITS: Final = 32
_NOBODY: Final = -1


def viewer(uow: AnyUnitOfWork, held: Held) -> Viewer | None:
    """Return what a caller sees; None for the program itself, which sees everything."""
    if isinstance(held, AllRights):
        return None
    hidden = bits_of(kind for kind in KINDS.values() if not held.hold(kind.write_scope))
    user = uow.records(USERS).get(held.user_id)
    # A service key has no more than its scope.
    if user is None or not (held.of_user or held.hold(Scope.PROPOSALS_WRITE)):
        return Viewer(None, 0, hidden)
    # An earlier user with this id was another person.
    return Viewer(held.user_id, creation_of(history_in(uow), held.user_id), hidden)


def seen(uow: AnyUnitOfWork, proposal_id: int, viewer: Viewer | None) -> StoredProposal:
    """Return a proposal that a caller sees.

    Raises:
        NotFound: the caller sees no such proposal.
    """
    proposal = proposals_in(uow).get(proposal_id)
    if proposal is None or not (viewer is None or viewer.sees(proposal)):
        raise NotFound("Proposal", proposal_id)
    return proposal


def pages(command: ListProposals, viewer: Viewer | None) -> Pages[ProposalSummary]:
    """Return the proposals that a caller sees and that match the filters of a command."""
    # Those who could apply none see their own, for which an index exists.
    owner = None
    if viewer is not None and viewer.hidden_kinds == bits_of(KINDS.values()):
        owner = _NOBODY if viewer.user_id is None else viewer.user_id
    user_id = owner if command.user_id is None else command.user_id

    def version(uow: Reading, _command: ListCommand) -> int:
        """Return a number that also rises with changes of names, and not with hidden proposals."""
        last = proposals_in(uow).last_version() if owner is None else proposals_in(uow).last_version_of(owner)
        return history_in(uow).last_of_kinds().get(Kind.USER, 0) << VERSION_BITS | last

    def page(place: Any, limit: int, uow: Reading) -> tuple[ProposalSummary, ...]:
        found = proposals_in(uow).page(place, limit, command.state, user_id, viewer, command.order)
        listed = iter(_values(uow, found))
        return page_of(found, lambda _: ProposalSummary(**next(listed)))

    id_of = attrgetter("proposal_id")
    return Pages(page, version, RECORD_PAGE_SIZES, id_of, id_of)


def shown(uow: Reading, proposal: StoredProposal) -> Proposal:
    """Return a proposal as callers see it, without verdicts."""
    (values,) = _values(uow, [proposal])
    last_changes = history_in(uow).last_of_kinds()
    # Names and verdicts depend on users and settings, and ``first_work`` on the submitter's other proposals. Neither of
    # the two numbers ever falls, so their sum is that of one state.
    shown = max(last_changes.get(kind, 0) for kind in (Kind.USER, Kind.SETTINGS))
    shown += 0 if proposal.user_id is None else proposals_in(uow).last_version_of(proposal.user_id)
    version = shown << VERSION_BITS | proposal.version
    return Proposal(**values, version=version, note=proposal.note, changes=tuple(map(_change, proposal.changes)))


def _values(uow: Reading, proposals: Sequence[ListedProposal]) -> Iterator[dict[str, Any]]:
    """Yield what lists show of proposals."""
    undone_changes = [each.undone_change and history_in(uow).get(each.undone_change) for each in proposals]
    undoings = {each.change_id: each for each in undone_changes if each}
    users = users_of([each.user_id for each in proposals] + [each.user_id for each in undoings.values()], uow)
    created = history_in(uow).creations(Kind.USER, [user.user_id for user in users.values()])
    waiting = [each for each in proposals if each.state is ProposalState.WAITING]
    successful = proposals_in(uow).successful({each.user_id for each in waiting if each.user_id is not None})
    for proposal in proposals:
        user = users.get(proposal.user_id)
        # Somebody else may have the id of a removed user.
        submitter = user if user is not None and created.get(user.user_id, 0) == proposal.user_since else None
        undoing = undoings.get(proposal.undone_change or 0)
        undoer = None if undoing is None else users.get(undoing.user_id)
        if undoing is not None and undoer is not None and created.get(undoer.user_id, 0) > undoing.change_id:
            undoer = None
        yield dict(
            proposal_id=proposal.proposal_id,
            title=proposal.title,
            state=proposal.state,
            user_id=proposal.user_id,
            user_name=None if submitter is None else submitter.username,
            first_work=proposal.state is ProposalState.WAITING
            and proposal.user_id is not None
            and (proposal.user_id, proposal.user_since) not in successful,
            **_summary(proposal.summary),
            reason=proposal.reason,
            created_at=proposal.created_at,
            decided_at=proposal.decided_at,
            decided_by=proposal.decided_by,
            request_id=proposal.request_id,
            undone=undoing is not None,
            undone_at=None if undoing is None else undoing.at,
            undone_by=None if undoing is None else undoing.request_id,
            undone_user_id=None if undoing is None else undoing.user_id,
            undone_user_name=None if undoer is None else undoer.username,
        )


def _summary(stored: Values) -> dict[str, Any]:
    values = {name: value if name == "counts" else tuple(value) for name, value in stored.items()}
    return values | {"artworks": tuple(AppliedArtwork(**each) for each in stored["artworks"])}


def _change(change: Values) -> ProposedChange:
    given = {name: change.get(name) for name in ("id", "version", "set", "block", "create")}
    return ProposedChange(
        kind=Kind(change["kind"]),  # type: ignore[arg-type]  # one with lists
        **given,
        remove=change.get("remove", False),
        before=change["before"],
        after=after(change),
        submitted=change.get("submitted"),
    )
