"""The rules of :mod:`logoadmin.ports.storage` for batched writes, over every adapter."""

import itertools
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final

import pytest

from logoadmin.domain.gallery.authors import CreateAuthor, ListAuthors
from logoadmin.domain.identity.roles import AmendRole, CreateRole
from logoadmin.domain.identity.sessions.sessions import Revoke
from logoadmin.domain.identity.sign_in.password import SignIn
from logoadmin.domain.identity.users import AmendUser, CreateUser, RemoveUser
from logoadmin.domain.kernel.access import Caller, Policy
from logoadmin.domain.kernel.errors import (
    DuplicateEntry,
    InvalidToken,
    LogoAdminError,
    NotFound,
    NotPermitted,
    StorageUnavailable,
)
from logoadmin.domain.kernel.kinds import AUTHORS
from logoadmin.domain.kernel.records import Author
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.ports.storage import Storage, UnitOfWork
from tests.gallery import ADMIN_PASSWORD, FrozenClock, atomic, gallery_on

pytestmark = pytest.mark.rule("contract A20", "contract B5", "contract G")

IN_TIME: Final = 20.0


def add(storage: Storage, number: int) -> Author:
    """Keep an author whose number and name are known."""

    def work(uow: UnitOfWork) -> Author:
        author = Author(uow.records(AUTHORS).next_id(), number, f"author {number}", 5)
        uow.records(AUTHORS).add(author)
        return author

    return storage.write(work)


def ids(storage: Storage) -> list[tuple[int, int]]:
    """Return the stored records, as ids and numbers."""
    return storage.read(
        lambda uow: [(author.author_id, author.user_id) for author in uow.records(AUTHORS).page(-1, 99)]
    )


def refused(storage: Storage, number: int) -> None:
    """Fail to keep an author, whose number is taken."""
    with pytest.raises(DuplicateEntry):
        add(storage, number)


def test_writes_made_together_are_kept_in_their_order(storage: Storage) -> None:
    answers = atomic(storage, lambda open_: [add(open_, number).author_id for number in (7, 8, 9)])
    assert answers == [1, 2, 3]
    assert ids(storage) == [(1, 7), (2, 8), (3, 9)]
    assert add(storage, 10).author_id == 4


def test_no_writes_at_all_are_kept_together_just_as_well(storage: Storage) -> None:
    assert atomic(storage, lambda _: "nothing") == "nothing"
    assert ids(storage) == []


def test_a_part_that_raises_is_undone_alone_and_its_ids_are_reused(storage: Storage) -> None:
    class Stop(Exception):
        pass

    def breaks_off(uow: UnitOfWork) -> None:
        uow.records(AUTHORS).add(Author(uow.records(AUTHORS).next_id(), 50, "gone", 5))
        raise Stop

    def calls(storage: Storage) -> None:
        with pytest.raises(Stop):
            storage.write(breaks_off)  # before anything else was asked for
        add(storage, 1)
        refused(storage, 1)
        add(storage, 2)
        with pytest.raises(Stop):
            storage.write(breaks_off)
        with pytest.raises(Stop):
            storage.write(breaks_off)
        refused(storage, 2)
        add(storage, 3)

    atomic(storage, calls)
    assert ids(storage) == [(1, 1), (2, 2), (3, 3)]
    assert add(storage, 50).author_id == 4


def test_calls_that_raise_undo_everything_they_wrote(storage: Storage) -> None:
    add(storage, 1)

    def calls(storage: Storage) -> None:
        add(storage, 2)
        add(storage, 3)
        raise NotFound("Author", 9)

    with pytest.raises(NotFound):
        atomic(storage, calls)
    assert ids(storage) == [(1, 1)]
    assert add(storage, 4).author_id == 2


def test_atomic_within_atomic_is_one_write_among_the_others(storage: Storage) -> None:
    def inner(storage: Storage) -> None:
        add(storage, 2)
        raise NotFound("Author", 9)

    def calls(storage: Storage) -> None:
        add(storage, 1)
        with pytest.raises(NotFound):
            atomic(storage, inner)
        atomic(storage, lambda open_: add(open_, 3))

    atomic(storage, calls)
    assert ids(storage) == [(1, 1), (2, 3)]


def test_the_next_write_sees_what_the_one_before_it_left(storage: Storage) -> None:
    def calls(storage: Storage) -> None:
        add(storage, 1)
        assert storage.write(lambda uow: uow.records(AUTHORS).get(1)) == Author(1, 1, "author 1", 5)
        storage.write(lambda uow: uow.records(AUTHORS).remove(1))
        assert storage.write(lambda uow: uow.records(AUTHORS).get(1)) is None
        add(storage, 1)

    atomic(storage, calls)
    assert ids(storage) == [(2, 1)]


def test_nobody_else_sees_any_of_it_before_all_of_it_is_kept_and_other_writes_wait(storage: Storage) -> None:
    seen: list[list[tuple[int, int]]] = []
    begun, may_end = threading.Event(), threading.Event()

    def calls(storage: Storage) -> None:
        add(storage, 1)
        begun.set()
        assert not may_end.wait(0.1)
        add(storage, 2)

    def look() -> None:
        assert begun.wait(IN_TIME)
        seen.append(ids(storage))

    def write() -> int:
        assert begun.wait(IN_TIME)
        author_id = add(storage, 3).author_id
        may_end.set()
        return author_id

    with ThreadPoolExecutor(3) as executor:
        looking, writing = executor.submit(look), executor.submit(write)
        executor.submit(atomic, storage, calls).result()
        looking.result()
        assert writing.result() == 3
    # A storage in memory lets nobody look meanwhile.
    assert seen[0] in ([], [(1, 1), (2, 2)], [(1, 1), (2, 2), (3, 3)])


def test_a_write_beside_the_open_transaction_in_its_thread_is_refused(storage: Storage) -> None:
    def forgets_the_transaction(open_: Storage) -> None:
        add(open_, 1)
        with pytest.raises(StorageUnavailable):
            add(storage, 2)

    atomic(storage, forgets_the_transaction)
    assert ids(storage) == [(1, 1)]
    assert add(storage, 3).author_id == 2


# Through the use cases.


@pytest.fixture
def gallery(storage: Storage) -> LogoAdmin:
    """A guarded gallery with its first administrator."""
    return gallery_on(storage, FrozenClock(), Policy.GUARDED)


REVOCATIONS: Final[list[tuple[Callable[[LogoAdmin, Caller], object], type[LogoAdminError]]]] = [
    (lambda gallery, caller: gallery.sessions.revoke(Revoke(), caller), InvalidToken),
    (lambda gallery, _: gallery.users.remove(RemoveUser(user_id=2000000000)), InvalidToken),
    (lambda gallery, _: gallery.users.amend(AmendUser(user_id=2000000000, role_id=1)), NotPermitted),
    (lambda gallery, _: gallery.roles.amend(AmendRole(role_id=2, scope=())), NotPermitted),
]


def test_rights_that_are_taken_away_are_gone_with_the_next_call(gallery: LogoAdmin) -> None:
    tokens = gallery.sessions.sign_in(SignIn(username="admin", password=ADMIN_PASSWORD))
    caller = gallery.sessions.caller(tokens.access_token)
    gallery.users.create(CreateUser(user_id=5, username="another", password="a password"))
    # Somebody else who holds everything.
    gallery.users.amend(AmendUser(user_id=5, role_id=gallery.roles.create(CreateRole(name="o", scope=("*",))).role_id))
    numbers = itertools.count(4)

    def create(gallery: LogoAdmin, number: int) -> Author:
        return gallery.authors.create(CreateAuthor(user_id=number, username=f"author {number}"), caller)

    def calls(gallery: LogoAdmin) -> None:
        create(gallery, 1)
        create(gallery, 2)
        gallery.roles.amend(AmendRole(role_id=2, scope=("*", "spare")))
        create(gallery, 3)
        assert len(list(gallery.authors.list(ListAuthors()))) == 3
        for take_away, refusal in REVOCATIONS:
            with pytest.raises(NotFound):  # so that the rights are what they were
                gallery.atomic(partial(taken_away, take_away, refusal))
            create(gallery, next(numbers))

    def taken_away(
        take_away: Callable[[LogoAdmin, Caller], object], refusal: type[LogoAdminError], gallery: LogoAdmin
    ) -> None:
        take_away(gallery, caller)
        with pytest.raises(refusal):
            create(gallery, 99)
        raise NotFound("Author", 9)

    gallery.atomic(calls)
    assert [author.user_id for author in gallery.authors.list(ListAuthors())] == [1, 2, 3, 4, 5, 6, 7]
