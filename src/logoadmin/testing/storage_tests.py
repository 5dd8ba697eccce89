"""The rules of :mod:`logoadmin.ports.storage`, for every adapter."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Final, TypeVar

import pytest

from logoadmin.domain.bound_storage import OpenTransaction
from logoadmin.domain.kernel.errors import DuplicateEntry, NotFound, StorageUnavailable
from logoadmin.domain.kernel.kinds import AUTHORS
from logoadmin.domain.kernel.records import Author
from logoadmin.ports.storage import Storage, UnitOfWork

Answer = TypeVar("Answer")

_IN_TIME: Final = 20.0
_THREADS: Final = 6


class Stop(Exception):
    """Aborts a unit of work."""


class StorageTests:
    """The rules of transactions. A subclass provides the fixture ``storage``: prepared, empty and not shared.

    The docstring of a test is the rule that it proves.
    """

    def test_work_that_raises_is_undone_and_its_error_passes(self, storage: Storage) -> None:
        """If a write raises, all its changes are undone, and the error propagates (contract A15)."""
        _add(storage, 1)
        _add(storage, 2)
        before = _stored(storage)

        def fail(uow: UnitOfWork) -> None:
            uow.records(AUTHORS).remove(1)
            uow.records(AUTHORS).update(Author(2, 77, "changed", 5))
            _store(uow, 3)
            raise Stop("as it is")

        with pytest.raises(Stop, match="as it is"):
            storage.write(fail)
        assert _stored(storage) == before

    def test_of_many_who_create_the_same_name_at_once_one_wins(self, storage: Storage) -> None:
        """The others get an error with the value and the key, derived from their request (contract A6, A8)."""

        def create(user_id: int) -> Callable[[], object]:
            def work(uow: UnitOfWork) -> int:
                id_ = uow.records(AUTHORS).next_id()
                uow.records(AUTHORS).add(Author(id_, user_id, "ann", 5))
                return id_

            return lambda: storage.write(work)

        answers = _at_once(*(create(user_id) for user_id in range(_THREADS)))
        assert [answer for answer in answers if isinstance(answer, int)] == [1]
        assert {str(answer) for answer in answers if answer != 1} == {"Duplicate entry 'ann' for key 'username'"}
        assert len(_stored(storage)) == 1

    def test_ids_given_at_once_are_distinct_and_without_gaps(self, storage: Storage) -> None:
        """Ids count from 1 (contract A2)."""

        def create(uow: UnitOfWork) -> int:
            id_ = uow.records(AUTHORS).next_id()
            uow.records(AUTHORS).add(Author(id_, id_, f"author {id_}", 5))
            return id_

        ids = _at_once(*[lambda: storage.write(create)] * _THREADS)
        assert sorted(ids, key=str) == [*range(1, _THREADS + 1)]

    def test_no_change_made_at_once_is_lost(self, storage: Storage) -> None:
        """There is one write at a time, which sees all earlier ones (contract B5)."""
        _add(storage, 1)

        def change(uow: UnitOfWork) -> None:
            found = uow.records(AUTHORS).get(1)
            assert found is not None
            time.sleep(0.01)  # an update that read meanwhile would be lost
            uow.records(AUTHORS).update(replace(found, username=f"{found.username}x"))

        assert _at_once(*[lambda: storage.write(change)] * _THREADS) == [None] * _THREADS
        (found,) = storage.read(lambda uow: uow.records(AUTHORS).page(-1, 99))
        assert found.username == "author 1" + "x" * _THREADS

    def test_a_write_that_is_tried_waits_for_nobody(self, storage: Storage) -> None:
        """``try_write`` returns whether it could begin at once."""
        with ThreadPoolExecutor(1) as executor:

            def first(_: UnitOfWork) -> None:
                trying = executor.submit(storage.try_write, lambda uow: _store(uow, 1))
                assert trying.result(_IN_TIME) is False

            storage.write(first)
        assert storage.try_write(lambda uow: _store(uow, 2)) is True
        assert _stored(storage) == [(1, 2)]

    def test_a_storage_describes_its_location_without_secrets(self, storage: Storage) -> None:
        """Neither a path nor a user or password is in messages (contract A20)."""
        assert "/" not in storage.server
        assert "@" not in storage.server
        assert storage.product

    def test_writes_made_together_are_kept_in_their_order(self, storage: Storage) -> None:
        """Writes in one transaction see each other (contract H6)."""
        answers = _atomic(storage, lambda open_: [_add(open_, number).author_id for number in (7, 8, 9)])
        assert answers == [1, 2, 3]
        assert _stored(storage) == [(1, 7), (2, 8), (3, 9)]
        assert _add(storage, 10).author_id == 4

    def test_a_part_that_raises_is_undone_alone_and_its_ids_are_reused(self, storage: Storage) -> None:
        """``savepoint`` opens a scope whose changes alone are undone."""

        def breaks_off(uow: UnitOfWork) -> None:
            uow.records(AUTHORS).add(Author(uow.records(AUTHORS).next_id(), 50, "gone", 5))
            raise Stop

        def calls(open_: Storage) -> None:
            with pytest.raises(Stop):
                open_.write(breaks_off)  # before any other call
            for number in (1, 2):
                _add(open_, number)
                with pytest.raises(DuplicateEntry):
                    _add(open_, number)
            for _ in range(2):
                with pytest.raises(Stop):
                    open_.write(breaks_off)
            _add(open_, 3)

        _atomic(storage, calls)
        assert _stored(storage) == [(1, 1), (2, 2), (3, 3)]
        assert _add(storage, 50).author_id == 4

    def test_atomic_within_atomic_is_one_write_among_the_others(self, storage: Storage) -> None:
        """Scopes may be nested."""

        def inner(open_: Storage) -> None:
            _add(open_, 2)
            raise NotFound("Author", 9)

        def calls(open_: Storage) -> None:
            _add(open_, 1)
            with pytest.raises(NotFound):
                _atomic(open_, inner)
            _atomic(open_, lambda innermost: _add(innermost, 3))

        _atomic(storage, calls)
        assert _stored(storage) == [(1, 1), (2, 3)]

    def test_nobody_else_sees_any_of_it_before_all_of_it_is_kept_and_other_writes_wait(self, storage: Storage) -> None:
        """A transaction is isolated (contract B5)."""
        seen: list[list[tuple[int, int]]] = []
        begun, may_end = threading.Event(), threading.Event()

        def calls(open_: Storage) -> None:
            _add(open_, 1)
            begun.set()
            assert not may_end.wait(0.1)
            _add(open_, 2)

        def look() -> None:
            assert begun.wait(_IN_TIME)
            seen.append(_stored(storage))

        def write() -> int:
            assert begun.wait(_IN_TIME)
            author_id = _add(storage, 3).author_id
            may_end.set()
            return author_id

        with ThreadPoolExecutor(3) as executor:
            looking, writing = executor.submit(look), executor.submit(write)
            executor.submit(_atomic, storage, calls).result()
            looking.result()
            assert writing.result() == 3
        # A storage in memory makes readers wait.
        assert seen[0] in ([], [(1, 1), (2, 2)], [(1, 1), (2, 2), (3, 3)])

    def test_a_write_beside_the_open_transaction_in_its_thread_is_refused(self, storage: Storage) -> None:
        """It would wait for itself (contract A20)."""

        def forgets_the_transaction(open_: Storage) -> None:
            _add(open_, 1)
            with pytest.raises(StorageUnavailable):
                _add(storage, 2)

        _atomic(storage, forgets_the_transaction)
        assert _stored(storage) == [(1, 1)]
        assert _add(storage, 3).author_id == 2


def _atomic(storage: Storage, calls: Callable[[Storage], Answer]) -> Answer:
    """Run calls whose writes share one transaction."""
    return storage.write(lambda uow: calls(OpenTransaction(storage, uow)))


def _store(uow: UnitOfWork, number: int) -> Author:
    author = Author(uow.records(AUTHORS).next_id(), number, f"author {number}", 5)
    uow.records(AUTHORS).add(author)
    return author


def _add(storage: Storage, number: int) -> Author:
    """Store an author with a number and a name that follows from it."""
    return storage.write(lambda uow: _store(uow, number))


def _stored(storage: Storage) -> list[tuple[int, int]]:
    """Return the stored authors, as ids and numbers."""
    return storage.read(lambda uow: [(each.author_id, each.user_id) for each in uow.records(AUTHORS).page(-1, 99)])


def _at_once(*works: Callable[[], object]) -> list[object]:
    """Run functions in threads that start together; return the result or the error of each."""
    start = threading.Barrier(len(works))

    def run(work: Callable[[], object]) -> object:
        start.wait()
        try:
            return work()
        except Exception as error:
            return error

    with ThreadPoolExecutor(len(works)) as executor:
        return list(executor.map(run, works))
