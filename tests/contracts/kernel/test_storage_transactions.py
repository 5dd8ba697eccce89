"""The rules of :mod:`logoadmin.ports.storage` for failing and concurrent writes, over every adapter."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from logoadmin.domain.identity.service_keys import CreateKey, ListKeys
from logoadmin.domain.identity.sessions import SignIn
from logoadmin.domain.identity.users import ListUsers
from logoadmin.domain.kernel.kinds import AUTHORS, LOGOS, THEMES
from logoadmin.domain.kernel.records import PasswordHash
from logoadmin.ports.storage import Storage, UnitOfWork
from tests.contracts.steps import (
    add,
    at_once,
    author,
    link,
    logo,
    page,
    quickest,
    role,
    session,
    theme,
    update,
    user,
    write,
)
from tests.gallery import ADMIN_PASSWORD, NOW, FrozenClock, add_user, gallery_on


def pause() -> None:
    time.sleep(0.01)


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


@pytest.mark.rule("contract F1", "contract B5", "contract C1")
@pytest.mark.parametrize(
    "other",
    [
        lambda uow: uow.links(LOGOS).remove(1, 1),
        lambda uow: uow.identity.passwords.set(1, PasswordHash("another")),
        lambda uow: uow.identity.sessions.end_all(1),
        lambda uow: uow.secrets.put("another", "secret"),
    ],
    ids=["unlink", "set_password", "end_all", "put"],
)
def test_a_second_write_waits_and_sees_the_result_of_the_first(
    storage: Storage, other: Callable[[UnitOfWork], object]
) -> None:
    write(
        storage,
        add(*map(author, (1, 2)), logo(1), role()),
        link(LOGOS, 1, 1),
        lambda uow: add_user(uow, user(1, "ann"), PasswordHash("one")),
        lambda uow: uow.identity.sessions.add(session("s", 1)),
    )
    looked = threading.Event()

    def seen(uow: UnitOfWork) -> object:
        return (
            (uow.records(LOGOS).get(1), uow.links(LOGOS).of_artwork(1), uow.records(AUTHORS).page(-1, 9)),
            (
                uow.identity.passwords.credentials("ann"),
                uow.identity.sessions.rights("s", 1),
                uow.secrets.get("another"),
            ),
        )

    def second(uow: UnitOfWork) -> object:
        found = uow.records(THEMES).get(1)
        looked.set()
        other(uow)
        return found

    with ThreadPoolExecutor(1) as executor:
        waiting: list[Future[object]] = []

        def first(uow: UnitOfWork) -> None:
            before = seen(uow)
            waiting.append(executor.submit(storage.write, second))
            assert not looked.wait(0.1)
            assert seen(uow) == before
            uow.records(THEMES).add(theme(1))

        storage.write(first)
        assert waiting[0].result() == theme(1)
    assert looked.is_set()


@pytest.mark.rule("contract C5")
def test_a_read_with_a_service_key_does_not_wait_for_a_writer(sql_storage: Storage) -> None:
    gallery = gallery_on(sql_storage, FrozenClock())
    admin = gallery.sessions.caller(
        gallery.sessions.sign_in(SignIn(username="admin", password=ADMIN_PASSWORD)).access_token
    )
    created = gallery.keys.create(CreateKey(name="script", scope=("*",)), admin)
    key = gallery.sessions.caller(created.key)
    with ThreadPoolExecutor(1) as executor:

        def sign_in_of_another(_: UnitOfWork) -> None:
            assert quickest(lambda: bool(executor.submit(gallery.users.list, ListUsers(), key).result())) < 0.3

        sql_storage.write(sign_in_of_another)
    assert gallery.keys.list(ListKeys(), admin)[0].last_used_at is None
    gallery.users.list(ListUsers(), key)
    assert gallery.keys.list(ListKeys(), admin)[0].last_used_at == NOW


@pytest.mark.rule("contract C1", "contract C2")
def test_concurrent_writes_lose_no_attempt_and_no_letter_of_a_secret(storage: Storage) -> None:
    def write_more(uow: UnitOfWork) -> None:
        (attempts, _), letters = uow.identity.sign_in_attempts.count("ann"), uow.secrets.get("token_key")
        pause()
        uow.identity.sign_in_attempts.set("ann", attempts + 1, 1_000)
        uow.secrets.put("token_key", f"{letters}x")

    write(storage, lambda uow: uow.secrets.put("token_key", "-"))
    assert at_once(*[lambda: storage.write(write_more)] * 6) == [None] * 6
    found = storage.read(lambda uow: (uow.identity.sign_in_attempts.count("ann"), uow.secrets.get("token_key")))
    assert found == ((6, 1_000), "-xxxxxx")
