"""The rules of :mod:`logoadmin.ports.storage` for batched writes, over every adapter."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import pytest

from logoadmin.domain.kernel.errors import DuplicateEntry, NotFound, StorageUnavailable
from logoadmin.domain.kernel.kinds import AUTHORS
from logoadmin.domain.kernel.records import Author
from logoadmin.ports.storage import Storage, UnitOfWork
from tests.gallery import atomic

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
