"""Concurrent decisions, limits and stored fields of proposals, and of notices about them, on every storage."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import combinations_with_replacement
from typing import Any

import pytest

from logoadmin import Caller, ListLogos, LogoAdmin
from logoadmin.domain.changes.proposal_commands import (
    AmendProposal,
    ApplyProposal,
    DeclineProposal,
    GetProposal,
    ListProposals,
    Proposal,
    WithdrawProposal,
)
from logoadmin.domain.kernel.errors import Conflict, Outdated, TooManyChanges
from logoadmin.domain.kernel.kinds import LOGOS, THEMES, USERS
from logoadmin.domain.kernel.records import Kind
from logoadmin.ports.gallery_storage import Withdrawal
from logoadmin.ports.proposal_storage import (
    BlockedWork,
    ProposalState,
    SeenNotices,
    StoredNotice,
    StoredProposal,
    Viewer,
)
from logoadmin.ports.storage import Storage, UnitOfWork
from tests.contracts.steps import add, at_once, author, link, logo, remove, role, theme, user, write
from tests.domain.changes.test_proposals import MEMBER_ID, NEW_LOGO, propose, proposing, shown, undo, with_request
from tests.gallery import LOOK, failure, if_match, signed_in


@pytest.fixture
def member(gallery: LogoAdmin, storage: Storage) -> Caller:  # noqa: ARG001 (it makes the roles)
    return signed_in(storage, "proposals:write", user_id=MEMBER_ID)


@pytest.fixture
def reviewer(gallery: LogoAdmin, storage: Storage) -> Caller:  # noqa: ARG001 (the same)
    return signed_in(storage, "logos:write", "themes:write", "authors:write", user_id=502)


@pytest.mark.rule("contract R1")
def test_every_field_of_a_proposal_is_stored(storage: Storage) -> None:
    numbers = ("proposal_id", "version", "user_id", "user_since", "created_at", "waiting_since", "kinds", "size")
    more = ("decided_at", "decided_by", "first_change", "last_change", "unapplied_since", "undone_change")
    values: dict[str, Any] = {name: number for number, name in enumerate((*numbers, *more), 1)}
    values |= {name: name for name in ("title", "reason", "request_id", "note")}
    values |= {"state": ProposalState.DECLINED, "summary": {"names": ["Aurora"]}, "changes": [{"kind": "logo"}]}
    stored = StoredProposal(**values)
    storage.write(lambda uow: uow.proposals.add(stored))
    assert storage.read(lambda uow: uow.proposals.get(1)) == stored
    assert storage.read(lambda uow: uow.proposals.page(-1, 9)) == (stored.listed(),)


@pytest.mark.rule("contract R1", "contract R2")
def test_proposals_are_found_by_person_and_time(storage: Storage) -> None:
    """A person is a user id since its creation; what was not applied is found oldest first."""
    kept = [
        (7, 5, ProposalState.WAITING, None),
        (7, 6, ProposalState.WAITING, None),
        (7, 6, ProposalState.APPLIED, 20),
        (8, 5, ProposalState.DECLINED, 10),
        (8, 5, ProposalState.APPLIED, 21),
    ]

    def keep(uow: UnitOfWork) -> None:
        for id_, (user_id, since, state, unapplied) in enumerate(kept, 1):
            proposal = StoredProposal(
                proposal_id=id_, version=id_, state=state, user_id=user_id, user_since=since, title="", kinds=1,
                summary={}, size=id_, created_at=0, waiting_since=0, unapplied_since=unapplied,
            )  # fmt: skip
            uow.proposals.add(proposal)

    def found(uow: UnitOfWork) -> list[Any]:
        proposals = uow.proposals
        seen = [proposals.page(-1, 9, viewer=Viewer(7, 6, hidden)) for hidden in (1, 2)]
        ids = [[each.proposal_id for each in some] for some in (*seen, *map(partial(proposals.unapplied, 20), (9, 1)))]
        return [*ids, proposals.waiting_of(7, 6), proposals.successful([7]), proposals.last_version(7)]

    storage.write(keep)
    assert storage.read(found) == [[2, 3], [1, 2, 3, 4, 5], [4, 3], [4], (1, 2), {(7, 6)}, 3]


@pytest.mark.rule("contract R6")
def test_the_notice_that_has_been_due_for_longest_is_sent_first(storage: Storage) -> None:
    one, two, three = (
        StoredNotice(
            notice_id=id_, receiver="a" * 64, event="proposal.waiting", kind="proposal", id=7, text="ъ", due_at=due_at,
            attempts=0,
        )
        for id_, due_at in ((1, 20), (2, 10), (3, 10))
    )  # fmt: skip
    write(storage, lambda uow: uow.notices.add(one), lambda uow: uow.notices.add(two))
    write(storage, lambda uow: uow.notices.add(three))
    assert storage.read(lambda uow: [uow.notices.due(now) for now in (9, 20)]) == [None, two]
    write(storage, lambda uow: uow.notices.attempt(2, 30, 1), lambda uow: uow.notices.remove(3))
    assert storage.read(lambda uow: uow.notices.due(30)) == one
    write(storage, lambda uow: uow.notices.remove(1))
    assert storage.read(lambda uow: uow.notices.due(30)) == replace(two, due_at=30, attempts=1)


@pytest.mark.rule("contract R3")
def test_a_concurrent_undo_and_decision_leave_one_state(gallery: LogoAdmin, member: Caller, reviewer: Caller) -> None:
    for number in range(1, 4):
        propose(gallery, member, NEW_LOGO)
        applied = f"applied {number}"
        gallery.proposals.apply(ApplyProposal(proposal_id=number), with_request(reviewer, applied))
        answers = at_once(
            partial(undo, gallery, applied, reviewer, f"a {number}"),
            partial(undo, gallery, applied, reviewer, f"b {number}"),
        )
        assert sorted(type(answer).__name__ for answer in answers) == ["Conflict", "NoneType"]
        assert shown(gallery, number).state == "waiting"
        answers = at_once(
            partial(gallery.proposals.apply, ApplyProposal(proposal_id=number), reviewer),
            partial(gallery.proposals.decline, DeclineProposal(proposal_id=number, reason="No"), reviewer),
        )
        assert sorted(type(answer).__name__ for answer in answers) == ["Conflict", "Proposal"]
    applied_now = [each for each in gallery.proposals.list(ListProposals()) if each.state == "applied"]
    assert len([*gallery.logos.list(ListLogos())]) == len(applied_now)


@pytest.mark.rule("contract R3")
def test_of_two_concurrent_decisions_one_is_made(gallery: LogoAdmin, member: Caller, reviewer: Caller) -> None:
    ways: list[Callable[[int], Callable[[], object]]] = [
        lambda id_: lambda: gallery.proposals.apply(ApplyProposal(proposal_id=id_), reviewer),
        lambda id_: lambda: gallery.proposals.decline(DeclineProposal(proposal_id=id_, reason="No"), reviewer),
        lambda id_: lambda: gallery.proposals.withdraw(WithdrawProposal(proposal_id=id_), member),
    ]
    for number, (one, other) in enumerate(combinations_with_replacement(ways, 2), 1):
        propose(gallery, member, NEW_LOGO)
        answers = at_once(one(number), other(number))
        assert sorted(type(answer).__name__ for answer in answers) == ["Conflict", "Proposal"]
    states = [proposal.state.value for proposal in gallery.proposals.list(ListProposals())]
    assert "waiting" not in states
    assert len(list(gallery.logos.list(ListLogos()))) == states.count("applied") > 0


@pytest.mark.rule("contract R3")
def test_only_the_version_that_was_seen_is_applied(gallery: LogoAdmin, member: Caller, reviewer: Caller) -> None:
    for number in range(1, 6):
        seen = propose(gallery, member, NEW_LOGO)
        other = {"kind": "logo", "create": LOOK | {"name": "Unseen"}}
        amend = AmendProposal(proposal_id=number, changes=proposing(other).changes)
        apply = if_match(ApplyProposal(proposal_id=number), seen.version)
        calls = partial(gallery.proposals.amend, amend, member), partial(gallery.proposals.apply, apply, reviewer)
        assert {type(answer) for answer in at_once(*calls)} in ({Proposal, Conflict}, {Proposal, Outdated})
    assert {logo.name for logo in gallery.logos.list(ListLogos())} <= {"Aurora"}


@pytest.mark.rule("contract R1")
def test_a_proposal_has_a_maximum_length(gallery: LogoAdmin, reviewer: Caller) -> None:
    css = "\U0001f600" * 524_288
    long = [{"kind": "logo", "create": LOOK | {"custom_css": css}}] * 5
    proposed = gallery.proposals.propose(proposing(*long, dry_run=False), reviewer)
    stored = gallery.proposals.get(GetProposal(proposal_id=proposed.proposal_id), reviewer)
    assert [(change.after or {})["custom_css"] == css for change in stored.changes] == [True] * 5
    assert failure(propose, gallery, reviewer, *long, long[0]) is TooManyChanges


@pytest.mark.rule("contract R1")
def test_waiting_proposals_of_members_are_limited(gallery: LogoAdmin, member: Caller, reviewer: Caller) -> None:
    def heavy(shade: int) -> dict[str, Any]:
        return {"kind": "logo", "create": LOOK | {"custom_css": f"color: #{shade:06}; " + "\u00e9" * 250_000}}

    for shade in range(6):
        propose(gallery, member, heavy(shade))
    refused = pytest.raises(
        Conflict, match="Proposals of this user with 3 MiB of text wait; withdraw one, or send less"
    )
    with refused:
        propose(gallery, member, heavy(6))
    propose(gallery, member, NEW_LOGO)
    with refused:
        gallery.proposals.amend(AmendProposal(proposal_id=7, changes=proposing(heavy(7)).changes), member)
    # A proposal replaces its earlier contents.
    gallery.proposals.amend(AmendProposal(proposal_id=1, changes=proposing(heavy(8)).changes), member)
    gallery.proposals.decline(DeclineProposal(proposal_id=1, reason="No"), reviewer)
    answers = at_once(*(partial(propose, gallery, member, heavy(shade)) for shade in (9, 10)))
    assert sorted(type(answer).__name__ for answer in answers) == ["Conflict", "Proposal"]
    with refused:
        gallery.proposals.amend(AmendProposal(proposal_id=1, title="Again"), member)
    for shade in range(8):
        propose(gallery, reviewer, heavy(shade))


@pytest.mark.rule("contract R7")
def test_works_blocked_in_the_same_second_have_a_stable_order(storage: Storage) -> None:
    write(storage, add(role(), user(7, "ann"), author(1, 7), author(2, 8), logo(1), logo(2), logo(3), theme(1)))
    write(storage, link(LOGOS, 1, 1, 2), link(LOGOS, 2, 1), link(LOGOS, 3, 2))
    write(storage, link(THEMES, 1, 1))
    blocks = [Withdrawal(Kind.LOGO, id_, 100, "a reason") for id_ in (1, 3)]
    blocks += [Withdrawal(Kind.THEME, 1, 100, "ъ"), Withdrawal(Kind.LOGO, 2, 100)]
    write(storage, lambda uow: uow.withdrawals.put(*blocks))
    found = storage.read(lambda uow: [uow.member_notices.blocked(7, most) for most in (9, 1)])
    both = (BlockedWork(Kind.THEME, 1, "theme 1", 100, "ъ"), BlockedWork(Kind.LOGO, 1, "logo 1", 100, "a reason"))
    assert found == [both, both[:1]]
    write(storage, lambda uow: uow.member_notices.set_seen(7, SeenNotices(2**40, frozenset({"a:1", "b:2"}))))
    write(storage, lambda uow: uow.member_notices.set_seen(7, SeenNotices(5, frozenset())))
    marks = storage.read(lambda uow: [uow.member_notices.seen(id_) for id_ in (7, 8)])
    assert marks == [SeenNotices(5, frozenset()), None]
    write(storage, remove(USERS, 7))
    assert storage.read(lambda uow: uow.member_notices.seen(7)) is None
