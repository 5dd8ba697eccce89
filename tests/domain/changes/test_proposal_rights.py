"""What may be proposed and applied, and by whom (contract R2, R3, R4)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logoadmin import ApplyChanges, CreateKey, ListChanges, RemoveUser, RevertRequest, ShowPublication
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.changes import proposal_commands as commands
from logoadmin.domain.gallery import artworks
from logoadmin.domain.gallery.authors import AmendAuthor, CreateAuthor, GetAuthor, RemoveAuthor
from logoadmin.domain.gallery.picture_commands import GetPicture, SendPicture
from logoadmin.domain.kernel import errors
from logoadmin.domain.kernel.access import ANONYMOUS, OWNER, ActingAs, Caller, SignedIn
from logoadmin.domain.logo_admin import LogoAdmin
from tests.gallery import (
    ARTWORK,
    LOOK,
    FrozenClock,
    ask,
    drawing,
    exported,
    failure,
    gallery_on,
    history,
    if_match,
    signed_in,
    stock,
)
from tests.strategies import some

MEMBER_ID: Final = 101
NEW: Final = {"kind": "logo", "create": LOOK}
ALL_WRITES: Final = ("roles:write", "users:write", "authors:write", "themes:write", "logos:write")


@pytest.fixture
def gallery(storage: MemoryStorage, clock: FrozenClock) -> LogoAdmin:
    """Logo 1 by the authors 1, who is the member, and 2; logo 2 by author 2, and theme 1 by author 1."""
    made = gallery_on(storage, clock)
    made.authors.create(CreateAuthor(user_id=MEMBER_ID, username="Ann"))
    made.authors.create(CreateAuthor(user_id=102, username="Ben"))
    changes: list[Any] = [
        {"kind": "logo", "create": {**ARTWORK, "author_ids": [1, 2]}},
        {"kind": "logo", "create": {**ARTWORK, "name": "Boreal", "author_ids": [2]}},
        {"kind": "theme", "create": {**ARTWORK, "author_ids": [1]}},
    ]
    tuple(made.bulk.apply(ApplyChanges(changes=tuple(changes))))
    return made


@pytest.fixture
def member(gallery: LogoAdmin, storage: MemoryStorage) -> SignedIn:
    del gallery  # it makes the first roles
    return signed_in(storage, "proposals:write", user_id=MEMBER_ID)


def of(kind: str, id_: int = 1, **what: Any) -> dict[str, Any]:
    """Return a change of an existing record, whatever its version is."""
    return {"kind": kind, "id": id_, "version": 99, **what}


def propose(gallery: LogoAdmin, caller: Caller, *changes: Any, **values: Any) -> commands.Proposal:
    return gallery.proposals.propose(commands.ProposeChanges(title="A proposal", changes=changes, **values), caller)


def amending(proposal_id: int, *changes: Any) -> commands.AmendProposal:
    return commands.AmendProposal(proposal_id=proposal_id, changes=changes)


def apply(gallery: LogoAdmin, caller: Caller = OWNER, proposal_id: int = 1) -> commands.Proposal:
    return gallery.proposals.apply(commands.ApplyProposal(proposal_id=proposal_id), caller)


def refusal(gallery: LogoAdmin, caller: Caller, *changes: Any) -> Any:
    """Return the class of the error or the locations of the problems of a proposal, None if it is accepted."""
    try:
        propose(gallery, caller, *changes)
    except errors.InvalidInput as error:
        return [problem.loc for problem in error.problems]
    except errors.LogoAdminError as error:
        return type(error)
    return None


FORBIDDEN: Final = errors.NotPermitted
# fmt: off
# Written by hand: what proposals:write alone suffices for, and how the rest is refused.
MATRIX: Final[Sequence[tuple[dict[str, Any], Any]]] = (
    (NEW, None),
    ({"kind": "theme", "create": LOOK}, None),
    ({"kind": "logo", "create": {**LOOK, "author_ids": []}}, None),
    ({"kind": "logo", "create": {**LOOK, "author_ids": [1]}}, None),
    ({"kind": "logo", "create": {**LOOK, "author_ids": [1, 2]}}, FORBIDDEN),
    ({"kind": "logo", "create": {**LOOK, "author_ids": [99]}}, FORBIDDEN),
    ({"kind": "logo", "create": ARTWORK}, [("changes", 0, "create", "active")]),
    ({"kind": "logo", "create": {**LOOK, "custom_css": " \n"}}, [("changes", 0, "create", "custom_css")]),
    ({"kind": "theme", "create": {**LOOK, "custom_css": ""}}, None),
    (of("logo", set={"custom_css": ""}), [("changes", 0, "set", "custom_css")]),
    *((of("logo", set={name: value}), None) for name, value in LOOK.items()),
    (of("logo", set={}), None),
    (of("theme", set={"name": "Boreal"}), None),
    (of("logo", set={"active": False}), [("changes", 0, "set", "active")]),
    (of("logo", set={"unblock": True}), [("changes", 0, "set", "unblock")]),
    ({"kind": "logo", "create": {**LOOK, "details": {"origin": "x"}}}, [("changes", 0, "create", "details", "origin")]),
    (of("logo", set={"details": {"origin": "mine"}}), [("changes", 0, "set", "details", "origin")]),
    (of("logo", set={"details": None}), [("changes", 0, "set", "details")]),
    (of("logo", set={"add_tags": ["a"]}), [("changes", 0, "set", "add_tags")]),
    (of("logo", set={"author_ids": [2, 1]}), None),
    (of("logo", set={"author_ids": [2]}), None),
    (of("theme", set={"author_ids": [1, 2]}), FORBIDDEN),
    (of("logo", block={"reason": "Ugly"}), FORBIDDEN),
    (of("logo", remove=True), None),
    (of("logo", 2, set={"name": "Mine"}), FORBIDDEN),
    (of("logo", 2, set={"author_ids": [1]}), FORBIDDEN),
    (of("logo", 2, remove=True), FORBIDDEN),
    (of("logo", 9, set={"name": "Mine"}), errors.NotFound),
    (of("author", set={"username": "Anna"}), None),
    (of("author", set={"user_id": 102}), [("changes", 0, "set", "user_id")]),
    (of("author", set={"username": "Ben"}), errors.DuplicateUpdate),
    (of("author", remove=True), None),
    (of("author", 2, set={"username": "Anna"}), FORBIDDEN),
    (of("author", 2, remove=True), FORBIDDEN),
    ({"kind": "author", "create": {"user_id": 103, "username": "Cyd"}}, FORBIDDEN),
    ({"kind": "author", "create": {"user_id": MEMBER_ID, "username": "Cyd"}}, errors.DuplicateEntry),
    (of("user", MEMBER_ID, set={"avatar": None}), FORBIDDEN),
    (of("user", 77, set={"avatar": None}), FORBIDDEN),
    (of("role", set={"scope": ["*"]}), FORBIDDEN),
    ({"kind": "role", "create": {"name": "mighty", "scope": ["*"]}}, FORBIDDEN),
)
# fmt: on


@pytest.mark.rule("contract R2", "contract S2")
@pytest.mark.parametrize(("change", "refused"), MATRIX)
def test_the_propose_scope_alone_suffices_only_for_own_works(
    gallery: LogoAdmin, member: SignedIn, change: dict[str, Any], refused: Any
) -> None:
    before = exported(gallery), history(gallery)
    assert refusal(gallery, member, change) == refused
    assert len(list(gallery.proposals.list(commands.ListProposals()))) == (refused is None)
    assert (exported(gallery), history(gallery)) == before


@pytest.mark.rule("contract R2")
def test_the_first_refused_change_is_reported_by_its_index(gallery: LogoAdmin, member: SignedIn) -> None:
    with pytest.raises(errors.NotPermitted, match=r"^Change 1: Not enough permissions$"):
        propose(gallery, member, NEW, of("logo", 2, remove=True))
    assert refusal(gallery, member, of("logo", set={"name": "a"}), of("logo", remove=True)) == [("changes", 1, "id")]
    assert refusal(gallery, member, of("logo", set={"name": "a"}) | {"version": 1}) is errors.Outdated
    # The password of a new user would be stored, and the id of a new author is unknown.
    user = {"kind": "user", "create": {"user_id": 8, "username": "ben", "password": "a secret of ben"}}
    assert refusal(gallery, OWNER, NEW, user) == [("changes", 1, "create")]
    # All problems are reported at once.
    bad = {"kind": "logo", "create": LOOK | {"name": "", "custom_css": ""}}
    expected = [("changes", 0, "create", field) for field in ("custom_css", "name")]
    assert refusal(gallery, OWNER, bad, user) == [*expected, ("changes", 1, "create")]
    author = {"kind": "author", "create": {"user_id": 103, "username": "Cyd"}}
    assert (
        refusal(gallery, OWNER, author, {"kind": "logo", "create": {**ARTWORK, "author_ids": [3]}}) is errors.NotFound
    )
    assert refusal(gallery, OWNER, *[NEW] * 21) == [("changes",)]


@pytest.mark.rule("contract R2")
@pytest.mark.parametrize("missing", ALL_WRITES)
def test_a_write_scope_covers_its_kind_and_no_other(gallery: LogoAdmin, storage: MemoryStorage, missing: str) -> None:
    editor = signed_in(storage, *(scope for scope in ALL_WRITES if scope != missing))
    changes: dict[str, Any] = {
        "roles:write": {"kind": "role", "create": {"name": "none", "scope": []}},
        "users:write": of("user", 500, set={"avatar": "a"}),
        "authors:write": of("author", 2, set={"username": "Bea"}),
        "themes:write": of("theme", set={"active": False}),
        "logos:write": of("logo", 2, block={"reason": "Ugly"}),
    }
    assert {scope for scope, change in changes.items() if refusal(gallery, editor, change)} == {missing}
    # Callers who could make the change may apply their own proposals.
    propose(gallery, OWNER, {"kind": "logo", "create": LOOK})
    (proposal,) = [each for each in gallery.proposals.list(commands.ListProposals()) if each.user_id is None]
    apply(gallery, OWNER, proposal.proposal_id)
    logo = gallery.logos.get(artworks.GetLogo(logo_id=3))
    assert (logo.active, logo.authors) == (False, ())


@pytest.mark.rule("contract R2", "contract R3")
def test_no_right_passes_from_the_submitter_to_the_applier_or_back(gallery: LogoAdmin, storage: MemoryStorage) -> None:
    editor = signed_in(storage, "roles:write", "logos:write", user_id=600)
    mighty = {"kind": "role", "create": {"name": "mighty", "scope": ["users:write"]}}
    # The submitter does not hold the scope to grant, although the applier does.
    assert refusal(gallery, editor, mighty) is FORBIDDEN
    propose(gallery, OWNER, mighty)
    propose(gallery, OWNER, of("logo", set={"name": "Boreal"}), of("theme", set={"name": "Boreal"}))
    # Nor does the applier gain it from the submitter.
    assert gallery.proposals.get(commands.GetProposal(proposal_id=1), editor).proposal_id == 1
    assert failure(apply, gallery, editor) is errors.NotPermitted
    with pytest.raises(errors.NotFound):  # one of its kinds is not theirs
        apply(gallery, editor, 2)
    signed_in(storage, "*", user_id=601)
    assert failure(apply, gallery, ActingAs(601)) is errors.RecentSignInRequired
    assert [proposal.state for proposal in gallery.proposals.list(commands.ListProposals())] == ["waiting", "waiting"]


@pytest.mark.rule("contract R1")
def test_users_see_their_own_proposals_and_those_they_could_apply(
    gallery: LogoAdmin, storage: MemoryStorage, member: SignedIn
) -> None:
    propose(gallery, member, NEW)
    propose(gallery, OWNER, of("logo", set={"name": "a"}), of("theme", set={"name": "a"}))
    propose(gallery, signed_in(storage, "proposals:write", user_id=102), of("logo", 2, set={"name": "b"}))

    def seen(caller: Caller, **filters: Any) -> list[int]:
        listed = [each.proposal_id for each in gallery.proposals.list(commands.ListProposals(**filters), caller)]
        for hidden in {1, 2, 3, 4} - {*listed} if not filters else ():
            with pytest.raises(errors.NotFound, match=f"^Proposal {hidden} not found$"):
                gallery.proposals.get(commands.GetProposal(proposal_id=hidden), caller)
        return listed

    painter = signed_in(storage, "logos:write", user_id=700)
    both = signed_in(storage, "logos:write", "themes:write", user_id=701)
    assert (seen(OWNER), seen(member), seen(painter), seen(both)) == ([1, 2, 3], [1], [1, 3], [1, 2, 3])
    assert seen(signed_in(storage, *(scope for scope in ALL_WRITES if scope != "logos:write"), user_id=702)) == []
    assert (seen(member, user_id=102), seen(painter, user_id=102), seen(both, state="applied")) == ([], [3], [])
    assert seen(both, order="desc", limit=2) == [3, 2]
    for caller in (painter, both):
        for proposal_id in seen(caller):
            command = commands.ApplyProposal(proposal_id=proposal_id, dry_run=True)
            assert gallery.proposals.apply(command, caller).state == "applied"
    for scope, expected in (((), []), (("proposals:write",), [1])):
        key = gallery.keys.create(CreateKey(name="key", scope=scope), member)
        assert seen(gallery.sessions.caller(key.key)) == expected


@pytest.mark.rule("contract R2")
def test_an_artwork_of_a_submitter_is_active_and_has_them_as_author(gallery: LogoAdmin, member: SignedIn) -> None:
    gallery.logos.amend(artworks.AmendLogo(logo_id=1, active=False))
    (change, new) = propose(gallery, member, of("logo", set={"name": "a"}), NEW).changes
    assert change.before is not None
    assert (change.before["active"], change.after and change.after["active"]) == (False, True)
    assert new.after == ARTWORK
    apply(gallery)
    made = [gallery.logos.get(artworks.GetLogo(logo_id=logo_id)) for logo_id in (1, 3)]
    assert [logo.active for logo in made] == [True, True]
    assert [[author.author_id for author in logo.authors] for logo in made] == [[1, 2], [1]]
    # No proposal lifts a block.
    gallery.logos.block(artworks.BlockLogo(logo_id=1, reason="Ugly"))
    propose(gallery, member, of("logo", set={"name": "b"}))
    apply(gallery, proposal_id=2)
    blocked = gallery.logos.get(artworks.GetLogo(logo_id=1))
    assert (blocked.name, blocked.active) == ("b", False)


@pytest.mark.rule("contract R2", "contract R3")
def test_the_first_artwork_creates_the_submitters_author(gallery: LogoAdmin, storage: MemoryStorage) -> None:
    newcomer = signed_in(storage, "proposals:write", user_id=300)
    propose(gallery, newcomer, NEW, {"kind": "theme", "create": LOOK})
    artist = signed_in(storage, "logos:write", "themes:write", user_id=301)
    apply(gallery, replace(artist, request_id="request 0"))
    assert gallery.authors.get(GetAuthor(author_id=3)).username == "user 300"
    assert [logo.author_id for logo in gallery.logos.get(artworks.GetLogo(logo_id=3)).authors] == [3]
    # The author is removed and restored with the artwork.
    undone = [["author.created", "logo.created", "theme.created"], ["theme.removed", "logo.removed", "author.removed"]]
    for number, actions in enumerate([*undone, ["author.restored", "logo.restored", "theme.restored"]]):
        made = [*gallery.changes.list(ListChanges(request_id=f"request {number}"))]
        assert [change.action for change in made] == actions
        command = RevertRequest(request_id=f"request {number}")
        tuple(gallery.changes.revert_request(command, replace(artist, request_id=f"request {number + 1}")))
    # An author who is proposed alone is not linked to an artwork.
    loner = signed_in(storage, "proposals:write", user_id=303)
    propose(gallery, loner, {"kind": "author", "create": {"user_id": 303, "username": "Loner"}})
    assert failure(apply, gallery, artist, 2) is errors.NotFound


NOT_THEIRS: Final = ", which is no longer the submitter's"


@pytest.mark.rule("contract R3")
@pytest.mark.parametrize(
    ("change", "meanwhile", "named"),
    [
        (of("logo", set={"name": "a"}), artworks.AmendLogo(logo_id=1, name="b"), "Logo 1"),
        (of("logo", set={"name": "a"}), artworks.AmendLogo(logo_id=1, target="wiki"), None),
        (of("logo", set={"name": "a"}), artworks.AmendLogo(logo_id=1, active=False), "Logo 1"),
        (of("logo", set={"author_ids": [1]}), artworks.AmendLogo(logo_id=1, name="b"), None),
        (of("logo", remove=True), artworks.AmendLogo(logo_id=1, name="b"), "Logo 1"),
        (of("author", set={"username": "a"}), AmendAuthor(author_id=1, username="b"), "Author 1"),
        (of("author", set={"username": "a"}), AmendAuthor(author_id=1, user_id=555), f"Author 1{NOT_THEIRS}"),
        (of("logo", set={"name": "a"}), AmendAuthor(author_id=1, user_id=555), f"Logo 1{NOT_THEIRS}"),
        (of("logo", set={"name": "a"}), RemoveAuthor(author_id=1), f"Logo 1{NOT_THEIRS}"),
        (of("logo", set={"name": "a"}), RemoveAuthor(author_id=2), None),
        ({"kind": "logo", "create": {**LOOK, "author_ids": [1]}}, RemoveAuthor(author_id=1), "Author 1"),
        (of("logo", set={"name": "a"}), artworks.LinkLogoAuthor(logo_id=1, author_id=3), None),
        (of("logo", remove=True), artworks.LinkLogoAuthor(logo_id=1, author_id=3), None),
        (of("logo", set={"author_ids": [2, 1]}), artworks.LinkLogoAuthor(logo_id=1, author_id=3), "Logo 1"),
        (of("logo", set={"name": "a"}), artworks.BlockLogo(logo_id=1, reason="Ugly"), "Logo 1"),
    ],
)
def test_a_record_is_reported_as_changed_only_if_the_same_fields_changed(
    gallery: LogoAdmin, member: SignedIn, change: Any, meanwhile: Any, named: str | None
) -> None:
    gallery.authors.create(CreateAuthor(user_id=103, username="Cyd"))
    propose(gallery, member, change)
    ask(gallery, meanwhile)
    if named is None:
        assert apply(gallery).state == "applied"
        return
    with pytest.raises(errors.Conflict) as caught:
        apply(gallery)
    assert str(caught.value) == f"Changed since proposal 1 was made: {named}"
    # With the current record, it can be applied, if the record is still the submitter's.
    if named in ("Logo 1", "Author 1") and "set" in change:
        again = amending(1, change | {"version": 98})
        gallery.proposals.amend(again, member)
        assert apply(gallery).state == "applied"


@pytest.mark.rule("contract R3")
def test_all_changed_and_removed_records_are_reported(gallery: LogoAdmin) -> None:
    propose(gallery, OWNER, of("logo", set={"name": "a"}), of("theme", set={"name": "a"}), of("logo", 2, remove=True))
    gallery.logos.amend(artworks.AmendLogo(logo_id=1, name="b"))
    gallery.themes.remove(artworks.RemoveTheme(theme_id=1))
    before = exported(gallery), history(gallery)
    with pytest.raises(errors.Conflict, match=r"^Changed since proposal 1 was made: Logo 1; Theme 1$"):
        apply(gallery)
    assert (exported(gallery), history(gallery)) == before


@pytest.mark.rule("contract R3")
def test_proposals_of_removed_users_can_be_decided(
    gallery: LogoAdmin, storage: MemoryStorage, member: SignedIn
) -> None:
    newcomer = signed_in(storage, "proposals:write", user_id=300)
    for caller in (member, newcomer, newcomer):
        propose(gallery, caller, NEW)
    for user_id in (MEMBER_ID, 300):
        gallery.users.remove(RemoveUser(user_id=user_id))
    assert {each.user_name for each in gallery.proposals.list(commands.ListProposals())} == {None}
    assert apply(gallery).state == "applied"
    with pytest.raises(errors.Conflict, match=r"^User 300 was removed and is no author;"):
        apply(gallery, proposal_id=2)
    mended = {"kind": "logo", "create": {**LOOK, "author_ids": []}}
    gallery.proposals.amend(amending(2, mended))
    assert apply(gallery, proposal_id=2).state == "applied"
    assert gallery.logos.get(artworks.GetLogo(logo_id=4)).active  # still as its submitter proposed it
    assert gallery.proposals.decline(commands.DeclineProposal(proposal_id=3, reason="No")).state == "declined"


@pytest.mark.rule("contract R3")
def test_submitters_and_appliers_amend_proposals(gallery: LogoAdmin, storage: MemoryStorage, member: SignedIn) -> None:
    painter = signed_in(storage, "logos:write", user_id=700)
    reviewer = signed_in(storage, "logos:write", "themes:write", user_id=701)
    propose(gallery, member, of("logo", set={"name": "a"}), note="Please")

    def amend(caller: Caller, **values: Any) -> commands.Proposal:
        return gallery.proposals.amend(commands.AmendProposal(proposal_id=1, **values), caller)

    first = amend(member)
    assert amend(member, title="Mended").version > first.version
    assert amend(painter, note="Mended").note == "Mended"
    assert failure(amend, painter, changes=(of("theme", set={"name": "a"}),)) is errors.NotPermitted
    assert failure(amend, member, changes=(of("logo", 2, set={"name": "a"}),)) is errors.NotPermitted
    # Changes that a reviewer may write need no author, and stay the submitter's.
    mended = amend(reviewer, changes=(of("logo", set={"name": "b"}), of("theme", set={"active": False})))
    assert [change.after and change.after["active"] for change in mended.changes] == [True, False]
    with pytest.raises(errors.NotFound):  # a theme is in it now
        amend(painter, title="Not mine")
    assert amend(reviewer, changes=(NEW | {"create": ARTWORK | {"active": False}},)).state == "waiting"
    assert failure(amend, member, changes=(NEW | {"create": ARTWORK},)) is errors.InvalidInput
    with pytest.raises(errors.Outdated, match=r"^Proposal 1 was changed since$"):
        gallery.proposals.amend(if_match(commands.AmendProposal(proposal_id=1, title="Late"), first.version), member)
    gallery.proposals.decline(commands.DeclineProposal(proposal_id=1, reason="No"), painter)
    with pytest.raises(errors.Conflict, match=r"^Proposal 1 was declined before$"):
        amend(painter, title="Too late")
    assert amend(member).state == "declined"
    again = amend(member, title="Once more")
    assert (again.state, again.reason, again.decided_at, again.decided_by) == ("waiting", None, None, None)


@pytest.mark.rule("contract R2", "contract R3")
def test_a_user_has_at_most_20_waiting_proposals(
    gallery: LogoAdmin, storage: MemoryStorage, member: SignedIn, clock: FrozenClock
) -> None:
    for _ in range(20):
        propose(gallery, member, of("logo", set={"name": "a"}))
    gallery.proposals.decline(commands.DeclineProposal(proposal_id=1, reason="No"))
    assert refusal(gallery, member, NEW) is None
    assert refusal(gallery, member, NEW) is errors.Conflict
    with pytest.raises(errors.Conflict, match=r"^20 proposals of this user wait;"):
        gallery.proposals.amend(commands.AmendProposal(proposal_id=1, title="Again"), member)
    assert refusal(gallery, signed_in(storage, "proposals:write", user_id=102), NEW) is None
    clock.pass_by(60)
    assert gallery.proposals.waiting() == (21, 60)


@pytest.mark.rule("contract R3")
def test_only_the_submitter_withdraws_and_only_an_applier_decides(
    gallery: LogoAdmin, storage: MemoryStorage, member: SignedIn
) -> None:
    propose(gallery, member, NEW)
    reviewer = signed_in(storage, *ALL_WRITES, user_id=700)
    deciding: list[Any] = [commands.ApplyProposal(proposal_id=1), commands.DeclineProposal(proposal_id=1, reason="No")]
    withdrawing: Any = commands.WithdrawProposal(proposal_id=1)
    for command, caller in ((withdrawing, reviewer), *((each, member) for each in deciding)):
        assert failure(ask, gallery, command, caller) is errors.NotPermitted
    ended = gallery.proposals.withdraw(withdrawing, member)
    assert (ended.state, ended.decided_by, ended.request_id) == ("withdrawn", MEMBER_ID, None)
    late: Any = commands.AmendProposal(proposal_id=1, title="Late")
    for command, caller in ((withdrawing, member), (late, member), *((each, reviewer) for each in deciding)):
        with pytest.raises(errors.Conflict, match=r"^Proposal 1 was withdrawn before$"):
            ask(gallery, command, caller)


CYD: Final = {"kind": "author", "create": {"user_id": 701, "username": "Cyd"}}


@pytest.mark.rule("contract R2", "contract R3")
@pytest.mark.parametrize(
    ("former", "changes", "author_id", "username"),
    [
        (None, (CYD, NEW), 3, "Cyd"),
        (None, (NEW, CYD), 3, "Cyd"),
        ("Dee", (of("author", 3, remove=True), NEW), 4, "user 701"),
        ("Dee", (of("author", 3, set={"user_id": 702, "username": "Eve"}), NEW), 4, "user 701"),
    ],
)
def test_a_new_artwork_is_linked_to_the_author_that_its_submitter_then_has(
    gallery: LogoAdmin, storage: MemoryStorage, former: str | None, changes: Any, author_id: int, username: str
) -> None:
    if former is not None:
        gallery.authors.create(CreateAuthor(user_id=701, username=former))
    propose(gallery, signed_in(storage, "proposals:write", "authors:write", user_id=701), *changes)
    assert apply(gallery).state == "applied"
    (linked,) = gallery.logos.get(artworks.GetLogo(logo_id=3)).authors
    assert (linked.author_id, linked.user_id, linked.username) == (author_id, 701, username)


@pytest.mark.rule("contract R3")
def test_leaving_out_a_record_changes_no_other(gallery: LogoAdmin, storage: MemoryStorage, member: SignedIn) -> None:
    first, second = ({"kind": "logo", "create": {**LOOK, "name": name}} for name in ("Dawn", "Dusk"))
    propose(gallery, member, first, second)
    reviewer = signed_in(storage, "logos:write", user_id=700)
    (left,) = gallery.proposals.amend(amending(1, second), reviewer).changes
    assert left.submitted is None
    mended = {"kind": "logo", "create": {**LOOK, "name": "Dusk", "target": "wiki"}}
    (change,) = gallery.proposals.amend(amending(1, mended), reviewer).changes
    assert change.submitted is not None
    assert change.submitted["name"] == "Dusk"


class Hurrying(FrozenClock):
    asked = 0

    def worked(self) -> float:
        self.asked += 1
        return self.asked * 0.4


@pytest.mark.rule("contract R1", "contract L4")
def test_the_verdicts_on_one_proposal_share_a_time_limit(storage: MemoryStorage) -> None:
    gallery = gallery_on(storage, Hurrying())
    new = [{"kind": "theme", "create": {**ARTWORK, "custom_css": f"a {{ order: {number} }}"}} for number in range(20)]
    verdicts = [change.verdict for change in propose(gallery, OWNER, *new).changes]
    reasons = [verdict.reason for verdict in verdicts if verdict is not None]
    assert len(reasons) == 20
    assert not reasons[0]
    assert reasons[-1]


@pytest.mark.rule("contract R1", "contract L4")
def test_no_css_is_judged_for_a_proposal_that_the_caller_does_not_see(storage: MemoryStorage) -> None:
    gallery = gallery_on(storage, clock := Hurrying())
    propose(gallery, OWNER, NEW)
    asked = clock.asked
    with pytest.raises(errors.NotFound):
        gallery.proposals.amend(amending(1, NEW), signed_in(storage, user_id=700))
    assert clock.asked == asked + 1  # when the time limit starts


ARTWORKS: Final = st.sampled_from(["logo", "theme"])
# Of authors that exist, and one that none of the changes creates: proposals name none of those that they create.
AUTHOR_IDS: Final = st.lists(st.sampled_from([1, 2, 9]), unique=True, max_size=3)
NAMES: Final = st.sampled_from(["Ann", "Ben", "Cyd"])


def existing(kinds: st.SearchStrategy[str], **what: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return changes of an existing record, or of a missing one that no other change creates."""
    ids = st.sampled_from([1, 7, 9])
    return st.fixed_dictionaries({"kind": kinds, "id": ids, "version": st.just(99), **what})


def created(kinds: st.SearchStrategy[str], values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"kind": kinds, "create": values})


def changed_once(changes: list[Any]) -> bool:
    """Return whether no record is changed twice, which proposals refuse."""
    existing_ones = [(change["kind"], change["id"]) for change in changes if "id" in change]
    return len(existing_ones) == len({*existing_ones})


CHANGES: Final = st.lists(
    created(ARTWORKS, some(author_ids=AUTHOR_IDS).map(lambda given: {**ARTWORK, **given}))
    | created(st.just("author"), st.fixed_dictionaries({"user_id": st.integers(101, 104), "username": NAMES}))
    | existing(ARTWORKS, set=some(name=NAMES, active=st.booleans(), author_ids=AUTHOR_IDS))
    | existing(ARTWORKS, block=st.just({"reason": "Ugly"}))
    | existing(st.just("author"), set=some(username=NAMES))
    | existing(st.just("role"), set=some(scope=st.sampled_from([[], ["*"], ["logos:write"]])))
    | existing(st.sampled_from(["logo", "theme", "author", "user", "role"]), remove=st.just(True)),
    min_size=1,
    max_size=5,
).filter(changed_once)


@pytest.mark.rule("contract R3")
@given(changes=CHANGES)
def test_applying_is_the_same_as_a_bulk_change(changes: list[Any]) -> None:
    assert outcome(changes, is_proposed=True) == outcome(changes, is_proposed=False)


def outcome(changes: list[Any], *, is_proposed: bool) -> object:
    """Return whether changes are refused in a stocked gallery, the history apart from origins, and all records."""
    storage = MemoryStorage()
    gallery = stock(gallery_on(storage, FrozenClock()))
    caller = replace(signed_in(storage, "*", user_id=600), request_id="one")
    known = gallery.changes.version()
    is_refused = False
    try:
        if is_proposed:
            apply(gallery, caller, propose(gallery, caller, *changes).proposal_id)
        else:
            tuple(gallery.bulk.apply(ApplyChanges(changes=tuple(changes)), caller))
    except errors.LogoAdminError:  # of several reasons, each may report a different one
        is_refused = True
    made = gallery.changes.list(ListChanges(after=known))
    others = [replace(change, origin=None, submitter_id=None, submitter_name=None) for change in made]
    return is_refused, others, exported(gallery, hashes=False)


@pytest.mark.rule("contract L3", "contract P5", "contract R4")
def test_authors_see_their_blocked_works_with_reason_and_picture(
    gallery: LogoAdmin, storage: MemoryStorage, member: SignedIn
) -> None:
    other, moderator, nobody = (
        signed_in(storage, *scope, user_id=id_)
        for id_, *scope in ((102, "proposals:write"), (503, "logos:write"), (504,))
    )
    sent = gallery.pictures.send(SendPicture(), drawing(1), member)
    propose(gallery, member, {"kind": "logo", "create": {**LOOK, "preview_url": sent.url}})
    (made,) = apply(gallery).artworks
    for logo_id, reason in ((made.id, "Covers the page"), (2, "Of Ben alone")):
        gallery.logos.block(artworks.BlockLogo(logo_id=logo_id, reason=reason))
    for caller in (member, moderator):
        assert gallery.pictures.get(GetPicture(picture=sent.picture), caller)[1]
    for stranger in (other, nobody, ANONYMOUS):
        assert failure(gallery.pictures.get, GetPicture(picture=sent.picture), stranger) is errors.PictureGone
    mine, theirs = (gallery.publication.status(ShowPublication(), caller).blocked for caller in (member, other))
    assert [(each.kind, each.id, each.reason) for each in mine] == [(made.kind, made.id, "Covers the page")]
    assert [each.id for each in theirs] == [2]
    assert failure(gallery.publication.status, ShowPublication(), nobody) is errors.NotPermitted


@pytest.mark.rule("contract L5", "contract R4")
def test_authors_see_which_of_their_works_are_left_out_or_risky_and_no_others(
    gallery: LogoAdmin, storage: MemoryStorage, member: SignedIn
) -> None:
    other, moderator = signed_in(storage, "proposals:write", user_id=102), signed_in(storage, "*", user_id=503)
    for author_id, css in ((1, "@import url(//a.example);"), (1, "input { top: 0 }"), (2, "a{")):
        made = gallery.themes.create(artworks.CreateTheme(**{**ARTWORK, "custom_css": css}))
        gallery.themes.link(artworks.LinkThemeAuthor(theme_id=made.theme_id, author_id=author_id))
    mine, whole, theirs = (
        gallery.publication.status(ShowPublication(), caller) for caller in (member, moderator, other)
    )
    assert [(each.id, each.code) for each in mine.left_out] == [(2, "import")]
    assert [(each.id, each.risks) for each in mine.risky] == [(3, ("input_styling",))]
    assert (mine.logos, mine.themes, whole.logos, whole.themes) == (1, 2, 2, 2)
    assert [[each.id for each in status.left_out] for status in (whole, theirs)] == [[2, 4], [4]]
