"""Changes of the details of artworks: history, undo, bulk changes and proposals (contract S2)."""

import json
from typing import Any

import pytest

from logoadmin import AmendLogo, ApplyChanges, Caller, CreateAuthor, GetLogo, Logo, LogoAdmin, Revert
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.changes.proposal_commands import ApplyProposal, ProposeChanges
from logoadmin.domain.kernel.errors import Conflict
from tests.gallery import ARTWORK, FrozenClock, failure, gallery_on, history, problems, signed_in

DETAILS: dict[str, Any] = {"licence": "CC0-1.0", "tags": ["dark", "winter"], "origin": "aurora-17"}


@pytest.fixture
def gallery(storage: MemoryStorage, clock: FrozenClock) -> LogoAdmin:
    """Logo 1 with details by author 1, who is user 101, and logo 2 without."""
    made = gallery_on(storage, clock)
    made.authors.create(CreateAuthor(user_id=101, username="Ann"))
    apply(made, {"kind": "logo", "create": {**ARTWORK, "details": DETAILS, "author_ids": [1]}})
    apply(made, {"kind": "logo", "create": {**ARTWORK, "author_ids": [1]}})
    return made


def apply(gallery: LogoAdmin, *changes: dict[str, Any]) -> None:
    tuple(gallery.bulk.apply(ApplyChanges.model_validate({"changes": changes})))


def setting(id_: int = 1, **values: Any) -> dict[str, Any]:
    """Return a change of a logo, whatever its version is."""
    return {"kind": "logo", "id": id_, "version": 99, "set": values}


def amend(gallery: LogoAdmin, id_: int = 1, **values: Any) -> Logo:
    return gallery.logos.amend(AmendLogo(logo_id=id_, **values))


@pytest.fixture
def member(gallery: LogoAdmin, storage: MemoryStorage) -> Caller:
    del gallery  # it makes the first roles
    return signed_in(storage, "proposals:write", user_id=101)


def details(gallery: LogoAdmin, id_: int = 1) -> dict[str, Any]:
    return gallery.logos.get(GetLogo(logo_id=id_)).details.members()


def propose(gallery: LogoAdmin, caller: Caller, *changes: dict[str, Any]) -> Any:
    return gallery.proposals.propose(ProposeChanges.model_validate({"title": "x", "changes": changes}), caller)


@pytest.mark.rule("contract S1")
def test_members_are_merged_and_all_of_them_removed(gallery: LogoAdmin) -> None:
    merged = amend(gallery, details={"licence": None, "version": "2.0", "tags": ["Light"]})
    assert merged.details.members() == {"version": "2.0", "tags": ["light"], "origin": "aurora-17"}
    assert amend(gallery, details={}).version == merged.version
    assert amend(gallery, details=None).details == amend(gallery, 2, name="Boreal").details


@pytest.mark.rule("contract S2", "contract G2")
def test_details_are_undone_unless_they_changed_since(gallery: LogoAdmin) -> None:
    first = amend(gallery, details={"licence": "MIT"}).version
    change = history(gallery)[-1]
    assert (change.before or {})["details"] == DETAILS
    assert (change.after or {})["details"] == {**DETAILS, "licence": "MIT"}
    gallery.changes.revert(Revert(change_id=first))
    assert details(gallery) == DETAILS
    emptied = amend(gallery, details=None).version
    assert failure(gallery.changes.revert, Revert(change_id=first)) is Conflict
    gallery.changes.revert(Revert(change_id=emptied))
    assert details(gallery) == DETAILS


@pytest.mark.rule("contract J7", "contract S2")
def test_one_member_of_many_is_set_and_tags_are_added_and_removed(gallery: LogoAdmin) -> None:
    apply(
        gallery,
        *(setting(id_, details={"licence": "MIT"}, add_tags=["New", "dark"], remove_tags=["winter"]) for id_ in (1, 2)),
    )
    assert details(gallery) == {"licence": "MIT", "tags": ["dark", "new"], "origin": "aurora-17"}
    assert details(gallery, 2) == {"licence": "MIT", "tags": ["new", "dark"]}
    apply(gallery, setting(2, details=None, add_tags=["only"]))
    assert details(gallery, 2) == {"tags": ["only"]}
    apply(gallery, setting(2, remove_tags=["only"]))
    assert details(gallery, 2) == {}


@pytest.mark.rule("contract J7", "contract S1")
def test_tags_that_cannot_be_added_are_reported_by_their_index(gallery: LogoAdmin) -> None:
    for where, changes in (
        (("changes", 1, "set", "add_tags"), [setting(2, add_tags=["a"]), setting(add_tags=[*"123456789"])]),
        (("changes", 0, "set", "add_tags", 1), [setting(add_tags=["a", "b,c"])]),
        (("changes", 0, "create", "add_tags"), [{"kind": "logo", "create": {**ARTWORK, "add_tags": ["a"]}}]),
        (("changes", 0, "set", "remove_tags"), [{"kind": "author", "id": 1, "version": 9, "set": {"remove_tags": []}}]),
        (("changes", 0, "set", "details", "tags", 0), [setting(details={"tags": ["b,c"]})]),
    ):
        assert [*problems(apply, gallery, *changes)] == [where]
    assert details(gallery, 2) == {}


@pytest.mark.rule("contract R3", "contract S2")
def test_a_submission_of_details_is_stale_if_the_same_members_changed(gallery: LogoAdmin, member: Caller) -> None:
    proposal = propose(gallery, member, setting(details={"licence": "MIT", "tags": ["Light"]}))
    (change,) = proposal.changes
    assert change.before["details"] == DETAILS
    assert change.after["details"] == {"licence": "MIT", "tags": ["light"], "origin": "aurora-17"}
    amend(gallery, details={"version": "2"})
    gallery.proposals.apply(ApplyProposal(proposal_id=1))
    assert details(gallery) == {"licence": "MIT", "version": "2", "tags": ["light"], "origin": "aurora-17"}
    # It is stale once the same members changed.
    propose(gallery, member, setting(details={"licence": "MIT"}))
    amend(gallery, details={"licence": "GPL-3.0-only"})
    with pytest.raises(Conflict, match="Logo 1"):
        gallery.proposals.apply(ApplyProposal(proposal_id=2))


@pytest.mark.rule("contract S2")
def test_a_reviewer_proposes_tags_to_add(gallery: LogoAdmin, storage: MemoryStorage) -> None:
    reviewer = signed_in(storage, "logos:write", user_id=102)
    (change,) = propose(gallery, reviewer, setting(add_tags=["new"], remove_tags=["dark"])).changes
    assert change.after["details"]["tags"] == ["winter", "new"]
    assert "add_tags" not in json.dumps(change.after)
    gallery.proposals.apply(ApplyProposal(proposal_id=1))
    assert details(gallery)["tags"] == ["winter", "new"]
