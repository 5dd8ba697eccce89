"""Writes of several threads that share a transaction."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest

from logoadmin import Author, DuplicateEntry, SignInEvent, StorageUnavailable
from logoadmin.adapters.sql_storage import SqlStorage
from logoadmin.adapters.sql_storage.transaction import Transaction
from logoadmin.domain.kernel.kinds import AUTHORS, USERS
from logoadmin.ports.storage import UnitOfWork
from tests.adapters.test_sql_searches import sent_statements
from tests.contracts.steps import add, role, session, user, write

MANY = 40


def adding(number: int, user_id: int | None = None) -> Callable[[UnitOfWork], int]:
    def add(uow: UnitOfWork) -> int:
        id_ = uow.records(AUTHORS).next_id()
        uow.records(AUTHORS).add(Author(id_, number if user_id is None else user_id, f"author {number}", 0))
        return id_

    return add


def written_while_one_waits(storage: SqlStorage, *works: Callable[[UnitOfWork], object]) -> list[object]:
    """Start writes in threads during another one; return the result or error of each."""
    begun, may_end = threading.Event(), threading.Event()

    def first(_: UnitOfWork) -> None:
        begun.set()
        assert may_end.wait(10)

    def outcome(work: Callable[[UnitOfWork], object]) -> object:
        try:
            return storage.write(work)
        except BaseException as error:
            return error

    with ThreadPoolExecutor(1 + len(works)) as executor:
        leading = executor.submit(storage.write, first)
        assert begun.wait(10)
        waiting = [executor.submit(outcome, work) for work in works]
        group = storage._group_commit
        while len(group._waiting) < len(works):
            threading.Event().wait(0.001)
        may_end.set()
        leading.result()
        return [each.result() for each in waiting]


@pytest.mark.rule("contract A20", "contract G")
def test_waiting_writes_share_a_commit(sql_storage: SqlStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    commit, commits = Transaction.commit, count()
    monkeypatch.setattr(Transaction, "commit", lambda transaction: (commit(transaction), next(commits)))
    ids = written_while_one_waits(sql_storage, *(adding(number) for number in range(MANY)))
    assert sorted(ids) == list(range(1, MANY + 1))  # type: ignore[type-var]  # numbers
    assert next(commits) == 3  # the first one, 32 and 8
    assert len(sql_storage.read(lambda uow: uow.records(AUTHORS).page(-1, 99))) == MANY


@pytest.mark.rule("contract A8", "contract G")
def test_a_refused_write_undoes_only_itself(sql_storage: SqlStorage) -> None:
    def fails(uow: UnitOfWork) -> None:
        adding(99)(uow)
        raise ZeroDivisionError

    first, refused, failed, last = written_while_one_waits(sql_storage, adding(1), adding(2, 1), fails, adding(3))
    assert {type(refused), type(failed)} == {DuplicateEntry, ZeroDivisionError} or isinstance(first, DuplicateEntry)
    names = {author.username for author in sql_storage.read(lambda uow: uow.records(AUTHORS).page(-1, 99))}
    assert "author 3" in names
    assert "author 99" not in names
    assert isinstance(last, int)
    assert len(names) == 2


@pytest.mark.rule("contract O5")
def test_writes_of_a_group_share_the_read_of_a_secret_until_it_changes(sql_storage: SqlStorage) -> None:
    def read(uow: UnitOfWork) -> object:
        return uow.secrets.get("word")

    with sent_statements() as statements:
        assert written_while_one_waits(sql_storage, read, read, read) == [None] * 3
    assert sum("secrets" in statement for statement in statements) == 1

    def change(uow: UnitOfWork) -> list[object]:
        before = read(uow)
        uow.secrets.put("word", "new")
        return [before, read(uow)]

    assert sql_storage.write(change) == [None, "new"]


@pytest.mark.rule("contract A20")
def test_a_failed_commit_fails_every_write_in_it(sql_storage: SqlStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    commit, commits = Transaction.commit, count()

    def fails(transaction: Transaction) -> None:
        if next(commits) == 1:  # after the write that the others wait for
            raise sql_storage._pool.engine.dialect.loaded_dbapi.OperationalError(2013, "lost")
        commit(transaction)

    monkeypatch.setattr(Transaction, "commit", fails)
    results = written_while_one_waits(sql_storage, adding(1), adding(2), adding(3))
    assert [type(result) for result in results] == [StorageUnavailable] * 3
    assert sql_storage.read(lambda uow: uow.records(AUTHORS).page(-1, 99)) == ()


@pytest.mark.rule("contract C3", "contract O9")
def test_a_refused_sign_in_leaves_no_trace_in_the_others(sql_storage: SqlStorage) -> None:
    def sign_in(name: str) -> Callable[[UnitOfWork], str]:
        def work(uow: UnitOfWork) -> str:
            uow.identity.sessions.add(session(name, 1))
            uow.identity.events.add(SignInEvent(uow.identity.events.next_id(), 1_000, "signed_in", 1, "ann"))
            uow.identity.sessions.add_refresh_token(f"token {name}", name)
            if name == "refused":
                raise ZeroDivisionError  # what it stored was held back, and so is not yet a row
            return name

        return work

    def stored(uow: UnitOfWork) -> tuple[list[str], list[bool], list[int]]:
        sessions = uow.identity.sessions
        tokens = [sessions.refresh_token(f"token {name}") is not None for name in ("one", "refused", "two")]
        events = [event.event_id for event in uow.identity.events.page(-1, 9, order="asc")]
        return [each.session_id for each in sessions.of_user(1)], tokens, events

    write(sql_storage, add(role(1), user(1, "ann")))
    works = sign_in("one"), sign_in("refused"), sign_in("two")
    one, refused, two = written_while_one_waits(sql_storage, *works)
    assert (one, type(refused), two) == ("one", ZeroDivisionError, "two")
    assert sql_storage.read(stored) == (["one", "two"], [True, False, True], [1, 2])
    # A row that is held back is stored before its user is removed, and removed with the user.
    write(sql_storage, sign_in("three"), lambda uow: uow.records(USERS).remove(1))
    assert sql_storage.read(stored) == ([], [False] * 3, [1, 2, 3])


@pytest.mark.rule("contract G")
def test_a_row_that_cannot_be_stored_fails_its_own_write(sql_storage: SqlStorage) -> None:
    def event_at(at: int) -> Callable[[UnitOfWork], int]:
        def work(uow: UnitOfWork) -> int:
            events = uow.identity.events
            events.add(SignInEvent(events.next_id(), at, "signed_in", 1, "ann"))
            return at

        return work

    def ats(uow: UnitOfWork) -> list[int]:  # stores what the others held back
        return [event.at for event in uow.identity.events.page(-1, 9, order="asc")]

    first, failed, read = written_while_one_waits(sql_storage, event_at(1), event_at(2**70), ats)
    assert first == 1
    assert isinstance(failed, Exception)
    assert read == [1]
    assert sql_storage.read(ats) == [1]
