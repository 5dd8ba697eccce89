"""The proposals."""

from collections.abc import Collection
from itertools import islice

from logoadmin.adapters.memory_storage.tables import IdCounter, Repository
from logoadmin.domain.kernel.lists import Order, text_length, truncated_page
from logoadmin.ports.proposal_storage import ListedProposal, ProposalState, StoredProposal, Viewer


class MemoryProposals(Repository):
    """The proposals, as :class:`~logoadmin.ports.proposal_storage.Proposals` says."""

    def next_id(self) -> int:
        return IdCounter(self._tables, self._journal, "proposal_id").next()

    def next_version(self) -> int:
        return IdCounter(self._tables, self._journal, "proposal_version").next()

    def last_version(self) -> int:
        return self._tables.last_ids.get("proposal_version", 0)

    def last_version_of(self, user_id: int) -> int:
        return max((each.version for each in self._tables.proposals.values() if each.user_id == user_id), default=0)

    def get(self, proposal_id: int) -> StoredProposal | None:
        return self._tables.proposals.get(proposal_id)

    def made_change(self, change_id: int) -> StoredProposal | None:
        made = self._tables.proposals.values()
        found = (each for each in made if (each.first_change or change_id + 1) <= change_id <= (each.last_change or 0))
        return next(found, None)

    def add(self, proposal: StoredProposal) -> None:
        self._journal.set(self._tables.proposals, proposal.proposal_id, proposal)

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
            proposal.listed()
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
        proposals = self._tables.proposals.values()
        return [proposal for proposal in proposals if proposal.state is ProposalState.WAITING]
