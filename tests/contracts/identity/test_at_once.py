"""Concurrent sign-ins: a code or a link begins one session, and a new password ends all (contract C3, O6, R5)."""

from collections.abc import Callable
from typing import Final

import pytest

from logoadmin.domain.identity.one_time_sign_in import CreateLink, CreateSignInCode, SignInWithCode, SignInWithLink
from logoadmin.domain.identity.records import Tokens
from logoadmin.domain.identity.sessions import SignIn
from logoadmin.domain.identity.users import CreateUser, SetPassword
from logoadmin.domain.kernel.errors import SignInRefused
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.ports.storage import Storage
from tests.contracts.steps import at_once
from tests.domain.identity.sign_ins import refresh, works
from tests.gallery import FrozenClock, gallery_on

ANN: Final = 7
OLD, NEW = "the old password", "the new password"


@pytest.fixture
def gallery(storage: Storage) -> LogoAdmin:
    found = gallery_on(storage, FrozenClock())
    found.users.create(CreateUser(user_id=ANN, username="ann", password=OLD))
    return found


def with_code(gallery: LogoAdmin) -> Callable[[], Tokens]:
    code = gallery.sign_in_codes.create(CreateSignInCode(user_id=ANN)).code
    return lambda: gallery.sign_in_codes.sign_in(SignInWithCode(username="ann", code=code))


def with_link(gallery: LogoAdmin) -> Callable[[], Tokens]:
    link = gallery.links.create(CreateLink(user_id=1042, username="Mia")).link
    return lambda: gallery.links.sign_in(SignInWithLink(link=link))


@pytest.mark.rule("contract O6", "contract R5")
@pytest.mark.parametrize("once", [with_code, with_link])
def test_of_concurrent_sign_ins_by_code_or_link_one_succeeds(
    gallery: LogoAdmin, once: Callable[[LogoAdmin], Callable[[], Tokens]]
) -> None:
    for _ in range(4):
        found = at_once(*[once(gallery)] * 4)
        (tokens,) = [each for each in found if isinstance(each, Tokens)]
        assert sum(isinstance(each, SignInRefused) for each in found) == 3
        assert works(gallery, tokens)


@pytest.mark.rule("contract C3", "contract H5")
def test_a_new_password_with_a_concurrent_refresh_or_sign_in_leaves_no_session(
    gallery: LogoAdmin, storage: Storage
) -> None:
    def sign_in(password: str) -> Tokens:
        return gallery.sessions.sign_in(SignIn(username="ann", password=password))

    for before, after in ((OLD, NEW), (NEW, OLD)) * 5:
        tokens = sign_in(before)
        at_once(
            lambda: gallery.users.set_password(SetPassword(user_id=ANN, password=after)),  # noqa: B023 (called here)
            lambda: refresh(gallery, tokens),  # noqa: B023 (called within this turn)
            lambda: sign_in(before),  # noqa: B023 (the same)
        )
        assert storage.read(lambda uow: uow.identity.sessions.of_user(ANN)) == ()
