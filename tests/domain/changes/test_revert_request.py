"""Undoing all changes of a request (contract G4)."""

from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logoadmin import Change, Conflict, ListActs, LogoAdmin, LogoAdminError, NotFound, NotPermitted, RevertRequest
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.gallery import artworks, authors
from logoadmin.domain.identity import users
from logoadmin.domain.kernel.access import OWNER, Caller, Owner, SentRequestId
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.limits import Origin
from tests.domain.changes.test_changes import artwork_commands, everything, last
from tests.gallery import ARTWORK, FrozenClock, ask, failure, gallery_on, history, imported, signed_in, stock

pytestmark = pytest.mark.rule("contract G4")

R = Owner("r")
IMPORTED: Final[list[dict[str, Any]]] = [
    {"kind": "role", "role_id": 3, "name": "brush", "scope": ["x"]},
    {"kind": "role", "role_id": 9, "name": "painter", "scope": []},
    {"kind": "user", "user_id": 7, "username": "anna", "avatar": None, "role_id": 9},
    {"kind": "author", "author_id": 8, "user_id": 108, "username": "Eve"},
    {"kind": "logo", "logo_id": 1, **ARTWORK, "name": "new", "author_ids": [8, 2, 1]},
    {"kind": "theme", "theme_id": 5, **ARTWORK, "author_ids": [2, 8]},
]


def revert(gallery: LogoAdmin, request_id: str = "r", caller: Caller = OWNER) -> list[Change]:
    return list(gallery.changes.revert_request(RevertRequest(request_id=request_id), caller))


def logo(name: str, *author_ids: int, logo_id: int = 1) -> dict[str, Any]:
    return {"kind": "logo", "logo_id": logo_id, **ARTWORK, "name": name, "author_ids": author_ids}


def test_an_import_can_be_undone_and_redone(stocked: LogoAdmin, storage: MemoryStorage, clock: FrozenClock) -> None:
    before = everything(storage)
    imported(stocked, *IMPORTED, caller=R)
    after, done = everything(storage), history(stocked)
    clock.pass_by(60)
    undone = revert(stocked, caller=Owner("undo"))
    assert everything(storage) == before
    assert undone == history(stocked)[len(done) :]
    assert [(change.kind, change.id, change.origin, change.undoes) for change in undone] == [
        (change.kind, change.id, Origin.UNDO, change.change_id) for change in reversed(done) if change.request_id == "r"
    ]
    assert {change.request_id for change in undone} == {"undo"}
    revert(stocked, "undo", Owner("again"))
    assert everything(storage) == after
    assert failure(revert, stocked, "undo") is Conflict
    revert(stocked, "again")
    assert everything(storage) == before


def test_a_later_change_by_another_request_blocks_undoing(stocked: LogoAdmin, storage: MemoryStorage) -> None:
    imported(stocked, logo("a", 1), logo("b", logo_id=9), logo("c", logo_id=10), caller=R)
    stocked.logos.amend(artworks.AmendLogo(logo_id=9, name="mine"))
    theirs = last(stocked).change_id
    stocked.logos.amend(artworks.AmendLogo(logo_id=10, active=False), R)
    before = everything(storage)
    with pytest.raises(Conflict, match=rf"^Logo 9 was changed since, by change {theirs}$"):
        revert(stocked)
    assert everything(storage) == before


def test_a_password_that_the_request_set_stays(stocked: LogoAdmin, storage: MemoryStorage) -> None:
    before = everything(storage)
    stocked.users.set_password(users.SetPassword(user_id=7, password="new"), R)
    assert revert(stocked) == []
    stocked.authors.amend(authors.AmendAuthor(author_id=1, username="Anna"), R)
    assert [change.action for change in revert(stocked)] == ["author.amended"]
    assert everything(storage) == before


def test_a_missing_request_is_not_found(stocked: LogoAdmin) -> None:
    for request_id in ("x", "SECOND", "second "):
        with pytest.raises(NotFound, match=f"^Request {request_id} not found$"):
            revert(stocked, request_id)


def test_undoing_a_request_requires_the_scopes_of_all_its_kinds(stocked: LogoAdmin, storage: MemoryStorage) -> None:
    imported(stocked, IMPORTED[3], logo("a", 8), caller=R)
    for number, scope in enumerate([("logos:write",), ("authors:write",), ("changes:read",), ()]):
        assert failure(revert, stocked, caller=signed_in(storage, *scope, user_id=600 + number)) is NotPermitted
    with pytest.raises(NotPermitted):  # to strangers, existing and missing requests look alike
        revert(stocked, "unknown", signed_in(storage, "users:read", user_id=700))
    assert len(revert(stocked, caller=signed_in(storage, "logos:write", "authors:write", user_id=701))) == 2


@given(commands=st.lists(artwork_commands(), min_size=1, max_size=30))
def test_every_change_of_a_request_is_undone(commands: list[Command]) -> None:
    storage = MemoryStorage()
    gallery = stock(gallery_on(storage, FrozenClock()))
    before = everything(storage)
    for command in commands:
        try:
            ask(gallery, command, R)
        except LogoAdminError:
            continue
    if last(gallery).request_id == "r":
        revert(gallery)
    assert everything(storage) == before


def test_a_request_id_in_the_history_is_not_reused(stocked: LogoAdmin) -> None:
    for chosen, expected, name in (("second", "of our own", "Anna"), ("third", "third", "Ann")):
        sent = SentRequestId(chosen, "of our own")
        stocked.authors.amend(authors.AmendAuthor(author_id=1, username=name), Owner(sent))
        assert (last(stocked).request_id, sent.text) == (expected, expected)


@pytest.mark.rule("contract G5")
def test_several_writes_of_a_request_are_one_act(stocked: LogoAdmin) -> None:
    for sent in (SentRequestId("theirs", "ours"), SentRequestId("our own", "our own")):
        for name in ("Anna", "Ann"):
            stocked.authors.amend(authors.AmendAuthor(author_id=1, username=name), Owner(sent))
        (act,) = stocked.acts.list(ListActs(request_id=sent.text))
        assert (act.request_id, act.count) == (sent.text, 2)
