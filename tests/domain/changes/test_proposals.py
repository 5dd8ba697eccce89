"""Proposals, from submission to undo (contract R1 to R3)."""

from dataclasses import fields, replace
from typing import Any, Final

import pytest

from logoadmin import OWNER, ActingAs, AmendRole, Caller, CreateLogo, GetLogo, ListLogos, LogoAdmin, SendPicture
from logoadmin.domain.changes.history import ListChanges, Revert, RevertRequest
from logoadmin.domain.changes.proposal_commands import (
    AmendProposal,
    ApplyProposal,
    DeclineProposal,
    GetProposal,
    ListProposals,
    Proposal,
    ProposeChanges,
    WithdrawProposal,
)
from logoadmin.domain.identity.users import AmendUser, CreateUser, RemoveUser
from logoadmin.domain.kernel.errors import Conflict, InvalidInput, NotFound, NotModified, Outdated
from logoadmin.domain.kernel.limits import Origin
from logoadmin.domain.kernel.records import version_of
from logoadmin.domain.kernel.unit_of_work import count_use
from logoadmin.domain.publication.shared_settings import AmendSettings
from logoadmin.ports.proposal_storage import ProposalState
from logoadmin.ports.storage import Storage
from tests.gallery import (
    ARTWORK,
    LOOK,
    NOW,
    FrozenClock,
    drawing,
    exported,
    failure,
    gallery_on,
    if_match,
    if_none_match,
    once,
    signed_in,
)

MEMBER_ID: Final = 501
WAITING: Final = ProposalState.WAITING
NEW_LOGO: Final = {"kind": "logo", "create": LOOK}


@pytest.fixture
def member(gallery: LogoAdmin, storage: Storage) -> Caller:  # noqa: ARG001 (it makes the roles)
    return signed_in(storage, "proposals:write", user_id=MEMBER_ID)


@pytest.fixture
def reviewer(gallery: LogoAdmin, storage: Storage) -> Caller:  # noqa: ARG001 (the same)
    return signed_in(storage, "logos:write", "themes:write", "authors:write", user_id=502)


def proposing(*changes: Any, **values: Any) -> ProposeChanges:
    return ProposeChanges(title="A proposal", changes=changes, **values)


def propose(gallery: LogoAdmin, caller: Caller, *changes: dict[str, Any], **values: Any) -> Proposal:
    return gallery.proposals.propose(proposing(*changes, **values), caller)


@pytest.mark.rule("contract R1", "contract R3")
def test_a_proposal_from_submission_to_application(gallery: LogoAdmin, member: Caller, reviewer: Caller) -> None:
    proposed = propose(gallery, member, NEW_LOGO, note="Please")
    values = (proposed.proposal_id, proposed.state, proposed.user_id, proposed.user_name)
    assert values == (1, "waiting", MEMBER_ID, "user 501")
    (change,) = proposed.changes
    assert (change.before, change.after) == (None, ARTWORK)
    assert change.verdict is not None
    assert [each.title for each in gallery.proposals.list(ListProposals(), reviewer)] == ["A proposal"]
    command = once(ApplyProposal(proposal_id=1), "key")
    applied = gallery.proposals.apply(command, with_request(reviewer, "applied"))
    assert (applied.state, applied.decided_by, applied.request_id) == ("applied", 502, "applied")
    assert applied.changes[0].verdict == change.verdict
    assert gallery.proposals.apply(command, with_request(reviewer, "repeated")) == applied
    logo = gallery.logos.get(GetLogo(logo_id=1))
    assert logo.active
    assert [(author.user_id, author.username) for author in logo.authors] == [(MEMBER_ID, "user 501")]
    changes = list(gallery.changes.list(ListChanges(request_id="applied")))
    assert [change.action for change in changes] == ["author.created", "logo.created"]
    named = {(each.origin, each.user_id, each.submitter_id, each.submitter_name) for each in changes}
    assert named == {(Origin.PROPOSAL, 502, MEMBER_ID, "user 501")}
    assert applied.version > proposed.version


def with_request(caller: Caller, request_id: str) -> Caller:
    return replace(caller, request_id=request_id)


def undo(gallery: LogoAdmin, request_id: str, caller: Caller, by: str) -> None:
    tuple(gallery.changes.revert_request(RevertRequest(request_id=request_id), with_request(caller, by)))


def shown(gallery: LogoAdmin, proposal_id: int = 1) -> Proposal:
    proposal = gallery.proposals.get(GetProposal(proposal_id=proposal_id))
    return replace(proposal, changes=())


@pytest.mark.rule("contract R3")
def test_an_undone_proposal_waits_again_and_names_the_user_who_undid_it(
    gallery: LogoAdmin, storage: Storage, member: Caller, reviewer: Caller
) -> None:
    other = signed_in(storage, "logos:write", "themes:write", "authors:write", user_id=503)
    propose(gallery, member, NEW_LOGO, {"kind": "theme", "create": LOOK})
    gallery.proposals.apply(ApplyProposal(proposal_id=1), with_request(reviewer, "applied"))
    author, logo, theme = (change.change_id for change in gallery.changes.list(ListChanges(request_id="applied")))
    seen = [shown(gallery)]
    for change_id in (logo, theme):
        gallery.changes.revert(Revert(change_id=change_id), with_request(other, f"undo {change_id}"))
        seen.append(shown(gallery))
    # The author, who was created with the artworks, is not one of the proposed changes.
    assert [(each.state, each.undone) for each in seen] == [("applied", False)] * 2 + [("waiting", True)]
    undone = seen[-1]
    assert (undone.undone_user_id, undone.undone_user_name) == (503, "user 503")
    assert (undone.undone_by, undone.undone_at) == (f"undo {theme}", seen[0].decided_at)
    assert (undone.decided_at, undone.decided_by) == (None, None)
    assert undone.version > seen[0].version
    gallery.changes.revert(Revert(change_id=author), with_request(other, "undo author"))
    assert shown(gallery) == undone
    assert [each.proposal_id for each in gallery.proposals.list(ListProposals(state=WAITING), reviewer)] == [1]
    again = gallery.proposals.apply(ApplyProposal(proposal_id=1), with_request(reviewer, "again"))
    assert (again.state, again.undone, again.undone_by, again.undone_user_id) == ("applied", False, None, None)
    assert [author.user_id for logo in gallery.logos.list(ListLogos()) for author in logo.authors] == [MEMBER_ID]


@pytest.mark.rule("contract R3", "contract G4")
def test_a_proposal_applies_again_if_its_undo_is_undone(gallery: LogoAdmin, member: Caller, reviewer: Caller) -> None:
    propose(gallery, member, NEW_LOGO)
    gallery.proposals.apply(ApplyProposal(proposal_id=1), with_request(reviewer, "0"))
    states = [shown(gallery).state.value]
    for number in range(4):
        undo(gallery, str(number), reviewer, str(number + 1))
        states.append(shown(gallery).state.value)
    assert states == ["applied", "waiting", "applied", "waiting", "applied"]
    assert shown(gallery).undone is False
    undo(gallery, "0", OWNER, "5")
    gallery.proposals.decline(DeclineProposal(proposal_id=1, reason="No"), reviewer)
    assert (shown(gallery).state, shown(gallery).undone) == ("declined", False)
    # The current state of the gallery takes precedence over the decision.
    undo(gallery, "5", reviewer, "6")
    assert (shown(gallery).state, shown(gallery).reason, shown(gallery).decided_by) == ("applied", None, 502)


@pytest.mark.rule("contract R1", "contract F1")
def test_the_version_of_a_proposal_rises_with_everything_it_shows(gallery: LogoAdmin, member: Caller) -> None:
    proposed = propose(gallery, member, NEW_LOGO)
    command = if_none_match(GetProposal(proposal_id=1), proposed.version)
    assert failure(gallery.proposals.get, command, member) is NotModified
    listed = gallery.proposals.list(ListProposals()).version
    assert failure(gallery.proposals.list, if_none_match(ListProposals(), listed)) is NotModified
    gallery.users.amend(AmendUser(user_id=MEMBER_ID, username="Renamed"))
    renamed = gallery.proposals.get(command, member)
    assert renamed.user_name == "Renamed"
    assert renamed.version > proposed.version
    assert gallery.proposals.list(if_none_match(ListProposals(), listed)).version > listed
    # A different user name does not make it a different proposal.
    amended = gallery.proposals.amend(if_match(AmendProposal(proposal_id=1, title="New"), proposed.version), member)
    assert failure(gallery.proposals.apply, if_match(ApplyProposal(proposal_id=1), proposed.version)) is Outdated
    gallery.proposals.apply(if_match(ApplyProposal(proposal_id=1), amended.version))


@pytest.mark.rule("contract R1", "contract R3")
def test_a_dry_run_stores_nothing(gallery: LogoAdmin, member: Caller, reviewer: Caller) -> None:
    tried = propose(gallery, member, NEW_LOGO, dry_run=True)
    assert tried.changes[0].after == ARTWORK
    assert not list(gallery.proposals.list(ListProposals()))
    assert propose(gallery, member, NEW_LOGO).proposal_id == tried.proposal_id
    before = gallery.changes.version(), exported(gallery)
    assert gallery.proposals.apply(ApplyProposal(proposal_id=1, dry_run=True), reviewer).state == "applied"
    assert (gallery.changes.version(), exported(gallery)) == before
    assert gallery.proposals.get(GetProposal(proposal_id=1)).state == "waiting"


@pytest.mark.rule("contract P4", "contract R3")
@pytest.mark.parametrize("end", ["declined", "withdrawn", "removed"])
def test_a_picture_that_only_a_decided_proposal_names_is_removed_after_a_week(
    storage: Storage, member: Caller, reviewer: Caller, end: str
) -> None:
    clock = FrozenClock()
    gallery = gallery_on(storage, clock, started=False)
    alone, shared = (gallery.pictures.send(SendPicture(), drawing(shade), member).url for shade in (1, 2))
    new: Any = [{"kind": "logo", "create": LOOK | {"preview_url": url}} for url in (alone, shared)]
    propose(gallery, member, *new)
    propose(gallery, reviewer, new[1])
    clock.pass_by(90_000)
    if end == "declined":
        gallery.proposals.decline(DeclineProposal(proposal_id=1, reason="too red"))
    elif end == "withdrawn":
        gallery.proposals.withdraw(WithdrawProposal(proposal_id=1), ActingAs(MEMBER_ID))
    else:
        gallery.users.remove(RemoveUser(user_id=MEMBER_ID))
    for waited, left in ((0, 2), (7 * 86_400, 2), (1, 1), (7 * 86_400, 1)):
        clock.pass_by(waited)
        gallery.sweep()
        gallery.sweep()
        assert len(gallery.pictures.stored()) == left, waited


@pytest.mark.rule("contract Q3", "contract R2")
def test_members_choose_among_the_targets(gallery: LogoAdmin, member: Caller, reviewer: Caller) -> None:
    elsewhere = NEW_LOGO | {"create": LOOK | {"target": "elsewhere"}}
    proposed = propose(gallery, member, elsewhere)  # possible while no target is described
    gallery.settings.amend(AmendSettings(gallery_targets={"forum": {"name": "Forum", "documents": ['domain("a.b")']}}))
    for target in ("forum", "wiki.example"):
        propose(gallery, member, NEW_LOGO | {"create": LOOK | {"target": target}})
    with pytest.raises(InvalidInput) as refused:
        propose(gallery, member, elsewhere)
    (problem,) = refused.value.problems
    assert problem.loc == ("changes", 0, "create", "target")
    assert problem.msg == "Input should be one of the targets forum, or the name of a host"
    propose(gallery, reviewer, elsewhere)
    # An artwork may keep its target.
    gallery.proposals.apply(ApplyProposal(proposal_id=proposed.proposal_id), reviewer)
    (logo,) = gallery.logos.list(ListLogos(target="elsewhere"))
    again = {
        "kind": "logo",
        "id": logo.logo_id,
        "version": version_of(logo),
        "set": {"name": "B", "target": "elsewhere"},
    }
    propose(gallery, member, again)


@pytest.mark.rule("contract R1")
def test_submissions_of_a_day_are_counted_with_dry_runs(storage: Storage) -> None:
    clock = FrozenClock()
    gallery = gallery_on(storage, clock)
    signed_in(storage, "proposals:write", user_id=MEMBER_ID)
    member = ActingAs(MEMBER_ID)
    storage.write(lambda uow: count_use(uow, "proposals", MEMBER_ID, NOW, 100, 86_400, more=98))
    propose(gallery, member, NEW_LOGO, dry_run=True)
    for _ in range(2):  # repeating a request is no submission
        assert propose(gallery, member, NEW_LOGO, dry_run=False, idempotency_key="99").proposal_id == 1
    for dry_run in (True, False):
        with pytest.raises(Conflict, match="has made 100 proposals within a day"):
            propose(gallery, member, NEW_LOGO, dry_run=dry_run)
    clock.pass_by(86_401)
    assert propose(gallery, member, NEW_LOGO).proposal_id == 2


@pytest.mark.rule("contract R1")
def test_lists_summarise_changes_without_their_texts(gallery: LogoAdmin, member: Caller, reviewer: Caller) -> None:
    own = gallery.public_url.origin
    css = f"background: url(https://a.example/x), url({own}/pictures/y); position: fixed; inset: 0"
    names = [{"kind": "theme", "create": LOOK | {"name": name, "custom_css": ""}} for name in "BCD"]
    propose(gallery, member, {"kind": "logo", "create": LOOK | {"custom_css": css}}, *names, note="Please")
    (listed,) = gallery.proposals.list(ListProposals(), reviewer)
    assert not {"changes", "note"} & {field.name for field in fields(listed)}
    assert (listed.counts, listed.names) == ({"logo": 1, "theme": 3}, ("Aurora", "B", "C"))
    assert listed.pictures == (LOOK["preview_url"],) * 3
    assert (listed.new_hosts, listed.risks) == (("a.example",), ("overlay",))
    gallery.proposals.apply(ApplyProposal(proposal_id=1), reviewer)
    # Only new effects of the CSS are listed.
    more = {"custom_css": css.replace("inset: 0", "inset: 0; mask: url(https://b.example/z)")}
    version = gallery.logos.get(GetLogo(logo_id=1)).version
    proposed = propose(gallery, member, {"kind": "logo", "id": 1, "version": version, "set": more})
    assert (proposed.new_hosts, proposed.risks) == (("b.example",), ())
    gallery.proposals.amend(AmendProposal(proposal_id=2, title="New title"), member)
    listed = next(iter(gallery.proposals.list(ListProposals(state=WAITING), member)))
    assert (listed.title, listed.counts, listed.new_hosts) == ("New title", {"logo": 1}, ("b.example",))
    named = {"custom_css": "color: red"}
    version = gallery.logos.get(GetLogo(logo_id=1)).version
    change = proposing({"kind": "logo", "id": 1, "version": version, "set": named}).changes
    assert gallery.proposals.amend(AmendProposal(proposal_id=2, changes=change), member).new_hosts == ()


@pytest.mark.rule("contract R1")
def test_texts_that_were_not_applied_are_removed_later(storage: Storage) -> None:
    clock = FrozenClock()
    gallery = gallery_on(storage, clock, proposal_days=2)
    member = ActingAs(MEMBER_ID)
    signed_in(storage, "proposals:write", user_id=MEMBER_ID)
    for _ in range(4):
        propose(gallery, member, NEW_LOGO, note="Please")
    gallery.proposals.decline(DeclineProposal(proposal_id=1, reason="No"))
    gallery.proposals.withdraw(WithdrawProposal(proposal_id=2), member)
    mended = proposing({"kind": "logo", "create": LOOK | {"name": "Mended"}}).changes
    gallery.proposals.amend(AmendProposal(proposal_id=3, changes=mended))
    gallery.proposals.apply(ApplyProposal(proposal_id=3))

    def texts() -> list[tuple[str, int, bool]]:
        found = [gallery.proposals.get(GetProposal(proposal_id=id_)) for id_ in (1, 2, 3, 4)]
        return [(each.note, len(each.changes), any(it.submitted for it in each.changes)) for each in found]

    kept = [("Please", 1, False)] * 2 + [("Please", 1, True), ("Please", 1, False)]
    clock.pass_by(2 * 86_400 - 1)
    gallery.sweep()
    assert texts() == kept
    clock.pass_by(1)
    before = gallery.proposals.get(GetProposal(proposal_id=1)).version
    gallery.sweep()
    assert texts() == [("", 0, False)] * 2 + [("Please", 1, False)] * 2
    declined = gallery.proposals.get(GetProposal(proposal_id=1))
    assert declined.version > before
    assert (declined.reason, declined.names, declined.counts) == ("No", ("Aurora",), {"logo": 1})
    with pytest.raises(Conflict, match="no longer kept; send its changes again"):
        gallery.proposals.amend(AmendProposal(proposal_id=1, title="Again"), member)
    again = gallery.proposals.amend(AmendProposal(proposal_id=1, changes=proposing(NEW_LOGO).changes), member)
    assert (again.state, len(again.changes)) == ("waiting", 1)


@pytest.mark.rule("contract R1", "contract R3")
def test_a_work_is_the_first_until_another_one_by_its_submitter_is_applied(
    gallery: LogoAdmin, member: Caller, reviewer: Caller
) -> None:
    def first_works() -> list[bool]:
        return [each.first_work for each in gallery.proposals.list(ListProposals(), reviewer)]

    propose(gallery, member, NEW_LOGO)
    propose(gallery, member, NEW_LOGO)
    propose(gallery, reviewer, NEW_LOGO)
    gallery.proposals.propose(proposing(NEW_LOGO))  # by the program itself
    assert first_works() == [True, True, True, False]
    before = shown(gallery)
    gallery.proposals.apply(ApplyProposal(proposal_id=2), with_request(reviewer, "applied"))
    assert first_works() == [False, False, True, False]
    after = shown(gallery)
    assert (before.first_work, after.first_work) == (True, False)
    assert after.version > before.version  # otherwise clients would keep the old one cached
    undo(gallery, "applied", OWNER, "undone")
    assert first_works() == [True, True, True, False]


@pytest.mark.rule("contract R1", "contract R2")
def test_a_reused_user_id_is_a_different_person(storage: Storage) -> None:
    gallery = gallery_on(storage, FrozenClock())
    new = CreateUser(user_id=MEMBER_ID, username="Ann", password="a long password")
    gallery.roles.amend(AmendRole(role_id=1, scope=("proposals:write",)))
    gallery.users.create(new)
    former = gallery.acting_as(MEMBER_ID)
    draft = former.proposals.propose(proposing(NEW_LOGO))
    gallery.users.remove(RemoveUser(user_id=MEMBER_ID))
    gallery.users.create(new.model_copy(update={"username": "Eve"}))
    latter = gallery.acting_as(MEMBER_ID)
    assert not [*latter.proposals.list(ListProposals())]
    assert failure(latter.proposals.get, GetProposal(proposal_id=draft.proposal_id)) is NotFound
    assert gallery.proposals.get(GetProposal(proposal_id=1)).user_name is None
    with pytest.raises(Conflict, match="was removed and is no author"):
        gallery.proposals.apply(ApplyProposal(proposal_id=1))
    for _ in range(20):
        latter.proposals.propose(proposing(NEW_LOGO))
    # Applied proposals of one user do not count as works of the other.
    gallery.proposals.apply(ApplyProposal(proposal_id=2))
    waiting = gallery.proposals.list(ListProposals(state=WAITING, limit=2))
    assert [(each.proposal_id, each.first_work) for each in waiting] == [(1, True), (3, False)]
    # The history does not show the name of one for changes by the other.
    gallery.roles.amend(AmendRole(role_id=1, scope=("logos:write",)))
    gallery.users.remove(RemoveUser(user_id=MEMBER_ID))
    gallery.users.create(new)
    gallery.acting_as(MEMBER_ID).logos.create(CreateLogo(**ARTWORK))
    gallery.users.remove(RemoveUser(user_id=MEMBER_ID))
    gallery.users.create(new.model_copy(update={"username": "Eve"}))
    (change,) = gallery.changes.list(ListChanges(user_id=MEMBER_ID))
    assert change.user_name is None
