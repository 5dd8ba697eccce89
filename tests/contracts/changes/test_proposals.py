"""Proposals, from their submission to their undoing, on every storage (contract R1 to R3)."""

from dataclasses import replace
from typing import Any, Final

import pytest

from logoadmin.domain.changes.history import ListChanges, RevertRequest
from logoadmin.domain.changes.proposal_commands import (
    ApplyProposal,
    GetProposal,
    ListProposals,
    ProposeChanges,
)
from logoadmin.domain.changes.proposal_records import Proposal
from logoadmin.domain.gallery.artworks import GetLogo
from logoadmin.domain.gallery.authors import ListAuthors
from logoadmin.domain.kernel.access import OWNER, Caller
from logoadmin.domain.kernel.limits import Origin
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.ports.storage import Storage
from tests.gallery import ARTWORK, FrozenClock, gallery_on, signed_in

MEMBER_ID: Final = 501
NEW_LOGO: Final = {"kind": "logo", "create": {name: value for name, value in ARTWORK.items() if name != "active"}}


@pytest.fixture
def gallery(storage: Storage) -> LogoAdmin:
    return gallery_on(storage, FrozenClock())


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
def test_a_proposal_goes_from_its_submission_to_its_undoing(
    gallery: LogoAdmin, member: Caller, reviewer: Caller
) -> None:
    made = propose(gallery, member, NEW_LOGO, note="Please")
    assert (made.proposal_id, made.state, made.user_id, made.user_name) == (1, "waiting", MEMBER_ID, "user 501")
    (change,) = made.changes
    assert (change.before, change.after) == (None, ARTWORK)
    assert change.verdict is not None
    assert [each.title for each in gallery.proposals.list(ListProposals(), reviewer)] == ["A proposal"]
    applied = gallery.proposals.apply(ApplyProposal(proposal_id=1), with_request(reviewer, "applied"))
    assert (applied.state, applied.decided_by, applied.request_id) == ("applied", 502, "applied")
    logo = gallery.logos.get(GetLogo(logo_id=1))
    assert logo.active
    assert [(author.user_id, author.username) for author in logo.authors] == [(MEMBER_ID, "user 501")]
    changes = list(gallery.changes.list(ListChanges(request_id="applied")))
    assert [change.action for change in changes] == ["author.created", "logo.created"]
    named = {(each.origin, each.user_id, each.submitter_id, each.submitter_name) for each in changes}
    assert named == {(Origin.PROPOSAL, 502, MEMBER_ID, "user 501")}
    tuple(gallery.changes.revert_request(RevertRequest(request_id="applied"), with_request(OWNER, "undone")))
    assert not list(gallery.authors.list(ListAuthors()))
    undone = gallery.proposals.get(GetProposal(proposal_id=1), member)
    assert (undone.state, undone.undone, undone.undone_by) == ("applied", True, "undone")
    assert undone.version > applied.version > made.version


def with_request(caller: Caller, request_id: str) -> Caller:
    return replace(caller, request_id=request_id)
