"""The proposals, the notices, and the sources of notices for members."""

from collections.abc import Collection, Iterator
from copy import deepcopy
from heapq import nlargest
from itertools import islice
from operator import attrgetter

from logoadmin.adapters.memory_storage.tables import Repository
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS
from logoadmin.domain.kernel.lists import Order, text_length, truncated_page
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


class MemoryProposals(Repository):
    """Implements :class:`~logoadmin.ports.proposal_storage.Proposals`."""

    def next_id(self) -> int:
        return self._next("proposal_id")

    def next_version(self) -> int:
        return self._next("proposal_version")

    def last_version(self, user_id: int | None = None) -> int:
        if user_id is None:
            return self._tables.last_ids.get("proposal_version", 0)
        return max((each.version for each in self._tables.proposals.values() if each.user_id == user_id), default=0)

    def get(self, proposal_id: int) -> StoredProposal | None:
        return deepcopy(self._tables.proposals.get(proposal_id))

    def made_change(self, change_id: int) -> StoredProposal | None:
        made = self._tables.proposals.values()
        found = (each for each in made if (each.first_change or change_id + 1) <= change_id <= (each.last_change or 0))
        return next(found, None)

    def add(self, proposal: StoredProposal) -> None:
        self._tables.proposals[proposal.proposal_id] = deepcopy(proposal)

    update = add

    def page(
        self,
        after: int,
        limit: int,
        state: ProposalState | None = None,
        user_id: int | None = None,
        viewer: Viewer | None = None,
        order: Order = "asc",
    ) -> tuple[ListedProposal, ...]:
        found = (
            deepcopy(proposal).listed()
            for proposal in self._tables.proposals.after(after, order)
            if state in (None, proposal.state)
            and user_id in (None, proposal.user_id)
            and (viewer is None or viewer.sees(proposal))
        )
        return truncated_page(islice(found, limit), text_length)

    def waiting_of(self, user_id: int, since: int) -> tuple[int, int]:
        sizes = [each.size for each in self._waiting() if (each.user_id, each.user_since) == (user_id, since)]
        return len(sizes), sum(sizes)

    def successful(self, user_ids: Collection[int]) -> frozenset[tuple[int, int]]:
        made = self._tables.proposals.values()
        applied = [each for each in made if each.state is ProposalState.APPLIED and each.user_id in user_ids]
        return frozenset((each.user_id, each.user_since) for each in applied if each.user_id is not None)

    def unapplied(self, until: int, limit: int) -> tuple[StoredProposal, ...]:
        found = [(each.unapplied_since, id_) for id_, each in self._tables.proposals.items()]
        due = sorted((since, id_) for since, id_ in found if since is not None and since <= until)
        return tuple(self._tables.proposals[id_] for _, id_ in due[:limit])

    def waiting(self) -> tuple[int, int | None]:
        waiting = self._waiting()
        return len(waiting), min((proposal.waiting_since for proposal in waiting), default=None)

    def _waiting(self) -> list[StoredProposal]:
        return self._tables.proposals.where(state=ProposalState.WAITING)


class MemoryNotices(Repository):
    """Implements :class:`~logoadmin.ports.proposal_storage.Notices`."""

    def next_id(self) -> int:
        return self._next("notice_id")

    def add(self, notice: StoredNotice) -> None:
        self._tables.notices[notice.notice_id] = notice

    def due(self, now: int) -> StoredNotice | None:
        due = (each for each in self._tables.notices.values() if each.due_at <= now)
        return min(due, key=lambda each: (each.due_at, each.notice_id), default=None)

    def attempt(self, notice_id: int, due_at: int, attempts: int) -> None:
        self._tables.notices.change(notice_id, due_at=due_at, attempts=attempts)

    def remove(self, notice_id: int) -> None:
        self._tables.notices.discard(notice_id)


class MemoryMemberNotices(Repository):
    """Implements :class:`~logoadmin.ports.proposal_storage.MemberNotices`."""

    def decided(self, user_id: int, since: int, limit: int) -> tuple[ListedProposal, ...]:
        own = self._tables.proposals.where(user_id=user_id, user_since=since)
        decided = [each for each in own if each.state in (ProposalState.APPLIED, ProposalState.DECLINED)]
        undone = [each for each in own if each.state is ProposalState.WAITING and each.undone_change is not None]
        newest = nlargest(limit, decided, attrgetter("decided_at", "proposal_id"))
        newest += nlargest(limit, undone, attrgetter("waiting_since", "proposal_id"))
        return tuple(deepcopy(each).listed() for each in newest)

    def blocked(self, user_id: int, limit: int) -> tuple[BlockedWork, ...]:
        return tuple(nlargest(limit, self._blocked(user_id), attrgetter("at", "kind", "id")))

    def seen(self, user_id: int) -> SeenNotices | None:
        return self._tables.seen_notices.get(user_id)

    def set_seen(self, user_id: int, seen: SeenNotices) -> None:
        self._tables.seen_notices[user_id] = seen

    def _blocked(self, user_id: int) -> Iterator[BlockedWork]:
        authors = self._tables.records[Kind.AUTHOR].values()
        own = [author.author_id for author in authors if author.user_id == user_id]
        for kind in ARTWORK_KINDS:
            for id_, links in self._tables.links[kind.kind].items():
                withdrawal = self._tables.withdrawals.get((kind.kind, id_))
                if withdrawal is not None and withdrawal.reason is not None and any(each in links for each in own):
                    name = self._tables.records[kind.kind][id_].name
                    yield BlockedWork(kind.kind, id_, name, withdrawal.at, withdrawal.reason)
