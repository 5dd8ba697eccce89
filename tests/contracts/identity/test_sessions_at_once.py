"""A new password excludes concurrent sign-ins and refreshes."""

from typing import Final

import pytest

from logoadmin.domain.identity.sessions import Refresh, SignIn
from logoadmin.domain.identity.users import CreateUser, SetPassword
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.ports.storage import Storage
from tests.contracts.steps import at_once
from tests.gallery import FrozenClock, gallery_on

ANN: Final = 7
OLD, NEW = "the old password", "the new password"


def sign_in(gallery: LogoAdmin, username: str, password: str) -> str:
    return str(gallery.sessions.sign_in(SignIn(username=username, password=password)).refresh_token)


def refresh(gallery: LogoAdmin, token: str) -> str:
    tokens = gallery.sessions.refresh(Refresh(refresh_token=token))
    return str(tokens.refresh_token)


@pytest.mark.rule("contract C3", "contract H5")
def test_a_new_password_with_a_concurrent_refresh_or_sign_in_leaves_no_session(storage: Storage) -> None:
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
