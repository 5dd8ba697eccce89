"""The records and proposals that name pictures, and how long they keep them (contract P4, P5)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from logoadmin.domain.kernel.act_log import BLOCKED_FIELD
from logoadmin.domain.kernel.change_log import ChangeLog
from logoadmin.domain.kernel.kinds import KINDS, ArtworkKind, pictures_in
from logoadmin.domain.kernel.records import Change, Kind
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, repositories_in
from logoadmin.ports.gallery_storage import PictureName, Standing
from logoadmin.ports.proposal_storage import ProposalState
from logoadmin.ports.storage import UnitOfWork

# How long an unnamed picture stays: after it was sent, and after the last proposal with it was decided.
DAY: Final = 86_400
_WEEK: Final = 7 * DAY
_PROPOSAL: Final = "proposal"
# More than the proposals of one user that can wait.
_MOST_WAITING: Final = 100


def follow_names(uow: UnitOfWork, change_log: ChangeLog, changes: Sequence[Change], *, final: bool) -> None:  # noqa: ARG001 (as the protocol says)
    """Store the pictures that changed records name now. Pictures in changes stay as long as the history does.

    The change log must have the withdrawals after the changes.
    """
    named: set[str] = set()
    both: dict[tuple[Kind, int], tuple[Change, Change]] = {}
    for change in changes:
        named |= pictures_in(change.kind, change.before) | pictures_in(change.kind, change.after)
        first, _ = both.get((change.kind, change.id), (change, change))
        both[change.kind, change.id] = first, change
    if named:
        uow.pictures.note_in_history(sorted(named))
    dropped: defaultdict[Kind, list[int]] = defaultdict(list)
    put: list[PictureName] = []
    for (kind, id_), (first, last) in both.items():
        before = None if first.before is None else (pictures_in(kind, first.before), _standing(kind, first.before))
        withdrawal = change_log.withdrawals.get((kind, id_))
        is_blocked = withdrawal is not None and withdrawal.reason is not None
        after = pictures_in(kind, last.after), _standing(kind, last.after)
        if last.after is None and is_blocked:
            after = pictures_in(kind, last.before), Standing.BLOCKED
        if after != before:
            # A removed record names pictures only while it is blocked.
            if before[0] if before is not None else (kind, id_) in change_log.once_withdrawn:
                dropped[kind].append(id_)
            put += _names(kind, id_, *after)
        if kind is Kind.USER and last.after is None:
            _forget_user(uow, id_, change_log.now)
    for kind, ids in dropped.items():
        uow.pictures.drop_names(kind, *ids)
    if put:
        uow.pictures.put_names(put)


def hold_pictures(uow: AuditedUnitOfWork, proposal_id: int, named: frozenset[str]) -> None:
    """Store the pictures of a proposal that is waiting now."""
    pictures = repositories_in(uow).pictures
    pictures.drop_names(_PROPOSAL, proposal_id)
    if named:
        pictures.put_names(_names(_PROPOSAL, proposal_id, named, Standing.OTHER))


def release_pictures(uow: UnitOfWork, proposal_id: int, now: int) -> None:
    """Keep the pictures of a decided proposal for another week; after that, only other names keep them."""
    if named := uow.pictures.named_by(_PROPOSAL, proposal_id):
        uow.pictures.keep(named, now + _WEEK)
        uow.pictures.drop_names(_PROPOSAL, proposal_id)


def _forget_user(uow: UnitOfWork, user_id: int, now: int) -> None:
    """Release the pictures of a removed user's proposals, and forget the sender: another user may get the id."""
    uow.pictures.forget_sender(user_id)
    for proposal in uow.proposals.page(-1, _MOST_WAITING, ProposalState.WAITING, user_id):
        release_pictures(uow, proposal.proposal_id, now)


def _names(kind: str, id_: int, named: frozenset[str], standing: Standing) -> list[PictureName]:
    return [PictureName(kind, id_, picture, standing) for picture in sorted(named)]


def _standing(kind: Kind, values: Mapping[str, Any] | None) -> Standing:
    """Return the standing of the pictures in a record with these values."""
    if kind is Kind.SETTINGS and values is not None:
        return Standing.PUBLISHED
    if values is None or not isinstance(KINDS.get(kind), ArtworkKind):
        return Standing.OTHER
    if values["active"]:
        return Standing.PUBLISHED
    return Standing.OTHER if values.get(BLOCKED_FIELD) is None else Standing.BLOCKED
