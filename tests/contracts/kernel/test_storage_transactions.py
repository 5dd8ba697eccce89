"""The rules of :mod:`logoadmin.ports.storage` for failing and concurrent writes, over every adapter."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from logoadmin import CreateKey, ListKeys, ListUsers, SignIn
from logoadmin.domain.kernel.kinds import AUTHORS
from logoadmin.ports.storage import Storage, UnitOfWork
from tests.contracts.steps import add, at_once, author, page, quickest, update, write
from tests.gallery import ADMIN_PASSWORD, NOW, FrozenClock, gallery_on


@pytest.mark.rule("contract B5")
def test_a_snapshot_sees_one_moment(sql_storage: Storage) -> None:
    write(sql_storage, add(author(1)))

    def change() -> None:
        write(sql_storage, update(author(1, username="changed")), add(author(2)))

    def look(uow: UnitOfWork) -> object:
        first = uow.records(AUTHORS).page(-1, 9)
        at_once(change)
        assert uow.records(AUTHORS).page(-1, 9) == first
        assert uow.records(AUTHORS).get(2) is None
        return first

    assert sql_storage.snapshot(look) == (author(1),)
    assert page(sql_storage, AUTHORS, -1, 9) == (author(1, username="changed"), author(2))


@pytest.mark.rule("contract C5")
def test_a_read_with_a_service_key_does_not_wait_for_a_writer(sql_storage: Storage) -> None:
    gallery = gallery_on(sql_storage, FrozenClock())
    tokens = gallery.sessions.sign_in(SignIn(username="admin", password=ADMIN_PASSWORD))
    admin = gallery.sessions.caller(tokens.access_token)
    created = gallery.keys.create(CreateKey(name="script", scope=("*",)), admin)
    key = gallery.sessions.caller(created.key)
    with ThreadPoolExecutor(1) as executor:

        def sign_in_of_another(_: UnitOfWork) -> None:
            assert quickest(lambda: bool(executor.submit(gallery.users.list, ListUsers(), key).result())) < 0.3

        sql_storage.write(sign_in_of_another)
    assert gallery.keys.list(ListKeys(), admin)[0].last_used_at is None
    gallery.users.list(ListUsers(), key)
    assert gallery.keys.list(ListKeys(), admin)[0].last_used_at == NOW
