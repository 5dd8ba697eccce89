"""Proposals: changes that wait until a user with the right applies or declines them (contract R1 to R3)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from logoadmin.domain.changes import proposal_rules as rules
from logoadmin.domain.changes import proposal_states as states
from logoadmin.domain.changes import proposal_views as views
from logoadmin.domain.changes import proposed_changes as proposed
from logoadmin.domain.changes.bulk_changes import make, placed
from logoadmin.domain.changes.notices import Notices
from logoadmin.domain.changes.proposal_commands import (
    AmendProposal,
    ApplyProposal,
    DeclineProposal,
    GetProposal,
    ListProposals,
    OneProposal,
    Proposal,
    ProposalSummary,
    ProposeChanges,
    WithdrawProposal,
)
from logoadmin.domain.gallery.authors import CreateAuthor
from logoadmin.domain.gallery.picture_names import hold_pictures, release_pictures
from logoadmin.domain.gallery.pictures import may_write
from logoadmin.domain.kernel.access import OWNER, SIGNED_IN, Caller, Held, Permission, Rights, Scope
from logoadmin.domain.kernel.errors import Conflict, NotModified, NotPermitted, Outdated, TooManyChanges
from logoadmin.domain.kernel.gate import Gate, Transactions
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, AUTHORS, KINDS, USERS, WRITE_SCOPES, pictures_in
from logoadmin.domain.kernel.lists import Listing, text_length
from logoadmin.domain.kernel.records import Author, Kind
from logoadmin.domain.kernel.unit_of_work import (
    AuditedUnitOfWork,
    Reading,
    ReadUnitOfWork,
    change_log_of,
    count_use,
    history_in,
    proposals_in,
    rehearse,
    repositories_in,
)
from logoadmin.domain.kernel.use_cases import (
    Service,
    behind,
    for_program,
    reads_with_rights,
    storage_of,
    use_case,
    work_of,
)
from logoadmin.ports.history_storage import creation_of
from logoadmin.ports.proposal_storage import ProposalState, StoredProposal

MOST_WAITING: Final = 20
# Limits for users without write scopes: the bytes that wait, and the submissions in a day, including dry runs.
MOST_TEXT_WAITING: Final = 3 * 1024**2
MOST_IN_A_DAY: Final = 100
DEFAULT_DAYS: Final = 90
DAY: Final = 86_400  # seconds
# The maximum length of a proposal, in characters, with the records before: less than a packet of MariaDB.
_MOST_TEXT: Final = 3_145_728


class ProposalService(Service):
    """The use cases of proposals. Verdicts on CSS are computed while no transaction is open.

    Each raises NotFound if the caller sees no such proposal, and Outdated if it has none of the versions in
    ``if_match``.
    """

    def __init__(
        self, transactions: Transactions, services: Mapping[Kind, Service], notices: Notices, own_host: str
    ) -> None:
        """Serve proposals; ``own_host``, with its port, is not listed among the hosts that CSS contacts."""
        super().__init__(transactions)
        self._services, self._notices, self._own_host = services, notices, own_host

    @use_case(Permission(Scope.PROPOSALS_WRITE, or_else=WRITE_SCOPES))
    def propose(self, gate: Gate, command: ProposeChanges, caller: Caller = OWNER) -> Proposal:
        """Store changes that wait for a decision (contract R1, R2).

        Raises:
            NotPermitted, NotFound, Outdated: the first change that may not be proposed, or not any more.
            InvalidInput: values are not the submitter's to set.
            Conflict, DuplicateEntry: a change could not be applied; or too many proposals of the user wait.
            TooManyChanges: the proposal is too long.
        """
        judge = self._judge(gate, command, caller)

        def propose(uow: AuditedUnitOfWork, command: ProposeChanges) -> Proposal:
            user_id = uow.held.user_id
            changes = rules.changes_to_store(uow, command.changes, command.steps, (), by_submitter=True)
            new = StoredProposal(
                proposal_id=proposals_in(uow).next_id(),
                version=0,
                state=ProposalState.WAITING,
                user_id=user_id,
                user_since=0 if user_id is None else creation_of(history_in(uow), user_id),
                title=command.title,
                note=command.note,
                created_at=uow.now,
                waiting_since=uow.now,
            )
            return self._wait(uow, _with_size(uow, self._with_changes(uow, new, changes, judge), 0))

        return views.with_verdicts(gate.write(command, caller, propose), judge)

    @reads_with_rights(SIGNED_IN)
    def list(self, uow: ReadUnitOfWork, command: ListProposals, held: Held) -> Listing[ProposalSummary]:
        """Return the proposals that the caller sees, by proposal_id, without their texts (contract R1)."""
        return views.list_proposals(self, uow, command, views.viewer(uow, held))

    @use_case(SIGNED_IN)
    def get(self, gate: Gate, command: GetProposal, caller: Caller = OWNER) -> Proposal:
        """Return a proposal, visible to its submitter and to users who may apply it (contract R1).

        Raises:
            NotModified: the caller has this version of it.
        """
        judge = views.Judge(self)

        def get(uow: Reading, command: GetProposal, held: Held) -> Proposal:
            judge.read_targets(uow)
            stored = views.seen(uow, command.proposal_id, views.viewer(uow, held))
            proposal = views.shown(repositories_in(uow), stored)
            if proposal.version in command.if_none_match:
                raise NotModified(proposal.version)
            return proposal

        return views.with_verdicts(gate.snapshot_with_rights(command, caller, get), judge)

    @use_case(SIGNED_IN)
    def amend(self, gate: Gate, command: AmendProposal, caller: Caller = OWNER) -> Proposal:
        """Change a proposal that waits; a declined one that its submitter changes waits again (contract R3).

        Raises:
            NotPermitted, InvalidInput, Conflict, DuplicateEntry, TooManyChanges: see :meth:`propose`.
        """
        judge = self._judge(gate, command, caller)

        def amend(uow: AuditedUnitOfWork, command: AmendProposal) -> Proposal:
            proposal, owns = self._for_change(uow, command)
            if not owns:
                _require_applier(uow, proposal)
            elif not any(map(uow.held.hold, (Scope.PROPOSALS_WRITE, *WRITE_SCOPES))):
                raise NotPermitted
            if not (owns and proposal.state is ProposalState.DECLINED):
                _require_waiting(proposal)
            values, is_waiting = command.new_values(), proposal.state is ProposalState.WAITING
            if not values:
                return views.shown(repositories_in(uow), proposal)
            changes = values.pop("changes", None)
            amended = replace(proposal, **values)
            if changes is not None:
                is_own = owns and isinstance(uow.held, Rights)
                changed = rules.changes_to_store(uow, changes, command.steps, proposal.changes, by_submitter=is_own)
                amended = self._with_changes(uow, amended, changed, judge)
            elif not proposal.changes:
                raise Conflict(
                    f"The texts of proposal {proposal.proposal_id} are no longer kept; send its changes again"
                )
            if owns:
                amended = _with_size(uow, amended, proposal.size if is_waiting else 0)
            return _stored(uow, amended) if is_waiting else self._wait(uow, states.waiting_again(uow, amended))

        return views.with_verdicts(gate.write(command, caller, amend), judge)

    @use_case(SIGNED_IN)
    def apply(self, gate: Gate, command: ApplyProposal, caller: Caller = OWNER) -> Proposal:
        """Make the changes of a proposal, with the caller's rights alone (contract R3).

        Raises:
            NotPermitted: the caller may not make all of the changes.
            Conflict: it does not wait; or records, which the message names, were changed since.
            DuplicateEntry: see :meth:`~logoadmin.domain.changes.bulk_changes.BulkService.apply`.
        """
        judge = views.Judge(self)

        def apply(uow: AuditedUnitOfWork, command: ApplyProposal) -> Proposal:
            proposal = self._for_decision(uow, command)
            if changed := rules.stale(uow, proposal.changes, proposal.user_id):
                raise Conflict(f"Changed since proposal {proposal.proposal_id} was made: {'; '.join(changed)}")
            change_log = change_log_of(uow)
            change_log.submitter_id = proposal.user_id
            # The author comes first, so that all changes that follow are those of the proposal.
            is_needed = proposed.brings_author(proposal.changes, proposal.user_id)
            own = self._own_author(uow, proposal) if is_needed else None
            before = change_log.last_id
            artworks = self._make(uow, proposal, proposal.changes, own)
            has_changed = change_log.last_id > before
            applied = replace(
                proposal,
                request_id=change_log.act.request_id if has_changed else None,
                first_change=before + 1 if has_changed else None,
                last_change=change_log.last_id if has_changed else None,
                summary={**proposal.summary, "artworks": artworks},
            )
            return self._decide(uow, applied, ProposalState.APPLIED, judge)

        return views.with_verdicts(gate.write(command, caller, apply), judge)

    @use_case(SIGNED_IN)
    def decline(self, gate: Gate, command: DeclineProposal, caller: Caller = OWNER) -> Proposal:
        """Decline a proposal (contract R3).

        Raises:
            NotPermitted, Conflict: see :meth:`apply`.
        """
        judge = views.Judge(self)

        def decline(uow: AuditedUnitOfWork, command: DeclineProposal) -> Proposal:
            proposal = replace(self._for_decision(uow, command), reason=command.reason)
            return self._decide(uow, proposal, ProposalState.DECLINED, judge)

        return views.with_verdicts(gate.write(command, caller, decline), judge)

    @use_case(SIGNED_IN)
    def withdraw(self, gate: Gate, command: WithdrawProposal, caller: Caller = OWNER) -> Proposal:
        """Withdraw a waiting proposal, as its submitter (contract R3).

        Raises:
            NotPermitted: somebody else submitted it.
            Conflict: it does not wait.
        """
        judge = views.Judge(self)

        def withdraw(uow: AuditedUnitOfWork, command: WithdrawProposal) -> Proposal:
            proposal, owns = self._for_change(uow, command)
            if not owns:
                raise NotPermitted
            _require_waiting(proposal)
            return self._decide(uow, proposal, ProposalState.WITHDRAWN, judge)

        return views.with_verdicts(gate.write(command, caller, withdraw), judge)

    @for_program
    def waiting(self) -> tuple[int, int]:
        """Return the number of waiting proposals, and for how many seconds the first has waited, 0 without any."""
        count, since = storage_of(self).read(lambda uow: uow.proposals.waiting())
        return count, 0 if since is None else max(0, behind(self).clock.now() - since)

    def _judge(self, gate: Gate, command: ProposeChanges | AmendProposal, caller: Caller) -> views.Judge:
        """Return the verdicts on all CSS that the summary covers, after counting a submission."""
        judge, now = views.Judge(self), behind(self).clock.now()

        def read(uow: Reading, command: ProposeChanges | AmendProposal, held: Held) -> tuple[Held, Any]:
            judge.read_targets(uow)
            return held, [*views.texts_to_judge(uow, command, held)]

        held, texts = gate.snapshot_with_rights(command, caller, read)
        user_id = held.user_id
        # Dry runs count, because they cost as much.
        if (
            isinstance(command, ProposeChanges)
            and user_id is not None
            and not may_write(held)
            and gate.replayed(command, caller) is None
            and storage_of(self).write(lambda uow: count_use(uow, "proposals", user_id, now, MOST_IN_A_DAY, DAY))
        ):
            raise Conflict(f"This user has made {MOST_IN_A_DAY} proposals within a day; change one of them, or wait")
        for text in texts:
            judge.verdict(*text)
        return judge

    def _wait(self, uow: AuditedUnitOfWork, proposal: StoredProposal) -> Proposal:
        """Store a proposal that starts to wait. This is the place for other effects of that."""
        user_id = proposal.user_id
        if user_id is not None and proposals_in(uow).waiting_of(user_id, proposal.user_since)[0] >= MOST_WAITING:
            raise Conflict(f"{MOST_WAITING} proposals of this user wait; withdraw one, or wait until one is decided")
        self._notices.of_proposal(uow, proposal)
        return _stored(uow, proposal)

    def _decide(
        self, uow: AuditedUnitOfWork, proposal: StoredProposal, state: ProposalState, judge: views.Judge
    ) -> Proposal:
        """Store a proposal that is applied, declined or withdrawn. This is the place for other effects of that."""
        judge.read_targets(uow)
        decided = states.decision(uow, proposal, state)
        self._notices.of_proposal(uow, decided)
        return _stored(uow, decided)

    def _with_changes(
        self, uow: AuditedUnitOfWork, proposal: StoredProposal, changes: Sequence[proposed.Values], judge: views.Judge
    ) -> StoredProposal:
        """Return a proposal with other changes, which were checked and could be applied now."""
        if text_length(changes) > _MOST_TEXT:
            raise TooManyChanges("These changes are too long for one proposal; propose fewer of them at once")
        # A missing author is created only by applying the proposal; until then, its name may change.
        rehearse(uow, lambda uow: self._make(uow, proposal, changes))
        return replace(
            proposal,
            changes=changes,
            kinds=proposed.bits_of(KINDS[change["kind"]] for change in changes),
            summary=views.summary_of(changes, judge, self._own_host),
            first_change=None,
            last_change=None,
        )

    def _make(
        self,
        uow: AuditedUnitOfWork,
        proposal: StoredProposal,
        changes: Sequence[proposed.Values],
        own: Author | None = None,
    ) -> Sequence[proposed.Values]:
        """Make changes of a proposal; return the artworks that they created or changed.

        New artworks get the author of their submitter: ``own``, created again if a change removed it or gave it to
        another user, or without ``own`` the one that exists at that moment.
        """
        artworks, is_given = [], own is not None
        for place, step in proposed.steps_in(changes, proposal.user_id):
            if proposed.needs_author(changes[place]):
                if own is None:
                    own = self._own_author(uow, proposal) if is_given else rules.own_author(uow, proposal.user_id)
                if own is not None:
                    step = replace(step, author_ids=(own.author_id,))
            with placed(place):
                record = make(uow, self._services, step)
            if step.kind is AUTHORS:
                own = None  # it may have been removed, or be another user's
            if step.kind in ARTWORK_KINDS and step.verb != "remove":
                artworks.append({"kind": step.kind.kind.value, "id": step.kind.id_of(record)})
        return artworks

    def _own_author(self, uow: AuditedUnitOfWork, proposal: StoredProposal) -> Author:
        """Return the submitter's own author, who is created if missing."""
        author = rules.own_author(uow, proposal.user_id)
        if author is None:
            user = None if proposal.user_id is None else uow.records(USERS).get(proposal.user_id)
            # A later user with this id is another person.
            if user is None or creation_of(history_in(uow), user.user_id) != proposal.user_since:
                raise Conflict(f"User {proposal.user_id} was removed and is no author; name the authors in the changes")
            new = CreateAuthor(user_id=user.user_id, username=user.username)
            author = work_of(self._services[Kind.AUTHOR], "create", new)(uow, new)
        return author

    def _for_change(self, uow: AuditedUnitOfWork, command: OneProposal | AmendProposal) -> tuple[StoredProposal, bool]:
        """Return the proposal of a command, and whether the caller submitted it or is the program itself."""
        who = views.viewer(uow, uow.held)
        proposal = views.seen(uow, command.proposal_id, who)
        versions = {tag % (1 << views.VERSION_BITS) for tag in command.if_match or ()}
        if command.if_match is not None and proposal.version not in versions:
            raise Outdated("Proposal", proposal.proposal_id)
        return proposal, who is None or who.owns(proposal)

    def _for_decision(self, uow: AuditedUnitOfWork, command: OneProposal) -> StoredProposal:
        """Return the waiting proposal of a command, which the caller may apply or decline."""
        proposal, _ = self._for_change(uow, command)
        _require_applier(uow, proposal)
        _require_waiting(proposal)
        return proposal


def _with_size(uow: AuditedUnitOfWork, proposal: StoredProposal, before: int) -> StoredProposal:
    """Return a proposal of the caller with its size; ``before`` is the size of the waiting one that it replaces."""
    size = proposed.size_of(proposal)
    if uow.held.user_id is not None and not may_write(uow.held):
        _, waiting = proposals_in(uow).waiting_of(uow.held.user_id, proposal.user_since)
        if waiting - before + size > MOST_TEXT_WAITING:
            most = MOST_TEXT_WAITING // 1024**2
            raise Conflict(f"Proposals of this user with {most} MiB of text wait; withdraw one, or send less")
    return replace(proposal, size=size)


def _require_applier(uow: AuditedUnitOfWork, proposal: StoredProposal) -> None:
    """Require the write scopes of all kinds in a proposal."""
    uow.held.require(kind.write_scope for kind in proposed.kinds_in(proposal.kinds))


def _require_waiting(proposal: StoredProposal) -> None:
    if proposal.state is not ProposalState.WAITING:
        raise Conflict(f"Proposal {proposal.proposal_id} was {proposal.state} before")


def _stored(uow: AuditedUnitOfWork, proposal: StoredProposal) -> Proposal:
    """Store a proposal under a new version, and return it."""
    stored, is_new = repositories_in(uow), proposal.version == 0
    proposal = replace(proposal, version=stored.proposals.next_version())
    (stored.proposals.add if is_new else stored.proposals.update)(proposal)
    if proposal.state is ProposalState.WAITING:
        named = (pictures_in(change["kind"], proposed.after(change)) for change in proposal.changes)
        hold_pictures(uow, proposal.proposal_id, frozenset[str]().union(*named))
    else:
        release_pictures(stored, proposal.proposal_id, uow.now)
    return views.shown(stored, proposal, is_newest=True)
