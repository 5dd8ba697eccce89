"""The sweep of expired rows, on every storage (contract C1, C3, F3, O2, O9)."""

from typing import Final

import pytest

from logoadmin import Anonymous, CreateAuthor, CreateSignInCode, LogoAdmin, SignIn, SignInRefused
from logoadmin.domain.kernel.limits import MAX_ID
from logoadmin.ports.sign_in_storage import Challenge
from logoadmin.ports.storage import Storage, UnitOfWork
from tests.conftest import STORAGES
from tests.domain.identity.sign_ins import ANN, caller, refresh, works
from tests.gallery import NOW, FrozenClock, failure, gallery_on, once, stock

HOME: Final = Anonymous("203.0.113.7", None, "Firefox")
DAY: Final = 86_400


def rest(uow: UnitOfWork) -> int:
    """Sweep as in a few years; return the number of removed rows."""
    late, identity = NOW + 2_000 * DAY, uow.identity
    removed = (
        identity.counts.forget_ended(late, 9_999),
        identity.challenges.forget_expired(late, 9_999),
        identity.sessions.forget_expired(late, 9_999),
        identity.events.forget_before(late, 9_999),
        uow.stored_responses.forget_expired(late, 9_999),
    )
    return sum(removed)


def use(gallery: LogoAdmin) -> None:
    """Add rows to every table."""
    refresh(gallery, gallery.sessions.sign_in(ANN, HOME))
    assert failure(gallery.sessions.sign_in, SignIn(username="ann", password="wrong"), HOME) is SignInRefused
    gallery.sign_in_codes.create(CreateSignInCode(user_id=7))
    gallery.authors.create(once(CreateAuthor(user_id=99, username="Author 99"), "key"))


@pytest.mark.parametrize("storage", STORAGES, indirect=True)
def test_only_expired_rows_are_deleted(storage: Storage, clock: FrozenClock) -> None:
    gallery = stock(gallery_on(storage, clock))
    use(gallery)
    clock.pass_by(400 * DAY)
    tokens = gallery.sessions.sign_in(ANN, HOME)
    # Rows from before and of this sign-in: only the sweep cleans up.
    assert len(storage.read(lambda uow: uow.identity.events.page(MAX_ID, 9))) == 4
    assert gallery.sweep() == "done"
    assert works(gallery, tokens)
    assert [event.event for event in storage.read(lambda uow: uow.identity.events.page(MAX_ID, 9))] == ["signed_in"]
    clock.pass_by(400 * DAY)
    assert gallery.sweep() == "done"
    assert storage.write(rest) == 0
    assert caller(gallery, gallery.sessions.sign_in(ANN, HOME)).user_id == 7


def test_rows_are_deleted_in_small_batches(gallery: LogoAdmin, storage: Storage, clock: FrozenClock) -> None:
    def add(uow: UnitOfWork) -> None:
        for number in range(120):
            uow.identity.challenges.add(Challenge(f"hash {number}", "used", None, "", clock.now()))

    def left() -> int:
        found = storage.read(lambda uow: [uow.identity.challenges.get(f"hash {number}") for number in range(120)])
        return 120 - found.count(None)

    storage.write(add)
    assert [(gallery.sweep(), left()) for _ in range(3)] == [("more", 70), ("more", 20), ("done", 0)]
