"""Writes of sessions beside writes of records: two locks, and what must exclude each other all the same."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Final

import pytest

from logoadmin.adapters.sql_storage import SqlStorage
from logoadmin.domain.gallery.authors import CreateAuthor
from logoadmin.domain.identity.service_keys import CreateKey
from logoadmin.domain.identity.sessions.sessions import Refresh, Revoke
from logoadmin.domain.identity.sign_in.password import SignIn
from logoadmin.domain.identity.users import CreateUser, SetPassword
from logoadmin.domain.kernel.errors import InvalidToken, LogoAdminError, SignInRefused
from logoadmin.domain.kernel.kinds import AUTHORS, ROLES, USERS
from logoadmin.domain.kernel.records import Author, PasswordHash, Role, User
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.ports.identity.session_storage import Session
from logoadmin.ports.storage import Storage, UnitOfWork
from tests.contracts.steps import at_once
from tests.gallery import ADMIN_PASSWORD, FrozenClock, gallery_on

ANN: Final = 7
OLD, NEW = "the old password", "the new password"


def sign_in(gallery: LogoAdmin, username: str = "admin", password: str = ADMIN_PASSWORD) -> str:
    return str(gallery.sessions.sign_in(SignIn(username=username, password=password)).refresh_token)


def refresh(gallery: LogoAdmin, token: str) -> str:
    tokens = gallery.sessions.refresh(Refresh(grant_type="refresh_token", refresh_token=token))
    return str(tokens.refresh_token)


def beside_an_import(storage: Storage, *calls: Callable[[], object]) -> list[object]:
    """Make calls while a write of records is under way; return what each returned or raised."""
    begun, may_end = Event(), Event()

    def an_import(uow: UnitOfWork) -> None:
        uow.records(AUTHORS).add(Author(1, 1, "ann", 0))
        begun.set()
        assert may_end.wait(30)

    def made(call: Callable[[], object]) -> object:
        try:
            return call()
        except LogoAdminError as error:
            return error

    with ThreadPoolExecutor(1) as executor:
        importing = executor.submit(storage.write, an_import)
        assert begun.wait(10)
        try:
            return [made(call) for call in calls]
        finally:
            may_end.set()
            importing.result()


@pytest.mark.rule("contract I2", "contract C1", "contract C3", "contract C5")
def test_sign_ins_refreshes_and_keys_go_on_while_records_are_written(mariadb_storage: SqlStorage) -> None:
    gallery = gallery_on(mariadb_storage, FrozenClock())
    token = sign_in(gallery)
    access = gallery.sessions.sign_in(SignIn(username="admin", password=ADMIN_PASSWORD)).access_token
    caller = gallery.sessions.caller(access)
    began = time.monotonic()
    results = beside_an_import(
        mariadb_storage,
        lambda: sign_in(gallery),
        lambda: refresh(gallery, token),
        lambda: gallery.keys.create(CreateKey(name="script", scope=("*",)), caller),
        lambda: gallery.sessions.revoke(Revoke(), caller),
        lambda: sign_in(gallery, password="wrong"),
    )
    assert time.monotonic() - began < 1
    assert isinstance(results.pop(), SignInRefused)
    assert not [result for result in results if isinstance(result, Exception)]


@pytest.mark.rule("contract B5")
def test_a_write_that_waited_finds_that_its_session_has_ended(mariadb_storage: SqlStorage) -> None:
    gallery = gallery_on(mariadb_storage, FrozenClock())
    access = gallery.sessions.sign_in(SignIn(username="admin", password=ADMIN_PASSWORD)).access_token
    caller = gallery.sessions.caller(access)
    with ThreadPoolExecutor(1) as executor:
        waiting = []

        def end_while_it_waits() -> None:
            waiting.append(executor.submit(gallery.authors.create, CreateAuthor(user_id=9, username="bob"), caller))
            time.sleep(0.2)
            assert gallery.sessions.revoke(Revoke(), caller).ended

        assert beside_an_import(mariadb_storage, end_while_it_waits) == [None]
        with pytest.raises(InvalidToken):
            waiting[0].result()


@pytest.mark.rule("contract C3", "contract H5")
def test_a_new_password_and_a_refresh_or_a_sign_in_at_once_leave_no_session(storage: Storage) -> None:
    gallery = gallery_on(storage, FrozenClock())
    gallery.users.create(CreateUser(user_id=ANN, username="ann", password=OLD))
    for passwords in ((OLD, NEW), (NEW, OLD)) * 5:
        before, after = passwords
        token = sign_in(gallery, "ann", before)
        at_once(
            lambda: gallery.users.set_password(SetPassword(user_id=ANN, password=after)),  # noqa: B023 (called here)
            lambda: refresh(gallery, token),  # noqa: B023 (called within this turn)
            lambda: sign_in(gallery, "ann", before),  # noqa: B023 (the same)
        )
        assert storage.read(lambda uow: uow.identity.sessions.of_user(ANN)) == ()


@pytest.mark.rule("contract H5")
def test_a_write_of_sessions_changes_no_records(sql_storage: SqlStorage) -> None:
    def people(uow: UnitOfWork) -> None:
        uow.records(ROLES).add(Role(1, "member", (), 0))
        uow.records(USERS).add(User(ANN, "ann", None, 1, 0))

    sql_storage.write(people)
    for work in (
        lambda uow: uow.records(AUTHORS).add(Author(1, 1, "ann", 0)),
        lambda uow: uow.records(AUTHORS).next_id(),
        lambda uow: uow.records(USERS).remove(ANN),
    ):
        with pytest.raises(LookupError, match="changes no records"):
            sql_storage.write(work, "sessions")

    def sign_in_with_another_hash(uow: UnitOfWork) -> None:
        uow.identity.sessions.add(Session("s", ANN, 0, 100))
        uow.identity.passwords.set(ANN, PasswordHash("stronger"))

    sql_storage.write(sign_in_with_another_hash, "sessions")
    assert sql_storage.read(lambda uow: uow.identity.passwords.get(ANN)) == PasswordHash("stronger")
