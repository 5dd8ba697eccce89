"""Fixtures for the tests of storages."""

import pytest

from logoadmin.ports.storage import Storage, UnitOfWork
from tests.contracts.steps import add, role, session, user, write


@pytest.fixture
def signed_in(storage: Storage) -> Storage:
    """A storage with three sessions of user 1 and one of user 2, each with a refresh token."""

    def sign_in(uow: UnitOfWork) -> None:
        for name, user_id in (("one", 1), ("two", 1), ("three", 1), ("bens", 2)):
            uow.sessions.add(session(name, user_id))
            uow.sessions.add_refresh_token(f"token {name}", name)

    write(storage, add(role(1, "editor", ("logos:write", "a")), user(1, "ann"), user(2, "ben")), sign_in)
    return storage
