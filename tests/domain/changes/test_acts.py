"""The acts of the history: one for each request, unaffected by later changes (contract G5)."""

from dataclasses import replace
from typing import Any, Final

import pytest

from logoadmin import Act, AmendUser, ApplyChanges, ListActs, LogoAdmin, Revert, RevertRequest
from logoadmin.domain.gallery.artworks import AmendLogo, BlockLogo, LinkLogoAuthor, RemoveLogo
from logoadmin.domain.gallery.authors import AmendAuthor, CreateAuthor, GetAuthor, RemoveAuthor
from logoadmin.domain.kernel.access import OWNER, Caller, Occasion, Owner, Source
from logoadmin.domain.kernel.act_log import ActOrigin
from logoadmin.domain.kernel.lists import Order
from logoadmin.ports.storage import Storage
from tests.domain.undone import undone
from tests.gallery import ARTWORK, failure, history, signed_in

pytestmark = pytest.mark.rule("contract G5")

USER_ID: Final = 501


def by(request_id: str, note: str | None = None, source: Source = Source.INTERFACE) -> Owner:
    return Owner(request_id, Occasion(source, note))


def acts(gallery: LogoAdmin, caller: Caller = OWNER, **values: Any) -> list[Act]:
    return list(gallery.acts.list(ListActs(**values), caller))


def act(gallery: LogoAdmin, request_id: str, caller: Caller = OWNER) -> Act:
    (found,) = acts(gallery, caller, request_id=request_id)
    return found


def logos(gallery: LogoAdmin, request_id: str, *names: str, **values: Any) -> None:
    changes: Any = [{"kind": "logo", "create": {**ARTWORK, "name": name, **values}} for name in names]
    gallery.bulk.apply(ApplyChanges(changes=changes), by(request_id))


def changed(gallery: LogoAdmin, request_id: str, *ids: int, **values: Any) -> None:
    versions = {change.id: change.change_id for change in history(gallery) if change.kind == "logo"}
    changes: Any = [{"kind": "logo", "id": id_, "version": versions[id_], "set": values} for id_ in ids]
    gallery.bulk.apply(ApplyChanges(changes=changes), by(request_id))


def test_the_record_of_an_act_never_changes(gallery: LogoAdmin, storage: Storage) -> None:
    """The names of records, user and authors are those at the time of the act (contract G5)."""
    user = signed_in(storage, "*", user_id=USER_ID)
    ann = replace(user, request_id="link", occasion=Occasion(Source.CONSOLE, "Asked for by Ben"))
    logos(gallery, "make", "Aurora")
    author_id = gallery.authors.create(CreateAuthor(user_id=7, username="Ben"), by("author")).author_id
    gallery.logos.link(LinkLogoAuthor(logo_id=1, author_id=author_id), ann)
    before = act(gallery, "link")
    gallery.authors.amend(AmendAuthor(author_id=author_id, username="Benedict"))
    gallery.logos.amend(AmendLogo(logo_id=1, name="Borealis"))
    name = before.user_name
    gallery.users.amend(AmendUser(user_id=USER_ID, username="anna"))
    after = act(gallery, "link")
    assert (before.names, before.authors, before.user_name) == (("Aurora",), ("Ben",), name)
    assert (before.origin, before.note) == (ActOrigin.CONSOLE, "Asked for by Ben")
    assert (before.actions, before.fields, before.count) == ({"logo.linked": 1}, ("authors",), 1)
    assert before.can_undo
    assert replace(after, can_undo=True, why_not=None) == before
    assert after.why_not == "Logo 1 was changed since, by change " + str(history(gallery)[-2].change_id)


def test_one_request_is_one_act(gallery: LogoAdmin) -> None:
    """It counts its changes by action, and has the names of the first three records (contract G5)."""
    logos(gallery, "make", "Aurora", "Borealis", "Corona", "Dawn")
    changed(gallery, "switch", 1, 2, 3, active=False)
    changed(gallery, "mix", 1, 2, active=True, target="wiki")
    created, switched, mixed = act(gallery, "make"), act(gallery, "switch"), act(gallery, "mix")
    assert (created.count, created.actions, created.fields) == (4, {"logo.created": 4}, ())
    assert created.names == ("Aurora", "Borealis", "Corona")
    assert (switched.actions, switched.fields, switched.active) == ({"logo.amended": 3}, ("active",), False)
    assert mixed.fields == ("target", "active")


def test_the_origin_of_an_act(gallery: LogoAdmin, storage: Storage) -> None:
    """The command line takes precedence over the use case, and an undo over its caller (contract G5)."""
    logos(gallery, "plain", "Aurora")
    gallery.logos.amend(AmendLogo(logo_id=1, name="Dawn"), by("typed", source=Source.COMMAND_LINE))
    gallery.changes.revert_request(RevertRequest(request_id="typed"), by("undo", source=Source.CONSOLE))
    assert [each.origin for each in acts(gallery)[1:]] == ["interface", "command line", "undo"]
    assert acts(gallery)[0].origin == "first start"
    assert acts(gallery)[0].why_not == "The first start cannot be undone"
    reader = signed_in(storage, "changes:read", user_id=USER_ID)
    assert act(gallery, "plain", reader).why_not == "Requires logos:write"


def test_missing_scopes_are_named_in_one_order(gallery: LogoAdmin, storage: Storage) -> None:
    """Processes with another order of sets have the same entity tags (contract F1, G5)."""
    changes: Any = [
        {"kind": "theme", "create": ARTWORK},
        {"kind": "role", "create": {"name": "painter", "scope": []}},
        {"kind": "logo", "create": ARTWORK},
        {"kind": "author", "create": {"user_id": 7, "username": "Ben"}},
    ]
    gallery.bulk.apply(ApplyChanges(changes=changes), by("many"))
    reader = signed_in(storage, "changes:read", user_id=USER_ID)
    scopes = "authors:write and logos:write and roles:write and themes:write"
    assert act(gallery, "many", reader).why_not == f"Requires {scopes}"


def test_blocks_have_actions_and_reasons(gallery: LogoAdmin) -> None:
    """An act that begins or ends a block has that action, even if it undoes another act (contract G5, L3)."""
    logos(gallery, "make", "Aurora", active=True)
    gallery.logos.block(BlockLogo(logo_id=1, reason="Spam"), Owner("block"))
    gallery.logos.amend(AmendLogo(logo_id=1, name="Dawn", active=True, unblock=True), by("lift"))
    gallery.changes.revert_request(RevertRequest(request_id="lift"), by("back"))
    gallery.changes.revert_request(RevertRequest(request_id="back"), by("again"))
    actions = [(each.actions, each.reason) for each in acts(gallery)[-4:]]
    blocked, unblocked = ({"logo.blocked": 1}, "Spam"), ({"logo.unblocked": 1}, None)
    assert actions == [blocked, unblocked, blocked, unblocked]
    assert (act(gallery, "block").source, act(gallery, "block").origin) == (Source.PROGRAM, ActOrigin.INTERFACE)


def test_an_undone_act_names_the_request_that_undid_it(gallery: LogoAdmin) -> None:
    """Until the undo itself is undone (contract G5)."""
    logos(gallery, "make", "Aurora", "Borealis")
    changed(gallery, "switch", 1, 2, active=False)
    gallery.changes.revert_request(RevertRequest(request_id="switch"), by("undo"))
    assert (act(gallery, "switch").undone_by, act(gallery, "switch").can_undo) == ("undo", False)
    assert act(gallery, "make").can_undo
    gallery.changes.revert_request(RevertRequest(request_id="undo"), by("redo"))
    assert (act(gallery, "switch").undone_by, act(gallery, "switch").can_undo) == (None, True)
    assert act(gallery, "undo").undone_by == "redo"
    assert [act(gallery, each).undid for each in ("switch", "undo", "redo")] == [None, "interface", "undo"]


def test_an_undo_of_a_program_without_a_request_id_gets_one(gallery: LogoAdmin) -> None:
    """The act that it undid names that id, and the undo can be undone as a whole (contract G5)."""
    logos(gallery, "make", "Aurora", "Borealis")
    made = [*gallery.changes.revert_request(RevertRequest(request_id="make"))]
    undo = f"undo:{made[0].change_id}"
    assert {each.request_id for each in made} == {undo}
    assert (act(gallery, "make").undone_by, act(gallery, "make").can_undo) == (undo, False)
    again = gallery.changes.revert_request(RevertRequest(request_id=undo))
    assert {each.action for each in again} == {"logo.restored"}
    assert act(gallery, "make").undone_by is None
    gallery.authors.create(CreateAuthor(user_id=9, username="Dee"))
    gallery.changes.revert(Revert(change_id=history(gallery)[-1].change_id))
    created, undone = acts(gallery)[-2:]
    assert undone.request_id is not None
    assert created.undone_by == undone.request_id


def test_an_act_can_be_undone_after_its_author_was_removed_and_returned(gallery: LogoAdmin) -> None:
    """Links that return with an author do not count as a later change of the author (contract G5)."""
    logos(gallery, "make", "Aurora")
    ann = gallery.authors.create(CreateAuthor(user_id=7, username="Ann"))
    gallery.logos.link(LinkLogoAuthor(logo_id=1, author_id=ann.author_id))
    gallery.authors.amend(AmendAuthor(author_id=ann.author_id, username="Anna"), by("rename"))
    gallery.authors.remove(RemoveAuthor(author_id=ann.author_id), by("remove"))
    gallery.changes.revert_request(RevertRequest(request_id="remove"), by("return"))
    assert act(gallery, "rename").can_undo
    gallery.changes.revert_request(RevertRequest(request_id="rename"), by("undo"))
    assert gallery.authors.get(GetAuthor(author_id=ann.author_id)).username == "Ann"


def walk(gallery: LogoAdmin) -> None:
    """Make some acts that change the same records."""
    logos(gallery, "make", "Aurora", "Borealis", "Corona")
    gallery.authors.create(CreateAuthor(user_id=7, username="Ben"), by("author"))
    gallery.authors.create(CreateAuthor(user_id=8, username="Cyd"), by("idle"))
    changed(gallery, "switch", 1, 2, active=False)
    logos(gallery, "dawn", "Dawn", author_ids=[1])
    changed(gallery, "target", 2, 3, target="wiki")
    gallery.logos.remove(RemoveLogo(logo_id=3), by("remove"))
    gallery.changes.revert_request(RevertRequest(request_id="remove"), by("back"))
    gallery.logos.amend(AmendLogo(logo_id=1, name="Aura"))  # without a request


def test_acts_can_be_undone_if_they_indicate_it(gallery: LogoAdmin) -> None:
    """``can_undo`` is true if undoing the request succeeds (contract G5)."""
    walk(gallery)
    found = [each for each in acts(gallery) if each.request_id]
    assert {each.request_id for each in found if each.can_undo} == {"idle", "target", "dawn", "back"}
    for each in found:
        if each.undone_by is None:
            command = RevertRequest(request_id=str(each.request_id))
            error = undone(gallery, lambda bound, _: failure(bound.changes.revert_request, command))  # noqa: B023 (called here)
            assert each.can_undo == (error is None), each


def test_acts_have_pages_and_filters(gallery: LogoAdmin) -> None:
    """Like changes (contract G3, G5)."""
    walk(gallery)
    whole = acts(gallery)
    assert sum(each.count for each in whole) == len(history(gallery))
    assert acts(gallery, order="desc") == whole[::-1]
    assert paged(gallery, "asc") == whole
    assert paged(gallery, "desc") == whole[::-1]
    for where in ({"kind": "logo"}, {"kind": "logo", "id": 2}, {"action": "logo.amended"}, {"kind": "author"}):
        wanted = {(change.request_id, change.change_id) for change in history(gallery) if matches(change, where)}
        requests = {request_id for request_id, _ in wanted}
        alone = {change_id for request_id, change_id in wanted if request_id is None}
        expected = [each for each in whole if each.request_id in requests - {None} or each.change_id in alone]
        assert acts(gallery, **where) == expected, where
        assert acts(gallery, order="desc", **where) == expected[::-1], where


def matches(change: Any, where: dict[str, Any]) -> bool:
    return all(getattr(change, name) == value for name, value in where.items())


def paged(gallery: LogoAdmin, order: Order) -> list[Act]:
    found: list[Act] = []
    after: dict[str, Any] = {}
    while True:
        page = gallery.acts.list(ListActs(limit=2, order=order, **after))
        found += page.first
        if page.next_after is None:
            return found
        after["after"] = page.next_after


def test_writes_with_one_id_are_one_act(gallery: LogoAdmin) -> None:
    """Even if a program made another write between them (contract G5)."""
    logos(gallery, "job", "Aurora")
    logos(gallery, "other", "Borealis")
    logos(gallery, "job", "Corona")
    created = [(each.request_id, each.names) for each in acts(gallery)[1:]]
    assert created == [("job", ("Aurora", "Corona")), ("other", ("Borealis",))]
    assert [each.request_id for each in acts(gallery, order="desc")][:2] == ["other", "job"]
