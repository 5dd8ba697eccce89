"""Notices for members: decisions about their submissions, and blocks of their works (contract R7).

They are derived from proposals and blocks, and nothing is sent; :mod:`~logoadmin.domain.changes.notices` sends notices
to URLs.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from logoadmin.domain.kernel.access import SIGNED_IN, Held, user_of
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS
from logoadmin.domain.kernel.limits import CreatedAt, Id, ProposalId, described
from logoadmin.domain.kernel.records import Kind, ListedKind
from logoadmin.domain.kernel.unit_of_work import (
    AnyUnitOfWork,
    AuditedUnitOfWork,
    ReadUnitOfWork,
    history_in,
    member_notices_in,
)
from logoadmin.domain.kernel.use_cases import Service, reads_with_rights, writes
from logoadmin.ports.history_storage import creation_of
from logoadmin.ports.proposal_storage import BlockedWork, ListedProposal, ProposalState, SeenNotices

MOST_NOTICES: Final = 50
MemberNoticeEvent = Literal["applied", "declined", "undone", "blocked"]


class GetNotices(Command):
    """The notices for the caller about their own submissions and works."""


class MarkNoticesSeen(Command):
    """The caller has seen all of their notices."""

    keeps_answer = False


@dataclass(frozen=True, slots=True)
class MemberNotice:
    """A decision about a submission or a work of the user."""

    at: Annotated[CreatedAt, described("When it happened, as Unix time in seconds.", 1_800_000_600)]
    event: Annotated[
        MemberNoticeEvent,
        described(
            "Whether a submission was applied, declined or (after it was applied) undone, or a work was blocked.",
            "applied",
        ),
    ]
    proposal_id: Annotated[ProposalId | None, described("The submission; `null` for a block.", 3)]
    kind: Annotated[
        ListedKind | None, described("The kind of record; `null` for a submission of several records.", "logo")
    ]
    id: Annotated[
        Id | None, described("The id of the artwork that was blocked, or that the submission created or changed.", 12)
    ]
    name: Annotated[str, described("The name of the artwork, or else the title of the submission.", "Aurora")]
    reason: Annotated[str | None, described("Why it was declined or blocked.", None)]


@dataclass(frozen=True, slots=True)
class MemberNotices:
    """The newest notices of the user."""

    notices: Annotated[
        tuple[MemberNotice, ...],
        described(
            "At most 50 notices, the newest first; unseen ones come before all others.",
            [
                {
                    "at": 1_800_000_600,
                    "event": "declined",
                    "proposal_id": 3,
                    "kind": "logo",
                    "id": None,
                    "name": "Aurora",
                    "reason": "The text is hard to read",
                }
            ],
        ),
    ]
    unseen: Annotated[int, described("The number of notices that the user has not seen.", 2)]


@dataclass(frozen=True, slots=True)
class UnseenNotices:
    """The number of notices that the user has not seen."""

    unseen: Annotated[int, described("Always 0: all notices are marked as seen.", 0)]


class MemberNoticeService(Service):
    """The use cases of notices for members: each raises NotAuthenticated without a user, NotPermitted for a key."""

    @reads_with_rights(SIGNED_IN)
    def get(self, uow: ReadUnitOfWork, _command: GetNotices, held: Held) -> MemberNotices:
        """Return the caller's newest notices."""
        user_id = user_of(held)
        notices = _notices(uow, user_id)
        unseen = _unseen(notices, member_notices_in(uow).seen(user_id))
        # Within a second, unseen notices come first.
        return MemberNotices((*unseen, *(each for each in notices if each not in unseen)), len(unseen))

    @writes(SIGNED_IN)
    def mark_seen(self, uow: AuditedUnitOfWork, _command: MarkNoticesSeen) -> UnseenNotices:
        """Mark the caller's notices as seen. The mark is not in the history, and goes with the user."""
        user_id = user_of(uow.held)
        notices = _notices(uow, user_id)
        if notices:
            newest = notices[0].at
            keys = frozenset(_key(each) for each in notices if each.at == newest)
            member_notices_in(uow).set_seen(user_id, SeenNotices(newest, keys))
        return UnseenNotices(0)


def _notices(uow: AnyUnitOfWork, user_id: int) -> tuple[MemberNotice, ...]:
    stored = member_notices_in(uow)
    # Proposals of an earlier user with this id were another person's.
    proposals = stored.decided(user_id, creation_of(history_in(uow), user_id), MOST_NOTICES)
    blocked = stored.blocked(user_id, MOST_NOTICES)
    notices = [*map(_of_proposal, proposals), *map(_of_block, blocked)]
    notices.sort(key=lambda each: (each.at, each.proposal_id or 0, each.kind or "", each.id or 0), reverse=True)
    return tuple(notices[:MOST_NOTICES])


def _of_proposal(proposal: ListedProposal) -> MemberNotice:
    summary = proposal.summary
    kind: Any = Kind(next(iter(summary["counts"]))) if sum(summary["counts"].values()) == 1 else None
    is_artwork = any(kind is each.kind for each in ARTWORK_KINDS)
    is_applied = proposal.state is ProposalState.APPLIED
    return MemberNotice(
        # An undone proposal has waited again since then.
        at=proposal.waiting_since if proposal.decided_at is None else proposal.decided_at,
        event="applied" if is_applied else "undone" if proposal.decided_at is None else "declined",
        proposal_id=proposal.proposal_id,
        kind=kind,
        # A removal has none.
        id=summary["artworks"][0]["id"] if is_applied and is_artwork and summary["artworks"] else None,
        name=summary["names"][0] if is_artwork else proposal.title,
        reason=proposal.reason,
    )


def _of_block(work: BlockedWork) -> MemberNotice:
    kind: Any = work.kind
    return MemberNotice(
        at=work.at, event="blocked", proposal_id=None, kind=kind, id=work.id, name=work.name, reason=work.reason
    )


def _key(notice: MemberNotice) -> str:
    return f"{notice.event}:{notice.proposal_id or f'{notice.kind}:{notice.id}'}"


def _unseen(notices: tuple[MemberNotice, ...], seen: SeenNotices | None) -> tuple[MemberNotice, ...]:
    if seen is None:
        return notices
    return tuple(
        each for each in notices if each.at > seen.at or (each.at == seen.at and _key(each) not in seen.of_that_second)
    )
