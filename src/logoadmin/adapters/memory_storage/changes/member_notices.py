"""The sources of notices for members, and what each has seen."""

from collections.abc import Iterator
from heapq import nlargest
from operator import attrgetter

from logoadmin.adapters.memory_storage.tables import Repository
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS
from logoadmin.domain.kernel.records import Kind
from logoadmin.ports.proposal_storage import BlockedWork, ListedProposal, ProposalState, SeenNotices, StoredProposal


class MemoryMemberNotices(Repository):
    """The sources, as :class:`~logoadmin.ports.proposal_storage.MemberNotices` says."""

    def decided(self, user_id: int, since: int, limit: int) -> tuple[ListedProposal, ...]:
        found = (
            each
            for each in self._of_user(user_id, since)
            if each.state in (ProposalState.APPLIED, ProposalState.DECLINED)
        )
        return tuple(each.listed() for each in nlargest(limit, found, attrgetter("decided_at", "proposal_id")))

    def undone(self, user_id: int, since: int, limit: int) -> tuple[ListedProposal, ...]:
        found = (
            each
            for each in self._of_user(user_id, since)
            if each.state is ProposalState.WAITING and each.undone_change is not None
        )
        return tuple(each.listed() for each in nlargest(limit, found, attrgetter("waiting_since", "proposal_id")))

    def blocked(self, user_id: int, limit: int) -> tuple[BlockedWork, ...]:
        return tuple(nlargest(limit, self._blocked(user_id), attrgetter("at", "kind", "id")))

    def seen(self, user_id: int) -> SeenNotices | None:
        return self._tables.seen_notices.get(user_id)

    def set_seen(self, user_id: int, seen: SeenNotices) -> None:
        self._journal.set(self._tables.seen_notices, user_id, seen)

    def _of_user(self, user_id: int, since: int) -> Iterator[StoredProposal]:
        proposals = self._tables.proposals.values()
        return (each for each in proposals if (each.user_id, each.user_since) == (user_id, since))

    def _blocked(self, user_id: int) -> Iterator[BlockedWork]:
        authors = self._tables.records[Kind.AUTHOR].values()
        own = [author.author_id for author in authors if author.user_id == user_id]
        for kind in ARTWORK_KINDS:
            for id_, links in self._tables.links[kind.kind].items():
                withdrawal = self._tables.withdrawals.get((kind.kind, id_))
                if withdrawal is not None and withdrawal.reason is not None and any(each in links for each in own):
                    name = self._tables.records[kind.kind][id_].name
                    yield BlockedWork(kind.kind, id_, name, withdrawal.at, withdrawal.reason)
