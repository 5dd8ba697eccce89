"""Notices for members about their submissions and works (contract R7)."""

from dataclasses import replace
from typing import Any, Final

import pytest

from logoadmin import AmendProposal, ApplyProposal, CreateKey, DeclineProposal, Kind, ProposeChanges, WithdrawProposal
from logoadmin.domain.changes.history import RevertRequest
from logoadmin.domain.changes.member_notices import (
    MOST_NOTICES,
    GetNotices,
    MarkNoticesSeen,
    MemberNotice,
    MemberNotices,
    UnseenNotices,
)
from logoadmin.domain.gallery.artworks import AmendLogo, BlockLogo, BlockTheme, CreateTheme, RemoveLogo
from logoadmin.domain.gallery.authors import CreateAuthor
from logoadmin.domain.kernel.access import OWNER, Caller
from logoadmin.domain.kernel.errors import NotAuthenticated, NotPermitted
from logoadmin.domain.kernel.kinds import THEMES
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.ports.storage import Storage
from tests.contracts.steps import link, write
from tests.gallery import ARTWORK, LOOK, NOW, FrozenClock, signed_in

pytestmark = pytest.mark.rule("contract R7")

MEMBER_ID: Final = 501
NEW_LOGO: Final = {"kind": "logo", "create": LOOK}


@pytest.fixture
def member(gallery: LogoAdmin, storage: Storage) -> Caller:  # noqa: ARG001 (it makes the roles)
    return signed_in(storage, "proposals:write", user_id=MEMBER_ID)


def submit(gallery: LogoAdmin, caller: Caller, *changes: Any) -> int:
    command = ProposeChanges(title="A logo", changes=changes or (NEW_LOGO,))
    return gallery.proposals.propose(command, caller).proposal_id


def apply(gallery: LogoAdmin, proposal_id: int, request_id: str = "applied") -> None:
    gallery.proposals.apply(ApplyProposal(proposal_id=proposal_id), replace(OWNER, request_id=request_id))


def decline(gallery: LogoAdmin, proposal_id: int, reason: str = "No") -> None:
    gallery.proposals.decline(DeclineProposal(proposal_id=proposal_id, reason=reason))


def notices(gallery: LogoAdmin, caller: Caller) -> MemberNotices:
    return gallery.member_notices.get(GetNotices(), caller)


def see(gallery: LogoAdmin, caller: Caller) -> None:
    assert gallery.member_notices.mark_seen(MarkNoticesSeen(), caller) == UnseenNotices(0)


def test_decisions_and_blocks_are_listed_newest_first(gallery: LogoAdmin, clock: FrozenClock, member: Caller) -> None:
    assert notices(gallery, member) == MemberNotices((), 0)
    for _ in range(3):
        submit(gallery, member)
    gallery.proposals.withdraw(WithdrawProposal(proposal_id=3), member)
    clock.pass_by(10)
    decline(gallery, 2, "Too wide")
    clock.pass_by(10)
    apply(gallery, 1)
    clock.pass_by(10)
    gallery.logos.block(BlockLogo(logo_id=1, reason="It is somebody else's"))
    gallery.logos.amend(AmendLogo(logo_id=1, name="Lynx"))
    name = ARTWORK["name"]
    assert notices(gallery, member) == MemberNotices(
        (
            MemberNotice(NOW + 30, "blocked", None, Kind.LOGO, 1, "Lynx", "It is somebody else's"),
            MemberNotice(NOW + 20, "applied", 1, Kind.LOGO, 1, name, None),
            MemberNotice(NOW + 10, "declined", 2, Kind.LOGO, None, name, "Too wide"),
        ),
        3,
    )


def test_an_undone_submission_is_marked_until_a_decision(
    gallery: LogoAdmin, clock: FrozenClock, member: Caller
) -> None:
    apply(gallery, submit(gallery, member))
    clock.pass_by(10)
    tuple(gallery.changes.revert_request(RevertRequest(request_id="applied"), replace(OWNER, request_id="undone")))
    (undone,) = notices(gallery, member).notices
    assert (undone.event, undone.at, undone.id) == ("undone", NOW + 10, None)
    clock.pass_by(10)
    gallery.proposals.amend(AmendProposal(proposal_id=1, note="Why?"), member)
    assert notices(gallery, member).notices == (undone,)
    apply(gallery, 1, "again")
    assert [(each.event, each.at) for each in notices(gallery, member).notices] == [("applied", NOW + 20)]


def test_a_submission_without_artworks_and_a_removal_name_no_artwork(
    gallery: LogoAdmin, storage: Storage, member: Caller
) -> None:
    apply(gallery, submit(gallery, member, {"kind": "author", "create": {"user_id": MEMBER_ID, "username": "Mia"}}))
    apply(gallery, submit(gallery, member), "logo")
    version = storage.read(lambda uow: uow.changes.last_of(Kind.LOGO, 1))
    apply(gallery, submit(gallery, member, {"kind": "logo", "id": 1, "version": version, "remove": True}), "removed")
    removed, created, own = notices(gallery, member).notices
    assert (removed.kind, removed.id, removed.name) == (Kind.LOGO, None, ARTWORK["name"])
    assert (created.kind, created.id) == (Kind.LOGO, 1)
    assert (own.kind, own.id, own.name) == (Kind.AUTHOR, None, "A logo")


def test_seen_notices_are_exact_within_a_second(gallery: LogoAdmin, clock: FrozenClock, member: Caller) -> None:
    for _ in range(4):
        submit(gallery, member)
    decline(gallery, 1)
    see(gallery, member)
    assert notices(gallery, member).unseen == 0
    decline(gallery, 2)
    apply(gallery, 3)
    assert notices(gallery, member).unseen == 2
    see(gallery, member)
    # A submission that waits again has no notice, and a new one once it is decided.
    gallery.proposals.amend(AmendProposal(proposal_id=1, note="Better"), member)
    assert (len(notices(gallery, member).notices), notices(gallery, member).unseen) == (2, 0)
    apply(gallery, 1, "at last")
    listed = notices(gallery, member)
    # Unseen ones come first, although the others have higher ids.
    assert (listed.unseen, [each.proposal_id for each in listed.notices]) == (1, [1, 3, 2])
    see(gallery, member)
    clock.pass_by(1)
    submit(gallery, member)
    decline(gallery, 5)
    assert notices(gallery, member).unseen == 1
    see(gallery, member)
    see(gallery, member)
    assert notices(gallery, member).unseen == 0


def test_at_most_50_notices_are_listed(gallery: LogoAdmin, storage: Storage, member: Caller) -> None:
    gallery.authors.create(CreateAuthor(user_id=MEMBER_ID, username="Mia"))
    for number in range(MOST_NOTICES + 1):
        gallery.themes.create(CreateTheme(**{**ARTWORK, "name": f"Theme {number}"}))
        write(storage, link(THEMES, number + 1, 1))
        gallery.themes.block(BlockTheme(theme_id=number + 1, reason="No"))
    decline(gallery, submit(gallery, member))
    listed = notices(gallery, member)
    assert (len(listed.notices), listed.unseen, listed.notices[0].event) == (MOST_NOTICES, MOST_NOTICES, "declined")
    assert [each.id for each in listed.notices[1:]] == [*range(MOST_NOTICES + 1, 2, -1)]


def test_notices_of_blocks_follow_the_authors_and_end_with_the_block(
    gallery: LogoAdmin, storage: Storage, member: Caller
) -> None:
    apply(gallery, submit(gallery, member))
    apply(gallery, submit(gallery, member), "second")
    other = signed_in(storage, "proposals:write", user_id=502)
    for logo_id in (1, 2):
        gallery.logos.block(BlockLogo(logo_id=logo_id, reason="No"))

    def blocked() -> list[int | None]:
        return [each.id for each in notices(gallery, member).notices if each.event == "blocked"]

    assert blocked() == [2, 1]
    assert notices(gallery, other) == MemberNotices((), 0)
    gallery.logos.amend(AmendLogo(logo_id=1, active=True, unblock=True))
    assert blocked() == [2]
    gallery.logos.remove(RemoveLogo(logo_id=2))
    assert blocked() == []


def test_only_a_person_has_notices(gallery: LogoAdmin, member: Caller) -> None:
    key = gallery.sessions.caller(gallery.keys.create(CreateKey(name="k", scope=("proposals:write",)), member).key)
    for caller, error in ((OWNER, NotAuthenticated), (key, NotPermitted)):
        with pytest.raises(error):
            gallery.member_notices.get(GetNotices(), caller)
        with pytest.raises(error):
            gallery.member_notices.mark_seen(MarkNoticesSeen(), caller)
