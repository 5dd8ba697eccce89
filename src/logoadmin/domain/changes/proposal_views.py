"""Proposals as callers see them: which ones, and with the verdicts on their CSS (contract R1)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, Final

from logoadmin.domain.changes.change_list import Usernames
from logoadmin.domain.changes.proposal_commands import (
    AmendProposal,
    AppliedArtwork,
    ListProposals,
    Proposal,
    ProposalSummary,
    ProposeChanges,
    ProposedChange,
)
from logoadmin.domain.changes.proposed_changes import Values, after, bits_of
from logoadmin.domain.identity.sign_in_rules import NO_USER
from logoadmin.domain.kernel.access import AllRights, Held, Scope
from logoadmin.domain.kernel.command import UNSET
from logoadmin.domain.kernel.errors import NotFound
from logoadmin.domain.kernel.kinds import KINDS, USERS, AnyArtworkKind, ArtworkKind
from logoadmin.domain.kernel.lists import RECORD_PAGE_SIZES, Listing, page_of
from logoadmin.domain.kernel.pagination import Pages
from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.kernel.unit_of_work import (
    AnyUnitOfWork,
    Reading,
    history_in,
    proposals_in,
    repositories_in,
    shared_settings,
)
from logoadmin.domain.kernel.use_cases import Service, behind, storage_of
from logoadmin.domain.publication.css.css_service import verdict_on
from logoadmin.domain.publication.css.targets import Targets, targets_of
from logoadmin.domain.publication.css.verdict import Verdict
from logoadmin.ports.history_storage import creation_of
from logoadmin.ports.proposal_storage import ListedProposal, ProposalState, StoredProposal, Viewer
from logoadmin.ports.storage import UnitOfWork

# An entity tag has the version of a proposal in its low bits, and above it a number that rises with everything else in
# the response, such as the name of the submitter. Only versions are compared.
VERSION_BITS: Final = 32
# The limit for all verdicts on one proposal together, in seconds of processor time.
_MOST_JUDGING: Final = 4.0
_MOST_SHOWN: Final = 3
_MOST_HOSTS: Final = 100
_CSS: Final = "custom_css"
_TARGET: Final = "target"
# Fields that are the same in a stored proposal and in a list.
_AS_STORED: Final = (
    *("proposal_id", "title", "state", "user_id", "reason", "created_at", "decided_at", "decided_by", "request_id"),
)


def viewer(uow: AnyUnitOfWork, held: Held) -> Viewer | None:
    """Return the view of a caller; None for the program itself, which sees everything."""
    if isinstance(held, AllRights):
        return None
    hidden = bits_of(kind for kind in KINDS.values() if not held.hold(kind.write_scope))
    user = uow.records(USERS).get(held.user_id)
    # A service key has no more than its scope.
    if user is None or not (held.of_user or held.hold(Scope.PROPOSALS_WRITE)):
        return Viewer(NO_USER, 0, hidden)
    # An earlier user with this id was another person.
    return Viewer(held.user_id, creation_of(history_in(uow), held.user_id), hidden)


def seen(uow: AnyUnitOfWork, proposal_id: int, viewer: Viewer | None) -> StoredProposal:
    """Return a proposal that a caller sees; raise NotFound if there is none."""
    proposal = proposals_in(uow).get(proposal_id)
    if proposal is None or not (viewer is None or viewer.sees(proposal)):
        raise NotFound("Proposal", proposal_id)
    return proposal


def list_proposals(
    service: Service, uow: Reading, command: ListProposals, viewer: Viewer | None
) -> Listing[ProposalSummary]:
    """Return the proposals that a caller sees and that match the filters of a command."""
    # Callers that can apply no proposal see their own, for which an index exists.
    owner = viewer.user_id if viewer is not None and viewer.hidden_kinds == bits_of(KINDS.values()) else None
    user_id = owner if command.user_id is None else command.user_id
    # A number that also rises with changes of names, and not with hidden proposals.
    last = proposals_in(uow).last_version(owner)
    version = history_in(uow).last_of_kinds().get(Kind.USER, 0) << VERSION_BITS | last

    def page(place: Any, limit: int, uow: Reading) -> tuple[ProposalSummary, ...]:
        found = proposals_in(uow).page(place, limit, command.state, user_id, viewer, command.order)
        listed = iter(_values(repositories_in(uow), found))
        return page_of(found, lambda _: ProposalSummary(**next(listed)))

    return Pages(page, RECORD_PAGE_SIZES, attrgetter("proposal_id")).listing(service, uow, command, version)


def shown(uow: UnitOfWork, proposal: StoredProposal, *, is_newest: bool = False) -> Proposal:
    """Return a proposal as callers see it, without verdicts; ``is_newest`` if no other was stored since."""
    (values,) = _values(uow, [proposal])
    last_changes = uow.changes.last_of_kinds()
    # Names and verdicts depend on users and settings, and ``first_work`` on the submitter's other proposals. Neither of
    # these numbers ever falls, so their sum identifies one state.
    shown = max(last_changes.get(kind, 0) for kind in (Kind.USER, Kind.SETTINGS))
    if proposal.user_id is not None:
        shown += proposal.version if is_newest else uow.proposals.last_version(proposal.user_id)
    version = shown << VERSION_BITS | proposal.version
    return Proposal(**values, version=version, note=proposal.note, changes=tuple(map(_change, proposal.changes)))


def _values(uow: UnitOfWork, proposals: Sequence[ListedProposal]) -> Iterator[dict[str, Any]]:
    """Yield the fields of proposals in lists."""
    undone_changes = [each.undone_change and uow.changes.get(each.undone_change) for each in proposals]
    undoings = {each.change_id: each for each in undone_changes if each}
    ids = [each.user_id for each in proposals] + [each.user_id for each in undoings.values()]
    names = Usernames(ids, uow.records(USERS), uow.changes)
    waiting = [each for each in proposals if each.state is ProposalState.WAITING]
    waiting_of = {each.user_id for each in waiting if each.user_id is not None}
    successful = uow.proposals.successful(waiting_of) if waiting_of else frozenset()
    for proposal in proposals:
        undoing = undoings.get(proposal.undone_change or 0)
        is_first = proposal.user_id is not None and (proposal.user_id, proposal.user_since) not in successful
        yield {
            **{name: getattr(proposal, name) for name in _AS_STORED},
            **_summary(proposal.summary),
            "user_name": names.since(proposal.user_since, proposal.user_id),
            "first_work": proposal.state is ProposalState.WAITING and is_first,
            "undone": undoing is not None,
            "undone_at": undoing and undoing.at,
            "undone_by": undoing and undoing.request_id,
            "undone_user_id": undoing and undoing.user_id,
            "undone_user_name": undoing and names.at(undoing.change_id, undoing.user_id),
        }


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


class Judge:
    """Judges the CSS of one proposal, within a common time limit, while no transaction is open."""

    def __init__(self, service: Service) -> None:
        self._service, self._clock = service, behind(service).clock
        self._end = self._clock.worked() + _MOST_JUDGING
        self._targets: Targets | None = None
        self._known: dict[tuple[Kind, str, str], Verdict] = {}

    def read_targets(self, uow: AnyUnitOfWork) -> Targets:
        """Read, keep and return the targets."""
        self._targets = targets_of(shared_settings(uow))
        return self._targets

    def verdict(self, kind: AnyArtworkKind, css: str, target: str) -> Verdict:
        """Return the verdict on CSS for a target."""
        key = (kind.kind, css, target)
        if key not in self._known:
            # The work of a replayed request does not run, so it reads no targets.
            targets = self._targets or storage_of(self._service).read(self.read_targets)
            self._known[key] = verdict_on(kind, css, self._clock, targets.pages(target), self._end)
        return self._known[key]

    def known(self, kind: AnyArtworkKind, record: Values) -> Verdict | None:
        """Return the verdict if it is known, or None."""
        return self._known.get((kind.kind, record[_CSS], record[_TARGET]))


def with_verdicts(proposal: Proposal, judge: Judge) -> Proposal:
    """Return a proposal with the verdicts on its CSS (contract L4), which share a time limit."""

    def with_verdict(change: ProposedChange) -> ProposedChange:
        kind = _artwork_kind(change.kind)
        if kind is None or change.after is None:
            return change
        return replace(change, verdict=judge.verdict(kind, change.after[_CSS], change.after[_TARGET]))

    return replace(proposal, changes=tuple(map(with_verdict, proposal.changes)))


def texts_to_judge(
    uow: Reading, command: ProposeChanges | AmendProposal, held: Held
) -> Iterator[tuple[AnyArtworkKind, str, str]]:
    """Yield the CSS that a command proposes, and the CSS that it would replace, each with its target.

    Judging is expensive, so a proposal that the caller does not see is NotFound here.
    """
    earlier = seen(uow, command.proposal_id, viewer(uow, held)).changes if isinstance(command, AmendProposal) else ()
    changes = () if command.changes is UNSET else command.changes
    for change in changes:
        kind = _artwork_kind(change.kind)
        values = change.set or change.create or {}
        if kind is None or not {_CSS, _TARGET} & values.keys():
            continue
        record = None if change.id is None else uow.records(kind).get(change.id)
        before = () if record is None else (record.custom_css, record.target)
        css, target = values.get(_CSS, *before[:1]), values.get(_TARGET, *before[1:])
        if isinstance(css, str) and isinstance(target, str):
            yield kind, css, target
        if before:
            yield kind, *before
    for stored in earlier if changes else ():
        kind = _artwork_kind(stored["kind"])
        if kind is not None and stored["before"]:
            yield kind, stored["before"][_CSS], stored["before"][_TARGET]


def summary_of(changes: Sequence[Values], judge: Judge, own_host: str) -> dict[str, Any]:
    """Return the summary of changes for lists, from the verdicts that are known."""
    hosts: set[str] = set()
    risks: dict[str, None] = {}
    artworks = [(kind, each) for each in changes if (kind := _artwork_kind(each["kind"])) is not None]
    for kind, change in artworks:
        old, new = change["before"], after(change)
        is_same = old is not None and new is not None and all(old[each] == new[each] for each in (_CSS, _TARGET))
        verdict = None if not new or is_same else judge.known(kind, new)
        before = judge.known(kind, old) if old else None
        if verdict is not None:
            known = {each.risk for each in before.risks} if before else set()
            hosts |= {*verdict.hosts} - {own_host, *(before.hosts if before else ())}
            risks |= dict.fromkeys(each.risk for each in verdict.risks if each.risk not in known)
    first = [after(change) or change["before"] or {} for _, change in artworks[:_MOST_SHOWN]]
    return {
        "counts": dict(Counter(change["kind"] for change in changes)),
        "names": [record["name"] for record in first],
        "pictures": [record["preview_url"] for record in first],
        "new_hosts": sorted(hosts)[:_MOST_HOSTS],
        "risks": [*risks],
        "artworks": [],
    }


def _artwork_kind(kind: str) -> AnyArtworkKind | None:
    row = KINDS[Kind(kind)]
    return row if isinstance(row, ArtworkKind) else None
